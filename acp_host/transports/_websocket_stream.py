"""The messages of one open WebSocket, whichever end opened it: :class:`WebSocketStream`.

One message in each text frame; binary frames are ignored. What arrives within one turn of the event loop is delivered
at once, so that a fast stream costs its receiver no more calls than one over a pipe.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from websockets.asyncio.connection import Connection
from websockets.exceptions import ConnectionClosed

from acp_host.transports._frames import as_lines

__all__ = ["LIMIT", "WebSocketStream"]

LIMIT = 64 * 1024
"""How many unsent bytes :meth:`WebSocketStream.drain` accepts without waiting."""


class WebSocketStream:
    """Reads and writes newline-framed messages. Its two tasks are its own, and end with it.

    Attributes:
        longest: size of the longest message that was sent so far, in bytes.

    Args:
        connection: an open connection of the library.
        deliver: takes messages as they come, each with its newline.
        ended: called once when the connection is over, with what the library says of it.
        note: takes a sentence about what went otherwise than it should.
        warn_size: a message of more bytes than this is worth such a sentence; ``None``: none is.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        deliver: Callable[[bytes], None],
        ended: Callable[[ConnectionClosed], None],
        note: Callable[[str], None],
        warn_size: int | None = None,
    ) -> None:
        self._connection = connection
        self._hand_over = deliver
        self._tell_end = ended
        self._note = note
        self._warn_size = warn_size
        self.longest = 0
        self._partial = b""
        self._outgoing: deque[bytes] = deque()
        self._unsent = 0
        self._waiting = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._all_sent = asyncio.Event()
        self._all_sent.set()
        self._arrived: list[bytes] = []
        self._writer = asyncio.create_task(self._send(), name="acp_host WebSocket writer")
        self._reader = asyncio.create_task(self._receive(), name="acp_host WebSocket reader")

    # Writing

    @property
    def queued(self) -> int:
        """Bytes of the messages that were not sent yet."""
        return self._unsent

    def write(self, data: bytes) -> None:
        """Queue bytes; each message is sent once its newline is there."""
        *messages, self._partial = (self._partial + data).split(b"\n")
        for message in messages:
            if message:
                self._queue(message)

    async def drain(self) -> None:
        """Wait while more than :data:`LIMIT` bytes are queued; returns when the connection is over, too."""
        await self._room.wait()

    def _queue(self, message: bytes) -> None:
        size = len(message)
        if self._warn_size is not None and size > self._warn_size:
            self._note(f"a message of {size} bytes is sent; some servers and proxies end the connection then")
        self.longest = max(self.longest, size)
        self._outgoing.append(message)
        self._unsent += size
        self._all_sent.clear()
        self._waiting.set()
        if self._unsent > LIMIT:
            self._room.clear()

    async def _send(self) -> None:
        """Send what is queued, in order. That the connection is over is told by the reader."""
        try:
            while True:
                while self._outgoing:
                    message = self._outgoing[0]
                    await self._connection.send(message, text=True)
                    self._outgoing.popleft()
                    self._unsent -= len(message)
                    if self._unsent <= LIMIT:
                        self._room.set()
                self._all_sent.set()
                self._waiting.clear()
                await self._waiting.wait()
        except ConnectionClosed:
            pass

    # Reading

    async def _receive(self) -> None:
        try:
            while True:
                self._take(await self._connection.recv())
        except ConnectionClosed as error:
            self._deliver()
            self._room.set()
            self._tell_end(error)
        finally:
            self.abort()
            self._writer.cancel()
            self._all_sent.set()

    def _take(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            self._note(f"a binary frame of {len(frame)} bytes was ignored: messages of ACP are text frames")
        elif lines := as_lines(frame.encode()):
            if not self._arrived:
                asyncio.get_running_loop().call_soon(self._deliver)
            self._arrived.append(lines)

    def _deliver(self) -> None:
        if self._arrived:
            data = b"".join(self._arrived)
            self._arrived.clear()
            self._hand_over(data)

    # The end

    def abort(self) -> None:
        """Cut the connection without a goodbye."""
        self._connection.transport.abort()

    async def close(self, seconds: float) -> bool:
        """Send what is queued, say goodbye and wait for the answer, at most so long; tell whether it came in time."""
        self._room.set()
        try:
            async with asyncio.timeout(seconds):
                await self._all_sent.wait()
                await self._connection.close()
        except TimeoutError:
            return False
        finally:
            self.abort()
            self._reader.cancel()
            await asyncio.wait([self._reader, self._writer])
        return True
