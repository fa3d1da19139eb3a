"""An agent elsewhere, spoken to over a WebSocket: :class:`WebSocketTransport`.

The protocol is that of the `websockets <https://websockets.readthedocs.io>`_ library; what is here is what ACP makes of
it (RFD "Streamable HTTP & WebSocket Transport"): one JSON-RPC message in each text frame, binary frames ignored, the
name that the server gives to the connection, cookies that outlive it, and errors that say what to do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import urljoin, urlsplit

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as _library_connect
from websockets.exceptions import ConnectionClosed as WebSocketClosed
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from acp_host.diagnostics import Diagnostic
from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidInput, InvalidState, StartFailed, TransportError
from acp_host.printable import printable
from acp_host.transports._base import Receiver
from acp_host.transports._callbacks import call_back
from acp_host.transports._cookies import CookieStore
from acp_host.transports._remote_base import RemoteTransport
from acp_host.transports._websocket_errors import MAPPED, not_opened, why_closed
from acp_host.transports._websocket_stream import LIMIT, WebSocketStream
from acp_host.transports.remote_address import RemoteAddress
from acp_host.transports.remote_options import RemoteOptions

__all__ = ["WebSocketTransport"]

_MOST_REDIRECTS = 5
_LONGEST_ID = 200
"""Characters of the connection's name that are kept."""

# At DEBUG the library logs every header and frame, tokens included. Somebody who wants that says so to this logger.
_logger = logging.getLogger("acp_host.websockets")
_logger.setLevel(logging.INFO)


class _Connect(_library_connect):
    """The library's way in, without its redirects: it would take headers of other names than its own elsewhere."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class WebSocketTransport(RemoteTransport):
    """Connects to an agent at a ``ws://`` or ``wss://`` URL and moves messages over the WebSocket.

    Args:
        url: the agent's endpoint, often with the path ``/acp``.
        options: how to get there.
        on_diagnostic: called with what went otherwise than it should but is no error, e.g. a binary frame.
        cookies: those of an earlier connection to the same agent; :meth:`again` passes them on.

    Raises:
        InvalidInput: the URL is none, or does not fit the options.
    """

    medium = "a WebSocket"
    schemes = ("ws", "wss")

    def __init__(
        self,
        url: str,
        options: RemoteOptions | None = None,
        *,
        on_diagnostic: Callable[[Diagnostic], None] | None = None,
        cookies: CookieStore | None = None,
    ) -> None:
        super().__init__(url, options, on_diagnostic=on_diagnostic, cookies=cookies)
        self._receiver: Receiver | None = None
        self._stream: WebSocketStream | None = None
        self._opening: asyncio.Task[None] | None = None
        self._closer: asyncio.Task[None] | None = None
        self._closed: WebSocketClosed | None = None
        self._reported = False

    @property
    def queued(self) -> int:
        return 0 if self._stream is None else self._stream.queued

    # Start

    async def start(self, receiver: Receiver) -> None:
        """Open the WebSocket.

        Raises:
            StartFailed: there is no WebSocket to be had; the message says why and what to do.
            ConnectionClosed: :meth:`close` was called meanwhile.
            InvalidState: the transport was started or closed before.
        """
        if self._receiver is not None or self._closer is not None:
            raise InvalidState(f"the transport to {self.description} was started or closed before")
        self._receiver = receiver
        self._warn_of_open_secrets()
        self._opening = asyncio.create_task(self._open(), name=f"connect to {self.description}")
        try:
            await self._opening
        except asyncio.CancelledError:
            self._reported = True  # the receiver belongs to a start that never returned
            if self._stream is not None:
                self._stream.abort()
            task = asyncio.current_task()
            if self._closer is not None and not (task is not None and task.cancelling()):
                raise ConnectionClosed(f"the connection to {self.description} was closed while it was made") from None
            raise

    async def _open(self) -> None:
        url = self._address.url
        try:
            async with asyncio.timeout(self._options.open_timeout):
                for _ in range(_MOST_REDIRECTS):
                    try:
                        connection = await self._connect(url)
                        break
                    except InvalidStatus as error:
                        self._cookies.take(url, error.response.headers.get_all("Set-Cookie"))
                        url = self._same_origin(url, error)
                else:
                    raise StartFailed(f"cannot connect to {self.description}: it redirects without an end")
        except MAPPED as error:
            raise self._without_secrets(not_opened(error, self._address, self._options)) from None
        self._begin(connection, url)

    def _connect(self, url: str) -> _Connect:
        options, headers = self._options, self._options.request_headers()
        cookies = self._cookies.header(url)
        if cookies is not None:
            headers["Cookie"] = cookies
        tls: dict[str, Any] = {}
        if self._address.secure:
            if options.tls is not None:
                tls["ssl"] = options.tls
            if options.server_hostname is not None:
                tls["server_hostname"] = options.server_hostname
        return _Connect(
            url,
            additional_headers=headers,
            subprotocols=[Subprotocol(name) for name in options.subprotocols] or None,
            # Between two programs of one machine there is nothing to save.
            compression="deflate" if options.compression and not self._address.is_loopback else None,
            proxy=self._proxy(),
            open_timeout=None,
            ping_interval=options.keepalive,
            ping_timeout=options.keepalive_timeout,
            close_timeout=options.close_timeout,
            max_size=options.max_size,
            write_limit=LIMIT,
            logger=_logger,
            **tls,
        )

    def _proxy(self) -> str | Literal[True] | None:
        """Return how the library takes a proxy; to this machine itself, that of the system is never the way."""
        proxy = self._options.proxy
        if isinstance(proxy, str):
            return proxy
        return True if proxy and not self._address.is_loopback else None

    def _same_origin(self, url: str, error: InvalidStatus) -> str:
        """Return where a redirect leads, if that is another path of the same server; else raise the error."""
        place = error.response.headers.get("Location")
        if not 300 <= error.response.status_code < 400 or not place:
            raise error
        old = urlsplit(url)
        bare = old._replace(netloc=old.netloc.rpartition("@")[2])
        try:
            new = RemoteAddress.of(urljoin(bare.geturl(), place))
        except (InvalidInput, ValueError):
            raise error from None
        here = self._address
        if (new.secure, new.host, new.port) != (here.secure, here.host, here.port) or new.has_user:
            raise error
        path = urlsplit(new.url)
        return old._replace(path=path.path, query=path.query).geturl()

    def _begin(self, connection: ClientConnection, url: str) -> None:
        """Take possession of an open WebSocket."""
        assert connection.response is not None
        headers = connection.response.headers
        self._cookies.take(url, headers.get_all("Set-Cookie"))
        names = headers.get_all("Acp-Connection-Id")
        self.connection_id = printable(names[0][:_LONGEST_ID]) if names else None
        self._stream = WebSocketStream(
            connection,
            deliver=self._deliver,
            ended=self._ended,
            note=self._note,
            warn_size=self._options.warn_size,
        )

    # Writing

    def write(self, data: bytes) -> None:
        self._open_stream().write(data)

    async def drain(self) -> None:
        await self._open_stream().drain()
        self._open_stream()

    def _open_stream(self) -> WebSocketStream:
        if self._closer is not None:
            raise ConnectionClosed(f"the connection to {self.description} is closed")
        if self._stream is None:
            raise InvalidState(f"the transport to {self.description} is not started")
        if self._closed is not None:
            raise self._loss(self._closed)
        return self._stream

    # Reading, and the end of it

    def _deliver(self, data: bytes) -> None:
        if self._receiver is not None and not self._reported:
            self._receiver.data_received(data)

    def _ended(self, error: WebSocketClosed) -> None:
        self._closed = error
        if self._closer is None:  # else it is a clean end, and the close reports it when all is done
            self._report(self._loss(error))

    def _loss(self, error: WebSocketClosed) -> ConnectionLost:
        assert self._stream is not None
        longest = self._stream.longest
        return self._without_secrets(why_closed(error, f"the agent at {self.description}", self._options, longest))

    def _report(self, error: TransportError | None) -> None:
        if self._stream is not None and self._receiver is not None and not self._reported:
            self._reported = True
            call_back(self._receiver.connection_lost, error, description=self.description)

    # Stop

    async def close(self) -> None:
        """End the connection: send what is queued, say goodbye, and wait for the answer.

        Takes at most ``RemoteOptions.close_timeout``. The receiver gets ``connection_lost(None)`` unless it was told of
        a loss before.
        """
        if self._closer is None:
            self._closer = asyncio.create_task(self._stop(), name=f"close {self.description}")
            self._closer.add_done_callback(lambda _: self._report(None))
        await asyncio.wait([self._closer])
        if not self._closer.cancelled():
            self._closer.result()

    async def _stop(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        seconds = self._options.close_timeout
        if self._stream is not None and not await self._stream.close(seconds):
            self._note(f"the server did not say goodbye within {seconds:g} s; the connection was cut")
