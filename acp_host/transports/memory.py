"""Two ends of one stream inside a process: :func:`memory_pair`.

For tests and for an agent that runs in the host's own process. Order, backpressure and the two ways to end are those of
a real transport; there is no process, so ``exit_status`` is ``None`` and ``stderr_tail()`` is empty.
"""

from __future__ import annotations

import asyncio
from collections import deque

from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidState, TransportError
from acp_host.transports._base import Receiver, Transport

__all__ = ["memory_pair"]

_BURST = 256 * 1024
"""Bytes delivered in one loop callback before other callbacks get their turn."""


def memory_pair(*, limit: int = 64 * 1024) -> tuple[Transport, Transport]:
    """Return two connected transports: what one end writes, the other receives.

    Each ``write()`` arrives as one ``data_received()`` in a later callback of the loop, in order; what is written
    before the other end has started waits for it. Closing an end is a clean end for both: the other receives what was
    written before, then ``connection_lost(None)``. Both ends belong to one event loop.

    Args:
        limit: how many undelivered bytes ``drain()`` accepts without waiting.
    """
    left, right = _MemoryEnd("left", limit), _MemoryEnd("right", limit)
    left.other, right.other = right, left
    return left, right


class _MemoryEnd(Transport):
    """One end. ``inbox`` holds what the other end wrote and this end has not delivered yet."""

    other: _MemoryEnd

    def __init__(self, name: str, limit: int) -> None:
        self.description = f"the {name} end of an in-process pair"
        self._limit = limit
        self._inbox: deque[bytes] = deque()
        self._held = 0
        self._room = asyncio.Event()
        self._room.set()
        self._receiver: Receiver | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._scheduled = False
        self._closed = False
        self._reported = False

    async def start(self, receiver: Receiver) -> None:
        if self._closed or self._receiver is not None:
            raise InvalidState(f"{self.description} was started or closed before")
        self._receiver = receiver
        self._loop = asyncio.get_running_loop()
        self._schedule()

    @property
    def queued(self) -> int:
        return self.other._held

    def write(self, data: bytes) -> None:
        self._check()
        if data:
            self.other._accept(bytes(data))

    async def drain(self) -> None:
        self._check()
        await self.other._room.wait()
        self._check()

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._inbox.clear()
        self._room.set()
        self.other._room.set()
        self.other._schedule()
        self._report(None)

    def _check(self) -> None:
        if self._closed:
            raise ConnectionClosed(f"{self.description} is closed")
        if self._receiver is None:
            raise InvalidState(f"{self.description} is not started")
        if self.other._closed:
            raise ConnectionLost(f"{self.other.description} is closed")

    def _accept(self, data: bytes) -> None:
        self._inbox.append(data)
        self._held += len(data)
        if self._held > self._limit:
            self._room.clear()
        self._schedule()

    def _schedule(self) -> None:
        if self._loop is not None and not self._scheduled and (self._inbox or self.other._closed):
            self._scheduled = True
            self._loop.call_soon(self._deliver)

    def _deliver(self) -> None:
        self._scheduled = False
        receiver, delivered = self._receiver, 0
        assert receiver is not None
        try:
            while self._inbox and delivered < _BURST:
                data = self._inbox.popleft()
                delivered += len(data)
                receiver.data_received(data)
        finally:
            self._held -= delivered
            if self._held <= self._limit:
                self._room.set()
            if self._inbox:
                self._schedule()
            elif self.other._closed:
                self._report(None)

    def _report(self, error: TransportError | None) -> None:
        if self._receiver is not None and not self._reported:
            self._reported = True
            self._receiver.connection_lost(error)
