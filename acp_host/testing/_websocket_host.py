"""The agent's end of a WebSocket: :class:`HostOnWebSocket`, the transport of an agent that is served over a network."""

from __future__ import annotations

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed as WebSocketClosed
from websockets.exceptions import ConnectionClosedOK

from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidState
from acp_host.printable import printable
from acp_host.transports import Receiver, Transport
from acp_host.transports._websocket_stream import WebSocketStream

__all__ = ["HostOnWebSocket"]

_GOODBYE = 2.0
"""Seconds that a host may take to end a connection that its agent ends."""


class HostOnWebSocket(Transport):
    """Moves messages to and from the host that opened a connection; a goodbye of the host is a clean end.

    Args:
        connection: the connection, its handshake done.
    """

    description = "the host at the other end of the WebSocket"
    remote = True

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._stream: WebSocketStream | None = None
        self._receiver: Receiver | None = None
        self._closed = False
        self._lost: ConnectionLost | None = None
        self._ended = False

    async def start(self, receiver: Receiver) -> None:
        if self._receiver is not None or self._closed:
            raise InvalidState(f"{self.description} was started or closed before")
        self._receiver = receiver
        self._stream = WebSocketStream(self._connection, deliver=self._deliver, ended=self._end, note=lambda _: None)

    def write(self, data: bytes) -> None:
        self._open_stream().write(data)

    async def drain(self) -> None:
        await self._open_stream().drain()
        self._open_stream()

    async def close(self) -> None:
        self._closed = True
        if self._stream is not None:
            await self._stream.close(_GOODBYE)
            self._end(None)

    def _open_stream(self) -> WebSocketStream:
        if self._closed:
            raise ConnectionClosed(f"{self.description} is closed")
        if self._stream is None:
            raise InvalidState(f"{self.description} is not started")
        if self._ended:
            raise self._lost or ConnectionLost(f"{self.description} has ended the connection")
        return self._stream

    def _deliver(self, data: bytes) -> None:
        if not self._ended and self._receiver is not None:
            self._receiver.data_received(data)

    def _end(self, error: WebSocketClosed | None) -> None:
        if self._ended or self._receiver is None:
            return
        self._ended = True
        if error is not None and not isinstance(error, ConnectionClosedOK):
            self._lost = ConnectionLost(f"{self.description} is gone: {printable(str(error))}")
        self._receiver.connection_lost(self._lost)
