"""What becomes of the parts of a connection when it is lost and made again: :class:`Restoration`.

=======================  =============================================================================================
part                     then
=======================  =============================================================================================
calls in flight          end as ``OutcomeUnknown``, a turn too; none is sent again
prompts that wait        go on waiting, and are sent once the session is open again
reminders                those that were written and not answered are uncertain; new ones wait
the agent's requests     are withdrawn, questions to the user too; what it asks again is a new question
terminals                go on over the network, where the agent may still know them; those of a process end with it
MCP servers lent         their conversations end; the new connection is lent them anew
what was learned         of methods that are not there is forgotten: it may be another agent by now
=======================  =============================================================================================

Owns that, and how each session is opened again; :mod:`acp_host.host.reconnecting` says when.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import (
    AcpError,
    ConnectionClosed,
    ConnectionLost,
    InvalidState,
    OutcomeUnknown,
    RequestFailed,
    SessionNotReopened,
    TransportError,
)
from acp_host.host.driver import Driver
from acp_host.host.health import SessionReturn
from acp_host.host.incoming import IncomingRequests
from acp_host.host.reminders import ReminderSettings
from acp_host.host.reopening import Lost, ReopenedSession, ReopenPolicy
from acp_host.host.services import ServiceSet
from acp_host.host.session import Session
from acp_host.host.session_table import SessionTable
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.protocol.negotiation import Agreement
from acp_host.redaction import redact_text
from acp_host.reminders import Learned
from acp_host.transports import Transport

if TYPE_CHECKING:
    from acp_host.services.mcp import McpServers

__all__ = ["ConnectionParts", "Restoration"]

_LAST_ANSWERS = 5.0
"""Seconds that calls in flight may take before this side leaves the connection for another one."""


@frozen(kw_only=True)
class ConnectionParts:
    """The parts of a connection.

    Attributes:
        driver: gets the new transport and protocol core.
        make_protocol: returns a core.
        incoming: the agent's open requests.
        sessions: those that are open.
        services: what runs for the agent.
        mcp: the servers that it was lent.
        reminders: what the sessions share about reminders.
        open_session: opens a session again, as ``HostConnection.open_session``.
        report: takes diagnostics.
    """

    driver: Driver
    make_protocol: Callable[[], HostProtocol]
    incoming: IncomingRequests
    sessions: SessionTable
    services: ServiceSet
    mcp: McpServers
    reminders: ReminderSettings
    open_session: Callable[..., Awaitable[ReopenedSession]]
    report: Callable[[Diagnostic], None]


class Restoration:
    """Takes the parts of one connection through its loss.

    Args:
        parts: the parts.
        policy: how the sessions may be opened again.
        session_timeout: seconds that each may take.
    """

    def __init__(self, parts: ConnectionParts, policy: ReopenPolicy, session_timeout: float) -> None:
        self._parts = parts
        self._policy = policy
        self._session_timeout = session_timeout
        self._before: Agreement | None = None
        self._following: Transport | None = None

    # --- the loss ---------------------------------------------------------------------------------------------------

    def losing(self, error: AcpError | None, *, may_return: bool) -> None:
        """Take the end of the transport, before any call learns of it."""
        self._parts.incoming.cancel_all()
        self._parts.mcp.close()
        for session in self._parts.sessions:
            session.connection_lost(str(error or ""), may_return=may_return)

    async def leave(self) -> None:
        """Let the turns and calls in flight end, and take the connection for lost."""
        driver = self._parts.driver
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_ANSWERS):
                for session in self._parts.sessions:
                    await session.wait_for_turn()
                await driver.settled()
        driver.connection_lost(ConnectionLost("this host has left the connection for another one"))

    def has_following(self, env: Mapping[str, str]) -> bool:
        """Tell whether another transport can follow, with further variables for the environment of a process.

        It is made here, and once: what plays a recording goes on to the next connection thereby.
        """
        if self._following is None:
            self._following = self._parts.driver.transport.again(env)
        return self._following is not None

    # --- another connection -----------------------------------------------------------------------------------------

    async def replace(self, env: Mapping[str, str]) -> None:
        """Close what is left of the earlier transport and take its successor.

        Raises:
            InvalidState: there can be none.
        """
        driver = self._parts.driver
        earlier = driver.transport
        if not self.has_following(env) or self._following is None:
            raise InvalidState(f"{earlier.description} cannot be started anew by this host")
        following, self._following = self._following, None
        self._before = driver.agreement
        await earlier.close()
        if earlier.launch is not None:
            for session in self._parts.sessions:
                await self._parts.services.turn_cancelled(session.id)
        self._parts.reminders.learned = Learned()
        driver.attach(following, self._parts.make_protocol())

    async def reopen(self) -> tuple[SessionReturn, ...]:
        """Open the sessions again, all at once; return what became of them.

        Raises:
            AcpError: the connection is lost again.
        """
        self._compare()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._reopen(session)) for session in self._parts.sessions]
        results = [task.result() for task in tasks]
        for result in results:
            if isinstance(result, AcpError):
                raise result
        return tuple([result for result in results if isinstance(result, SessionReturn)])

    async def _reopen(self, session: Session) -> SessionReturn | AcpError:
        """Open a session again; return what became of it, or the error that is the whole connection's."""
        try:
            self._check_version()
            async with asyncio.timeout(self._session_timeout):
                opened = await self._open(session)
        except (TransportError, ConnectionClosed, OutcomeUnknown) as error:
            return error
        except (AcpError, TimeoutError) as error:
            return self._given_up(session, error)
        if opened.session is not session:
            session.give_up(f"it goes on as {opened.session.id}", ConnectionLost(opened.summary), opened.summary)
            return SessionReturn(
                session_id=session.id,
                step=opened.step,
                lost=opened.lost,
                summary=opened.summary,
                new_session_id=opened.session.id,
            )
        await self._attach(session)
        if self._parts.driver.protocol.ended:
            return ConnectionLost("the connection was lost again")
        session.goes_on()
        return SessionReturn(session_id=session.id, step=opened.step, lost=Lost.NOTHING)

    def _check_version(self) -> None:
        """Raise ``InvalidState`` where the agent speaks another version than before, in which turns end otherwise."""
        version = self._parts.driver.agreement.protocol_version
        if self._before is not None and self._before.protocol_version != version:
            raise InvalidState(f"the agent speaks version {version} now, and spoke {self._before.protocol_version}")

    async def _attach(self, session: Session) -> None:
        """Attach this host to a session that other programs share, if it was."""
        try:
            async with asyncio.timeout(self._session_timeout):
                await session.standing.attach_again()
        except (AcpError, TimeoutError) as error:
            text = f"this host could not be attached to the session again, and may not speak in it: {error}"
            self._parts.report(Diagnostic(DiagnosticKind.UNEXPECTED, text, session_id=session.id))

    async def _open(self, session: Session) -> ReopenedSession:
        if session.origin is None:
            raise InvalidState(f"nobody has told what session {session.id} was opened with")
        return await self._parts.open_session(session.id, policy=self._policy, **session.origin.arguments())

    def _given_up(self, session: Session, error: AcpError | TimeoutError) -> SessionReturn:
        if isinstance(error, TimeoutError):
            error = ConnectionLost(f"the agent has not opened it again within {self._session_timeout:g} s")
        last = error.__cause__ if isinstance(error, SessionNotReopened) else error
        why = redact_text(last.message) if isinstance(last, RequestFailed) else str(error)
        summary = f"The conversation was interrupted, and the agent could not open it again: {why}"
        session.give_up(f"it could not be opened again ({error})", error, summary)
        return SessionReturn(session_id=session.id, step=None, lost=Lost.CONTEXT, summary=summary)

    def _compare(self) -> None:
        """Say what the agent offers otherwise than before."""
        before, now = self._before, self._parts.driver.agreement
        if before is None:
            return
        changes = [
            f"{what} is {new!r} now, and was {old!r}"
            for what, old, new in (
                ("its name", before.agent_name, now.agent_name),
                ("the protocol version", before.protocol_version, now.protocol_version),
            )
            if old != new
        ]
        if before.agent_capabilities != now.agent_capabilities:
            changes.append("it offers something else than before")
        for change in changes:
            self._parts.report(Diagnostic(DiagnosticKind.UNEXPECTED, f"another agent was reached: {change}"))
