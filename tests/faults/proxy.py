"""A proxy that spoils a connection on purpose, at a point that a test names: :class:`FaultyProxy`.

It passes on TCP, so it serves WebSocket and HTTP alike, and knows neither. What it counts are *pieces*: what one side
wrote, as one read returns it. Peers on one machine write a message at a time, so that is a message, or a few of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

from attrs import define, frozen

__all__ = ["Fault", "FaultyProxy", "How", "Way", "proxy_to"]


class How(enum.Enum):
    """What happens to a piece."""

    CUT_BEFORE = "cut before"
    """It is not passed on, and both ends find the connection reset."""
    CUT_INSIDE = "cut inside"
    """Its first half is passed on, then the connection is reset."""
    CUT_AFTER = "cut after"
    """It is passed on, then the connection is reset."""
    HALF_CLOSE = "half-close"
    """It is passed on, and then nothing more that way: the reader finds the end, and can still write."""
    DELAY = "delay"
    """It and all that follows it that way is passed on later."""


class Way(enum.Enum):
    """Which way a piece goes."""

    TO_AGENT = "to agent"
    TO_HOST = "to host"


@frozen
class Fault:
    """One fault.

    Attributes:
        at: which piece, counted from 0 over all connections, in both ways.
        how: what happens to it.
        all: whether every connection is cut that is open then, and not only that of the piece.
        delay: seconds of a delay.
    """

    at: int
    how: How
    all: bool = False
    delay: float = 0.05


@define(eq=False)
class _End:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def reset(self) -> None:
        self.writer.transport.abort()


class FaultyProxy:
    """Passes on what comes, but for one fault; whoever connects after it is served well.

    Attributes:
        url: where hosts connect.
        pieces: which way each piece went so far.
        connections: how many there were.
        struck: set once the fault has happened.
    """

    def __init__(self, url: str, host: str, port: int, fault: Fault | None) -> None:
        self.url = url
        self.pieces: list[Way] = []
        self.connections = 0
        self.struck = asyncio.Event()
        self._upstream = host, port
        self._fault = fault
        self._open: set[tuple[_End, _End]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until one of its ends is gone."""
        self.connections += 1
        host = _End(reader, writer)
        try:
            agent = _End(*await asyncio.open_connection(*self._upstream))
        except OSError:  # the agent has ended
            host.reset()
            return
        pair = host, agent
        self._open.add(pair)
        try:
            with contextlib.suppress(OSError):
                await asyncio.gather(self._pump(pair, Way.TO_AGENT), self._pump(pair, Way.TO_HOST))
        finally:
            self._open.discard(pair)
            for end in pair:
                end.reset()

    async def _pump(self, pair: tuple[_End, _End], way: Way) -> None:
        source, target = pair if way is Way.TO_AGENT else pair[::-1]
        while piece := await source.reader.read(1 << 20):
            number = len(self.pieces)
            self.pieces.append(way)
            if self._fault is not None and number == self._fault.at:
                self.struck.set()
                if not await self._strike(pair, target, piece, self._fault):
                    return
            else:
                target.writer.write(piece)
        if target.writer.can_write_eof():
            target.writer.write_eof()

    async def _strike(self, pair: tuple[_End, _End], target: _End, piece: bytes, fault: Fault) -> bool:
        """Spoil one piece; tell whether more is passed on that way."""
        if fault.how is How.DELAY:
            await asyncio.sleep(fault.delay)
        passed = {How.CUT_BEFORE: 0, How.CUT_INSIDE: len(piece) // 2}.get(fault.how, len(piece))
        target.writer.write(piece[:passed])
        if fault.how is How.DELAY:
            return True
        await asyncio.sleep(0)  # what was written is on its way before the connection is reset
        if fault.how is How.HALF_CLOSE:
            target.writer.write_eof()
            return False
        if fault.all:
            self.cut()
        for end in pair:
            end.reset()
        return False

    def cut(self) -> None:
        """Reset every connection that is open."""
        for pair in tuple(self._open):
            for end in pair:
                end.reset()


@asynccontextmanager
async def proxy_to(url: str, fault: Fault | None = None) -> AsyncIterator[FaultyProxy]:
    """Listen on this machine, in front of the server at a URL."""
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    proxy = FaultyProxy("", parts.hostname, parts.port, fault)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    proxy.url = urlunsplit(parts._replace(netloc=f"{host}:{port}"))
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
        await server.wait_closed()
