"""The connection to one agent: :class:`HostConnection`.

It owns the life of the connection: the transport, the handshake, the tasks, and where each event goes. Sessions, calls
and services are in modules of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from attrs import field, frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind, excerpt, throttled
from acp_host.errors import (
    AcpError,
    ConnectionClosed,
    ConnectionLost,
    InvalidInput,
    InvalidState,
    OutcomeUnknown,
    PeerError,
    StartFailed,
    StartTimeout,
    TransportError,
)
from acp_host.host.agent_methods import AgentMethods
from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.host.driver import Driver
from acp_host.host.incoming import IncomingRequests, RequestHandler
from acp_host.host.notices import NoticeRouter
from acp_host.host.reminders import ReminderSettings
from acp_host.host.services import ServiceHandlers, ServiceSet
from acp_host.host.session import Opening, Session, SessionContext
from acp_host.host.session_table import SessionTable
from acp_host.host.tasks import TaskOwner
from acp_host.host.turn_queue import CancelTimeouts
from acp_host.protocol.events import CancelRequested, Ended, NotificationReceived, RequestReceived
from acp_host.protocol.host_protocol import HostEvent, HostProtocol
from acp_host.protocol.negotiation import Agreement, Registered, client_capabilities
from acp_host.quirks import QUIRKS, Quirk, QuirkKind
from acp_host.reminders import WireRung
from acp_host.scheduling import AsyncioScheduler, SystemClock
from acp_host.state.memory import MemoryPolicy
from acp_host.state.notice_preferences import NoticePreferences
from acp_host.transports import Transport
from acp_host.wire._model import UNSET
from acp_host.wire.framing import MAX_MESSAGE_SIZE
from acp_host.wire.initialize import Implementation
from acp_host.wire.text import printable

__all__ = ["ConnectionOptions", "HostConnection"]

_E = TypeVar("_E", bound=BaseException)

_ERROR_TAIL = 8 * 1024
"""Most characters of stderr that an error carries."""
_LAST_STEPS = 5.0
"""Seconds that handlers may take to end once they have been cancelled."""

NotificationHandler = Callable[[Any], None]


@frozen(kw_only=True)
class ConnectionOptions:
    """How a connection behaves, the services aside.

    Attributes:
        client_info: name and version of the host program, told to the agent.
        start_timeout: seconds the agent may take to answer ``initialize``.
        cancel_timeouts: how long a cancelled turn may take to end.
        auth_terminal: offer to run the agent's command in a visible terminal for its login.
        notices: offer to show notices.
        notice_preferences: how sessions show them.
        unstable: offer draft features: plan variants and subagents.
        sidebar: a person sees the reminders panel.
        memory: how much of the transcripts is kept.
        quirks: the table of quirks in force.
        max_message_size: longest message that is read, in bytes.
    """

    client_info: Implementation
    start_timeout: float
    cancel_timeouts: CancelTimeouts = field(factory=CancelTimeouts)
    auth_terminal: bool = False
    notices: bool = True
    notice_preferences: NoticePreferences = field(factory=NoticePreferences)
    unstable: bool = False
    sidebar: bool = False
    memory: MemoryPolicy = field(factory=MemoryPolicy)
    quirks: tuple[Quirk, ...] = QUIRKS
    max_message_size: int = MAX_MESSAGE_SIZE


class HostConnection(AgentMethods):
    """The host's side of a connection to one agent. Made by :func:`acp_host.connect`.

    Attributes:
        diagnostics: what was dropped, repaired or unexpected on this connection.
    """

    def __init__(
        self, transport: Transport, services: ServiceSet, options: ConnectionOptions, diagnostics: DiagnosticLog
    ) -> None:
        self.diagnostics = diagnostics
        self._options = options
        self._services = services
        self._tasks = TaskOwner()
        self._incoming = IncomingRequests(self._tasks, self.diagnostics.add)
        self._scheduler = AsyncioScheduler()
        self._notices = NoticeRouter(
            offered=options.notices,
            preferences=options.notice_preferences,
            agent_name=self._agent_name,
            report=self.diagnostics.add,
            scheduler=self._scheduler,
            clock=SystemClock(),
        )
        self._sessions = SessionTable(
            self.diagnostics.add, lambda session_id, notice: self._notices.receive(session_id, notice, None)
        )
        self._notification_handlers: dict[str, NotificationHandler] = {}
        self._report_notification = throttled(self.diagnostics.add)
        self._ended = asyncio.Event()
        self._end_error: AcpError | None = None
        self._closing: asyncio.Task[None] | None = None
        self._driver = Driver(transport, self._make_protocol(), self._sessions.receive, self._receive)
        self._incoming.attach(self._driver, self._sessions)
        info = options.client_info
        self._reminders = ReminderSettings(host=info.title or info.name, sidebar=options.sidebar)
        self._session_context = SessionContext(
            driver=self._driver,
            incoming=self._incoming,
            report=self.diagnostics.add,
            notices=self._notices,
            scheduler=self._scheduler,
            clock=SystemClock(),
            reminders=self._reminders,
            memory=options.memory,
            cancel_timeouts=options.cancel_timeouts,
            after_cancel=self._after_cancel,
            close_session=self.close_session,
        )
        self._service_handlers = ServiceHandlers(
            services, self._sessions, self._reads_missing_as_empty, self.diagnostics.add
        )
        self._service_handlers.register(self._incoming)

    def _make_protocol(self) -> HostProtocol:
        options = self._options
        registered: Registered = self._services.registered(
            auth_terminal=options.auth_terminal, notices=options.notices, unstable=options.unstable
        )
        return HostProtocol(
            client_capabilities(registered),
            client_info=options.client_info,
            serves=self._incoming.serves,
            quirks=options.quirks,
            max_message_size=options.max_message_size,
        )

    # --- what applications ask --------------------------------------------------------------------------------------

    @property
    def agreement(self) -> Agreement:
        """What was agreed with the agent."""
        return self._driver.protocol.agreement

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions that are open on this connection."""
        return tuple(self._sessions)

    @property
    def closed(self) -> bool:
        """Whether the connection is over, by whichever side."""
        return self._ended.is_set()

    async def wait_closed(self) -> AcpError | None:
        """Wait until the connection is over; return why, or ``None`` for a clean end."""
        await self._ended.wait()
        return self._end_error

    async def request(
        self, method: str, params: Any = UNSET, *, force: bool = False, timeout: float | None = None
    ) -> Any:
        """Send a request of any method and return its result: plain JSON for an extension, else its wire type.

        Args:
            method: wire method; a method of ACP is checked against the agreement, an extension is not.
            params: plain JSON, or the method's wire type.
            force: send it although it was not agreed.
            timeout: seconds until the request is withdrawn; ``None`` for no limit.

        Raises:
            TimeoutError: no answer within ``timeout``; the agent was told with ``$/cancel_request``.
            RequestFailed: the agent answered with an error.
            NotSupported: the capability was not agreed.
        """
        async with asyncio.timeout(timeout):
            return await self._driver.call(method, params, force=force)

    async def notify(self, method: str, params: Any = UNSET, *, force: bool = False) -> None:
        """Send a notification of any method; arguments and errors as for :meth:`request`."""
        self._driver.notify(method, params, force=force)
        await self._driver.transport.drain()

    def on_request(self, method: str, handler: RequestHandler) -> None:
        """Answer the agent's requests of ``method`` with ``handler``, e.g. an extension's.

        Args:
            method: wire method.
            handler: takes the parameters (plain JSON for an extension), returns the result or an awaitable of it. It
                may raise a :class:`~acp_host.errors.RequestFailed`, which is the answer then.
        """
        self._incoming.serve(method, handler)

    def on_notification(self, method: str, handler: NotificationHandler) -> None:
        """Call ``handler`` with the parameters of the agent's notifications of ``method``, in order.

        Raises:
            InvalidInput: for ``session/update``; use :meth:`Session.on_update`.
        """
        if method == "session/update":
            raise InvalidInput("session/update goes to its session; use Session.on_update")
        self._notification_handlers[method] = handler

    def register_rung(self, rung: WireRung) -> None:
        """Add a way to deliver reminders, for policies to name; one of the same name is replaced.

        Args:
            rung: see :class:`~acp_host.reminders.rungs.WireRung`.
        """
        self._reminders.rungs[rung.name] = rung

    # --- life -------------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Start the transport and shake hands.

        Raises:
            StartFailed: the agent cannot be launched, or ended before it answered.
            StartTimeout: it did not answer in time.
            PeerError: it answered, but not in a way that this host can use.
            RequestFailed: it refused.
        """
        try:
            await self._tasks.open()
            await self._driver.start()
            async with asyncio.timeout(self._options.start_timeout):
                await self._driver.initialize()
        except TimeoutError:
            timeout = self._start_timeout()
            await self.close()
            raise self._with_diagnostics(timeout) from None
        except (OutcomeUnknown, ConnectionLost) as error:
            await self.close()
            cause = error.cause if isinstance(error, OutcomeUnknown) else error
            raise self._with_diagnostics(self._ended_early(cause)) from error
        except BaseException as error:
            await self.close()
            self._with_diagnostics(error)
            raise

    async def close(self) -> None:
        """End the connection: answer what is open, stop the transport and its processes. May be called repeatedly."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="acp_host close")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            self._incoming.cancel_all()
            if not await self._tasks.close(_LAST_STEPS):
                text = f"handlers that were cancelled did not end within {_LAST_STEPS:g} s; they are left behind"
                self.diagnostics.add(Diagnostic(DiagnosticKind.HANDLER_FAILED, text))
        finally:
            try:
                await self._driver.transport.close()
            finally:
                self._driver.connection_lost(ConnectionClosed("this host closed the connection"))
                await self._services.close()

    def _start_timeout(self) -> StartTimeout:
        transport = self._driver.transport
        return StartTimeout(
            f"{transport.description} did not answer initialize within {self._options.start_timeout:g} s; "
            f"it may not be an ACP agent, may need a flag to speak ACP, or may need longer to start{self._noise()}",
            exit_status=transport.exit_status,
            stderr_tail=transport.stderr_tail()[-_ERROR_TAIL:],
        )

    def _ended_early(self, cause: AcpError) -> AcpError:
        """Return what to raise when the agent was lost before it answered ``initialize``."""
        if isinstance(cause, PeerError):
            return cause
        transport = self._driver.transport
        status = cause.exit_status if isinstance(cause, TransportError) else None
        if status is not None:
            what = f"ended before it answered initialize (exit status {status})"
        else:
            what = f"was lost before it answered initialize: {str(cause).splitlines()[0]}"
        tail = transport.stderr_tail()[-_ERROR_TAIL:]
        return StartFailed(f"{transport.description} {what}{self._noise()}", exit_status=status, stderr_tail=tail)

    def _with_diagnostics(self, error: _E) -> _E:
        if isinstance(error, StartFailed):
            error.diagnostics = tuple(self.diagnostics)
        return error

    def _noise(self) -> str:
        """Return what came from stdout and was no message: often a program's own word on why it does not start."""
        lines = [str(note.data)[:200] for note in self.diagnostics if note.kind is DiagnosticKind.NOISE]
        said = [printable(line) for line in lines[-5:]]
        return "\n".join(["", "--- from its stdout ---", *said]) if said else ""

    # --- what the agent sends ---------------------------------------------------------------------------------------

    def _receive(self, event: HostEvent) -> None:
        match event:
            case RequestReceived():
                self._incoming.receive(event)
            case NotificationReceived():
                self._receive_notification(event)
            case CancelRequested(request_id):
                self._incoming.withdraw(request_id)
            case Diagnostic():
                self.diagnostics.add(event)
            case Ended(error):
                self._end(error)

    def _agent_name(self) -> str:
        try:
            return self.agreement.agent_name
        except InvalidState:  # it speaks before it has answered initialize
            return "agent"

    def _receive_notification(self, event: NotificationReceived) -> None:
        taken = event.method == "elicitation/complete" and self._service_handlers.elicitation_completed(event.params)
        handler = self._notification_handlers.get(event.method)
        if handler is None and taken:
            return
        if handler is None:
            text = f"the agent sent {event.method}, which nobody here listens to"
            self._report_notification(
                Diagnostic(DiagnosticKind.UNKNOWN_METHOD, text, method=event.method, data=excerpt(event.line))
            )
            return
        try:
            handler(event.params)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            text = f"the handler of {event.method} failed: {type(error).__name__}: {error}"
            self._report_notification(Diagnostic(DiagnosticKind.HANDLER_FAILED, text, method=event.method))

    def _end(self, error: AcpError | None) -> None:
        self._end_error = None if isinstance(error, ConnectionClosed) else error
        self._ended.set()
        self._incoming.cancel_all()  # nobody waits for the answers any more
        self._sessions.end("lost" if self._end_error else "closed", str(self._end_error or ""))
        self.diagnostics.close()

    def _after_cancel(self, session_id: str) -> None:
        if self._tasks.is_open:
            self._tasks.start(self._services.turn_cancelled(session_id))

    def _reads_missing_as_empty(self) -> bool:
        return self.agreement.quirk(QuirkKind.MISSING_FILE_READS_EMPTY) is not None

    def _add_session(self, session_id: str, roots: Any, opening: Opening | None, *, is_fork: bool = False) -> Session:
        session = Session(session_id, roots[0], self._session_context)
        self._services.open_session(session_id, roots[0], roots[1:], session.terminal_changed)
        if is_fork:
            session.replay_begins(whole=False)  # what came before the id was known: the history of the other session
        self._sessions.add(session)
        if opening is not None:
            session.opened(opening)
        return session
