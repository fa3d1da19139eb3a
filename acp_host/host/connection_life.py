"""A connection as its parts know it: :class:`ConnectionLife`.

Owns the life of the connection: the transport, the handshake, the tasks, where each event goes, and the end. What an
application asks of it is :class:`~acp_host.host.connection.HostConnection`'s; sessions, calls and services are in
modules of their own.
"""

from __future__ import annotations

import asyncio
import itertools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import (
    AcpError,
    ConnectionClosed,
    ConnectionLost,
    InvalidState,
)
from acp_host.host.agent_methods import AgentMethods
from acp_host.host.auditing import Auditor
from acp_host.host.authentication import Authentication, LoginLink
from acp_host.host.change_check import ChangeCheck, ChangeCheckSettings
from acp_host.host.connection_options import ConnectionOptions
from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.host.handshake import shake_hands
from acp_host.host.harn_routes import HarnRoutes
from acp_host.host.health import ConnectionHealth, SessionReturn
from acp_host.host.incoming_notifications import IncomingNotifications
from acp_host.host.notices import NoticeRouter
from acp_host.host.permission_gate import PermissionGate
from acp_host.host.reconnect_policy import ReconnectPolicy, policy_for
from acp_host.host.reconnecting import Reconnecting, ReconnectLink
from acp_host.host.reminders import ReminderSettings
from acp_host.host.restoration import ConnectionParts, Restoration
from acp_host.host.services import ServiceHandlers, ServiceSet
from acp_host.host.session import Session
from acp_host.host.session_context import Opening, SessionContext
from acp_host.host.session_table import SessionTable
from acp_host.host.tasks import TaskOwner
from acp_host.host.telemetry.parts import PLAIN
from acp_host.protocol.events import CancelRequested, Ended, NotificationReceived, RequestReceived
from acp_host.protocol.host_protocol import HostEvent, HostProtocol
from acp_host.protocol.negotiation import Agreement, Registered, client_capabilities
from acp_host.scheduling import AsyncioScheduler
from acp_host.services.audit import AuditRecord
from acp_host.services.mcp import McpServers
from acp_host.services.permissions import Permissions
from acp_host.transports import Transport
from acp_host.wire._model import UNSET
from acp_host.wire.mcp import MessageMcpNotification

if TYPE_CHECKING:
    from acp_host.host.telemetry.connection_watch import ConnectionWatch

__all__ = ["ConnectionLife"]

_LAST_STEPS = 5.0
"""Seconds that handlers may take to end once they have been cancelled."""


class ConnectionLife(AgentMethods):
    """How a connection begins, goes on and ends. The attributes are described at the class that it is a base of.

    Args:
        transport: moves the bytes; started by :meth:`open`.
        services: what is served to the agent.
        options: everything else that was settled before.
        diagnostics: takes what is dropped, repaired or unexpected.
    """

    def __init__(
        self, transport: Transport, services: ServiceSet, options: ConnectionOptions, diagnostics: DiagnosticLog
    ) -> None:
        self.diagnostics = diagnostics
        self._options = options
        self._directories = options.directories
        self._services = services
        self._tasks = TaskOwner()
        self.audit = services.audit
        self._auditor = Auditor(
            self.audit, self._agent_name, self._options.clock, self.diagnostics.redactor.text, peer=self._peer
        )
        self._watch: ConnectionWatch | None = None
        parts = PLAIN
        if options.telemetry is not None:
            from acp_host.host.telemetry.watched import watched  # loaded, with OpenTelemetry, for those who are told

            self._watch, parts = watched(options.telemetry, diagnostics.redactor)
        self._make_state = parts.make_state
        self._incoming = parts.make_requests(self._tasks, self.diagnostics.add, self._auditor.answered)
        self._checks = self._change_checks(services.permissions)
        self._scheduler = AsyncioScheduler()
        self._notices = NoticeRouter(
            offered=lambda: options.notices or self._driver.protocol.version == 2,  # which every host of it shows
            preferences=options.notice_preferences,
            agent_name=self._agent_name,
            report=self.diagnostics.add,
            scheduler=self._scheduler,
            clock=self._options.clock,
        )
        self._sessions = SessionTable(
            self.diagnostics.add, lambda session_id, notice: self._notices.receive(session_id, notice, None)
        )
        self._notifications = IncomingNotifications(self.diagnostics.add)
        self._ended = asyncio.Event()
        self._end_error: AcpError | None = None
        self._closing: asyncio.Task[None] | None = None
        self.health = ConnectionHealth(self._scheduler, self._report_observer, options.clock.now)
        self._reconnecting = Reconnecting(
            self._reconnect_link(), policy_for(options.reconnect, transport), self.health, options.clock
        )
        self.authentication = Authentication(
            self._login_link(), handler=options.login_handler, terminal=options.login_terminal
        )
        info = options.client_info
        self._reminders = ReminderSettings(host=info.title or info.name, sidebar=options.sidebar)
        self._driver = parts.make_driver(
            transport,
            self._make_protocol(),
            self._sessions.receive,
            self._receive,
            self.diagnostics.redactor,
            self._losing,
            self._reconnecting.ready,
        )
        self._incoming.attach(self._driver, self._sessions)
        self._session_context = self._make_session_context()
        gate = PermissionGate(
            services.permissions,
            incoming=self._incoming,
            sessions=self._sessions,
            agent_name=self._agent_name,
            is_harn=self._is_harn,
            text_of=services.text_of,
            report=self.diagnostics.add,
        )
        self._service_handlers = ServiceHandlers(
            services, gate, self._sessions, lambda: self.agreement, self.diagnostics.add
        )
        self._service_handlers.register(self._incoming)
        self._notifications.take("elicitation/complete", self._service_handlers.elicitation_completed)
        self._routes = HarnRoutes(self._sessions, self._is_harn, self.diagnostics.add)
        self._notifications.take_others(self._routes.take)
        self._notifications.take("auth/status_update", self.authentication.told)
        self._notifications.take("_auth/status_update", self.authentication.told_its_own_way)
        self._mcp = McpServers(self._tasks.start, self._notify_of_mcp, self.diagnostics.add)
        self._incoming.serve("mcp/message", self._mcp.message)
        self._restoration = self._make_restoration()
        if self._watch is not None:
            self._watch.follow(self.diagnostics, self.health, self._sessions)

    def _make_session_context(self) -> SessionContext:
        return SessionContext(
            driver=self._driver,
            incoming=self._incoming,
            report=self.diagnostics.add,
            notices=self._notices,
            scheduler=self._scheduler,
            clock=self._options.clock,
            reminders=self._reminders,
            memory=self._options.memory,
            directories=self._directories,
            cancel_timeouts=self._options.cancel_timeouts,
            authentication=self.authentication,
            after_cancel=self._end_commands,
            gone=self._session_gone,
            close_session=self.close_session,
            make_state=self._make_state,
            decisions_since=self._decisions_since,
        )

    def _change_checks(self, permissions: Permissions) -> ChangeCheckSettings | None:
        limits = permissions.change_limits
        if limits is None or not self._directories.here:
            return None
        return ChangeCheckSettings(
            policy=permissions.policy,
            agent_name=self._agent_name,
            peer=self._peer,
            tasks=self._tasks,
            audit=self.audit,
            clock=self._options.clock,
            report=self.diagnostics.add,
            limits=limits,
            own_files=self._options.own_files,
        )

    def _login_link(self) -> LoginLink:
        return LoginLink(
            call=lambda method, params: self._driver.call(method, params),
            agreement=lambda: self.agreement,
            launch=lambda: self._driver.transport.launch,
            as_started=lambda launch: self._driver.transport.as_started(launch),
            against_restart=self._against_restart,
            restart=self.restart,
            ready=self._reconnecting.ready,
            start=self._tasks.start,
            is_open=lambda: self._tasks.is_open and not self.closed,
            report=self.diagnostics.add,
            redactor=self.diagnostics.redactor,
            scheduler=self._scheduler,
        )

    def _reconnect_link(self) -> ReconnectLink:
        return ReconnectLink(
            leave=lambda: self._restoration.leave(),
            replace=lambda env: self._restoration.replace(env),
            shake_hands=self._shake_hands,
            reopen=lambda: self._restoration.reopen(),
            given_up=self._give_up,
            start=self._tasks.start,
            report=self.diagnostics.add,
            redactor=self.diagnostics.redactor,
        )

    def _make_restoration(self) -> Restoration:
        policy = self._reconnecting.policy or ReconnectPolicy()
        parts = ConnectionParts(
            driver=self._driver,
            make_protocol=self._make_protocol,
            incoming=self._incoming,
            sessions=self._sessions,
            services=self._services,
            mcp=self._mcp,
            reminders=self._reminders,
            open_session=self.open_session,
            report=self.diagnostics.add,
        )
        return Restoration(parts, policy.sessions, policy.session_timeout)

    def _make_protocol(self, versions: tuple[int, ...] | None = None) -> HostProtocol:
        options = self._options
        registered: Registered = self._services.registered(
            auth_terminal=options.login_terminal is not None, notices=options.notices, unstable=options.unstable
        )
        return HostProtocol(
            options.offer or client_capabilities(registered),
            client_info=options.client_info,
            protocol_versions=options.protocol_versions if versions is None else versions,
            serves=self._incoming.serves,
            quirks=options.quirks,
            route=lambda method, params: self._routes.session_id_of(method, params),
            max_message_size=options.max_message_size,
        )

    # --- how it is ---------------------------------------------------------------------------------------------------

    @property
    def agreement(self) -> Agreement:
        """What was agreed with the agent; while the connection is made again, what was agreed before."""
        return self._driver.agreement

    @property
    def closed(self) -> bool:
        """Whether the connection is over, by whichever side; one that is being made again is not."""
        return self._ended.is_set()

    @abstractmethod
    async def notify(self, method: str, params: Any = UNSET, *, force: bool = False) -> None:
        """Send a notification of any method."""

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
            with nullcontext() if self._watch is None else self._watch.opening(self._driver):
                await self._shake_hands(lambda: None)
            self._driver.may_return = self._reconnecting.policy is not None
        except BaseException:
            await self.close()
            raise

    async def restart(self, env: Mapping[str, str] | None = None) -> tuple[SessionReturn, ...]:
        """Start the agent anew by the same command, or dial it anew, and shake hands again.

        Calls that are made meanwhile wait; those in flight have some seconds to end, and end as ``OutcomeUnknown``
        then, turns too. The open sessions are opened again as the policy of ``connect(reconnect=…)`` says. The
        agreement may be another one afterwards.

        Args:
            env: further variables for its environment.

        Returns:
            What became of the sessions that were open.

        Raises:
            InvalidState: the agent is not one that this host starts or dials; or it is being started already.
            StartFailed: it did not come up again; the connection is over then, unless the policy goes on trying.
        """
        if self.closed or self._reconnecting.is_active:
            raise InvalidState("the agent was not started anew: it has ended, or is being started already")
        if not self._restoration.has_following(env or {}):
            raise InvalidState(f"{self._driver.transport.description} cannot be started anew by this host")
        for session in self._sessions:
            session.hold_prompts()
        await self._reconnecting.restart(env or {})
        return self.health.snapshot().returned

    async def _shake_hands(self, reached: Callable[[], None]) -> None:
        seconds = self._options.start_timeout
        await shake_hands(self._driver, self._make_protocol, self.diagnostics, seconds, reached)

    async def close(self) -> None:
        """End the connection: answer what is open, stop the transport and its processes. May be called repeatedly."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="acp_host close")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            self._driver.may_return = False
            self._reconnecting.close()
            self._incoming.cancel_all()
            if not await self._tasks.close(_LAST_STEPS):
                text = f"handlers that were cancelled did not end within {_LAST_STEPS:g} s; they are left behind"
                self.diagnostics.add(Diagnostic(DiagnosticKind.HANDLER_FAILED, text))
        finally:
            try:
                await self._driver.transport.close()
            finally:
                self._give_up(ConnectionClosed("this host closed the connection"))
                await self._services.close()
                if self.audit.file is not None:
                    await asyncio.to_thread(self.audit.close)
                if self._watch is not None:
                    self._watch.ended(self._end_error)

    # --- what the agent sends ---------------------------------------------------------------------------------------

    def _receive(self, event: HostEvent) -> None:
        match event:
            case RequestReceived():
                self._incoming.receive(event)
            case NotificationReceived():
                self._notifications.receive(event)
            case CancelRequested(request_id):
                self._incoming.withdraw(request_id)
            case Diagnostic():
                self.diagnostics.add(event)
                self._auditor.refused(event)
            case Ended(error) if self._driver.protocol.half_agreed is None:  # else another connection is tried
                self._ended_by(error)

    def _is_harn(self) -> bool:
        try:
            return self.agreement.harn is not None
        except InvalidState:  # it speaks before it has answered initialize
            return False

    def _agent_name(self) -> str:
        try:
            return self.agreement.agent_name
        except InvalidState:  # it speaks before it has answered initialize
            return "agent"

    def _peer(self) -> str | None:
        """Return who an agent elsewhere is, for the audit trail."""
        transport = self._driver.transport
        return transport.peer if transport.remote else None

    def _losing(self, error: AcpError | None) -> None:
        self._restoration.losing(error, may_return=self._may_return(error))

    def _ended_by(self, error: AcpError | None) -> None:
        if self._may_return(error):
            self._reconnecting.lost(error or ConnectionLost("the agent closed the connection"))
        else:
            self._end(error)

    def _give_up(self, error: AcpError) -> None:
        """End the connection for good, whether it is up, lost, or being made again."""
        self._driver.may_return = False
        self._driver.connection_lost(error)
        if not self.closed:  # it was lost before
            self._end(error)

    def _may_return(self, error: AcpError | None) -> bool:
        """Tell whether a connection that has ended is made again."""
        if self._reconnecting.is_active:
            return True
        wanted = self._driver.may_return and not isinstance(error, ConnectionClosed)
        return wanted and self._restoration.has_following({})

    def _end(self, error: AcpError | None) -> None:
        self._end_error = None if isinstance(error, ConnectionClosed) else error
        self._driver.is_over, self._driver.may_return = True, False
        self._ended.set()
        self._reconnecting.ended(self._end_error)
        self.authentication.connection_ended()
        self._incoming.cancel_all()  # nobody waits for the answers any more
        self._mcp.close()
        self._sessions.end("lost" if self._end_error else "closed", str(self._end_error or ""))
        self.diagnostics.close()
        if self._watch is not None:
            self._watch.ended_soon(self._end_error)

    def _against_restart(self) -> str:
        """Return why the agent should not be started anew now, on behalf of a login; empty where it can be."""
        if any(session.is_working for session in self._sessions):
            return "a turn is running, and would be cut off"
        can_reopen = self.agreement.supports("session/resume") or self.agreement.supports("session/load")
        if tuple(self._sessions) and not can_reopen:
            return "sessions are open, and would be lost with the agent's process"
        return ""

    def _decisions_since(self, session_id: str, time: float) -> Iterable[AuditRecord]:
        """Return what was decided since a time about the requests of a session and its subagents, oldest first."""
        session = self._sessions.get(session_id)
        newer = itertools.takewhile(lambda record: record.time >= time, reversed(self.audit.records))
        own = [record for record in newer if record.session_id and self._sessions.owner(record.session_id) is session]
        return reversed(own)

    def _report_observer(self, observer: Callable[..., Any], error: BaseException) -> None:
        text = f"an observer of the connection's health failed: {type(error).__name__}: {error}"
        self.diagnostics.add(Diagnostic(DiagnosticKind.HANDLER_FAILED, text))

    async def _notify_of_mcp(self, notification: MessageMcpNotification) -> None:
        await self.notify("mcp/message", notification, force=True)  # the agent that asked takes it

    def _end_commands(self, session_id: str) -> None:
        if self._tasks.is_open:
            self._tasks.start(self._services.turn_cancelled(session_id))

    def _session_gone(self, session_id: str) -> None:
        """Free what the host holds for a session that the agent does not know any more."""
        self._sessions.remove(session_id)
        if self._tasks.is_open:
            self._tasks.start(self._services.close_session(session_id))

    def _add_session(self, session_id: str, roots: Any, opening: Opening | None, *, is_fork: bool = False) -> Session:
        changes = None if self._checks is None else ChangeCheck(session_id, roots, self._checks)
        session = Session(session_id, roots[0], self._session_context, changes)
        self._services.open_session(session_id, roots[0], roots[1:], session.terminal_changed)
        if is_fork:
            session.replay_begins(whole=False)  # what came before the id was known: the history of the other session
        self._sessions.add(session)
        if opening is not None:
            session.opened(opening)
        return session
