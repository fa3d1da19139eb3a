"""The commands that the host runs for the agent, as a person sees them: :class:`Terminals`, a reducer.

Of each command the newest output is kept, in segments as for any text; of the commands that the agent has let go of,
the newest. A view is made anew only when somebody looks, so a report costs what it says and no more.
"""

from __future__ import annotations

from collections.abc import Mapping

from acp_host.state import events
from acp_host.state.changes import ChangeKind, Note
from acp_host.state.snapshot import TerminalView
from acp_host.state.text import TextBuilder
from acp_host.wire._model import NO_EXTRA

__all__ = ["MAX_RELEASED", "MAX_SEGMENTS", "Terminals"]

MAX_SEGMENTS = 64
"""Most segments of output that are kept of a command: 256 Ki characters."""
MAX_RELEASED = 100
"""Most commands that are kept after the agent has let go of them."""

_SECTION = "terminals"


class _Terminal:
    """A command; what it printed is put together when somebody looks."""

    def __init__(self) -> None:
        self.last: events.TerminalReported
        self._text = TextBuilder()
        self._truncated = False
        self._view: TerminalView | None = None

    def take(self, report: events.TerminalReported) -> None:
        self.last = report
        self._view = None
        if report.printed:
            self._text.append(report.printed)
            segments = self._text.segments()
            if len(segments) > MAX_SEGMENTS:
                self._text = TextBuilder(segments[-MAX_SEGMENTS:])
                self._truncated = True

    def view(self) -> TerminalView:
        if self._view is None:
            last = self.last
            self._view = TerminalView(
                terminal_id=last.terminal_id,
                command=last.command,
                via_shell=last.via_shell,
                output=self._text.segments(),
                truncated=self._truncated,
                ended=last.ended,
                exit_code=last.exit_code,
                signal=last.signal,
                released=last.released,
            )
        return self._view


class Terminals:
    """Folds what is reported of commands.

    Args:
        note: called with the section, the terminal's id and the kind of each change.
    """

    def __init__(self, note: Note) -> None:
        self._note = note
        self._terminals: dict[str, _Terminal] = {}
        self._frozen: Mapping[str, TerminalView] = NO_EXTRA
        self._is_stale = False

    def report(self, event: events.TerminalReported) -> None:
        """Take what is reported of a command."""
        terminal = self._terminals.get(event.terminal_id)
        kind = ChangeKind.CHANGED
        if terminal is None:
            terminal = self._terminals[event.terminal_id] = _Terminal()
            kind = ChangeKind.ADDED
        terminal.take(event)
        self._changed(event.terminal_id, kind)
        if event.released:
            self._make_room()

    def clear(self) -> None:
        """Forget every command: the session is closed."""
        for terminal_id in tuple(self._terminals):
            self._remove(terminal_id)

    def freeze(self) -> Mapping[str, TerminalView]:
        """Return the commands by id, the oldest first."""
        if self._is_stale:
            self._is_stale = False
            views = {terminal_id: terminal.view() for terminal_id, terminal in self._terminals.items()}
            # What came and went between two looks is no change.
            if list(views.items()) != list(self._frozen.items()):
                self._frozen = views
        return self._frozen

    def _make_room(self) -> None:
        released = [terminal_id for terminal_id, terminal in self._terminals.items() if terminal.last.released]
        if len(released) > MAX_RELEASED:
            self._remove(released[0])

    def _remove(self, terminal_id: str) -> None:
        del self._terminals[terminal_id]
        self._changed(terminal_id, ChangeKind.REMOVED)

    def _changed(self, terminal_id: str, kind: ChangeKind) -> None:
        self._is_stale = True
        self._note(_SECTION, terminal_id, kind)
