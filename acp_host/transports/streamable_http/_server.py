"""The HTTP requests to one server: :class:`Server`. What they mean for a conversation is not decided here.

Streams last, and each takes a place in a connection that multiplexes. Once all places are taken, a request that is sent
on the same connection waits for ever; so they are counted, and who finds none goes by another connection. A server that
does not say how many there are (Node.js does not) is taken at one, since the HTTP library does so, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
from attrs import frozen

from acp_host.transports._cookies import CookieStore
from acp_host.transports.remote_options import RemoteOptions

__all__ = ["ANSWER_TIMEOUT", "Reply", "Server"]

ANSWER_TIMEOUT = 60.0
"""Seconds that a server may take to answer a request, or to take the next piece of one."""
_SAID = 8 * 1024
"""Bytes that are read of a body that is no message."""
_MAX_CONCURRENT_STREAMS = 3
"""The setting of HTTP/2 (RFC 9113 §6.5.2)."""
_IDLE = 2.0
"""Seconds that an idle connection is used again; servers close theirs after five, some in the middle of a request."""
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


class _Line:
    """An HTTP client with one connection to the server, as soon as that turns out to multiplex."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client
        self.used = 0
        self.places = 1.0

    async def trace(self, name: str, info: Mapping[str, Any]) -> None:
        if name == "http2.receive_remote_settings.complete":
            changed = info["return_value"].changed_settings.get(_MAX_CONCURRENT_STREAMS)
            if changed is not None:
                self.places = max(changed.new_value, 1)

    def learn(self, response: httpx2.Response) -> None:
        if response.http_version != "HTTP/2":
            self.places = math.inf  # each request has a connection to itself, and there may be any number of them


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
        self._lines: list[_Line] = []
        self._tls: ssl.SSLContext | None = options.tls
        self._timeout = httpx2.Timeout(ANSWER_TIMEOUT, connect=options.open_timeout, pool=None)

    async def open(self) -> None:
        """Get ready. Nothing is sent."""
        if self._tls is None:
            self._tls = await asyncio.to_thread(httpx2.create_ssl_context)  # reads the authorities of the system

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
            httpx2.TransportError: there is no answer.
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
            httpx2.TransportError: it cannot be opened, or breaks.
        """
        timeout = httpx2.Timeout(self._timeout)
        timeout.read = None
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store", **headers}
        async with asyncio.timeout(ANSWER_TIMEOUT) as deadline:
            async with self._exchange("GET", headers, None, timeout) as response:
                deadline.reschedule(None)
                _keep_alive(response)
                yield response

    async def close(self) -> None:
        """Close all connections."""
        for line in self._lines:
            await line.client.aclose()

    @contextlib.asynccontextmanager
    async def _exchange(
        self, verb: str, headers: Mapping[str, str], content: bytes | None, timeout: httpx2.Timeout
    ) -> AsyncIterator[httpx2.Response]:
        line = self._free_line()
        line.used += 1
        extensions: dict[str, Any] = {"trace": line.trace}
        if self._options.server_hostname is not None:
            extensions["sni_hostname"] = self._options.server_hostname
        try:
            async with line.client.stream(
                verb, self._url, headers=headers, content=content, timeout=timeout, extensions=extensions
            ) as response:
                line.learn(response)
                yield response
        finally:
            line.used -= 1

    def _free_line(self) -> _Line:
        for line in self._lines:
            if line.used < line.places:
                return line
        proxy = self._options.proxy
        self._lines.append(
            _Line(
                httpx2.AsyncClient(
                    http2=True,
                    verify=self._tls or True,
                    headers=self._options.request_headers(),
                    cookies=self._cookies.jar,
                    proxy=proxy if isinstance(proxy, str) else None,
                    trust_env=proxy is True,
                    limits=httpx2.Limits(keepalive_expiry=_IDLE),
                    follow_redirects=False,  # what is sent holds credentials, and is for this server alone
                )
            )
        )
        return self._lines[-1]


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
