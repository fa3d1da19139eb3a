"""Moves bytes and calls between a transport and the protocol core: :class:`Driver`.

It owns the pending calls of a connection. It does not know sessions: updates go to one callback and every other event
that is not the end of a call to another, at once and in order, within the transport's own callback; so nothing an
application does can reorder or stall the reader.

Whoever holds it speaks of version 1's methods and types. With an agent of version 2 they are translated here, in both
directions, and nowhere else (:mod:`acp_host.translate.v2.requests`); but for the updates of a session, which become
events, and for the end of a turn, which version 2 tells in updates.

A connection that is lost may be made again: then the driver is given another transport and another core
(:meth:`Driver.attach`), and whoever holds it goes on with it. What the earlier transport still says is not heard.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from acp_host.errors import AcpError, ConnectionClosed, ConnectionLost, InvalidState, OutcomeUnknown, TransportError
from acp_host.host.interruption import interrupted_call
from acp_host.protocol.events import CallFailed, RequestReceived, ResponseReceived
from acp_host.protocol.host_protocol import HostEvent, HostProtocol
from acp_host.protocol.negotiation import Agreement
from acp_host.redaction import Redactor
from acp_host.transports import Transport
from acp_host.wire._model import UNSET, evolve
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.ids import RequestId
from acp_host.wire.methods import MethodKind
from acp_host.wire.updates import SessionNotification

__all__ = ["MOST_UNREAD", "Driver"]

MOST_UNREAD = 256 * 2**20
"""Bytes that may wait for the agent to read them before it is given nothing more to read that is large; an agent that
asks on and on, and lets twice as much wait, does not listen: its connection ends."""

_logger = logging.getLogger("acp_host")


async def _at_once(method: str) -> None:
    """Be ready."""


Done = Callable[[Any], None]
"""Called once with the result of a call, or with the :class:`~acp_host.errors.AcpError` that it ended with."""


class Driver:
    """One transport, one protocol core, and the calls in flight.

    Attributes:
        absent: methods of extensions that the agent has said it does not have on this connection.
        is_over: nothing will be sent any more, over whichever transport; set by the owner.
        may_return: another transport may follow this one when it is lost; likewise.
        ready: see below.

    Args:
        transport: moves the bytes; started by :meth:`start`.
        protocol: the core.
        receive_update: takes the updates of sessions, and runs of them.
        receive: takes every other event but the ends of calls.
        redactor: takes secrets out of the texts of errors.
        losing: called with the end of the transport before any call learns of it.
        ready: waits while the connection is being made again, given the method of the call that is to be made.
    """

    def __init__(
        self,
        transport: Transport,
        protocol: HostProtocol,
        receive_update: Callable[[SessionNotification | ChunkRun], None],
        receive: Callable[[HostEvent], None],
        redactor: Redactor | None = None,
        losing: Callable[[AcpError | None], None] = lambda _: None,
        ready: Callable[[str], Awaitable[None]] = _at_once,
    ) -> None:
        self.protocol = protocol
        self.transport = transport
        self._receive_update = receive_update
        self._receive = receive
        self._redactor = redactor or Redactor()
        self._losing = losing
        self.ready = ready
        self.is_over = False
        self.may_return = False
        self.absent: set[str] = set()
        self._earlier: Agreement | None = None
        self._calls: dict[RequestId, Done] = {}
        self._settled = asyncio.Event()
        self._settled.set()

    async def start(self) -> None:
        """Start the transport.

        Raises:
            StartFailed: it could not be started.
        """
        await self.transport.start(_Line(self, self.protocol))

    def attach(self, transport: Transport, protocol: HostProtocol) -> None:
        """Go on with another transport and core, which are to be started; every call of before has ended."""
        self.connection_lost(ConnectionLost("the connection is made anew"))
        with contextlib.suppress(InvalidState):
            self._earlier = self.agreement
        self.protocol, self.transport = protocol, transport
        self.absent.clear()

    @property
    def agreement(self) -> Agreement:
        """What was agreed with the agent; until it has answered a new handshake, what was agreed before.

        Raises:
            InvalidState: it has never answered one.
        """
        try:
            return self.protocol.agreement
        except InvalidState:
            if self._earlier is None:
                raise
            return self._earlier

    # --- calls ------------------------------------------------------------------------------------------------------

    def send(self, method: str, params: Any, done: Done, *, force: bool = False) -> RequestId:
        """Send a request; ``done`` is called in the order of the messages.

        Raises:
            AcpError: as ``HostProtocol.request``.
            ConnectionClosed: this side is closing the connection; nothing was sent.
            TransportError: the agent takes no more messages; nothing was sent.
        """
        self._check(method)
        if self.protocol.version == 2:
            from acp_host.translate.v2 import requests as v2  # loaded for agents of version 2 only

            told = v2.outgoing(method, params)
            method, params, done = told.method, told.params, _translating(told.back, done)
        request_id = self.protocol.request(method, params, force=force)
        self._write()
        self._calls[request_id] = done
        self._settled.clear()
        return request_id

    def notify(self, method: str, params: Any = UNSET, *, force: bool = False) -> None:
        """Send a notification. Raises like ``HostProtocol.notify``."""
        self._check(method)
        if self.protocol.version == 2:
            from acp_host.translate.v2 import requests as v2

            told = v2.outgoing(method, params, MethodKind.NOTIFICATION)
            method, params = told.method, told.params
        self.protocol.notify(method, params, force=force)
        self.flush()

    def respond(self, request_id: RequestId, method: str, result: Any) -> None:
        """Answer a request of the agent, without writing yet. Raises like ``HostProtocol.respond``."""
        if self.protocol.version == 2:
            from acp_host.translate.v2 import requests as v2

            result = v2.answer(result)
        self.protocol.respond(request_id, method, result)

    def _check(self, method: str) -> None:
        if self.is_over:
            raise ConnectionClosed(f"{method} was not sent: the connection has ended")

    async def call(
        self,
        method: str,
        params: Any = UNSET,
        *,
        force: bool = False,
        on_result: Callable[[Any], None] = lambda _: None,
        on_error: Callable[[AcpError], None] = lambda _: None,
        on_late: Callable[[Any], None] = lambda _: None,
    ) -> Any:
        """Send a request and return its result. A cancelled call is withdrawn with ``$/cancel_request``.

        While the connection is being made again, it is not sent; :attr:`ready` says how long it waits.

        Args:
            method: as for ``HostProtocol.request``.
            params: likewise.
            force: likewise.
            on_result: called with the result before any later message is looked at.
            on_error: likewise with what the call ends with instead; not called where it could not be sent.
            on_late: called in place of both with a result that comes after the caller was cancelled.

        Raises:
            AcpError: as ``HostProtocol.request``, and whatever the call ends with.
        """
        await self.ready(method)
        return await self._result_of(
            lambda done: self.send(method, params, done, force=force), on_result, on_error, on_late
        )

    async def initialize(self) -> Any:
        """Send ``initialize`` and return its result."""
        return await self._result_of(self._send_initialize, lambda _: None, lambda _: None, lambda _: None)

    def _send_initialize(self, done: Done, meta: Mapping[str, Any] | None = None) -> RequestId:
        request_id = self.protocol.initialize(meta)
        self._write()
        asyncio.get_running_loop().call_soon(self.protocol.prepare)
        self._calls[request_id] = done
        return request_id

    async def settled(self) -> None:
        """Wait until no call is in flight."""
        await self._settled.wait()

    def forget(self, request_id: RequestId, then: Callable[[], None] = lambda: None) -> None:
        """Stop waiting for a call: its ``done`` will not be called, but ``then`` once it has ended after all."""
        self._calls[request_id] = lambda _: then()

    async def _result_of(
        self,
        start: Callable[[Done], RequestId],
        on_result: Callable[[Any], None],
        on_error: Callable[[AcpError], None],
        on_late: Callable[[Any], None],
    ) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        protocol = self.protocol  # the id means nothing to the next one
        try:
            request_id = start(lambda outcome: _settle(future, outcome, on_result, on_error, on_late))
        except TransportError:
            await self.transport.drain()  # raises it anew, with what is known by then about the end of the process
            raise
        try:
            return await future
        except asyncio.CancelledError:
            if not protocol.ended:
                protocol.cancel(request_id)
                self.flush()
            raise

    # --- out --------------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Write what the protocol core wants to send.

        What cannot be written is dropped: the end of the connection is on its way then, and ends every call. Until it
        comes, the agent is heard; the end of a turn may be among its last words (R93).
        """
        with contextlib.suppress(ConnectionClosed, TransportError):
            self._write()

    def _write(self) -> None:
        data = self.protocol.data_to_send()
        if data:
            self.transport.write(data)

    # --- the transport's callbacks ----------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take bytes from the transport."""
        try:
            self.protocol.receive_data(data)
            self._dispatch()
            if self.transport.queued > 2 * MOST_UNREAD:
                self._give_up()
        except Exception as error:  # a fault of this library: say so and end, rather than leave everyone waiting
            _logger.exception("reading from %s failed", self.transport.description)
            self.connection_lost(ConnectionLost(f"this host failed to read a message: {type(error).__name__}: {error}"))

    @property
    def is_overfull(self) -> bool:
        """Whether so much waits for the agent to read it that it is given nothing more that is large."""
        return self.transport.queued > MOST_UNREAD

    def _give_up(self) -> None:
        megabytes = self.transport.queued // 2**20
        self.connection_lost(
            ConnectionLost(f"the agent asks and does not read: {megabytes} MiB wait to be taken by it")
        )

    def connection_lost(self, error: AcpError | None) -> None:
        """Take the end of the transport; every call fails with what is known."""
        if self.protocol.ended:
            return
        self._losing(error)
        self.protocol.receive_eof(error)
        self._dispatch()
        # Where this library failed to read a message, the answer to a call may have been lost with it.
        for request_id in tuple(self._calls):
            self._finish(request_id, error or ConnectionLost("the connection ended, and the answer was not read"))

    def _dispatch(self) -> None:
        receive_update = self._receive_update
        event: Any
        for event in self.protocol.events_in_runs():
            kind = event.__class__
            if kind is SessionNotification or kind is ChunkRun:
                receive_update(event)
            elif kind is ResponseReceived:
                self._finish(event.id, event.result)
            elif kind is CallFailed:
                self._finish(event.id, event.error)
            elif kind is RequestReceived and self.protocol.version == 2:
                self._receive_request(event)
            else:
                self._receive(event)
        self.flush()

    def _receive_request(self, event: RequestReceived) -> None:
        """Take a request of an agent of version 2."""
        from acp_host.translate.v2 import requests as v2

        call = v2.call_told_in(event.params)
        if call is not None:  # it is told as by an update, before anybody is asked about it
            self._receive_update(SessionNotification(event.params.session_id, cast(Any, call)))
        self._receive(evolve(event, params=v2.incoming(event.params, event.id)))

    def _finish(self, request_id: RequestId, outcome: Any) -> None:
        done = self._calls.pop(request_id, None)
        if not self._calls:
            self._settled.set()
        if isinstance(outcome, AcpError) and self._redactor.has_secrets:
            outcome.args = tuple([self._redactor.text(part) for part in outcome.args])
        if isinstance(outcome, OutcomeUnknown) and outcome.interruption is None:
            outcome.interruption = interrupted_call(outcome.method)
        if done is not None:
            done(outcome)


def _translating(back: Callable[[Any], Any], done: Done) -> Done:
    return lambda outcome: done(outcome if isinstance(outcome, AcpError) else back(outcome))


class _Line:
    """What one transport delivers to, as long as it is the driver's."""

    def __init__(self, driver: Driver, protocol: HostProtocol) -> None:
        self._driver = driver
        self._protocol = protocol

    def data_received(self, data: bytes) -> None:
        """Take bytes from the transport."""
        if self._driver.protocol is self._protocol:
            self._driver.data_received(data)

    def connection_lost(self, error: AcpError | None) -> None:
        """Take the end of the transport."""
        if self._driver.protocol is self._protocol:
            self._driver.connection_lost(error)


def _settle(
    future: asyncio.Future[Any],
    outcome: Any,
    on_result: Callable[[Any], None],
    on_error: Callable[[AcpError], None],
    on_late: Callable[[Any], None],
) -> None:
    if future.done():
        if future.cancelled() and not isinstance(outcome, AcpError):
            on_late(outcome)
        return
    failure: Exception | None = outcome if isinstance(outcome, AcpError) else None
    try:
        if isinstance(outcome, AcpError):
            on_error(outcome)
        else:
            on_result(outcome)
    except Exception as error:
        failure = error
    if failure is None:
        future.set_result(outcome)
    else:
        future.set_exception(failure)
