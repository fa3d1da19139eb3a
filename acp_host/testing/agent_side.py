"""The agent's end of a connection, typed: :class:`AgentSide`, the base of agents written with this library.

It owns JSON-RPC, the step between JSON and wire types, and the tasks of the handlers. It has no opinion on what an
agent does: that is in its handlers, one for each method of the host, of ACP or of an extension.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from acp_host.diagnostics import Diagnostic
from acp_host.errors import (
    AcpError,
    ConnectionClosed,
    ConnectionLost,
    DecodeError,
    InternalError,
    InvalidParams,
    InvalidState,
    MalformedResponse,
    RequestCancelled,
    RequestFailed,
    TransportError,
)
from acp_host.protocol.events import (
    CallFailed,
    CancelRequested,
    Ended,
    NotificationReceived,
    PeerEvent,
    RequestReceived,
    ResponseReceived,
)
from acp_host.protocol.peer import Peer
from acp_host.testing._speech import Speech, unknown_method
from acp_host.transports import Transport
from acp_host.wire._model import UNSET, Model, Unknown
from acp_host.wire.converters import structure_tolerant, unstructure
from acp_host.wire.ids import RequestId, SessionId
from acp_host.wire.methods import Method, MethodKind, agent_method, client_method
from acp_host.wire.updates import SessionUpdate

__all__ = ["AgentSide", "Handler"]

Handler = Callable[[Any], Any | Awaitable[Any]]
"""Takes the parameters: a wire type, or plain JSON for an extension; returns the result or an awaitable of it.

It is called while the messages are read, so what it does before it returns is done in their order; an awaitable becomes
a task. It refuses by raising :class:`~acp_host.errors.RequestFailed`.
"""

_CLEANUP = 1.0
"""Seconds that cancelled handlers may take to end after the connection has."""

_log = logging.getLogger("acp_host.testing")


class AgentSide:
    """One agent's end of one connection.

    Each request of the host is answered exactly once: with what its handler returns; with the handler's error; with
    -32601 where there is no handler, with -32602 and the JSON path where the parameters do not fit; with -32800 where
    the host withdrew it, and its handler is cancelled then. Whatever the host sends, the connection goes on.

    Args:
        handlers: wire method → handler, for requests and notifications; in the words of ACP v1.

    Attributes:
        handlers: the same.
        speech: the form in which everything goes over the wire; that of ACP v1, unless it is replaced.
    """

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self.handlers = handlers
        self.speech = Speech()
        self._peer = Peer()
        self._tasks: set[asyncio.Task[None]] = set()
        self._host: Transport | None = None
        self._gone = asyncio.Event()
        self._calls: dict[RequestId, asyncio.Future[Any]] = {}
        self._open: dict[tuple[type, RequestId], asyncio.Task[None]] = {}

    async def serve(self, host: Transport) -> int:
        """Serve a host until the connection ends; return the exit status for an agent that is a process.

        Args:
            host: the way to the host, not started yet; it is closed at the end.
        """
        try:
            await host.start(self)
            self._host = host
            self._flush()
            await self._gone.wait()
        finally:
            self._gone.set()
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=_CLEANUP)
            await host.close()
        return 0

    # --- to the host ------------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Any = UNSET) -> Any:
        """Send a request to the host and return its result. A cancelled call is withdrawn with ``$/cancel_request``.

        Args:
            method: wire method.
            params: the method's wire type; plain JSON for an extension.

        Raises:
            RequestFailed: the host refused; ``method`` is set.
            MalformedResponse: its answer does not fit the schema.
            OutcomeUnknown: the connection ended before the answer.
            ConnectionClosed: it had ended before.
            InvalidState: it has not begun.
        """
        if self._host is None:
            raise InvalidState(f"{method} was not sent: no host is connected yet")
        wire = self.speech.asked(method, _to_wire(params, client_method(method)))
        request_id = self._peer.send_request(method, wire)
        call = self._calls[request_id] = asyncio.get_running_loop().create_future()
        self._flush()
        try:
            return await call
        except asyncio.CancelledError:
            if not self._peer.ended:
                self._peer.cancel_request(request_id)
                self._flush()
            raise

    def notify(self, method: str, params: Any = UNSET) -> None:
        """Send a notification to the host; arguments as for :meth:`request`. Without a connection nothing is sent."""
        if not self._peer.ended:
            wire = self.speech.asked(method, _to_wire(params, client_method(method, MethodKind.NOTIFICATION)))
            self._peer.send_notification(method, wire)
            self._flush()

    def update(self, session_id: SessionId, update: SessionUpdate) -> None:
        """Send ``session/update``, or several of them, or none, as the version of the protocol has it."""
        for said in self.speech.updates(session_id, unstructure(update, SessionUpdate)):
            self.notify("session/update", {"sessionId": session_id, "update": said})

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something as a task that ends with the connection; its errors are logged."""
        return self._start(_quietly("background work", work))

    async def drain(self) -> None:
        """Wait until the host has read nearly everything that was sent."""
        if self._host is not None:
            with contextlib.suppress(TransportError, ConnectionClosed):  # the end of the connection is on its way
                await self._host.drain()

    # --- the transport's callbacks ----------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take bytes from the host."""
        self._peer.receive_data(data)
        self._dispatch()

    def connection_lost(self, error: AcpError | None) -> None:
        """Take the end of the connection: pending calls fail, handlers are cancelled."""
        self._peer.receive_eof(error or ConnectionLost("the host closed the connection"))
        self._dispatch()

    def _dispatch(self) -> None:
        for event in self._peer.events():
            self._take(event)
        self._flush()

    def _flush(self) -> None:
        if self._host is not None and (data := self._peer.data_to_send()):
            with contextlib.suppress(TransportError, ConnectionClosed):  # the end of the connection is on its way
                self._host.write(data)

    # --- what the host sends ----------------------------------------------------------------------------------------

    def _take(self, event: PeerEvent) -> None:
        match event:
            case RequestReceived():
                self._take_request(event)
            case NotificationReceived():
                self._take_notification(event)
            case ResponseReceived() | CallFailed():
                self._take_response(event)
            case CancelRequested(request_id):
                task = self._open.get((type(request_id), request_id))
                if task is not None:
                    # Not at once: a task that is cancelled before its first step would leave the request unanswered.
                    asyncio.get_running_loop().call_soon(task.cancel)
            case Ended():
                self._gone.set()
            case Diagnostic():
                _log.warning("from the host: %s", event.message)

    def _take_request(self, event: RequestReceived) -> None:
        try:
            method, params = self.speech.heard(event.method, event.params)
            entry = agent_method(method, MethodKind.REQUEST)
            handler = self.handlers.get(method)
            if handler is None:
                raise unknown_method(event.method)
            result = handler(_decode(params, entry, "$.params"))
        except Exception as error:
            self._answer_error(event, error)
            return
        if not inspect.isawaitable(result):
            self._answer(event, method, entry, result)
        else:
            key = (type(event.id), event.id)
            task = self._open[key] = self._start(self._finish(event, method, entry, result))
            task.add_done_callback(lambda _: self._open.pop(key, None))

    async def _finish(self, event: RequestReceived, method: str, entry: Method | None, result: Awaitable[Any]) -> None:
        try:
            self._answer(event, method, entry, await result)
        except asyncio.CancelledError:
            self._answer_error(event, RequestCancelled("The request was cancelled"))
            if self._gone.is_set():
                raise
        except Exception as error:
            self._answer_error(event, error)

    def _take_notification(self, event: NotificationReceived) -> None:
        handler = self.handlers.get(event.method)
        if handler is None:
            _log.warning("from the host: the notification %s, which this agent does not know", event.method)
            return
        try:
            entry = agent_method(event.method, MethodKind.NOTIFICATION)
            result = handler(_decode(event.params, entry, "$.params"))
        except Exception as error:
            _log.warning("from the host: %s: %s", event.method, error)
            return
        if inspect.isawaitable(result):
            self._start(_quietly(event.method, result))

    def _take_response(self, event: ResponseReceived | CallFailed) -> None:
        call = self._calls.pop(event.id)
        if call.done():
            return
        if isinstance(event, CallFailed):
            call.set_exception(event.error)
            return
        entry = client_method(event.method)
        try:
            call.set_result(_decode_result(event.result, entry))
        except DecodeError as error:
            text = f"the host's answer to {event.method} does not fit the schema: {error}"
            call.set_exception(MalformedResponse(text, has_result=True, result=event.result))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # --- answers ----------------------------------------------------------------------------------------------------

    def _answer(self, event: RequestReceived, method: str, entry: Method | None, result: Any) -> None:
        if isinstance(result, Model):
            result = unstructure(result, entry.result_type if entry else None)
        result = {} if result is None and entry else result
        self._peer.send_result(event.id, self.speech.answered(method, result))
        self._flush()

    def _answer_error(self, event: RequestReceived, error: Exception) -> None:
        failure = _failure(event.method, error)
        self._peer.send_error(event.id, failure.code, failure.message, UNSET if failure.data is None else failure.data)
        self._flush()


def _failure(method: str, error: Exception) -> RequestFailed:
    """Return what to answer where a handler raised ``error``."""
    match error:
        case DecodeError():
            return InvalidParams(f"Invalid params: {error}", data={"path": error.path})
        case RequestFailed(method=None):
            return error
        case RequestFailed():  # the host's refusal of something is not the agent's refusal of this
            return InternalError(f"The host refused {error.method}: {error.message}", data={"hostCode": error.code})
        case _:
            _log.error("the handler of %s failed", method, exc_info=error)
            return InternalError(f"{type(error).__name__}: {error}")


async def _quietly(method: str, work: Awaitable[Any]) -> None:
    try:
        await work
    except Exception as error:
        _log.error("the handler of %s failed", method, exc_info=error)


def _decode(params: Any, entry: Method | None, path: str) -> Any:
    """Return parameters as their wire type; those of an extension as they are."""
    if entry is None:
        return params
    decoded, repairs = structure_tolerant({} if params is UNSET else params, entry.params_type, path)
    for repair in repairs:
        _log.warning("from the host: %s: %s at %s", entry.name, repair.message, repair.path)
    return decoded


def _decode_result(result: Any, entry: Method | None) -> Any:
    if entry is None or entry.result is None:
        return result
    return structure_tolerant({} if result is None else result, entry.result_type, "$.result")[0]


def _to_wire(params: Any, entry: Method | None) -> Any:
    if isinstance(params, Model | Unknown):
        return unstructure(params, entry.params_type if entry else None)
    return params
