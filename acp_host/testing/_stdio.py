"""The agent's end of a pipe: :class:`HostOnStdio`, the transport of an agent that a host has launched.

File descriptors 0 and 1 belong to the protocol. They are moved away at the start, so that nothing else can touch them:
what the program prints goes to stderr, and what it reads is empty.

Two threads read and write, since that is the one way that works on every platform and for every kind of descriptor, a
pipe, a file or a terminal. Neither keeps the process alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
from collections.abc import Awaitable, Callable

from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidState, TransportError
from acp_host.transports import Receiver, Transport

__all__ = ["HostOnStdio", "run_on_stdio"]

_CHUNK = 64 * 1024
_LIMIT = 64 * 1024
"""How many unwritten bytes ``drain()`` accepts without waiting."""
_FLUSH = 2.0
"""Seconds that the end of an agent waits for a host that does not read."""


def run_on_stdio(serve: Callable[[Transport], Awaitable[int]]) -> int:
    """Run an agent whose host is at stdin and stdout; return its exit status.

    Args:
        serve: runs the agent over the transport it is given.
    """

    async def run() -> int:
        transport = HostOnStdio()
        try:
            return await serve(transport)
        finally:
            await transport.close()

    try:
        return asyncio.run(run())
    except KeyboardInterrupt:
        return 130  # as shells count it; somebody tries the agent out in a terminal


class HostOnStdio(Transport):
    """Reads what the host wrote from file descriptor 0 and writes to file descriptor 1; both are its own from then on.

    The end of the input ends the connection, cleanly: so a host tells its agent to stop.
    """

    description = "the host at stdin and stdout"

    def __init__(self) -> None:
        self._receiver: Receiver | None = None
        self._input = self._output = -1
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unwritten = 0
        self._room = asyncio.Event()
        self._room.set()
        self._flushed = asyncio.Event()
        self._closed = False
        self._lost: TransportError | None = None
        self._ended = False

    async def start(self, receiver: Receiver) -> None:
        if self._receiver is not None or self._closed:
            raise InvalidState(f"{self.description} was started or closed before")
        self._receiver = receiver
        self._loop = asyncio.get_running_loop()
        self._input, self._output = _take_over(0, os.O_RDONLY), _take_over(1)
        for work in (self._read, self._write):
            threading.Thread(target=work, daemon=True).start()

    def write(self, data: bytes) -> None:
        self._check()
        if data:
            self._unwritten += len(data)
            if self._unwritten > _LIMIT:
                self._room.clear()
            self._queue.put(data)

    async def drain(self) -> None:
        self._check()
        await self._room.wait()
        self._check()

    async def close(self) -> None:
        if self._receiver is None or self._closed:
            self._closed = True
            return
        self._closed = True
        self._queue.put(None)
        try:
            async with asyncio.timeout(_FLUSH):
                await self._flushed.wait()
        except TimeoutError:
            pass  # the host reads nothing more; the process ends with the rest unwritten
        self._end(None)

    def _check(self) -> None:
        if self._closed:
            raise ConnectionClosed(f"{self.description} is closed")
        if self._receiver is None:
            raise InvalidState(f"{self.description} is not started")
        if self._lost is not None:
            raise self._lost

    # --- on the loop ------------------------------------------------------------------------------------------------

    def _received(self, data: bytes) -> None:
        if not self._ended:
            assert self._receiver is not None
            self._receiver.data_received(data)

    def _written(self, size: int) -> None:
        self._unwritten -= size
        if self._unwritten <= _LIMIT:
            self._room.set()

    def _broken(self, error: OSError) -> None:
        self._lost = ConnectionLost(f"{self.description} is gone: {error}")
        self._room.set()
        self._end(self._lost)

    def _end(self, error: TransportError | None) -> None:
        self._room.set()
        if not self._ended:
            self._ended = True
            assert self._receiver is not None
            self._receiver.connection_lost(error)

    # --- on the threads ---------------------------------------------------------------------------------------------

    def _call(self, callback: Callable[..., None], *arguments: object) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop is closed, and with it the agent
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _read(self) -> None:
        try:
            while data := os.read(self._input, _CHUNK):
                self._call(self._received, data)
        except OSError:
            pass  # a host that died while it wrote: the end of the input like any other
        self._call(self._end, None)

    def _write(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._output, rest) :]
                self._call(self._written, len(data))
        except OSError as error:
            self._call(self._broken, error)
        finally:
            os.close(self._output)
            self._call(self._flushed.set)


def _take_over(descriptor: int, mode: int | None = None) -> int:
    """Move a descriptor to a number of its own; what was under the old number becomes nothing, or stderr."""
    moved = os.dup(descriptor)
    if mode is None:
        os.dup2(2, descriptor)
    else:
        nothing = os.open(os.devnull, mode)
        os.dup2(nothing, descriptor)
        os.close(nothing)
    return moved
