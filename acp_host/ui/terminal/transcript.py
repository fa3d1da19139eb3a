"""The transcript as a scrolling view: :class:`TranscriptView`.

Of a long transcript only the entries around what is on the screen are widgets: at most :data:`MOST`. Scrolling to an
end of them brings more of it. So a view costs the same, however long the session has become.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from typing import Any

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget

from acp_host.state.entries import Entry
from acp_host.state.snapshot import SessionSnapshot
from acp_host.ui.terminal.entries import view_of
from acp_host.ui.terminal.folding import FoldingView
from acp_host.ui.terminal.tool_call import ToolCallView

__all__ = ["MOST", "TranscriptView"]

WINDOW = 30
"""Entries that are mounted at first."""
CHUNK = 30
"""Entries that scrolling to an end brings."""
MOST = 120
"""Entries that are mounted at most."""
_NEAR = 2


class TranscriptView(VerticalScroll, can_focus=True):
    """A transcript; it follows the newest entry while that is on the screen.

    Args:
        agent_name: what to call the agent.
    """

    def __init__(self, agent_name: str, **options: Any) -> None:
        super().__init__(**options)
        self._agent_name = agent_name
        self._snapshot: SessionSnapshot | None = None
        self._views: dict[int, Any] = {}
        self._entries: dict[int, Entry] = {}
        self._unfolded = False
        self._follows = True
        self._changing = asyncio.Lock()

    async def draw(self, snapshot: SessionSnapshot, changed: Collection[Any], terminals: Collection[Any] = ()) -> None:
        """Show a state.

        Args:
            snapshot: the state.
            changed: the positions of what has changed since the last one; ``None`` in it: everything may have.
            terminals: the ids of the terminals that have, too.
        """
        async with self._changing:
            self._snapshot = snapshot
            if None in changed or not self._views:
                await self._show_from(self._end - WINDOW)
            else:
                await self._update(changed, terminals)
                await self._go_on()
            self._say_what_is_below()
        self._stay_at_end()

    def on_resize(self) -> None:
        """Stay at the end."""
        self._stay_at_end()

    def unfold_all(self) -> None:
        """Show all of every entry, or the brief form of every entry."""
        self._unfolded = not self._unfolded
        for view in self.query(FoldingView):
            view.unfold(self._unfolded)

    def action_scroll_home(self) -> None:
        """Go to the oldest entry."""
        self.run_worker(self._jump(at_end=False), group="window", exclusive=True)

    def action_scroll_end(self) -> None:
        """Go to the newest entry."""
        self.run_worker(self._jump(at_end=True), group="window", exclusive=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Bring more of the transcript where an end of what is mounted comes into sight."""
        super().watch_scroll_y(old_value, new_value)
        at_end = self.max_scroll_y - new_value < _NEAR
        if new_value < old_value or at_end:
            self._follows = at_end and self._bottom == self._end
        if self._snapshot is None or self._changing.locked():
            return
        if new_value < old_value and new_value <= _NEAR and self._top > self._first:
            self.run_worker(self._bring_older(), group="window")
        elif new_value > old_value and self.max_scroll_y - new_value <= _NEAR and self._bottom < self._end:
            self.run_worker(self._bring_newer(), group="window")

    # --- which part is mounted --------------------------------------------------------------------------------------

    @property
    def _first(self) -> int:
        return 0 if self._snapshot is None else self._snapshot.transcript.first

    @property
    def _end(self) -> int:
        return 0 if self._snapshot is None else self._first + len(self._snapshot.transcript)

    @property
    def _top(self) -> int:
        return min(self._views, default=self._end)

    @property
    def _bottom(self) -> int:
        """The position after the last entry that is mounted."""
        return max(self._views, default=self._end - 1) + 1

    async def _update(self, changed: Iterable[Any], terminals: Collection[Any]) -> None:
        """Draw again what is mounted and has changed."""
        assert self._snapshot is not None
        await self._drop([position for position in self._views if not self._first <= position < self._end])
        stale = {position for position in changed if position in self._views}
        if terminals:
            calls = {position: view for position, view in self._views.items() if isinstance(view, ToolCallView)}
            stale |= {position for position, view in calls.items() if view.terminals & set(terminals)}
        for position in stale:
            entry = self._snapshot.entry(position)
            if entry is not None and _kind(entry) == _kind(self._entries[position]):
                self._entries[position] = entry
                await self._views[position].show(entry, self._snapshot)
            elif entry is not None:  # something else has taken its place
                after = self._views.get(position + 1)
                await self._drop([position])
                await self._mount(range(position, position + 1), before=after)

    async def _go_on(self) -> None:
        """Mount what is new, if that is where the user looks."""
        if not self._follows and self._end - self._top > MOST:
            return
        if self._end - self._bottom > WINDOW:
            await self._show_from(self._end - WINDOW)
            return
        await self._mount(range(self._bottom, self._end))
        if len(self._views) > MOST:
            await self._drop(range(self._top, self._end - WINDOW))

    async def _show_from(self, top: int) -> None:
        top = max(top, self._first)
        self._views.clear()
        self._entries.clear()
        await self.remove_children()
        await self._mount(range(top, min(top + WINDOW, self._end)))

    async def _bring_older(self) -> None:
        async with self._changing:
            top = self._top
            if top <= self._first or top not in self._views:
                return
            kept: Widget = self._views[top]
            await self._mount(range(max(self._first, top - CHUNK), top), before=kept)
            await self._drop(range(self._top + MOST, self._bottom))
            self._say_what_is_below()
            self.call_after_refresh(self.scroll_to_widget, kept, animate=False, top=True, force=True)

    async def _bring_newer(self) -> None:
        async with self._changing:
            bottom = self._bottom
            if bottom >= self._end or bottom - 1 not in self._views:
                return
            kept: Widget = self._views[bottom - 1]
            await self._mount(range(bottom, min(bottom + CHUNK, self._end)))
            await self._drop(range(self._top, self._bottom - MOST))
            self._say_what_is_below()
            self.call_after_refresh(self.scroll_to_widget, kept, animate=False, force=True)

    async def _jump(self, *, at_end: bool) -> None:
        async with self._changing:
            if at_end and self._bottom < self._end:
                await self._show_from(self._end - WINDOW)
            elif not at_end and self._top > self._first:
                await self._show_from(self._first)
            self._say_what_is_below()
        self._follows = at_end
        self._stay_at_end()
        if not at_end:
            self.call_after_refresh(self.scroll_home, animate=False)

    # --- mounting ---------------------------------------------------------------------------------------------------

    async def _mount(self, positions: Iterable[int], before: Widget | None = None) -> None:
        assert self._snapshot is not None
        fresh: dict[int, Any] = {}
        for position in positions:
            entry = self._snapshot.entry(position)
            if entry is not None:
                self._entries[position] = entry
                fresh[position] = view = view_of(entry, self._agent_name)
                if isinstance(view, FoldingView):
                    view.unfolded = self._unfolded
                await fresh[position].show(entry, self._snapshot)
        if fresh:
            self._views = dict(sorted((self._views | fresh).items()))
            await self.mount_all(fresh.values(), before=before)

    async def _drop(self, positions: Iterable[int]) -> None:
        views = []
        for position in positions:
            view = self._views.pop(position, None)
            self._entries.pop(position, None)
            if view is not None:
                views.append(view)
        if views:
            await self.remove_children(views)

    def _stay_at_end(self) -> None:
        if self._follows:
            self.scroll_end(animate=False, force=True)

    def _say_what_is_below(self) -> None:
        below = self._end - self._bottom
        self.border_subtitle = Content(f" {below:,} more below: End ") if below else None


def _kind(entry: Entry) -> tuple[type, Any]:
    return type(entry), getattr(entry, "speaker", None)
