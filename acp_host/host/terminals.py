"""Shows in a session's state what becomes of the commands that run for its agent: :class:`TerminalFeed`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from acp_host.state import events
from acp_host.state.clock import Scheduler
from acp_host.wire._model import UNSET
from acp_host.wire.terminals import TerminalExitStatus

if TYPE_CHECKING:
    from acp_host.services.terminals import TerminalProcess

__all__ = ["TerminalFeed"]


class TerminalFeed:
    """Makes events of what a session's commands do: at most one per command and turn of the event loop.

    Args:
        apply: takes the events.
        scheduler: decides when.
    """

    def __init__(self, apply: Callable[[events.TerminalReported], None], scheduler: Scheduler) -> None:
        self._apply = apply
        self._scheduler = scheduler
        self._pending: dict[str, tuple[TerminalProcess, list[str]]] = {}
        self._closed = False

    def changed(self, terminal: TerminalProcess, printed: str) -> None:
        """Learn that a command has begun, printed something, ended or was released."""
        if self._closed:
            return
        if not self._pending:
            self._scheduler.soon(self._flush)
        _, pieces = self._pending.setdefault(terminal.terminal_id, (terminal, []))
        pieces.append(printed)

    def close(self) -> None:
        """Take nothing more: the session is over."""
        self._closed = True
        self._pending.clear()

    def _flush(self) -> None:
        pending, self._pending = self._pending, {}
        for terminal, pieces in pending.values():
            self._apply(_report(terminal, "".join(pieces)))


def _report(terminal: TerminalProcess, printed: str) -> events.TerminalReported:
    status = terminal.exit_status or TerminalExitStatus()
    return events.TerminalReported(
        terminal.terminal_id,
        terminal.shown_line,
        via_shell=terminal.via_shell,
        printed=printed,
        ended=terminal.exit_status is not None,
        exit_code=None if status.exit_code is UNSET else status.exit_code,
        signal=status.signal or None,
        released=terminal.released,
    )
