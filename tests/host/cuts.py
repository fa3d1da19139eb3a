"""A way to an agent that is cut after so many messages, and leads to the same agent again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from acp_host.errors import AcpError, ConnectionLost, StartFailed, TransportError
from acp_host.host.reconnect_policy import ReconnectPolicy
from acp_host.transports import Receiver, Transport

QUICK = ReconnectPolicy(first_delay=0.0, jitter=0.0, budget=5.0, stable_after=0.0)
"""Does not wait, so that nobody has to."""


class Agent(Protocol):
    def transport(self) -> Transport: ...


class Way(Transport):
    """Leads to agents, one connection after the other; each may be cut, or may not come to be.

    Args:
        make: returns the agent for the n-th connection, from 0; always the same one, or one each.
        cuts: how long each connection is: so many messages of both directions; the last counts for all that follow.
            ``None``: as long as it likes. An error: it cannot be made, because of that.

    Attributes:
        sent: what the host has written on this connection and has arrived, whole messages.
        written: what it has written, whether it has arrived or not.
        made: the connections so far; the newest last.
    """

    remote = True
    description = "a way that is cut"

    def __init__(
        self,
        make: Callable[[int], Agent],
        cuts: Sequence[int | TransportError | None] = (None,),
        before: Way | None = None,
    ) -> None:
        self._make = make
        self._cuts = cuts
        self.made: list[Way] = [] if before is None else before.made
        self.sent: list[bytes] = []
        self.written: list[bytes] = []
        self._inner: Transport | None = None
        self._receiver: Receiver | None = None
        self._count = 0
        self._is_cut = False

    @property
    def number(self) -> int:
        return self.made.index(self)

    def again(self, env: Mapping[str, str]) -> Way:
        return Way(self._make, self._cuts, self)

    async def start(self, receiver: Receiver) -> None:
        self.made.append(self)
        cut = self._cut
        if isinstance(cut, TransportError):
            raise cut
        self._receiver = receiver
        self._inner = self._make(self.number).transport()
        await self._inner.start(self)

    @property
    def _cut(self) -> Any:
        return self._cuts[min(self.number, len(self._cuts) - 1)]

    def write(self, data: bytes) -> None:
        if self._is_cut:
            raise ConnectionLost("the way is cut")
        assert self._inner is not None
        for message in data.splitlines(keepends=True):
            self.written.append(message)
            if self._is_due():
                self.cut()
                return  # it never arrives
            self.sent.append(message)
            self._inner.write(message)

    async def drain(self) -> None:
        assert self._inner is not None
        await self._inner.drain()

    async def close(self) -> None:
        if self._inner is not None:
            await self._inner.close()

    def cut(self) -> None:
        """Cut it; the host learns of that in a later callback of the loop."""
        if self._is_cut or self._inner is None:
            return
        self._is_cut = True
        assert self._receiver is not None
        asyncio.get_running_loop().call_soon(self._receiver.connection_lost, ConnectionLost("the way is cut"))

    def _is_due(self) -> bool:
        """Count a message; tell whether it is beyond the cut."""
        self._count += 1
        return isinstance(self._cut, int) and self._count > self._cut

    def data_received(self, data: bytes) -> None:
        for message in data.splitlines(keepends=True):
            if self._is_cut:
                return
            if self._is_due():
                self.cut()
                return
            assert self._receiver is not None
            self._receiver.data_received(message)

    def connection_lost(self, error: AcpError | None) -> None:
        if not self._is_cut:
            self._is_cut = True
            assert self._receiver is not None
            self._receiver.connection_lost(error)


def refused(status: int = 401) -> StartFailed:
    return StartFailed(f"the server answered {status}", http_status=status, retryable=False)


def unreachable() -> StartFailed:
    return StartFailed("nobody listens there")
