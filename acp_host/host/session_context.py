"""What the sessions of a connection get from it: :class:`SessionContext`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from attrs import frozen

from acp_host.diagnostics import Diagnostic
from acp_host.host.authentication import Authentication
from acp_host.host.cancel_timeouts import CancelTimeouts
from acp_host.host.directories import Directories
from acp_host.host.driver import Driver
from acp_host.host.incoming import IncomingRequests
from acp_host.host.notices import NoticeRouter
from acp_host.host.reminders import ReminderSettings
from acp_host.services.audit import AuditRecord
from acp_host.state.clock import Clock, Scheduler
from acp_host.state.memory import MemoryPolicy
from acp_host.state.session_state import SessionState
from acp_host.wire.session import (
    CloseSessionResponse,
    ForkSessionResponse,
    LoadSessionResponse,
    NewSessionResponse,
    ResumeSessionResponse,
)

__all__ = ["Opening", "SessionContext"]

Opening = NewSessionResponse | LoadSessionResponse | ResumeSessionResponse | ForkSessionResponse
"""What the agent answered when the session was opened: its modes and configuration options."""


@frozen(kw_only=True)
class SessionContext:
    """What the sessions of a connection share.

    Attributes:
        driver: sends the requests.
        incoming: the agent's open requests.
        report: takes diagnostics.
        notices: makes the sessions' notice centers and brings them their notices.
        scheduler: decides when observers of the state are called.
        clock: says when something happened.
        reminders: what they share about reminders.
        memory: how much of a transcript is kept.
        directories: whether the directories of sessions are on this machine.
        cancel_timeouts: how long a cancelled turn may take to end.
        authentication: lets the user log in where a call is refused for want of it.
        after_cancel: called with the session's id when a cancel was sent, and again when the cancelled turn is over.
        gone: called with the id of a session that the agent does not know any more, after the session.
        close_session: closes a session by its id, as ``HostConnection.close_session``.
        make_state: makes the state of a session, from the arguments of ``SessionState``.
        decisions_since: returns what the host did for the agent in a session since a time, given the session's id.
    """

    driver: Driver
    incoming: IncomingRequests
    report: Callable[[Diagnostic], None]
    notices: NoticeRouter
    scheduler: Scheduler
    clock: Clock
    reminders: ReminderSettings
    memory: MemoryPolicy
    directories: Directories
    cancel_timeouts: CancelTimeouts
    authentication: Authentication
    after_cancel: Callable[[str], None]
    gone: Callable[[str], None]
    close_session: Callable[..., Awaitable[CloseSessionResponse]]
    make_state: Callable[..., SessionState]
    decisions_since: Callable[[str, float], Iterable[AuditRecord]]
