"""WebSocket servers on loopback that do what a test says, and transports to them of which nothing may be left."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from acp_host.diagnostics import Diagnostic
from acp_host.transports import RemoteOptions
from acp_host.transports.websocket import WebSocketTransport
from tests.transports.conftest import Recorder

Handler = Callable[[ServerConnection], Awaitable[None]]
Answer = tuple[int, Mapping[str, str], bytes]


class Server:
    """A running server.

    Attributes:
        port: where it listens.
        requests: what it was asked for, in order.
        open: the connection of each client, in order.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.requests: list[Request] = []
        self.open: list[ServerConnection] = []

    def url(self, path: str = "/acp", *, host: str = "127.0.0.1", scheme: str = "ws") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


@asynccontextmanager
async def serving(
    handler: Handler | None = None,
    *,
    headers: Mapping[str, str] | Callable[[Request], list[tuple[str, str]]] | None = None,
    answer: Callable[[Request], Answer | None] = lambda _: None,
    **options: Any,
) -> AsyncIterator[Server]:
    """Run a server.

    Args:
        handler: what it does with a connection; ``None``: it waits for the end.
        headers: further headers of the upgrade.
        answer: returns status, headers and body for a request that is not upgraded.
        options: for the library.
    """
    made = Server(0)

    async def run(connection: ServerConnection) -> None:
        made.open.append(connection)
        if handler is None:
            await connection.wait_closed()
        else:
            await handler(connection)

    def ask(connection: ServerConnection, request: Request) -> Response | None:
        made.requests.append(request)
        refused = answer(request)
        if refused is None:
            return None
        status, more, body = refused
        response = connection.respond(status, "")
        del response.headers["Content-Length"]
        response.body = body
        response.headers["Content-Length"] = str(len(body))
        for name, value in more.items():
            if name in response.headers:
                del response.headers[name]
            response.headers[name] = value
        return response

    def add(connection: ServerConnection, request: Request, response: Response) -> None:
        given = headers(request) if callable(headers) else list((headers or {}).items())
        for name, value in given:
            response.headers[name] = value

    options.setdefault("compression", None)
    async with serve(run, "127.0.0.1", 0, process_request=ask, process_response=add, close_timeout=1, **options) as it:
        made.port = next(iter(it.sockets)).getsockname()[1]
        yield made


class Links:
    """Makes transports and keeps what they report."""

    def __init__(self) -> None:
        self.made: list[WebSocketTransport] = []
        self.notes: list[Diagnostic] = []

    def transport(self, url: str, **options: Any) -> WebSocketTransport:
        made = WebSocketTransport(url, RemoteOptions(**options), on_diagnostic=self.notes.append)
        self.made.append(made)
        return made

    async def start(self, url: str, **options: Any) -> tuple[WebSocketTransport, Recorder]:
        transport, recorder = self.transport(url, **options), Recorder()
        await transport.start(recorder)
        return transport, recorder

    def says(self, text: str) -> bool:
        return any(text in note.message for note in self.notes)


class NamedHosts:
    """Makes names resolve to loopback, so that a server there is one of another machine to the library under test.

    No proxy of the environment is in the way.
    """

    def __init__(self, patch: Any) -> None:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            patch.delenv(name, raising=False)
        self._real = socket.getaddrinfo
        self._names: set[str] = set()
        patch.setattr(socket, "getaddrinfo", self._look_up)

    def add(self, name: str) -> str:
        self._names.add(name)
        return name

    def _look_up(self, host: Any, *rest: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name in self._names:
            return self._real("127.0.0.1", *rest, **more)
        if name is not None and not name.replace(".", "").isdigit():
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self._real(host, *rest, **more)


@asynccontextmanager
async def listening(
    handler: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[int]:
    """Run a server that speaks no WebSocket; return its port."""

    running: set[asyncio.Task[None]] = set()

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        running.add(task)
        try:
            await handler(reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError, ssl.SSLError):
                await writer.wait_closed()

    server = await asyncio.start_server(run, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
    if running:
        await asyncio.wait(running)
