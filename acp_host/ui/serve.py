"""A page in the browser that shows a connection: :func:`serve_feed`, for the command ``acp-host serve``.

One server has the page's files, and the :mod:`feed <acp_host.ui.feed>` as a WebSocket at ``/feed``. It listens on this
machine only unless the caller insists, and lets nobody in without a token, see :mod:`acp_host.ui.page_access`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from attrs import frozen
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from acp_host.errors import InvalidInput
from acp_host.transports.serving_rules import Refusal, check_bind, host_in, path_in, url_at
from acp_host.ui.feed import Feed
from acp_host.ui.feed.command_forms import LARGEST_COMMAND
from acp_host.ui.page_access import PageAccess, Role
from acp_host.ui.page_files import STATIC, PageFiles, plain_page

__all__ = ["ServedFeed", "serve_feed"]

_FEED = "/feed"
_MOST_VIEWERS = 100
_GOODBYE = 1.0
"""Seconds that a browser may take to end a connection."""
_UNTIL_GONE = 20.0
"""Seconds between two signs of life, and seconds that each may take."""
_LOGIN = "Open the address that acp-host has printed: it has the token that lets this browser in."
_AGAIN = '<meta http-equiv="refresh" content="0">'

# The library logs requests with their tokens, and what is wrong with a request is told to who sent it.
_logger = logging.getLogger("acp_host.ui.websockets")
_logger.setLevel(logging.CRITICAL)


@frozen
class ServedFeed:
    """Where a page is served.

    Attributes:
        url: lets a browser in that may act; a secret.
        watch_url: lets a browser in that may look only; a secret, too.
        address: the page without a token.
        port: the port of the server.
    """

    url: str
    watch_url: str
    address: str
    port: int

    def __repr__(self) -> str:
        return f"<ServedFeed at {self.address}>"


@asynccontextmanager
async def serve_feed(
    feed: Feed,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    access: PageAccess | None = None,
    allow_other_machines: bool = False,
    static: Path = STATIC,
) -> AsyncIterator[ServedFeed]:
    """Serve a page that shows a feed while the block runs. ::

        async with Feed(host, permissions=queue) as feed, serve_feed(feed) as served:
            print(served.url)

    Args:
        feed: what is shown.
        host: name or address to listen at.
        port: port to listen at; 0 for a free one.
        access: who is let in; ``None``: who knows a random token.
        allow_other_machines: ``host`` may be one that other machines can reach.
        static: folder with the files of the page.

    Raises:
        InvalidInput: other machines could connect, and that was not allowed; or nothing can listen there.
    """
    check_bind(host, port, allow_other_machines=allow_other_machines)
    access = access or PageAccess()
    door = _Door(feed, access, PageFiles(static))
    try:
        server = await serve(
            door.serve,
            host,
            port,
            process_request=door.answer,
            compression=None,
            max_size=LARGEST_COMMAND,
            ping_interval=_UNTIL_GONE,
            ping_timeout=_UNTIL_GONE,
            close_timeout=_GOODBYE,
            server_header=None,
            logger=_logger,
        )
    except OSError as error:
        raise InvalidInput(f"nothing can listen at {host}, port {port}: {error.strerror or error}") from error
    try:
        yield door.opened(server)
    finally:
        server.close()
        await server.wait_closed()


class _Door:
    """Answers requests: with a file, or by making somebody a viewer of the feed."""

    def __init__(self, feed: Feed, access: PageAccess, files: PageFiles) -> None:
        self._feed = feed
        self._access = access
        self._files = files
        self._port = 0

    def opened(self, server: Server) -> ServedFeed:
        """Learn where the server listens; return what to tell of it."""
        place, self._port = next(iter(server.sockets)).getsockname()[:2]
        address = url_at("http", place, self._port, "/")
        url, watch_url = (self._access.url(address, role) for role in (Role.CONTROL, Role.WATCH))
        return ServedFeed(url, watch_url, address, self._port)

    def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the answer to a request; ``None``: it becomes a WebSocket."""
        refusal = self._access.refusal(request.headers)
        if refusal is not None:
            return plain_page(refusal.status, refusal.text, "localhost")
        host = host_in(request.headers.get_all("Host"), self._access.hosts) or "localhost"
        path = path_in(request.path)
        cookie = self._access.exchanged(request.path, self._port) if path == "/" else None
        if cookie is not None:
            return plain_page(HTTPStatus.SEE_OTHER, "Go on.", host, (("Location", "/"), ("Set-Cookie", cookie)))
        if self._access.role(request.headers, self._port) is None:
            return self._stranger(request, path, host)
        if path != _FEED:
            return self._files.response(path, host)
        refusal = self._refusal(request)
        return None if refusal is None else plain_page(refusal.status, refusal.text, host, refusal.headers)

    def _stranger(self, request: Request, path: str, host: str) -> Response:
        """Answer a request without a cookie.

        A browser that comes by a link on a page elsewhere does not send it; it does once it loads the page again.
        """
        if path == "/" and request.headers.get_all("Sec-Fetch-Site") in (["cross-site"], ["same-site"]):
            return plain_page(HTTPStatus.OK, "One moment.", host, head=_AGAIN)
        return plain_page(HTTPStatus.UNAUTHORIZED, _LOGIN, host, (("WWW-Authenticate", "Bearer"),))

    def _refusal(self, request: Request) -> Refusal | None:
        if not any("websocket" in value.lower() for value in request.headers.get_all("Upgrade")):
            text = "The feed is a WebSocket."
            return Refusal(HTTPStatus.UPGRADE_REQUIRED, text, (("Upgrade", "websocket"),))
        if len(self._feed.viewers) >= _MOST_VIEWERS:
            return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "There are too many viewers.")
        return None

    async def serve(self, connection: ServerConnection) -> None:
        """Be a viewer's way to the feed until it ends."""
        assert connection.request is not None
        role = self._access.role(connection.request.headers, self._port)

        async def send(message: bytes) -> Any:
            await connection.send(message, text=True)

        viewer = self._feed.join(send, may_control=role is Role.CONTROL)
        try:
            async for command in connection:
                await viewer.receive(command)
        except ConnectionClosed:
            pass
        finally:
            viewer.leave()
