"""The HTTP requests to one server: :class:`Server`. What they mean for a conversation is not decided here.

HTTP/2 is spoken where the server offers it, with one request at a time on a connection. In the HTTP library, the
requests of a connection take turns at reading from it: an answer that has arrived may wait for as long as another
stream is silent, and streams of events are silent for long. And where a server does not say how many requests it takes
at a time (Node.js does not), the library sends the second when the first is over, which a stream never is.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Mapping

import httpx2
from attrs import frozen

from acp_host.transports._cookies import CookieStore
from acp_host.transports.remote_options import RemoteOptions

__all__ = ["ANSWER_TIMEOUT", "Reply", "Server"]

ANSWER_TIMEOUT = 60.0
"""Seconds that a server may take to answer a request, or to take the next piece of one."""
_SAID = 8 * 1024
"""Bytes that are read of a body that is no message."""
_IDLE = 2.0
"""Seconds that an idle connection is used again; servers close theirs after five, some in the middle of a request."""
_MOST_FREE = 4
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""When a silent connection is probed, in seconds; a stream has no timeout, and its server may vanish without a word."""


@frozen
class Reply:
    """A whole answer.

    Attributes:
        status: its status.
        headers: its headers.
        body: its body, at most as much as was asked for.
    """

    status: int
    headers: httpx2.Headers
    body: bytes


class Server:
    """A server, and the ways there.

    Args:
        url: the endpoint.
        options: how to reach it.
        cookies: those that go there.
    """

    def __init__(self, url: str, options: RemoteOptions, cookies: CookieStore) -> None:
        self._url = url
        self._options = options
        self._cookies = cookies
        self._free: list[httpx2.AsyncClient] = []
        self._busy: set[httpx2.AsyncClient] = set()
        self._tls: ssl.SSLContext | None = options.tls
        self._timeout = httpx2.Timeout(ANSWER_TIMEOUT, connect=options.open_timeout, pool=None)

    async def open(self) -> None:
        """Get ready. Nothing is sent.

        Raises:
            OSError: the system's authorities cannot be read.
            ValueError: the proxy cannot be used.
            ImportError: it needs a package that is not installed.
        """
        if self._tls is None:
            self._tls = await asyncio.to_thread(httpx2.create_ssl_context)  # reads the authorities of the system
        self._free.append(self._client())

    async def send(
        self,
        verb: str,
        headers: Mapping[str, str],
        content: bytes | None = None,
        *,
        most: int = _SAID,
        patient: bool = False,
    ) -> Reply:
        """Make a request and return the answer.

        Args:
            verb: ``POST`` or ``DELETE``.
            headers: further headers.
            content: the body.
            most: bytes of the answer's body that are read.
            patient: the server may take as long as it likes.

        Raises:
            httpx2.RequestError: there is no answer.
        """
        timeout = httpx2.Timeout(self._timeout)
        if patient:
            timeout.read = None
        async with self._exchange(verb, headers, content, timeout) as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) >= most:
                    break
            return Reply(response.status_code, response.headers, bytes(body[:most]))

    @contextlib.asynccontextmanager
    async def listen(self, headers: Mapping[str, str]) -> AsyncIterator[httpx2.Response]:
        """Open a stream; its body has no timeout.

        Raises:
            httpx2.RequestError: it cannot be opened, or breaks.
        """
        timeout = httpx2.Timeout(self._timeout)
        timeout.read = None
        # Not compressed: some proxies collect events before they compress them.
        asked = {"Accept": "text/event-stream", "Cache-Control": "no-store", "Accept-Encoding": "identity"}
        async with asyncio.timeout(ANSWER_TIMEOUT) as deadline:
            async with self._exchange("GET", {**asked, **headers}, None, timeout) as response:
                deadline.reschedule(None)
                _keep_alive(response)
                yield response

    async def close(self) -> None:
        """Close all connections."""
        for client in (*self._free, *self._busy):
            await client.aclose()

    @contextlib.asynccontextmanager
    async def _exchange(
        self, verb: str, headers: Mapping[str, str], content: bytes | None, timeout: httpx2.Timeout
    ) -> AsyncIterator[httpx2.Response]:
        client = self._free.pop() if self._free else self._client()
        self._busy.add(client)
        name = self._options.server_hostname
        extensions = {} if name is None else {"sni_hostname": name}
        try:
            async with client.stream(
                verb, self._url, headers=headers, content=content, timeout=timeout, extensions=extensions
            ) as response:
                if "Set-Cookie" in response.headers:
                    self._cookies.take(self._url, ())  # the library has added them; so that they do not become many
                yield response
        finally:
            self._busy.discard(client)
            if len(self._free) < _MOST_FREE:
                self._free.append(client)
            else:
                await client.aclose()

    def _client(self) -> httpx2.AsyncClient:
        proxy = self._options.proxy
        return httpx2.AsyncClient(
            http2=True,
            verify=self._tls or True,
            headers=self._options.request_headers(),
            cookies=self._cookies.jar,
            proxy=proxy if isinstance(proxy, str) else None,
            trust_env=proxy is True,
            limits=httpx2.Limits(keepalive_expiry=_IDLE),
            follow_redirects=False,  # what is sent holds credentials, and is for this server alone
        )


def _keep_alive(response: httpx2.Response) -> None:
    stream = response.extensions.get("network_stream")
    connection = None if stream is None else stream.get_extra_info("socket")
    if connection is None:
        return
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE.items():
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
