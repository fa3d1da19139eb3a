"""An agent inside the host's own process, which looks like a launched one: :class:`InProcessTransport`.

The agent runs as a task at the far end of a :func:`~acp_host.transports.memory_pair`. When it ends or fails by itself
the host learns what it would learn of a process: an exit status, and the traceback as the end of its stderr.
"""

from __future__ import annotations

import asyncio
import io
import traceback
from collections.abc import Awaitable, Callable

from acp_host.errors import AcpError, ConnectionLost, InvalidState
from acp_host.transports import Receiver, Transport, memory_pair

__all__ = ["InProcessTransport"]

_GRACE = 0.5
"""Seconds that an agent may take to end after the host has closed the connection, before its task is cancelled."""


class InProcessTransport(Transport):
    """The host's end of a connection to an agent that runs as a task.

    Args:
        serve: runs the agent over the transport it is given, and returns its exit status. It has to return when that
            transport reports the end of the connection.
        description: what the agent is, for messages.
        stderr: where the agent writes what a process would write to its stderr.
    """

    def __init__(
        self, serve: Callable[[Transport], Awaitable[int]], description: str, stderr: io.StringIO | None = None
    ) -> None:
        self.description = description
        self._serve = serve
        self._stderr = stderr or io.StringIO()
        self._host_end, self._agent_end = memory_pair()
        self._receiver: Receiver | None = None
        self._agent: asyncio.Task[None] | None = None
        self._exit_status: int | None = None
        self._closing: asyncio.Task[None] | None = None

    @property
    def exit_status(self) -> int | None:
        return self._exit_status

    @property
    def queued(self) -> int:
        return self._host_end.queued

    def stderr_tail(self) -> str:
        return self._stderr.getvalue()[-8192:].rstrip()

    async def start(self, receiver: Receiver) -> None:
        if self._closing is not None or self._receiver is not None:
            raise InvalidState(f"{self.description} was started or closed before")
        self._receiver = receiver
        await self._host_end.start(self)
        self._agent = asyncio.create_task(self._run(), name=self.description)

    def write(self, data: bytes) -> None:
        self._host_end.write(data)

    async def drain(self) -> None:
        await self._host_end.drain()

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the host's end of the pair."""
        assert self._receiver is not None
        self._receiver.data_received(data)

    def connection_lost(self, error: AcpError | None) -> None:
        """Take the end of the host's end of the pair; one that the agent brought about is told as a process's end."""
        assert self._receiver is not None
        if error is None and self._closing is None:
            how = "closed the connection" if self._exit_status is None else f"ended with status {self._exit_status}"
            error = ConnectionLost(
                f"{self.description} {how}", exit_status=self._exit_status, stderr_tail=self.stderr_tail()
            )
        self._receiver.connection_lost(error)

    async def _run(self) -> None:
        try:
            self._exit_status = await self._serve(self._agent_end)
        except Exception:
            self._stderr.write(traceback.format_exc())
            self._exit_status = 1
        finally:
            await self._agent_end.close()

    async def _close(self) -> None:
        await self._host_end.close()
        if self._agent is not None:
            await asyncio.wait({self._agent}, timeout=_GRACE)
            self._agent.cancel()
            await asyncio.wait({self._agent})
