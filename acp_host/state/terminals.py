"""The commands that run in a session, the host's and the agent's own, as a person sees them: :class:`Terminals`.

Of each command the newest output is kept, in segments as for any text; of the commands that the agent has let go of, or
that were its own and have ended, the newest. A view is made anew only when somebody looks, so a report costs what it
says and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state import events
from acp_host.state._value import is_same
from acp_host.state.agent_terminals import AgentTerminal
from acp_host.state.changes import ChangeKind, Note
from acp_host.state.snapshot import TerminalView
from acp_host.state.terminal_output import TerminalOutput
from acp_host.wire._model import NO_EXTRA

__all__ = ["MAX_AGENT_TERMINALS", "MAX_RELEASED", "Terminals"]

MAX_RELEASED = 100
"""Most commands that are kept after the agent has let go of them, or, of its own, after they have ended."""
MAX_AGENT_TERMINALS = 1_000
"""Most commands of the agent's own that are kept, ended or not."""

_SECTION = "terminals"


class _Terminal:
    """A command; what it printed is put together when somebody looks."""

    def __init__(self) -> None:
        self.last: events.TerminalReported
        self._output = TerminalOutput()
        self._view: TerminalView | None = None

    def take(self, report: events.TerminalReported) -> None:
        self.last = report
        self._view = None
        self._output.append(report.printed)

    def view(self) -> TerminalView:
        if self._view is None:
            last = self.last
            self._view = TerminalView(
                terminal_id=last.terminal_id,
                command=last.command,
                via_shell=last.via_shell,
                output=self._output.segments(),
                truncated=self._output.truncated,
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
        problem: called when one of the agent's own is forgotten that may run.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self._note = note
        self._problem = problem
        self._terminals: dict[str, _Terminal] = {}
        self._agents_own: dict[str, AgentTerminal] = {}
        # What was known before a replay, and which of it the agent has not told again yet.
        self._before_replay: dict[str, AgentTerminal] = {}
        self._not_told_again: set[str] = set()
        self._frozen: Mapping[str, TerminalView] = NO_EXTRA
        self._is_stale = False

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns commands."""
        return {
            events.TerminalReported: self._reported,
            events.AgentTerminalReported: self._own_reported,
            events.AgentTerminalPrinted: self._own_printed,
        }

    def _reported(self, event: events.TerminalReported) -> None:
        terminal = self._terminals.get(event.terminal_id)
        kind = ChangeKind.CHANGED
        if terminal is None:
            terminal = self._terminals[event.terminal_id] = _Terminal()
            kind = ChangeKind.ADDED
        terminal.take(event)
        self._changed(event.terminal_id, kind)
        if event.released:
            self._make_room()

    def _own_reported(self, event: events.AgentTerminalReported) -> None:
        terminal, kind = self._own(event.terminal_id)
        terminal.report(event, self._problem)
        self._changed(event.terminal_id, kind)
        if terminal.ended or kind is ChangeKind.ADDED:
            self._make_room_for_own()

    def _own_printed(self, event: events.AgentTerminalPrinted) -> None:
        terminal, kind = self._own(event.terminal_id)
        terminal.print(event.data)
        self._changed(event.terminal_id, kind)
        if kind is ChangeKind.ADDED:
            self._make_room_for_own()

    def replay_started(self) -> None:
        """Learn that the agent tells its commands again: what it tells takes the place of what is known."""
        self._before_replay = self._agents_own.copy()
        self._not_told_again = set(self._agents_own)

    def replay_ended(self, *, failed: bool) -> None:
        """Learn that it does so no more; if that failed, all is as it was."""
        before, self._before_replay = self._before_replay, {}
        self._not_told_again = set()
        if failed:
            for terminal_id in {**before, **self._agents_own}:
                self._changed(terminal_id, ChangeKind.CHANGED if terminal_id in before else ChangeKind.REMOVED)
            self._agents_own = before

    def clear(self) -> None:
        """Forget every command: the session is closed."""
        for terminal_id in (*self._terminals, *self._agents_own):
            self._remove(terminal_id)

    def freeze(self) -> Mapping[str, TerminalView]:
        """Return the commands by id, the oldest first."""
        if self._is_stale:
            self._is_stale = False
            terminals: dict[str, _Terminal | AgentTerminal] = {**self._terminals, **self._agents_own}
            views = {terminal_id: terminal.view() for terminal_id, terminal in terminals.items()}
            # What came and went between two looks is no change.
            if not is_same(list(views.items()), list(self._frozen.items())):
                self._frozen = views
        return self._frozen

    def _own(self, terminal_id: str) -> tuple[AgentTerminal, ChangeKind]:
        """Return the command that an id means, and whether it is a new one."""
        known = self._agents_own.get(terminal_id)
        if known is not None and terminal_id not in self._not_told_again:
            return known, ChangeKind.CHANGED
        self._not_told_again.discard(terminal_id)
        terminal = self._agents_own[terminal_id] = AgentTerminal(terminal_id)
        return terminal, ChangeKind.ADDED if known is None else ChangeKind.CHANGED

    def _make_room_for_own(self) -> None:
        ended = [terminal_id for terminal_id, terminal in self._agents_own.items() if terminal.ended]
        if len(ended) > MAX_RELEASED:
            self._remove(ended[0])
        elif len(self._agents_own) > MAX_AGENT_TERMINALS:
            self._remove(next(iter(self._agents_own)))
            self._problem(f"more than {MAX_AGENT_TERMINALS} commands of the agent's own: the oldest is forgotten")

    def _make_room(self) -> None:
        released = [terminal_id for terminal_id, terminal in self._terminals.items() if terminal.last.released]
        if len(released) > MAX_RELEASED:
            self._remove(released[0])

    def _remove(self, terminal_id: str) -> None:
        (self._terminals if terminal_id in self._terminals else self._agents_own).pop(terminal_id)
        self._changed(terminal_id, ChangeKind.REMOVED)

    def _changed(self, terminal_id: str, kind: ChangeKind) -> None:
        self._is_stale = True
        self._note(_SECTION, terminal_id, kind)
