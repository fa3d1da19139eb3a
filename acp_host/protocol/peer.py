"""JSON-RPC 2.0 over newline-delimited JSON, as a state machine without I/O: :class:`Peer`.

It owns the table of requests in both directions, their ids, and the rules of JSON-RPC. It does not know ACP: methods
and parameters pass through as plain JSON. Both sides of a connection can be built on it.

Feed it with :meth:`Peer.receive_data` and :meth:`Peer.receive_eof`, take :meth:`Peer.events` and
:meth:`Peer.data_to_send`; it does nothing else, and in particular never raises for what the other side sends.

What is promised, whatever arrives:

* events come in the order of the messages;
* a line that is not a JSON-RPC message becomes a diagnostic, and its neighbours are not affected;
* every call ends: by its response, by a response that cannot be read, or by the end of the connection;
* a request that cannot be read, or that nobody serves, is answered at once.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Sequence, Sized
from typing import Any

import orjson

from acp_host.diagnostics import Diagnostic, DiagnosticKind, Throttle, excerpt
from acp_host.errors import (
    AcpError,
    ConnectionClosed,
    ConnectionLost,
    InvalidState,
    MalformedResponse,
    OutcomeUnknown,
    RequestFailed,
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
from acp_host.wire import jsonrpc
from acp_host.wire._model import UNSET
from acp_host.wire._scan import scan_envelope
from acp_host.wire.codec import Noise, Unreadable, encode, read, read_exact
from acp_host.wire.framing import MAX_MESSAGE_SIZE, LineFramer, Oversized
from acp_host.wire.ids import RequestId, valid_id
from acp_host.wire.rpc_error import ErrorCode

__all__ = ["CANCEL_REQUEST", "Peer"]

CANCEL_REQUEST = "$/cancel_request"

_MAX_ANSWERED = 1_000
"""How many requests are remembered as answered, the newest; only what is told again is held against them."""


class Peer:
    """One end of a JSON-RPC connection.

    Args:
        serves: tells whether somebody will answer requests of a method; the others are answered -32601 at once.
        read_run: looks at the lines first, from a place on, and returns one event for as many of them as its length
            says, or ``None`` to let the first one be decoded. For the one kind of message that comes by the ten
            thousand, as is ``shortcut``; neither may raise.
        shortcut: looks at each message that was decoded, and at its line, and returns the event for it, or ``None`` to
            let the rules of JSON-RPC apply.
        translate: takes each other event and returns what to queue in its place, or ``None`` for nothing. It is called
            at once: what it answers is answered before the next message is looked at.
        is_repeated: tells by its line whether a request is one that is told again; one with an id that was seen before
            is ignored then, since it is answered or will be.
        max_message_size: longest message that is read, in bytes; a longer one is skipped with a diagnostic.
    """

    def __init__(
        self,
        *,
        serves: Callable[[str], bool] = lambda _: True,
        read_run: Callable[[Sequence[bytes | Oversized], int], Sized | None] = lambda _lines, _start: None,
        shortcut: Callable[[dict[str, Any], bytes], Any] = lambda _message, _line: None,
        translate: Callable[[PeerEvent], Any] = lambda event: event,
        is_repeated: Callable[[bytes], bool] = lambda _line: False,
        max_message_size: int = MAX_MESSAGE_SIZE,
    ) -> None:
        self._serves = serves
        self._read_run = read_run
        self._shortcut = shortcut
        self._translate = translate
        self._is_repeated = is_repeated
        self._framer = LineFramer(max_message_size)
        self._throttle = Throttle()
        self._ids = itertools.count()
        self._calls: dict[RequestId, str] = {}
        self._unanswered: dict[tuple[type, Any], RequestId] = {}
        self._answered: deque[tuple[type, Any]] = deque(maxlen=_MAX_ANSWERED)
        self._events: list[Any] = []
        self._output: list[bytes] = []
        self._ended: Ended | None = None

    # --- in ---------------------------------------------------------------------------------------------------------

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the other side, split anywhere. After the end of the stream this does nothing."""
        if self._ended is not None:
            return
        append, read_run, shortcut = self._events.append, self._read_run, self._shortcut
        lines, index = self._framer.feed(data), 0
        while index < len(lines):
            run = read_run(lines, index)
            if run is not None:
                append(run)
                index += len(run)
                continue
            line: Any = lines[index]
            index += 1
            try:
                message = orjson.loads(line)
            except ValueError:
                message = None
            if message.__class__ is not dict:
                self._receive_odd_line(line)
                continue
            event = shortcut(message, line)
            if event is not None:
                append(event)
            elif message.get("id").__class__ is float:
                self._receive_odd_line(line)  # the id may have lost digits
            else:
                self._receive_object(message, line)

    def receive_eof(self, error: AcpError | None = None) -> None:
        """Take the end of the stream: every pending call fails with what is known.

        Args:
            error: why the connection ended; ``None`` for a clean end. Repeated calls do nothing.
        """
        if self._ended is not None:
            return
        self._ended = Ended(error)
        for line in self._framer.eof():
            self._receive_odd_line(line)
        self._events += self._throttle.flush()
        cause = error or ConnectionLost("the agent closed the connection")
        calls, self._calls = self._calls, {}
        self._unanswered.clear()
        for request_id, method in calls.items():
            self._emit(CallFailed(request_id, method, OutcomeUnknown(method, cause)))
        self._emit(self._ended)

    def events(self) -> list[Any]:
        """Return what happened since the last call, in order: :data:`PeerEvent`, or what was made of it."""
        events, self._events = self._events, []
        return events

    def report(self, diagnostic: Diagnostic) -> None:
        """Queue a diagnostic; of a flood of one kind ever fewer are queued."""
        admitted = self._throttle.admit(diagnostic)
        if admitted is not None:
            self._events.append(admitted)

    @property
    def ended(self) -> bool:
        """Whether the end of the stream was received."""
        return self._ended is not None

    # --- out --------------------------------------------------------------------------------------------------------

    def data_to_send(self) -> bytes:
        """Return the bytes to write to the other side, and forget them."""
        output, self._output = self._output, []
        return b"".join(output)

    def send_request(self, method: str, params: Any = UNSET) -> RequestId:
        """Send a request and return its id.

        Raises:
            ConnectionClosed: the connection has ended.
            InvalidInput: the parameters cannot be written as JSON.
        """
        self._require_open(method)
        request_id = next(self._ids)
        self._send(jsonrpc.request_message(request_id, method, params))
        self._calls[request_id] = method
        return request_id

    def send_notification(self, method: str, params: Any = UNSET) -> None:
        """Send a notification; raises like :meth:`send_request`."""
        self._require_open(method)
        self._send(jsonrpc.notification_message(method, params))

    def send_result(self, request_id: RequestId, result: Any) -> None:
        """Answer a request of the other side.

        After the end of the stream this does nothing: nobody waits for the answer.

        Raises:
            InvalidState: no request with this id waits for an answer.
            InvalidInput: the result cannot be written as JSON; the request still waits.
        """
        self._answer(request_id, jsonrpc.result_message(request_id, result))

    def send_error(self, request_id: RequestId, code: int, message: str, data: Any = UNSET) -> None:
        """Answer a request of the other side with an error; raises like :meth:`send_result`."""
        self._answer(request_id, jsonrpc.error_message(request_id, code, message, data))

    def cancel_request(self, request_id: RequestId) -> None:
        """Withdraw one of our requests that has no answer yet; its answer is still awaited. Otherwise nothing."""
        if request_id in self._calls:
            self.send_notification(CANCEL_REQUEST, {"requestId": request_id})

    @property
    def unanswered(self) -> tuple[RequestId, ...]:
        """Ids of the other side's requests that have no answer yet, oldest first."""
        return tuple(self._unanswered.values())

    def _require_open(self, method: str) -> None:
        if self._ended is not None:
            raise ConnectionClosed(f"{method} was not sent: the connection has ended") from self._ended.error

    def _send(self, message: dict[str, Any]) -> None:
        self._output.append(encode(message))

    def _answer(self, request_id: RequestId, message: dict[str, Any]) -> None:
        if self._ended is not None:
            return
        if _key(request_id) not in self._unanswered:
            raise InvalidState(f"no request with id {request_id!r} waits for an answer")
        self._send(message)
        del self._unanswered[_key(request_id)]
        self._answered.append(_key(request_id))

    # --- one line ---------------------------------------------------------------------------------------------------

    def _emit(self, event: PeerEvent) -> None:
        translated = self._translate(event)
        if translated is not None:
            self._events.append(translated)

    def _receive_odd_line(self, line: bytes | Oversized) -> None:
        """Take a line with all the care that the plain ones can do without."""
        if isinstance(line, Oversized):
            text = f"a message of {line.size:,} bytes is longer than the maximum and was skipped"
            envelope = scan_envelope(line.head, tail=line.tail)
            data = excerpt(line.head)
            self.report(Diagnostic(DiagnosticKind.OVERSIZED, text, method=envelope.method, data=data))
            self._fail_unread(envelope.id, text, is_response=envelope.is_response)
            return
        try:
            message = read(line, self.report)
        except Noise as noise:
            self.report(Diagnostic(DiagnosticKind.NOISE, f"a line was ignored: {noise}", data=excerpt(line)))
        except Unreadable as unreadable:
            text = f"a message cannot be read: {unreadable.reason}"
            self.report(Diagnostic(DiagnosticKind.UNREADABLE, text, method=unreadable.method, data=excerpt(line)))
            self._fail_unread(unreadable.request_id, text, is_response=unreadable.is_response)
        else:
            self._receive_object(message, line)

    def _receive_object(self, message: dict[str, Any], line: bytes) -> None:
        parsed = jsonrpc.classify(message)
        match parsed:
            case jsonrpc.Notification():
                self._note_version(parsed)
                self._receive_notification(parsed.method, parsed.params, line)
            case jsonrpc.Request():
                self._note_version(parsed)
                self._receive_request(parsed, line)
            case jsonrpc.Response():
                method = self._take_call(parsed.id, "a result", line)
                if method is not None:
                    self._emit(ResponseReceived(parsed.id, method, parsed.result, line))
            case jsonrpc.ErrorResponse():
                self._receive_error(parsed, line)
            case jsonrpc.Invalid():
                self._receive_invalid(parsed, line)

    def _receive_notification(self, method: str, params: Any, line: bytes) -> None:
        if method == CANCEL_REQUEST:
            self._receive_cancel(params, line)
        else:
            self._emit(NotificationReceived(method, params, line))

    def _receive_cancel(self, params: Any, line: bytes) -> None:
        request_id: Any = params.get("requestId", UNSET) if isinstance(params, dict) else UNSET
        if request_id.__class__ is float:
            request_id = _exact_request_id(line, request_id)
        if not valid_id(request_id):
            text = f"{CANCEL_REQUEST} does not say which request"
            self.report(Diagnostic(DiagnosticKind.MALFORMED, text, method=CANCEL_REQUEST, data=excerpt(line)))
        # A request that was answered meanwhile is no fault of anyone: the two messages crossed.
        elif _key(request_id) in self._unanswered:
            self._emit(CancelRequested(request_id))

    def _receive_request(self, request: jsonrpc.Request, line: bytes) -> None:
        request_id, method = request.id, request.method
        if self._is_repeated(line) and (_key(request_id) in self._unanswered or _key(request_id) in self._answered):
            text = excerpt(f"request {request_id!r} ({method}) was told again, and is answered once")
            self.report(Diagnostic(DiagnosticKind.UNEXPECTED, text, method=method, data=excerpt(line)))
            return
        if _key(request_id) in self._unanswered:
            text = excerpt(f"request {request_id!r} ({method}) reuses the id of a request that is not answered yet")
            self.report(Diagnostic(DiagnosticKind.INVALID_MESSAGE, text, method=method, data=excerpt(line)))
            self._send(jsonrpc.error_message(request_id, ErrorCode.INVALID_REQUEST, text))
            return
        self._unanswered[_key(request_id)] = request_id
        if self._serves(method):
            self._emit(RequestReceived(request_id, method, request.params, line))
            return
        name = excerpt(method)
        text = f"a request for {name}, which is not served here, was answered {ErrorCode.METHOD_NOT_FOUND:d}"
        self.report(Diagnostic(DiagnosticKind.UNKNOWN_METHOD, text, method=name, data=excerpt(line)))
        self.send_error(request_id, ErrorCode.METHOD_NOT_FOUND, f"Method not found: {name}", {"method": name})

    def _receive_error(self, response: jsonrpc.ErrorResponse, line: bytes) -> None:
        error = response.error
        request_id: Any = response.id
        method = self._take_call(request_id, f"an error ({error['code']}: {error['message']})", line)
        if method is not None:
            failure = RequestFailed.from_code(error["code"], error["message"], error.get("data"), method)
            self._emit(CallFailed(request_id, method, failure))

    def _receive_invalid(self, invalid: jsonrpc.Invalid, line: bytes) -> None:
        text = f"not a JSON-RPC message: {invalid.reason}"
        self.report(Diagnostic(DiagnosticKind.INVALID_MESSAGE, text, method=invalid.method, data=excerpt(line)))
        request_id: Any = invalid.id
        if invalid.looks_like_response:
            self._fail_call(request_id, invalid.reason)
        elif request_id is not UNSET:
            self._send(jsonrpc.error_message(request_id, invalid.code, invalid.reason))

    # --- calls ------------------------------------------------------------------------------------------------------

    def _is_pending(self, request_id: Any) -> bool:
        return request_id.__class__ in (int, float) and request_id in self._calls

    def _take_call(self, request_id: Any, what: str, line: bytes) -> str | None:
        """Return the method of the pending call that a response is for, and end the call; else report the response."""
        if self._is_pending(request_id):
            return self._calls.pop(request_id)
        known = "without an id" if request_id in (None, UNSET) else f"with the unknown or used id {request_id!r}"
        self.report(Diagnostic(DiagnosticKind.UNKNOWN_RESPONSE, f"{what} came {known}", data=excerpt(line)))
        return None

    def _fail_call(self, request_id: Any, reason: str) -> None:
        if self._is_pending(request_id):
            method = self._calls.pop(request_id)
            error = MalformedResponse(f"the answer to {method} cannot be used: {reason}")
            self._emit(CallFailed(request_id, method, error))

    def _fail_unread(self, request_id: Any, reason: str, *, is_response: bool) -> None:
        """Do for a message that was not read what keeps anyone from waiting for it for ever."""
        if self._ended is not None:
            return  # it was cut off by the end of the stream, which every call is told of with more to say
        if is_response:
            self._fail_call(request_id, reason)
        elif request_id is not UNSET:
            self._send(jsonrpc.error_message(request_id, ErrorCode.PARSE_ERROR, reason))

    def _note_version(self, message: jsonrpc.Notification | jsonrpc.Request) -> None:
        if not message.versioned:
            text = f'{message.method} came without jsonrpc: "2.0"; it was taken as if it had it'
            self.report(Diagnostic(DiagnosticKind.INVALID_MESSAGE, text, method=message.method))


def _key(request_id: Any) -> tuple[type, Any]:
    """Return what a request is kept under: ``1``, ``1.0``, ``true`` and ``"1"`` are four different ids."""
    return request_id.__class__, request_id


def _exact_request_id(line: bytes, rounded: float) -> Any:
    """Read an id in the parameters again: it may have lost digits."""
    try:
        return read_exact(line)["params"]["requestId"]
    except Unreadable:
        return rounded
