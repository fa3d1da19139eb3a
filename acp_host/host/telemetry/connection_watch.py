"""What a connection tells OpenTelemetry: :class:`ConnectionWatch`.

It makes the spans of the connection itself, of requests in both directions, and of reconnections; those of turns and
tool calls are a :class:`~acp_host.host.telemetry.session_watch.SessionWatch`'s. Whatever a provider, a processor or an
exporter raises goes to the logger ``acp_host.telemetry``, once for each connection, and nowhere else.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from attrs import define
from opentelemetry import metrics, trace
from opentelemetry.context import Context, attach, detach, get_current
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, get_current_span, set_span_in_context

from acp_host._version import __version__
from acp_host.errors import AcpError, RequestFailed
from acp_host.host.auditing import decision_of
from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.host.driver import Driver
from acp_host.host.health import ConnectionHealth, HealthSnapshot
from acp_host.host.incoming import OpenRequest
from acp_host.host.reconnect_machine import ConnectionStatus
from acp_host.host.session import Session
from acp_host.host.session_table import SessionTable
from acp_host.host.telemetry.instruments import Instruments
from acp_host.host.telemetry.session_watch import SessionWatch
from acp_host.host.telemetry.settings import Telemetry
from acp_host.host.telemetry.trace_context import carried, parent_of, with_meta
from acp_host.printable import one_line
from acp_host.protocol.events import RequestReceived
from acp_host.protocol.negotiation import Agreement
from acp_host.redaction import Redactor
from acp_host.state.session_state import SessionState
from acp_host.wire._model import UNSET
from acp_host.wire.ids import RequestId

__all__ = ["Call", "ConnectionWatch"]

_logger = logging.getLogger("acp_host.telemetry")

_P = ParamSpec("_P")
_T = TypeVar("_T")

_FRAMES = 5
"""How many of the innermost calls are logged of a failure; its text may hold secrets."""
_LONGEST = 256
"""Most characters of what an agent says in an attribute."""
_CONNECTION_CLOSED, _SESSION_CLOSED = "ConnectionClosed", "SessionClosed"


@define(eq=False)
class Call:
    """A request that the agent is sent.

    Attributes:
        params: its parameters, with the trace context in them.
        ended: takes what it ends with.
    """

    params: Any
    ended: Callable[[Any], None]


@define(eq=False)
class _Request:
    """A request with an open span, in either direction."""

    method: str
    span: Span
    began: float


class ConnectionWatch:
    """Watches one connection.

    Args:
        settings: what is told, and to whom.
        redactor: takes secrets out of texts.

    Attributes:
        tracer: makes the spans.
        instruments: what is measured.
        agent: the attributes that say who the agent is; empty before the handshake.
    """

    def __init__(self, settings: Telemetry, redactor: Redactor) -> None:
        self.settings = settings
        self.tracer = trace.get_tracer("acp_host", __version__, settings.tracer_provider)
        self.instruments = Instruments(metrics.get_meter("acp_host", __version__, settings.meter_provider))
        self.agent: dict[str, str] = {}
        self._redactor = redactor
        self._has_failed = False
        self._driver: Driver | None = None
        self._opening: Span | None = None
        self._is_open = False
        self._reconnect: Span | None = None
        self._attempt = 0
        self._sessions: dict[str, SessionWatch] = {}
        self._table: SessionTable | None = None
        self._open_sessions = 0
        self._served: dict[tuple[type, RequestId], _Request] = {}
        self._sent: set[_Request] = set()

    def guard(self, do: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T | None:
        """Do something that must not disturb the connection; return ``None`` where it raises."""
        try:
            return do(*args, **kwargs)
        except Exception as error:
            if not self._has_failed:
                self._has_failed = True
                place = "".join(traceback.format_tb(error.__traceback__, -_FRAMES)).rstrip()
                _logger.warning("telemetry is not complete: %s\n%s", type(error).__name__, place)
            return None

    def redact(self, text: str) -> str:
        """Return text without secrets."""
        return self._redactor.text(text)

    def shown(self, text: str) -> str:
        """Return a name that the agent has chosen as it may be shown."""
        return self.redact(one_line(text, _LONGEST))

    @property
    def agent_names(self) -> tuple[str, ...]:
        """The name of the agent for names of spans, if it has said any."""
        name = self.agent.get("gen_ai.agent.name")
        return () if name is None else (name,)

    # --- the connection ---------------------------------------------------------------------------------------------

    def follow(self, diagnostics: DiagnosticLog, health: ConnectionHealth, sessions: SessionTable) -> None:
        """Take what is told of the connection anyhow."""
        self._table = sessions
        diagnostics.connect(lambda diagnostic: self.guard(self.instruments.diagnosed, diagnostic.kind))
        health.changed.connect(lambda changes: self.guard(self._health_is, changes.snapshot))
        sessions.observers.connect(lambda session: self.guard(self._sessions_changed, session))

    @contextmanager
    def opening(self, driver: Driver) -> Iterator[None]:
        """Tell of the start of a connection, from the transport to the agreement, while the block runs."""
        self._driver = driver
        attributes = {"acp.remote": driver.transport.remote}
        self._opening = self.guard(self.tracer.start_span, "acp.connect", None, SpanKind.CLIENT, attributes)
        try:
            yield
        except BaseException as error:
            self.guard(self._not_opened, error)
            raise
        self.guard(self._opened, driver.agreement)

    def _opened(self, agreement: Agreement) -> None:
        self.learn(agreement)
        self._is_open = True
        self.instruments.connections_changed(1)
        if self._opening is not None:
            self._opening.set_attributes({**self.agent, "acp.protocol.version": agreement.protocol_version})
            self._opening.set_attribute("acp.agent.is_harn", agreement.harn is not None)
            self._opening.end()
            self._opening = None

    def _not_opened(self, error: BaseException) -> None:
        span, self._opening = self._opening, None
        name = type(error).__name__
        self.instruments.failed("connection", name)
        if span is not None:
            _fail(span, name)

    def learn(self, agreement: Agreement) -> None:
        """Learn who the agent is."""
        info = agreement.agent_info
        if info is not None:
            self.agent = {"gen_ai.agent.name": self.shown(info.name), "gen_ai.agent.version": self.shown(info.version)}
            self.instruments.agent = {"gen_ai.agent.name": self.agent["gen_ai.agent.name"]}

    def _health_is(self, health: HealthSnapshot) -> None:
        is_over = health.status in (ConnectionStatus.CONNECTED, ConnectionStatus.LOST, ConnectionStatus.CLOSED)
        if not is_over and self._reconnect is None:
            start = int(health.since * 1e9)
            self._reconnect = self.tracer.start_span(
                "acp.reconnect", Context(), attributes=self.agent, start_time=start
            )
            self._attempt = 0
        span = self._reconnect
        if span is None:
            return
        if health.attempt > self._attempt:
            self._attempt = health.attempt
            span.add_event("acp.reconnect.attempt", {"acp.reconnect.attempt": health.attempt})
        if health.status == ConnectionStatus.CONNECTED and self._driver is not None:
            self.learn(self._driver.agreement)  # it may be another agent
        if is_over:
            outcome = "restored" if health.status == ConnectionStatus.CONNECTED else str(health.status)
            self._end_reconnect(outcome, len([one for one in health.returned if one.step is not None]))

    def _end_reconnect(self, outcome: str, returned: int = 0) -> None:
        span, self._reconnect = self._reconnect, None
        if span is None:
            return
        span.set_attribute("acp.reconnect.outcome", outcome)
        span.set_attribute("acp.reconnect.attempts", self._attempt)
        if outcome == "restored":
            span.set_attribute("acp.reconnect.sessions", returned)
        else:
            span.set_attribute("error.type", outcome)
            span.set_status(StatusCode.ERROR)
        span.end()
        self.instruments.reconnected(outcome)

    def losing(self, error: AcpError | None) -> None:
        """Learn that a transport has ended, before anybody else does."""
        for session in self._sessions.values():
            session.losing(_CONNECTION_CLOSED if error is None else type(error).__name__)

    def ended(self, error: AcpError | None) -> None:
        """Learn that the connection is over, and by what; spans that are open end now."""
        self.guard(self._ended, error)

    def ended_soon(self, error: AcpError | None) -> None:
        """As :meth:`ended`, once those have been told who wait for something."""
        asyncio.get_running_loop().call_soon(self.ended, error)

    def _ended(self, error: AcpError | None) -> None:
        name = _CONNECTION_CLOSED if error is None else type(error).__name__
        if self._is_open:
            self._is_open = False
            self.instruments.connections_changed(-1)
            if error is not None:
                self.instruments.failed("connection", name)
        self._count_sessions(0)
        self.instruments.flush()
        self._end_reconnect("closed" if error is None else "lost")
        for session in self._sessions.values():
            self.guard(session.end, name)
        requests = (*self._sent, *self._served.values())
        self._sent.clear()
        self._served.clear()
        for request in requests:
            self.guard(_fail, request.span, name)

    # --- sessions ---------------------------------------------------------------------------------------------------

    def session_made(self, session_id: str, state: SessionState) -> SessionWatch:
        """Return the watch of a session, given its state, which is new."""
        earlier = self._sessions.get(session_id)
        if earlier is not None:
            self.guard(earlier.end, _SESSION_CLOSED)
        watch = self._sessions[session_id] = SessionWatch(session_id, state, self)
        return watch

    def _sessions_changed(self, session: Session) -> None:
        assert self._table is not None
        self._count_sessions(len(tuple(self._table)))
        if session.current_turn is None:  # else it is told of until that is over
            self.let_go(session.id)

    def let_go(self, session_id: str) -> None:
        """Forget a session that is not open any more."""
        if self._table is not None and self._table.get(session_id) is None:
            watch = self._sessions.pop(session_id, None)
            if watch is not None:
                watch.end(_SESSION_CLOSED)

    def _count_sessions(self, number: int) -> None:
        before, self._open_sessions = self._open_sessions, number
        self.instruments.sessions_changed(number - before)

    # --- what the agent is asked ------------------------------------------------------------------------------------

    def call_begins(self, method: str, params: Any) -> Call:
        """Learn that the agent is about to be sent a request."""
        named = _session_id(params)
        session = self._sessions.get(named or "")
        if method == "session/prompt" and session is not None:
            context = session.prompt_begins()
            return Call(self._with_context(params, context), lambda outcome: self._prompt_ended(session, outcome))
        parent = self._parent_of_call(method, session)
        attributes = {"rpc.system.name": "jsonrpc", "rpc.method": method}
        if named:
            attributes["gen_ai.conversation.id"] = self.shown(named)
        span = self.tracer.start_span(method, parent, SpanKind.CLIENT, attributes)
        request = _Request(method, span, time.monotonic())
        self._sent.add(request)
        params = self._with_context(params, set_span_in_context(span, parent))
        return Call(params, lambda outcome: self._call_ended(request, outcome))

    def _parent_of_call(self, method: str, session: SessionWatch | None) -> Context:
        """Return where a request belongs: to the start of a connection, to the caller, or to what goes on."""
        starting, current = self._opening or self._reconnect, get_current()
        if starting is not None and method == "initialize":
            return set_span_in_context(starting)
        if get_current_span(current).get_span_context().is_valid:
            return current
        if starting is not None:
            return set_span_in_context(starting, current)
        return current if session is None else session.context

    def _with_context(self, params: Any, context: Context) -> Any:
        if not self.settings.propagate or params is UNSET:
            return params
        members = carried(context, baggage=self.settings.baggage)
        return with_meta(params, members) if members else params

    def _prompt_ended(self, session: SessionWatch, outcome: Any) -> None:
        if isinstance(outcome, BaseException):
            session.prompt_failed(type(outcome).__name__)

    def _call_ended(self, request: _Request, outcome: Any) -> None:
        if request in self._sent:
            self._sent.discard(request)
            opened = getattr(outcome, "session_id", None)
            if isinstance(opened, str):
                request.span.set_attribute("gen_ai.conversation.id", self.shown(opened))
            self._end(request, outcome, served=False)

    # --- what the agent asks ----------------------------------------------------------------------------------------

    @contextmanager
    def serving(self, event: RequestReceived, owner: str | None) -> Iterator[None]:
        """Tell of a request of the agent; what the block starts belongs to it."""
        context = self.guard(self._request_begins, event, owner)
        if context is None:
            yield
            return
        token = attach(context)
        try:
            yield
        finally:
            detach(token)

    def _request_begins(self, event: RequestReceived, owner: str | None) -> Context:
        session = self._sessions.get(owner or "")
        own, links = Context(), list[Link]()
        if session is not None:
            call = getattr(getattr(event.params, "tool_call", None), "tool_call_id", None)
            own = session.context_of_call(call)
        if self.settings.propagate:
            own, links = parent_of(event.params, own)
        attributes = {"rpc.system.name": "jsonrpc", "rpc.method": event.method}
        if owner:
            attributes["gen_ai.conversation.id"] = self.shown(owner)
        span = self.tracer.start_span(event.method, own, SpanKind.SERVER, attributes, links)
        key = type(event.id), event.id
        if key in self._served:  # an agent may use an id again although it waits for an answer by it
            self._served.pop(key).span.end()
        self._served[key] = _Request(event.method, span, time.monotonic())
        return set_span_in_context(span, own)

    def answered(self, request: OpenRequest, answer: Any) -> None:
        """Learn what a request of the agent was answered with."""
        self.guard(self._answered, request, answer)

    def _answered(self, request: OpenRequest, answer: Any) -> None:
        served = self._served.pop((type(request.id), request.id), None)
        if served is None:
            return
        told = decision_of(request, answer)
        if told is not None:
            decision, by, _ = told
            served.span.set_attribute("acp.decision", str(decision))
            served.span.set_attribute("acp.decided_by", str(by))
        self._end(served, answer, served=True)

    def _end(self, request: _Request, outcome: Any, *, served: bool) -> None:
        error = type(outcome).__name__ if isinstance(outcome, BaseException) else None
        if error is not None:
            request.span.set_attribute("error.type", error)
            request.span.set_status(StatusCode.ERROR)
        if isinstance(outcome, RequestFailed):
            request.span.set_attribute("rpc.response.status_code", str(outcome.code))
        request.span.end()
        seconds = time.monotonic() - request.began
        self.instruments.request_ended(request.method, served=served, seconds=seconds, error=error)


def _fail(span: Span, error: str) -> None:
    """End a span with an error of this class."""
    span.set_attribute("error.type", error)
    span.set_status(StatusCode.ERROR)
    span.end()


def _session_id(params: Any) -> str | None:
    """Return the session that a request names."""
    named = params.get("sessionId") if isinstance(params, dict) else getattr(params, "session_id", None)
    return named if isinstance(named, str) and named else None
