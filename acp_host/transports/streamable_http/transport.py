"""An agent elsewhere, spoken to over Streamable HTTP: :class:`HttpTransport`.

How order is kept: the messages of one session are sent one after the other, each when the server has taken the one
before it; those of other sessions do not wait for them. A server that does not answer for
:data:`~acp_host.transports.streamable_http._server.ANSWER_TIMEOUT` seconds has lost the connection: whether it acted on
the message is not known, and nothing is ever sent twice. A message that the server *refuses* has not reached the agent;
the call fails with what the server says, and the connection goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import httpx2
import orjson

from acp_host.diagnostics import Diagnostic
from acp_host.errors import ConnectionClosed, ConnectionLost, InternalError, InvalidState, StartFailed, TransportError
from acp_host.transports._base import Receiver
from acp_host.transports._cookies import CookieStore
from acp_host.transports._envelopes import Envelope, read_envelope
from acp_host.transports._frames import as_lines
from acp_host.transports._remote_base import RemoteTransport
from acp_host.transports.remote_options import RemoteOptions
from acp_host.transports.streamable_http._header_values import can_be_header
from acp_host.transports.streamable_http._held import HeldAnswers
from acp_host.transports.streamable_http._lanes import Lanes
from acp_host.transports.streamable_http._refusals import (
    ends_connection,
    explained,
    is_retryable,
    why_unreachable,
)
from acp_host.transports.streamable_http._server import ANSWER_TIMEOUT, Reply, Server
from acp_host.transports.streamable_http._streams import Streams, settled
from acp_host.transports.streamable_http.routes import Duplicates, Post, Routes

__all__ = ["HttpTransport"]

_LAST_MESSAGES = 1.0
"""Seconds in which a close sends what is still queued."""
_LAST_STEPS = 1.0
"""Seconds that its tasks and connections may take to end."""
_JSON = {"Content-Type": "application/json", "Accept": "application/json"}

_logger = logging.getLogger("acp_host")


class HttpTransport(RemoteTransport):
    """Sends messages by POST and takes them from event streams, as the ACP transport RFD has it, in both of its texts.

    Cookies are kept, for this connection and for those that :meth:`again` makes. Redirects are not followed.

    Args:
        url: the agent's endpoint, ``https://…`` or ``http://…``.
        options: how to get there.
        on_diagnostic: called with what went otherwise than it should but is no error.
        cookies: those of an earlier connection.

    Raises:
        InvalidInput: the URL is none, or does not fit the options.
    """

    medium = "HTTP"
    schemes = ("http", "https")

    def __init__(
        self,
        url: str,
        options: RemoteOptions | None = None,
        *,
        on_diagnostic: Callable[[Diagnostic], None] | None = None,
        cookies: CookieStore | None = None,
    ) -> None:
        super().__init__(url, options, on_diagnostic=on_diagnostic, cookies=cookies)
        self._server = Server(self._address.url, self._options, self._cookies)
        self._routes = Routes()
        self._duplicates = Duplicates()
        self._held = HeldAnswers(self._deliver)
        self._lanes = Lanes(self._send, self._start)
        self._streams = Streams(
            self._server,
            self._options.max_size,
            name=self.description,
            start=self._start,
            receive=self._receive_event,
            awaits=self._routes.awaits,
            note=self._note,
            fail=self._fail,
        )
        self._rest = b""
        self._receiver: Receiver | None = None
        self._connected = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._lost: TransportError | None = None
        self._closer: asyncio.Task[None] | None = None

    # --- the transport's life ---------------------------------------------------------------------------------------

    async def start(self, receiver: Receiver) -> None:
        """Get ready. The server is reached with the first message, which has to be ``initialize``.

        Raises:
            StartFailed: there is no way there, e.g. a proxy that needs another package.
            InvalidState: the transport was started or closed before.
        """
        if self._receiver is not None or self._closer is not None:
            raise InvalidState(f"the transport to {self.description} was started or closed before")
        self._receiver = receiver
        self._warn_of_open_secrets()
        try:
            await self._server.open()
        except (OSError, ValueError, ImportError) as error:
            text = f"cannot connect to {self.description}: {error}; look at RemoteOptions(proxy=…, tls=…)"
            raise StartFailed(self._shown(text), retryable=False) from error

    @property
    def queued(self) -> int:
        return self._lanes.queued

    def write(self, data: bytes) -> None:
        self._check_open()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            envelope = read_envelope(line)
            if envelope is None:
                self._note("what is no JSON object was not sent")
                continue
            self._warn_of_size(line, envelope)
            self._lanes.put(self._routes.post(line, envelope))

    async def drain(self) -> None:
        self._check_open()
        await self._lanes.drain()
        self._check_open()

    async def close(self) -> None:
        if self._closer is None:
            self._closer = asyncio.create_task(self._close(), name=f"close {self.description}")
        await asyncio.shield(self._closer)

    async def _close(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_MESSAGES):
                if self.connection_id is not None and self._lost is None:
                    await self._lanes.flush()
        self._lanes.stop()
        self._held.release_all()
        await self._end_tasks()
        if self.connection_id is not None:
            await self._end_connection(self.connection_id)
        with contextlib.suppress(TimeoutError, httpx2.RequestError):
            async with asyncio.timeout(_LAST_STEPS):
                await self._server.close()
        self._report_end()

    async def _end_tasks(self) -> None:
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_STEPS)

    async def _end_connection(self, connection_id: str) -> None:
        """Tell the server that a connection is over."""
        try:
            async with asyncio.timeout(self._options.close_timeout):
                reply = await self._server.send("DELETE", {"Acp-Connection-Id": connection_id})
        except (httpx2.RequestError, TimeoutError) as error:
            if self._lost is None:
                self._note(f"the server was not told that the connection is over: {error or type(error).__name__}")
            return
        if not httpx2.codes.is_success(reply.status) and reply.status not in (404, 410):
            self._note(f"the server did not end the connection: {explained(reply, connected=True)}")

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=f"{name}, {self.description}")
        self._tasks.add(task)
        task.add_done_callback(self._task_done)
        return task

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:  # a fault of this library
            _logger.error("%s failed", task.get_name(), exc_info=error)
            self._fail(ConnectionLost(f"this host failed at {task.get_name()}: {type(error).__name__}: {error}"))

    def _check_open(self) -> None:
        if self._closer is not None:
            raise ConnectionClosed(f"the connection to {self.description} is closed")
        if self._receiver is None:
            raise InvalidState(f"the transport to {self.description} is not started")
        if self._lost is not None:
            raise ConnectionLost(str(self._lost), http_status=self._lost.http_status, retryable=self._lost.retryable)

    def _fail(self, error: TransportError) -> None:
        """Give the connection up."""
        if self._lost is not None or self._closer is not None:
            return
        self._held.release_all()
        self._lost = self._without_secrets(error)
        self._lanes.stop()
        for task in self._tasks - {asyncio.current_task()}:
            task.cancel()
        if error.http_status in (404, 410):
            self.connection_id = None  # there is nothing left to end
        assert self._receiver is not None
        self._receiver.connection_lost(error)

    def _report_end(self) -> None:
        if self._receiver is not None and self._lost is None:
            self._lost = ConnectionLost("the connection was closed")
            self._receiver.connection_lost(None)

    # --- to the server ----------------------------------------------------------------------------------------------

    def _warn_of_size(self, line: bytes, envelope: Envelope) -> None:
        limit = self._options.warn_size
        if limit is not None and len(line) > limit:
            name = envelope.method or "an answer"
            self._note(
                f"{name} is {len(line)} bytes long; servers and proxies may not take so much", method=envelope.method
            )

    async def _send(self, post: Post) -> None:
        try:
            if post.envelope.method == "initialize" and post.envelope.is_request:
                await self._initialize(post)
            else:
                await self._connected.wait()
                await self._send_connected(post)
        except TransportError as error:
            self._fail(error)
        except (httpx2.RequestError, TimeoutError) as error:
            self._fail(self._unanswered(post, error))

    def _unanswered(self, post: Post, error: Exception) -> ConnectionLost:
        if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
            how = f"was not answered within {ANSWER_TIMEOUT:g} s"
        elif isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
            how = f"could not be sent: {why_unreachable(error)}"
        else:
            how = f"was not answered: {error or type(error).__name__}"
            if not self._connected.is_set():
                how += "; does it speak HTTP there, or WebSocket only (connect to ws:// or wss://)?"
        return ConnectionLost(f"{self.description}: {post.name} {how}")

    async def _initialize(self, post: Post) -> None:
        """Open a connection; one that was there before is ended."""
        reply = await self._server.send("POST", _JSON, post.data, most=self._options.max_size, patient=True)
        message = read_envelope(reply.body)
        if message is None or not message.is_response or message.id != post.envelope.id:
            raise self._not_initialized(reply)
        if reply.status != httpx2.codes.OK and not message.has_failed:
            raise self._not_initialized(reply)
        if self.connection_id is not None:
            await self._leave(self.connection_id)
        in_result = message.connection_id or ""  # the text of the transport shows it there, too
        connection_id = reply.headers.get("Acp-Connection-Id") or in_result
        if connection_id and not can_be_header(connection_id):
            text = "the server's Acp-Connection-Id is none: no HTTP header of a request can hold it"
            raise ConnectionLost(text, http_status=reply.status, retryable=False)
        self.connection_id = connection_id or None
        if self.connection_id is None:
            if not message.has_failed:
                text = "the server answered without Acp-Connection-Id; it does not have this transport"
                raise ConnectionLost(text, http_status=reply.status, retryable=False)
            self._receive_body(post, reply.body)
            return
        answered = asyncio.Event()

        def answer() -> None:
            if not answered.is_set():
                answered.set()
                self._receive_body(post, reply.body)

        await settled(self._streams.begin(self.connection_id, on_open=answer))
        if self._lost is None:
            answer()  # for a server that opens the stream with its first event
            self._connected.set()

    def _not_initialized(self, reply: Reply) -> ConnectionLost:
        if httpx2.codes.is_success(reply.status):
            kind = reply.headers.get("Content-Type", "nothing")
            text = f"the server answered with {kind}, and not as an ACP server does; look at the URL"
            return ConnectionLost(text, http_status=reply.status, retryable=False)
        text = f"the server refused initialize: {explained(reply, connected=False)}"
        return ConnectionLost(text, http_status=reply.status, retryable=is_retryable(reply.status))

    async def _leave(self, connection_id: str) -> None:
        self._connected.clear()
        self._streams.end()
        await self._end_connection(connection_id)

    async def _send_connected(self, post: Post) -> None:
        headers = {**_JSON, "Acp-Connection-Id": self.connection_id or ""}
        if post.session_id is not None:
            if not can_be_header(post.session_id):
                self._refused(post, f"{post.name} was not sent: no HTTP header can hold the id of its session")
                return
            headers["Acp-Session-Id"] = post.session_id
            await settled(self._streams.open(post.session_id))
        reply = await self._server.send("POST", headers, post.data, most=self._options.max_size)
        if httpx2.codes.is_success(reply.status):
            if reply.body.strip():
                self._receive_body(post, reply.body)
            return
        text = f"{self.description} refused {post.name}: {explained(reply, connected=True)}"
        session_unknown = reply.status == httpx2.codes.NOT_FOUND and self._streams.has_none(post.session_id)
        if ends_connection(reply.status) and not session_unknown:
            raise ConnectionLost(text, http_status=reply.status, retryable=is_retryable(reply.status))
        self._refused(post, text, httpStatus=reply.status)

    def _refused(self, post: Post, text: str, **data: int) -> None:
        """Say of a message that it did not reach the agent: to the caller, where there is one."""
        if post.envelope.is_request and self._routes.give_up(post.envelope.id):
            error = {"code": InternalError.default_code, "message": self._shown(text), "data": data}
            self._deliver(orjson.dumps({"jsonrpc": "2.0", "id": post.envelope.id, "error": error}) + b"\n")
        else:
            self._note(text, method=post.envelope.method, session_id=post.session_id)

    # --- from the server --------------------------------------------------------------------------------------------

    def _receive_event(self, session_id: str | None, data: str) -> None:
        lines = as_lines(data.encode("utf-8", "replace"))
        if self._streams.are_several and self._duplicates.is_duplicate(lines, session_id):
            return
        self._receive_message(lines, session_id)
        if session_id is not None:
            self._held.stream_brought_something(session_id)

    def _receive_body(self, post: Post, body: bytes) -> None:
        """Take a message that is the answer to a POST: that of ``initialize`` is, and some servers answer more so."""
        self._receive_message(as_lines(body), post.session_id)

    def _receive_message(self, lines: bytes, stream: str | None) -> None:
        envelope = read_envelope(lines)
        if envelope is None:
            self._deliver(lines)
            return
        is_open = self._streams.is_open(self._routes.session_of(envelope))
        arrival = self._routes.arrival(envelope, stream, is_open)
        for session_id in arrival.opens:
            self._streams.open(session_id, is_known=True)
        if arrival.held_for is not None:
            self._held.hold(lines, arrival.held_for, is_replay_end=arrival.is_replay_end)
        else:
            self._deliver(lines)
        if arrival.closes is not None:
            self._streams.close(arrival.closes)

    def _deliver(self, lines: bytes) -> None:
        if lines and self._lost is None and self._receiver is not None:
            self._receiver.data_received(lines)
