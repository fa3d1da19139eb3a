"""A server of Streamable HTTP that does what a test says: ordinary unless told otherwise, and right or wrong at will.

It is written down to the bytes, in HTTP/1.1, so that it can also do what no HTTP library does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from tests.transports.conftest import PATIENCE

__all__ = ["Exchange", "HttpServer", "serve"]

CONNECTION_ID = "connection-1"


class Exchange:
    """One request, and the way to answer it."""

    def __init__(self, head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        first, *lines = head.decode("latin-1").rstrip().split("\r\n")
        self.verb, self.target, _ = first.split(" ")
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        self.body = body
        self.writer = writer
        self.ended = asyncio.Event()

    @property
    def message(self) -> Any:
        return json.loads(self.body) if self.body else None

    @property
    def method(self) -> str | None:
        return self.message.get("method") if self.body else None

    @property
    def session_id(self) -> str | None:
        return self.headers.get("acp-session-id")

    async def answer(self, status: int, body: bytes | str = b"", **headers: str) -> None:
        """Answer in one piece; ``Content-Type`` is written ``content_type``."""
        body = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await self.writer.drain()
        self.ended.set()

    async def open(self, content_type: str = "text/event-stream", **headers: str) -> None:
        """Begin an event stream."""
        lines = ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", f"Content-Type: {content_type}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join([*lines, "", ""]).encode())
        await self.writer.drain()

    async def send(self, data: bytes | str) -> None:
        """Send bytes of the stream, as one chunk."""
        data = data.encode() if isinstance(data, str) else data
        self.writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        with contextlib.suppress(ConnectionError):
            await self.writer.drain()

    async def event(self, message: Any) -> None:
        """Send a message as an event."""
        await self.send(f"data: {json.dumps(message)}\n\n")

    async def end(self) -> None:
        """End the stream in good order."""
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()
        self.ended.set()

    def cut(self) -> None:
        """Break the connection off."""
        self.writer.transport.abort()
        self.ended.set()


class HttpServer:
    """What a test sees of the server.

    Attributes:
        url: its endpoint.
        exchanges: every request, in order of arrival.
        streams: the newest open stream of each session; ``None``: of the connection.
        on: looks at each request first; tells whether it has dealt with it.
    """

    def __init__(self) -> None:
        self.url = ""
        self.exchanges: list[Exchange] = []
        self.streams: dict[str | None, Exchange] = {}
        self.on: Callable[[Exchange], Awaitable[bool]] = self._leave
        self._news = asyncio.Event()

    def messages(self, method: str | None) -> list[Any]:
        """The messages that were posted with a method."""
        return [exchange.message for exchange in self.exchanges if exchange.body and exchange.method == method]

    async def until(self, done: Callable[[], Any]) -> None:
        """Wait until something is so after a request."""
        async with asyncio.timeout(PATIENCE):
            while not done():
                self._news.clear()
                await self._news.wait()

    async def stream(self, session_id: str | None = None, after: Exchange | None = None) -> Exchange:
        """Return the stream of a session once it is open, or a newer one than ``after``."""
        await self.until(lambda: self.streams.get(session_id) not in (None, after))
        return self.streams[session_id]

    async def take(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        self._news.set()
        if not await self.on(exchange):
            await self.ordinary(exchange)
        self._news.set()

    async def ordinary(self, exchange: Exchange) -> None:
        """Do what a server does that keeps to the text of the transport."""
        if exchange.verb == "GET":
            await exchange.open()
            self.streams[exchange.session_id] = exchange
            self._news.set()
            await exchange.ended.wait()
        elif exchange.method == "initialize":
            result = {"jsonrpc": "2.0", "id": exchange.message["id"], "result": {"protocolVersion": 1}}
            await exchange.answer(
                200, json.dumps(result), Content_Type="application/json", Acp_Connection_Id=CONNECTION_ID
            )
        else:
            await exchange.answer(202)

    @staticmethod
    async def _leave(exchange: Exchange) -> bool:
        return False


@contextlib.asynccontextmanager
async def serve(tls: ssl.SSLContext | None = None) -> AsyncIterator[HttpServer]:
    """Serve at a free port of this machine."""
    server = HttpServer()
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = next(
                    (int(line[15:]) for line in head.split(b"\r\n") if line[:15].lower() == b"content-length:"), 0
                )
                await server.take(Exchange(head, await reader.readexactly(size), writer))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            connections.discard(task)
            writer.close()

    listening = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls, limit=2**26)
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{listening.sockets[0].getsockname()[1]}/acp"
    try:
        yield server
    finally:
        listening.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
