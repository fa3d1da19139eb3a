"""Files and terminals for the agent that say what they do: :class:`ShownFiles` and :class:`ShownTerminals`.

What the agent does through the host is printed by the host itself, whether or not the agent tells of it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from acp_host.cli.command_output import output_text
from acp_host.cli.printer import Printer, plain
from acp_host.errors import RequestFailed
from acp_host.services.files import FileService
from acp_host.services.terminal_runner import TerminalCommand
from acp_host.services.terminals import TerminalProcess, TerminalService
from acp_host.wire._model import Unset
from acp_host.wire.files import (
    ReadTextFileRequest,
    ReadTextFileResponse,
    WriteTextFileRequest,
    WriteTextFileResponse,
)
from acp_host.wire.terminals import (
    CreateTerminalRequest,
    CreateTerminalResponse,
    KillTerminalRequest,
    KillTerminalResponse,
    ReleaseTerminalRequest,
    ReleaseTerminalResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
)

__all__ = ["ShownFiles", "ShownTerminals", "command_line"]


class ShownFiles(FileService):
    """A file service that prints each file it reads or writes."""

    def __init__(self, printer: Printer, *, read: bool, write: bool) -> None:
        super().__init__(read=read, write=write)
        self._printer = printer

    async def read_text_file(self, request: ReadTextFileRequest) -> ReadTextFileResponse:
        try:
            response = await super().read_text_file(request)
        except RequestFailed as error:
            self._refused("read", request.path, error)
            raise
        self._say(f"read {request.path}")
        return response

    async def write_text_file(self, request: WriteTextFileRequest) -> WriteTextFileResponse:
        try:
            response = await super().write_text_file(request)
        except RequestFailed as error:
            self._refused("write", request.path, error)
            raise
        self._say(f"wrote {request.path} ({len(request.content)} characters)")
        return response

    def _say(self, what: str, style: str = "") -> None:
        self._printer.line("file", plain(what, style))

    def _refused(self, what: str, path: str, error: RequestFailed) -> None:
        self._say(f"did not {what} {path}: {error.message}", "yellow")


class ShownTerminals(TerminalService):
    """A terminal service that prints each command when it starts, and the end of its output when it has ended."""

    def __init__(self, printer: Printer, *, environment: Mapping[str, str] | None = None) -> None:
        super().__init__(environment=environment)
        self._printer = printer
        self._untold: dict[str, TerminalProcess] = {}

    async def create(
        self, request: CreateTerminalRequest, command: TerminalCommand | None = None
    ) -> CreateTerminalResponse:
        try:
            response = await super().create(request, command)
        except RequestFailed as error:
            self._printer.line("command", plain(f"did not start {request.command}: {error.message}", "yellow"))
            raise
        terminal = self._find(request.session_id, response.terminal_id)
        if terminal is not None:
            self._untold[response.terminal_id] = terminal
            self._printer.line("command", plain(f"$ {command_line(terminal)}"))
        return response

    async def wait_for_exit(self, request: WaitForTerminalExitRequest) -> WaitForTerminalExitResponse:
        response = await super().wait_for_exit(request)
        self._tell(request.terminal_id)
        return response

    async def kill(self, request: KillTerminalRequest) -> KillTerminalResponse:
        response = await super().kill(request)
        self._tell(request.terminal_id)
        return response

    async def release(self, request: ReleaseTerminalRequest) -> ReleaseTerminalResponse:
        response = await super().release(request)
        self._tell(request.terminal_id)
        return response

    def tell_all(self) -> None:
        """Print what has not been printed of the commands that have ended, e.g. when the turn is over."""
        for terminal_id, terminal in tuple(self._untold.items()):
            if terminal.exit_status is not None:
                self._tell(terminal_id)

    def _find(self, session_id: str, terminal_id: str) -> TerminalProcess | None:
        return next((item for item in self.terminals(session_id) if item.terminal_id == terminal_id), None)

    def _tell(self, terminal_id: str) -> None:
        terminal = self._untold.pop(terminal_id, None)
        if terminal is None or terminal.exit_status is None:
            return
        status = terminal.exit_status
        text = output_text(
            terminal.output,
            truncated=terminal.truncated,
            exit_code=None if isinstance(status.exit_code, Unset) else status.exit_code,
            signal=status.signal or None,
        )
        self._printer.line("output", text)


def command_line(terminal: TerminalProcess) -> str:
    """Return a terminal's command as one would type it into a POSIX shell."""
    return f"{terminal.argv[0]}  (run by the shell)" if terminal.via_shell else shlex.join(terminal.argv)
