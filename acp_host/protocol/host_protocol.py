"""The host's side of ACP as a state machine without I/O: :class:`HostProtocol`.

Typed messages in both directions on top of :class:`~acp_host.protocol.peer.Peer`. It owns the handshake, the
:class:`~acp_host.protocol.negotiation.Agreement`, and the step between plain JSON and wire types. It does not own
sessions, turns or services; it tells a driver what came and sends what the driver says.

Drive it from any event loop: write :meth:`HostProtocol.data_to_send`, feed :meth:`HostProtocol.receive_data`, handle
:meth:`HostProtocol.events`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind, excerpt
from acp_host.errors import (
    AcpError,
    DecodeError,
    InvalidInput,
    InvalidState,
    PeerError,
    RequestFailed,
)
from acp_host.protocol.events import (
    CallFailed,
    NotificationReceived,
    PeerEvent,
    RequestReceived,
    ResponseReceived,
)
from acp_host.protocol.handshake import Handshake
from acp_host.protocol.harn_frames import completed, told_again
from acp_host.protocol.negotiation import Agreement
from acp_host.protocol.peer import Peer
from acp_host.protocol.refusals import refusal
from acp_host.protocol.versions import INITIALIZE, checked_versions
from acp_host.protocol.wire_values import or_empty, session_id_in, to_wire, unreadable_update, unusable
from acp_host.quirks import QUIRKS, Quirk
from acp_host.wire._model import UNSET, Model, evolve
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.chunk_runs import CHUNKS, ChunkReader, ChunkRun
from acp_host.wire.codec import Unreadable, read_exact
from acp_host.wire.converters import decoder, prepare, structure_tolerant
from acp_host.wire.framing import MAX_MESSAGE_SIZE
from acp_host.wire.harn.correlation import PROMPT, prompt_name
from acp_host.wire.ids import RequestId
from acp_host.wire.initialize import Implementation
from acp_host.wire.methods import TABLE, Method, MethodKind, MethodTable
from acp_host.wire.rpc_error import ErrorCode
from acp_host.wire.updates import SessionNotification, SessionUpdate

__all__ = ["HostEvent", "HostProtocol"]

HostEvent = SessionNotification | PeerEvent
"""What :meth:`HostProtocol.events` yields; ``params`` and ``result`` of known methods are wire types."""

SESSION_UPDATE = "session/update"


class HostProtocol:
    """The host's end of one connection.

    Args:
        offer: what the host offers; see :func:`~acp_host.protocol.negotiation.client_capabilities`.
        client_info: name and version of the host program.
        protocol_versions: the versions of the protocol that the host speaks, the preferred one first.
        serves: wire methods of requests that the driver will answer; others are answered -32601 at once.
        quirks: the table of quirks in force.
        route: returns the id of the session that a message of Harn belongs to which names none, given its method
            and parameters; ``None`` if that is not known.
        max_message_size: longest message that is read, in bytes.

    Raises:
        InvalidInput: ``protocol_versions`` are none that this library speaks.

    What is sent and what comes has the types of the version that was agreed; but the answer to ``initialize`` is always
    told as version 1 has it.
    """

    def __init__(
        self,
        offer: ClientCapabilities | None = None,
        *,
        client_info: Implementation | None = None,
        protocol_versions: Sequence[int] = (1,),
        serves: Callable[[str], bool] | Iterable[str] = (),
        quirks: tuple[Quirk, ...] = QUIRKS,
        route: Callable[[str, Mapping[str, Any]], str | None] = lambda _method, _params: None,
        max_message_size: int = MAX_MESSAGE_SIZE,
    ) -> None:
        versions = checked_versions(protocol_versions)
        self._speaks_first = 1 in versions
        self._handshake = Handshake(versions, offer or ClientCapabilities(), client_info, quirks)
        self._route = route
        self._methods: MethodTable = TABLE
        self._served = serves if callable(serves) else frozenset(serves).__contains__
        self._chunks = ChunkReader()
        self._peer = Peer(
            serves=self._serves,
            read_run=self._chunks.read,
            shortcut=self._take_update,
            translate=self._translate,
            is_repeated=lambda line: self._is_harn and told_again(line),
            max_message_size=max_message_size,
        )
        self._agreement: Agreement | None = None
        self._decode_update = decoder(SessionUpdate)

    # --- the handshake ----------------------------------------------------------------------------------------------

    def initialize(self, meta: Mapping[str, Any] | None = None) -> RequestId:
        """Send ``initialize``; :attr:`agreement` is set when its :class:`ResponseReceived` appears.

        A host of several versions may have to send it again before anything is agreed: :attr:`asks_again` says so then.

        Args:
            meta: ``_meta`` of the request; ``None`` or empty for none.

        Raises:
            InvalidState: it was sent before, and nothing is to be asked again.
        """
        if not self._handshake.is_due:
            raise InvalidState("initialize was sent before; a connection is initialised once")
        params = self._handshake.request()
        return self._peer.send_request(INITIALIZE, {**params, "_meta": dict(meta)} if meta else params)

    def prepare(self) -> None:
        """Make ready to read updates, in some 15 ms once in a process.

        While the agent starts, nobody waits for them; when its first update comes, the user does. Where the host speaks
        both versions of the protocol, it is for version 1, which most agents speak.
        """
        if self._speaks_first:
            prepare(SessionUpdate)
            return
        from acp_host.wire.v2 import updates as v2  # loaded for agents of version 2 only

        prepare(v2.SessionUpdate)

    @property
    def asks_again(self) -> bool:
        """Whether the agent has answered ``initialize``, and is to be asked again: in the form of another version.

        Where it does not take that on this connection, ask on another one.
        """
        return self._handshake.asks_again

    @property
    def half_agreed(self) -> int | None:
        """The version that the agent has answered with, and is to be asked for by itself; ``None`` if there is none."""
        return self._handshake.half_agreed

    def settle(self) -> bool:
        """Agree on the last answer although the agent is to be asked again, where there is no way to; tell if so.

        The answer was given to a request of two forms: what of it the agent has read is not known.
        """
        is_settled = self._handshake.settle()
        self._learn_agreement()
        return is_settled

    @property
    def agreement(self) -> Agreement:
        """What was agreed.

        Raises:
            InvalidState: the agent has not answered ``initialize`` yet.
        """
        if self._agreement is None:
            raise InvalidState("nothing is agreed yet: the agent has not answered initialize")
        return self._agreement

    @property
    def version(self) -> int:
        """The version of the protocol whose types are sent and received; 1 as long as nothing is agreed."""
        return 1 if self._agreement is None else self._agreement.protocol_version

    @property
    def ended(self) -> bool:
        """Whether the connection is over."""
        return self._peer.ended

    # --- in ---------------------------------------------------------------------------------------------------------

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the agent, split anywhere. After the end of the stream this does nothing."""
        self._peer.receive_data(data)

    def receive_eof(self, error: AcpError | None = None) -> None:
        """Take the end of the stream; every pending call fails. ``error`` says why, ``None`` is a clean end."""
        self._peer.receive_eof(error)

    def events(self) -> list[HostEvent]:
        """Return what happened since the last call, in order."""
        events: list[HostEvent] = []
        for event in self._peer.events():
            if event.__class__ is ChunkRun:
                events += event.notifications()
            else:
                events.append(event)
        return events

    def events_in_runs(self) -> list[HostEvent | ChunkRun]:
        """Do what :meth:`events` does, and leave neighbouring chunks of a message together; for who takes them so."""
        return self._peer.events()

    # --- out --------------------------------------------------------------------------------------------------------

    def data_to_send(self) -> bytes:
        """Return the bytes to write to the agent, and forget them."""
        return self._peer.data_to_send()

    def request(self, method: str, params: Model | Any = UNSET, *, force: bool = False) -> RequestId:
        """Send a request and return its id.

        Args:
            method: wire method; one that is not ACP's is an extension and is not checked.
            params: the method's wire type, or plain JSON; left out where it has nothing to say.
            force: send it although its capability was not agreed.

        Raises:
            NotSupported: the agent does not offer what the method needs.
            InvalidInput: ``params`` do not fit the schema; names the JSON path. Or the method is a notification.
            InvalidState: ``initialize`` has not been answered.
            ConnectionClosed: the connection has ended.
        """
        self._require(method, force)
        return self._send_request(method, params)

    def notify(self, method: str, params: Model | Any = UNSET, *, force: bool = False) -> None:
        """Send a notification; arguments and errors as for :meth:`request`."""
        self._require(method, force)
        entry = self._method_to_send(method, MethodKind.NOTIFICATION)
        self._peer.send_notification(method, to_wire(params, entry and entry.params_type, method))

    def respond(self, request_id: RequestId, method: str, result: Model | Any) -> None:
        """Answer a request of the agent.

        Args:
            request_id: the agent's id.
            method: wire method of the request.
            result: the method's wire type, or plain JSON; ``None`` where it has nothing to say.

        Raises:
            InvalidInput: the result does not fit the schema; the request still waits.
            InvalidState: no request with this id waits for an answer.
        """
        entry = self._methods.client_method(method, MethodKind.REQUEST)
        self._peer.send_result(request_id, to_wire(result, entry and entry.result_type, f"the answer to {method}"))

    def respond_error(self, request_id: RequestId, error: RequestFailed) -> None:
        """Answer a request of the agent with an error; raises ``InvalidState`` like :meth:`respond`."""
        data = UNSET if error.data is None else error.data
        self._peer.send_error(request_id, error.code, error.message, data)

    def cancel(self, request_id: RequestId) -> None:
        """Withdraw one of our requests (``$/cancel_request``); its answer is still awaited."""
        self._peer.cancel_request(request_id)

    def _require(self, method: str, force: bool) -> None:
        agreement = self.agreement
        if not force and self._methods.agent_method(method) is not None:
            agreement.require(method)

    def _send_request(self, method: str, params: Model | Any) -> RequestId:
        entry = self._method_to_send(method, MethodKind.REQUEST)
        return self._peer.send_request(method, to_wire(params, entry and entry.params_type, method))

    def _method_to_send(self, name: str, kind: MethodKind) -> Method | None:
        entry = self._methods.agent_method(name, kind)
        if entry is None and self._methods.agent_method(name) is not None:
            other = "notification" if kind is MethodKind.REQUEST else "request"
            raise InvalidInput(f"{name} is a {other}, not a {kind.value}")
        return entry

    # --- from JSON to wire types ------------------------------------------------------------------------------------

    def _take_update(self, message: dict[str, Any], line: bytes) -> SessionNotification | None:
        notification = self._read_update(message)
        if notification is not None and notification.update.__class__ in CHUNKS:
            self._chunks.learn(line, notification.session_id, notification.update, notification.extra)
        return notification

    def _read_update(self, message: dict[str, Any]) -> SessionNotification | None:
        """Read an update that is exactly as the schema has it; this is the hot path of the library."""
        try:
            # With a method, a version and parameters, a fourth member would be an id or an extension's.
            if message["method"] == SESSION_UPDATE and message["jsonrpc"] == "2.0" and len(message) == 3:
                params = message["params"]
                session_id = params["sessionId"]
                if not session_id or session_id.__class__ is not str:
                    return None
                if len(params) == 2:
                    return SessionNotification(session_id, self._decode_update(params["update"]))
                if len(params) == 3 and len(params[PROMPT]) == 1 and prompt_name(params) is not None:
                    named = {PROMPT: params[PROMPT]}
                    return SessionNotification(session_id, self._decode_update(params["update"]), extra=named)
        except Exception:
            pass
        return None

    @property
    def _is_harn(self) -> bool:
        return self._agreement is not None and self._agreement.harn is not None

    def _translate(self, event: PeerEvent) -> HostEvent | None:
        if isinstance(event, NotificationReceived | RequestReceived) and self._is_harn:
            event = completed(event, self._route)
        match event:
            case NotificationReceived(method="session/update"):
                return self._translate_update(event)
            case NotificationReceived():
                return self._translate_notification(event)
            case RequestReceived():
                return self._translate_request(event)
            case ResponseReceived():
                return self._translate_response(event)
            case CallFailed(error=RequestFailed() as error) if self._agreement is not None:
                return evolve(event, error=refusal(error, self._agreement))
            case CallFailed(method="initialize", error=RequestFailed() as error):
                return evolve(event, error=self._handshake.refused(error))
            case _:
                return event

    def _translate_update(self, event: NotificationReceived) -> SessionNotification | None:
        """Read an update that is out of the ordinary: with further members, to be repaired, or not to be read."""
        try:
            entry = self._methods.client_method(SESSION_UPDATE)
            told = self._decode(event, "params", entry and entry.params_type)
        except DecodeError as error:
            self._report_malformed(event, error)
            return unreadable_update(event.params, error)
        if isinstance(told, SessionNotification):
            return told
        return SessionNotification(told.session_id, told.update, told.meta, extra=told.extra)

    def _translate_notification(self, event: NotificationReceived) -> NotificationReceived | None:
        entry = self._methods.client_method(event.method, MethodKind.NOTIFICATION)
        if entry is None:
            return event
        try:
            return evolve(event, params=self._decode(event, "params", entry.params_type))
        except DecodeError as error:
            self._report_malformed(event, error)
            return None

    def _translate_request(self, event: RequestReceived) -> RequestReceived | None:
        entry = self._methods.client_method(event.method, MethodKind.REQUEST)
        if entry is None:
            return event
        try:
            return evolve(event, params=self._decode(event, "params", entry.params_type))
        except DecodeError as error:
            self._report_malformed(event, error)
            self._peer.send_error(event.id, ErrorCode.INVALID_PARAMS, f"Invalid params: {error}", {"path": error.path})
            return None

    def _translate_response(self, event: ResponseReceived) -> ResponseReceived | CallFailed:
        if event.method == INITIALIZE:
            return self._translate_answer(event)
        entry = self._methods.agent_method(event.method, MethodKind.REQUEST)
        if entry is None:
            return event
        try:
            return evolve(event, result=self._decode(event, "result", entry.result_type))
        except DecodeError as error:
            return unusable(event, error)

    def _translate_answer(self, event: ResponseReceived) -> ResponseReceived | CallFailed:
        """Read the answer to ``initialize``, and agree, or have it asked again."""
        try:
            response = self._handshake.answered(event.result, lambda hint: self._decode(event, "result", hint))
        except DecodeError as error:
            return unusable(event, error)
        except PeerError as error:
            return CallFailed(event.id, event.method, error)
        self._learn_agreement()
        return evolve(event, result=response)

    def _learn_agreement(self) -> None:
        agreement = self._handshake.agreement
        if agreement is None or agreement is self._agreement:
            return
        self._agreement = agreement
        if agreement.protocol_version == 2:
            from acp_host.wire.v2 import updates as v2  # loaded for agents of version 2 only

            self._methods = agreement.methods
            self._decode_update = decoder(v2.SessionUpdate)
        self._report_capabilities(agreement)

    def _serves(self, method: str) -> bool:
        """Tell whether a request is answered; what the version that is spoken does not have is not."""
        is_of_first = TABLE.client_method(method, MethodKind.REQUEST) is not None
        is_known = self._methods.client_method(method, MethodKind.REQUEST) is not None
        return (is_known or not is_of_first) and self._served(method)

    def _decode(self, event: Any, member: str, hint: Any) -> Any:
        """Read the parameters or the result of ``event``, report what was repaired, and restore digits that were lost.

        Nothing, ``null`` and ``{}`` are the same here: methods without a result are answered with any of them.
        """
        value = or_empty(getattr(event, member), hint)
        try:
            return decoder(hint)(value)
        except Exception:  # it is out of the ordinary, and the careful decoder says in what
            pass
        with contextlib.suppress(Unreadable):  # nested deeper than the standard library reads: the digits stay lost
            value = or_empty(read_exact(event.line).get(member), hint)
        typed, repairs = structure_tolerant(value, hint, f"$.{member}")
        for repair in repairs:
            self._peer.report(evolve(repair, method=event.method, session_id=session_id_in(value)))
        return typed

    def _report_capabilities(self, agreement: Agreement) -> None:
        for problem in () if agreement.harn is None else agreement.harn.problems:
            text = f"{problem}; it counts as not offered"
            self._peer.report(Diagnostic(DiagnosticKind.REPAIRED, text, method=INITIALIZE))

    def _report_malformed(self, event: NotificationReceived | RequestReceived, error: DecodeError) -> None:
        self._peer.report(
            Diagnostic(
                DiagnosticKind.MALFORMED,
                f"{event.method}: {error.problem}",
                path=error.path,
                method=event.method,
                session_id=session_id_in(event.params),
                data=excerpt(event.line),
            )
        )
