"""The agent's end of a connection over Streamable HTTP: :class:`HostOnHttp`, a transport like any other.

What the agent writes goes to the stream that the text of the transport says: that of the session it is about, or that
of the connection. Each stream is a queue, which keeps what comes while nobody listens.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidState
from acp_host.transports import Receiver, Transport
from acp_host.transports._envelopes import Envelope, MessageId, read_envelope

__all__ = ["HostOnHttp"]

_LIMIT = 256 * 1024
"""How many bytes that nobody has read ``drain()`` accepts without waiting."""
_MOST_UNREAD = 64 * 2**20
"""Bytes that nobody has read after which the host counts as gone."""
_MOST_STREAMS = 1024
_KEEPALIVE = 15.0
"""Seconds of silence after which a stream says that it is still there."""
_ON_THE_CONNECTION = frozenset({"session/new", "session/load"})
"""Requests that are answered on the connection's stream, whichever session they name."""


class _Outbox:
    """The messages of one stream. The newest reader gets them; one before it is at its end."""

    def __init__(self, taken: Callable[[bytes], None]) -> None:
        self._taken = taken
        self._queue: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._reader: object = None
        self._ended = False

    @property
    def has_reader(self) -> bool:
        return self._reader is not None

    def put(self, message: bytes) -> None:
        self._queue.append(message)
        self._news.set()

    def end(self) -> None:
        self._ended = True
        self._news.set()

    async def read(self) -> AsyncIterator[bytes]:
        """Return the stream's events. One that could not be sent is there for the next reader."""
        self._reader = reader = object()
        self._news.set()
        try:
            while True:
                while self._queue and self._reader is reader:
                    yield b"data: %b\n\n" % self._queue[0]
                    if self._reader is reader:
                        self._taken(self._queue.popleft())
                if self._ended or self._reader is not reader:
                    return
                self._news.clear()
                try:
                    async with asyncio.timeout(_KEEPALIVE):
                        await self._news.wait()
                except TimeoutError:
                    yield b":\n\n"
        finally:
            if self._reader is reader:
                self._reader = None


class HostOnHttp(Transport):
    """Takes the bodies of a host's requests, and has events for its streams.

    Attributes:
        ended: set when the connection is over.
    """

    description = "the host at the other end of HTTP"
    remote = True

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self._receiver: Receiver | None = None
        self._early: list[bytes] = []
        self._outboxes: dict[str | None, _Outbox] = {}
        self._answers: dict[MessageId, asyncio.Future[bytes]] = {}
        self._asked: dict[MessageId, Envelope] = {}
        self._asks: dict[MessageId, str] = {}
        self._rest = b""
        self._unread = 0
        self._room = asyncio.Event()
        self._room.set()

    # --- the agent's side -------------------------------------------------------------------------------------------

    async def start(self, receiver: Receiver) -> None:
        if self._receiver is not None or self.ended.is_set():
            raise InvalidState(f"{self.description} was started or closed before")
        self._receiver = receiver
        early, self._early = self._early, []
        for message in early:
            receiver.data_received(message)

    def write(self, data: bytes) -> None:
        self._check()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._send(line)

    async def drain(self) -> None:
        self._check()
        await self._room.wait()
        self._check()

    async def close(self) -> None:
        self.end()

    def _check(self) -> None:
        if self.ended.is_set():
            raise ConnectionClosed(f"{self.description} has ended the connection")
        if self._receiver is None:
            raise InvalidState(f"{self.description} is not started")

    def _send(self, line: bytes) -> None:
        envelope = read_envelope(line) or Envelope()
        if envelope.is_response and envelope.id in self._answers:
            answer = self._answers.pop(envelope.id)
            if not answer.done():
                answer.set_result(line)
            return
        self._unread += len(line)
        if self._unread > _LIMIT:
            self._room.clear()
        self._outbox(self._session_of(envelope)).put(line)
        if self._unread > _MOST_UNREAD:
            self.end(ConnectionLost(f"{self.description} does not read its streams"))

    def _session_of(self, envelope: Envelope) -> str | None:
        if envelope.is_request and envelope.id is not None and envelope.session_id is not None:
            self._asks[envelope.id] = envelope.session_id
        if not envelope.is_response or envelope.id is None:
            return envelope.session_id
        request = self._asked.pop(envelope.id, Envelope())
        return None if request.method in _ON_THE_CONNECTION else request.session_id

    # --- the side of the server -------------------------------------------------------------------------------------

    @property
    def is_listened_to(self) -> bool:
        """Whether any stream has a reader."""
        return any(outbox.has_reader for outbox in self._outboxes.values())

    def session_of_answer(self, envelope: Envelope) -> str | None:
        """Return the session of the agent's request that a host's message answers, if it does."""
        return self._asks.get(envelope.id) if envelope.is_response and envelope.id is not None else None

    def receive(self, message: bytes, envelope: Envelope) -> None:
        """Pass a host's message on to the agent."""
        if envelope.is_request and envelope.id is not None:
            self._asked[envelope.id] = envelope
        elif envelope.id is not None:
            self._asks.pop(envelope.id, None)
        line = message.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
        if self._receiver is None:
            self._early.append(line)
        elif not self.ended.is_set():
            self._receiver.data_received(line)

    async def call(self, message: bytes, envelope: Envelope) -> bytes:
        """Pass a request on to the agent and return its answer, which goes to no stream.

        Raises:
            ConnectionLost: the connection ends without an answer.
        """
        assert envelope.id is not None
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._answers[envelope.id] = answer
        self.receive(message, envelope)
        self._asked.pop(envelope.id, None)
        ended = asyncio.ensure_future(self.ended.wait())
        try:
            either: set[asyncio.Future[Any]] = {answer, ended}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            self._answers.pop(envelope.id, None)
        if not answer.done():
            raise ConnectionLost("the agent ended before it answered")
        return answer.result()

    def listen(self, session_id: str | None) -> AsyncIterator[bytes]:
        """Return the events of a stream: that of a session, or with ``None`` that of the connection."""
        return self._outbox(session_id).read()

    def end(self, error: ConnectionLost | None = None) -> None:
        """End the connection, for a reason if it is no clean end."""
        if self.ended.is_set():
            return
        self.ended.set()
        self._room.set()
        for outbox in self._outboxes.values():
            outbox.end()
        if self._receiver is not None:
            self._receiver.connection_lost(error)

    def _outbox(self, session_id: str | None) -> _Outbox:
        if session_id not in self._outboxes and len(self._outboxes) >= _MOST_STREAMS:
            session_id = None
        return self._outboxes.setdefault(session_id, _Outbox(self._was_read))

    def _was_read(self, message: bytes) -> None:
        self._unread -= len(message)
        if self._unread <= _LIMIT:
            self._room.set()
