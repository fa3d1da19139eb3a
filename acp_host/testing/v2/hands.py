"""Files and commands of an agent of ACP v2, which asks no host for them: :class:`OwnHands`.

The reference agent touches nothing, so they are made up: a session's files are in memory, and a command does nothing
but print, into a terminal of the agent.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable
from typing import Any

from acp_host.errors import ResourceNotFound
from acp_host.testing._hands import CommandResult, Hands
from acp_host.testing._tool_call import ToolCallInProgress
from acp_host.testing.agent_session import AgentSession
from acp_host.testing.agent_side import AgentSide
from acp_host.testing.v2.states import StatesV2
from acp_host.wire.tool_calls import Terminal
from acp_host.wire.updates import UnknownSessionUpdate

__all__ = ["OwnHands"]

_PRINTED = "\x1b[32m✓\x1b[0m {command}: nothing was run, all is well\r\n"
"""In green, with a character of three bytes, so that a host has something to put together."""
_PIECE = 3
"""Bytes in a chunk of output; that splits characters and escape sequences."""
_BETWEEN = 0.05
"""Seconds between two lines of a command in the background."""


class OwnHands(Hands):
    """Files that are in memory, and commands that only print.

    Args:
        session: the session.
        side: the way to the host.
        states: tells the host what works in the background.
        number: makes the next id out of a word.
    """

    can_read = can_write = can_run = True

    def __init__(self, session: AgentSession, side: AgentSide, states: StatesV2, number: Callable[[str], str]) -> None:
        self._session = session
        self._side = side
        self._states = states
        self._number = number

    async def read(self, path: str, line: int | None, limit: int | None) -> str:
        if path not in self._session.files:
            raise ResourceNotFound(f"there is no file {path}", data={"uri": path})
        first = (line or 1) - 1
        lines = self._session.files[path].splitlines(keepends=True)
        return "".join(lines[first:] if limit is None else lines[first : first + limit])

    async def write(self, path: str, content: str) -> None:
        self._session.files[path] = content

    async def run(self, command: str, args: tuple[str, ...], call: ToolCallInProgress | None) -> CommandResult:
        terminal_id = self._open(" ".join((command, *args)))
        if call is not None:
            call.show(Terminal(terminal_id))
        output = _PRINTED.format(command=os.path.basename(command))
        await self._print(terminal_id, output)
        self._update(terminal_id, exitStatus={"exitCode": 0})
        return CommandResult(output, truncated=False, exit_code=0, signal=None)

    async def leave_running(self, command: str, lines: int) -> str:
        terminal_id = self._open(command, capabilities={"cancel": {}})
        self._states.in_background("terminal", terminal_id)
        work = self._side.start(self._work_on(terminal_id, lines))
        self._session.works["terminal", terminal_id] = work
        await asyncio.sleep(0)  # a task that is cancelled before its first step would not tell its end
        return terminal_id

    async def _work_on(self, terminal_id: str, lines: int) -> None:
        status: dict[str, Any] = {"exitCode": 0}
        try:
            for number in range(lines):
                await asyncio.sleep(_BETWEEN)
                await self._print(terminal_id, f"line {number + 1}\r\n")
        except asyncio.CancelledError:
            status = {"signal": "SIGTERM"}
        del self._session.works["terminal", terminal_id]
        self._update(terminal_id, exitStatus=status, capabilities=None)
        self._states.background_ended(terminal_id)

    def _open(self, command: str, **members: Any) -> str:
        terminal_id = self._number("terminal")
        size = {"cols": 80, "rows": 24}
        self._update(terminal_id, command=command, cwd=self._session.cwd, size=size, **members)
        return terminal_id

    async def _print(self, terminal_id: str, text: str) -> None:
        data = text.encode()
        for start in range(0, len(data), _PIECE):
            piece = base64.b64encode(data[start : start + _PIECE]).decode()
            self._send("terminal_output_chunk", terminalId=terminal_id, data=piece)
            await self._side.drain()

    def _update(self, terminal_id: str, **members: Any) -> None:
        self._send("terminal_update", terminalId=terminal_id, **members)

    def _send(self, kind: str, **members: Any) -> None:
        update = UnknownSessionUpdate(kind, {"sessionUpdate": kind, **members})
        self._session.history.append(update)
        self._side.update(self._session.id, update)
