"""Sessions that the agent leads by itself: :class:`SubagentsPane`, and a look into one, :class:`SubagentScreen`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from acp_host.state.changes import ChangeSet
from acp_host.state.session_state import SessionState
from acp_host.ui.terminal.redraw import Redraw
from acp_host.ui.terminal.text import one_line
from acp_host.ui.terminal.transcript import TranscriptView
from acp_host.wire.subagents import (
    IdleStateUpdate,
    RequiresActionStateUpdate,
    RunningStateUpdate,
    SubagentUpdate,
)

__all__ = ["SubagentScreen", "SubagentsPane"]

_MOST = 200


class SubagentsPane(OptionList):
    """What the session tells of them; Enter looks into the highlighted one."""

    class Wanted(Message):
        """The user wants to look into a subagent."""

        def __init__(self, session_id: str, title: str) -> None:
            super().__init__()
            self.session_id = session_id
            self.title = title

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, **options)
        self._shown: list[SubagentUpdate] = []

    def draw(self, subagents: Mapping[str, SubagentUpdate]) -> None:
        """Show the newest of them."""
        highlighted = self.highlighted
        self._shown = list(subagents.values())[-_MOST:]
        self.clear_options()
        self.add_options([Option(_line(subagent)) for subagent in self._shown])
        self.highlighted = highlighted if highlighted is not None and highlighted < len(self._shown) else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Look into it."""
        event.stop()
        subagent = self._shown[event.option_index]
        self.post_message(self.Wanted(subagent.session_id, _title(subagent)))


class SubagentScreen(ModalScreen[None]):
    """What a subagent says and does, as it goes on; it takes no prompts.

    Args:
        title: what to call it.
        state: its state.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(None)", "Back")]

    def __init__(self, title: str, state: SessionState) -> None:
        super().__init__()
        self._heading = title
        self._state = state
        self._transcript = TranscriptView(str(one_line(title, 40)), id="transcript")
        self._redraw = Redraw(self._draw)
        self._following = state.changed.connect(self._redraw.take)

    def compose(self) -> ComposeResult:
        """Make the parts."""
        with Vertical(classes="dialog -wide -high"):
            yield Static(Content.assemble("Subagent ", one_line(self._heading, 80, "bold"), ("  Esc leaves it", "dim")))
            yield self._transcript

    async def on_mount(self) -> None:
        """Draw what there is, and what changes from now on."""
        await self._transcript.draw(self._state.snapshot(), {None})
        self.run_worker(self._redraw.run(), name="redraw of a subagent")
        self._transcript.focus()

    def on_unmount(self) -> None:
        """Watch no longer."""
        self._following.end()

    async def _draw(self, changes: ChangeSet) -> None:
        await self._transcript.draw(changes.snapshot, changes.keys("transcript"), changes.keys("terminals"))


def _title(subagent: SubagentUpdate) -> str:
    return subagent.title or subagent.session_id


def _line(subagent: SubagentUpdate) -> Content:
    parts = [one_line(_title(subagent), 60, "bold"), one_line(_doing(subagent.state), 40, "dim")]
    if subagent.description:
        parts.append(one_line(subagent.description, 120, "dim"))
    return Content("  ").join(parts)


def _doing(state: Any) -> str:
    match state:
        case RunningStateUpdate():
            return "at work"
        case RequiresActionStateUpdate():
            return "waits for you"
        case IdleStateUpdate(stop_reason=str(reason)):
            return f"idle: {reason}"
        case IdleStateUpdate():
            return "idle"
    return ""
