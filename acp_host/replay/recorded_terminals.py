"""Commands of a recording, as far as it tells of them: :class:`RecordedTerminals`.

The recorded host saw all that its commands printed; the recording has what the agent asked about them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define

from acp_host.printable import one_line
from acp_host.services.command_line import needs_shell
from acp_host.state.events import TerminalReported
from acp_host.wire.terminals import CreateTerminalRequest, TerminalOutputRequest

__all__ = ["RecordedTerminals"]

_LONGEST_LINE = 2_000
_MAX_TERMINALS = 1_000


@define
class _Terminal:
    line: str
    via_shell: bool
    output: str = ""
    ended: bool = False
    exit_code: int | None = None
    signal: str | None = None


class RecordedTerminals:
    """Makes of recorded answers what the host of then knew of its commands.

    Args:
        apply: takes what happened, with the id of its session.
    """

    def __init__(self, apply: Callable[[str, TerminalReported], None]) -> None:
        self._apply = apply
        self._terminals: dict[str, _Terminal] = {}

    def answered(self, method: str, params: Any, result: Any) -> None:
        """Take the recorded answer to a request of the agent, if it is about a terminal."""
        if not method.startswith("terminal/") or not isinstance(result, Mapping | None):
            return
        told = result or {}
        if isinstance(params, CreateTerminalRequest):
            self._created(params, told.get("terminalId"))
            return
        terminal_id = getattr(params, "terminal_id", None)
        terminal = self._terminals.get(str(terminal_id))
        if terminal is None:
            return
        printed = self._printed(terminal, told.get("output")) if isinstance(params, TerminalOutputRequest) else ""
        status = told.get("exitStatus") if method == "terminal/output" else told
        if method in ("terminal/output", "terminal/wait_for_exit"):
            self._ended(terminal, status)
        self._report(params.session_id, str(terminal_id), printed, released=method == "terminal/release")

    def _created(self, request: CreateTerminalRequest, terminal_id: Any) -> None:
        if not isinstance(terminal_id, str) or len(self._terminals) >= _MAX_TERMINALS:
            return
        line = shlex.join((request.command, *request.args)) if request.args else request.command
        via_shell = not request.args and needs_shell(request.command)
        self._terminals[terminal_id] = _Terminal(one_line(line, _LONGEST_LINE), via_shell)
        self._report(request.session_id, terminal_id)

    def _printed(self, terminal: _Terminal, output: Any) -> str:
        """Return what an output has that was not told before; of one whose beginning was dropped, all of it."""
        if not isinstance(output, str):
            return ""
        before, terminal.output = terminal.output, output
        return output.removeprefix(before)

    def _ended(self, terminal: _Terminal, status: Any) -> None:
        if not isinstance(status, Mapping):
            return
        code, signal = status.get("exitCode"), status.get("signal")
        terminal.ended = True
        terminal.exit_code = code if type(code) is int else None
        terminal.signal = signal if isinstance(signal, str) else None

    def _report(self, session_id: str, terminal_id: str, printed: str = "", *, released: bool = False) -> None:
        terminal = self._terminals[terminal_id]
        self._apply(
            session_id,
            TerminalReported(
                terminal_id,
                terminal.line,
                via_shell=terminal.via_shell,
                printed=printed,
                ended=terminal.ended,
                exit_code=terminal.exit_code,
                signal=terminal.signal,
                released=released,
            ),
        )
