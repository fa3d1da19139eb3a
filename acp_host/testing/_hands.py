"""How an agent gets at files and commands: :class:`Hands`, and :class:`HostHands`, which are the host's.

That is the way of ACP v1. In v2 the host has none to offer, see :class:`acp_host.testing.v2.hands.OwnHands`.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable

from attrs import frozen

from acp_host.errors import AcpError, NotSupported
from acp_host.testing._tool_call import ToolCallInProgress
from acp_host.testing.agent_session import AgentSession
from acp_host.testing.agent_side import AgentSide
from acp_host.wire._model import UNSET
from acp_host.wire.files import ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest
from acp_host.wire.terminals import (
    CreateTerminalRequest,
    CreateTerminalResponse,
    ReleaseTerminalRequest,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
)
from acp_host.wire.tool_calls import Terminal

__all__ = ["CommandResult", "Hands", "HostHands"]

READ, WRITE = "clientCapabilities.fs.readTextFile", "clientCapabilities.fs.writeTextFile"
RUN = "clientCapabilities.terminal"

_CLEANUP = 1.0
"""Seconds that the end of a turn waits for the host to release a terminal."""


@frozen
class CommandResult:
    """How a command ended.

    Attributes:
        output: what it printed.
        truncated: whether the host dropped the beginning of it.
        exit_code: its status, ``None`` where a signal ended it.
        signal: that signal's name.
    """

    output: str
    truncated: bool
    exit_code: int | None
    signal: str | None


class Hands(ABC):
    """Files and commands, for one session; arguments and errors are those of the methods of ``AgentTurn``."""

    @property
    @abstractmethod
    def can_read(self) -> bool:
        """Whether there are files to read."""

    @property
    @abstractmethod
    def can_write(self) -> bool:
        """Whether files can be written."""

    @property
    @abstractmethod
    def can_run(self) -> bool:
        """Whether commands can be run."""

    @abstractmethod
    async def read(self, path: str, line: int | None, limit: int | None) -> str:
        """Read a file."""

    @abstractmethod
    async def write(self, path: str, content: str) -> None:
        """Write a file."""

    @abstractmethod
    async def run(self, command: str, args: tuple[str, ...], call: ToolCallInProgress | None) -> CommandResult:
        """Run a command until it ends."""

    @abstractmethod
    async def leave_running(self, command: str, lines: int) -> str:
        """Start a command that prints some lines in the background; return the id of its terminal."""


class HostHands(Hands):
    """The host reads, writes and runs, as far as it has offered that.

    Args:
        session: the session.
        side: the way to the host.
        offers: tells whether the host offers a capability.
    """

    def __init__(self, session: AgentSession, side: AgentSide, offers: Callable[[str], bool]) -> None:
        self._session = session
        self._side = side
        self._offers = offers

    @property
    def can_read(self) -> bool:
        return self._offers(READ)

    @property
    def can_write(self) -> bool:
        return self._offers(WRITE)

    @property
    def can_run(self) -> bool:
        return self._offers(RUN)

    async def read(self, path: str, line: int | None, limit: int | None) -> str:
        self._require(READ, "fs/read_text_file")
        request = ReadTextFileRequest(
            self._session.id, path, UNSET if line is None else line, UNSET if limit is None else limit
        )
        answer: ReadTextFileResponse = await self._side.request("fs/read_text_file", request)
        return answer.content

    async def write(self, path: str, content: str) -> None:
        self._require(WRITE, "fs/write_text_file")
        await self._side.request("fs/write_text_file", WriteTextFileRequest(self._session.id, path, content))

    async def run(self, command: str, args: tuple[str, ...], call: ToolCallInProgress | None) -> CommandResult:
        self._require(RUN, "terminal/create")
        session_id = self._session.id
        create = CreateTerminalRequest(session_id, command, args, cwd=self._session.cwd, output_byte_limit=100_000)
        created: CreateTerminalResponse = await self._side.request("terminal/create", create)
        terminal_id = created.terminal_id
        try:
            if call is not None:
                call.show(Terminal(terminal_id))
            wait = WaitForTerminalExitRequest(session_id, terminal_id)
            end: WaitForTerminalExitResponse = await self._side.request("terminal/wait_for_exit", wait)
            printed: TerminalOutputResponse = await self._side.request(
                "terminal/output", TerminalOutputRequest(session_id, terminal_id)
            )
        finally:
            await self._release(terminal_id)
        exit_code = end.exit_code if isinstance(end.exit_code, int) else None
        return CommandResult(printed.output, printed.truncated, exit_code, end.signal or None)

    async def leave_running(self, command: str, lines: int) -> str:
        raise NotSupported(
            "ACP v1 has no terminals of an agent", capability="protocolVersion", method="terminal_update"
        )

    def _require(self, capability: str, method: str) -> None:
        if not self._offers(capability):
            text = f"The host does not offer {capability}, so {method} was not sent."
            raise NotSupported(text, capability=capability, method=method)

    async def _release(self, terminal_id: str) -> None:
        try:
            async with asyncio.timeout(_CLEANUP):
                await self._side.request("terminal/release", ReleaseTerminalRequest(self._session.id, terminal_id))
        except (AcpError, TimeoutError):
            pass  # the host ends what it runs with the session, or with the connection
