"""What a run tells while it goes on: one class for each kind of event.

The events of a run come in the order in which things happen; the first is :class:`RunStarted`, the last
:class:`RunFinished`. ``type`` is what an event is called in JSON, see :mod:`acp_host.automation.event_json`.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from attrs import frozen

from acp_host.automation.result import RunReminder, RunResult
from acp_host.diagnostics import Diagnostic
from acp_host.errors import AcpError
from acp_host.host.connection import HostConnection
from acp_host.host.session import Session
from acp_host.host.update_buffer import UpdatesSkipped
from acp_host.services.audit import AuditRecord
from acp_host.wire.updates import SessionUpdate

__all__ = [
    "AgentReady",
    "AttemptFailed",
    "EventsSkipped",
    "LimitReached",
    "PromptSent",
    "ReminderSettled",
    "RequestDecided",
    "RunEvent",
    "RunFinished",
    "RunStarted",
    "SessionOpened",
    "SomethingNoticed",
    "StderrLine",
    "Updated",
]


@frozen(kw_only=True)
class RunStarted:
    """The run begins.

    Attributes:
        agent: the agent, as it was named; without secrets.
        cwd: the working directory, absolute.
        key: the key that the run has in the journal; ``None`` without one.
    """

    type: ClassVar[str] = "start"

    agent: str
    cwd: str
    key: str | None = None


@frozen(kw_only=True)
class AgentReady:
    """The agent has answered ``initialize``; ``host`` is the connection, for what this interface does not have."""

    type: ClassVar[str] = "agent"

    host: HostConnection


@frozen(kw_only=True)
class SessionOpened:
    """A session is open.

    Attributes:
        session: the session itself, for what this interface does not have.
        how: ``new``, ``resume`` or ``load``.
    """

    type: ClassVar[str] = "session"

    session: Session
    how: str


@frozen(kw_only=True)
class ReminderSettled:
    """A reminder has come to rest."""

    type: ClassVar[str] = "reminder"

    reminder: RunReminder


@frozen(kw_only=True)
class PromptSent:
    """The prompt is on its way."""

    type: ClassVar[str] = "prompt"

    turn: int


@frozen(kw_only=True)
class Updated:
    """The agent has sent an update.

    Attributes:
        update: as it came.
        session: what was folded of it.
        aside: it belongs to no turn: what is said in it is no answer to the prompt.
    """

    type: ClassVar[str] = "update"

    update: SessionUpdate | UpdatesSkipped
    session: Session
    aside: bool = False


@frozen(kw_only=True)
class RequestDecided:
    """The agent has asked for something, and it was decided."""

    type: ClassVar[str] = "decision"

    record: AuditRecord


@frozen(kw_only=True)
class SomethingNoticed:
    """Something was dropped, repaired or unexpected."""

    type: ClassVar[str] = "diagnostic"

    diagnostic: Diagnostic


@frozen(kw_only=True)
class StderrLine:
    """The agent has written a line to stderr."""

    type: ClassVar[str] = "stderr"

    line: str


@frozen(kw_only=True)
class LimitReached:
    """A timeout or the budget is exceeded: the run ends, and a turn that is not over is cancelled.

    Attributes:
        reason: one of :class:`~acp_host.automation.result.RunReason`.
        detail: which limit, for people.
    """

    type: ClassVar[str] = "limit"

    reason: str
    detail: str


@frozen(kw_only=True)
class AttemptFailed:
    """An attempt has failed, and there will be another one.

    Attributes:
        number: of the attempt that has failed, from 1.
        error: what happened, for people.
        delay: seconds until the next one.
    """

    type: ClassVar[str] = "retry"

    number: int
    error: str
    delay: float


@frozen(kw_only=True)
class EventsSkipped:
    """Stands for events that were dropped because nobody took them in time; the result is not affected."""

    type: ClassVar[str] = "skipped"

    count: int


@frozen(kw_only=True)
class RunFinished:
    """The run is over.

    Attributes:
        result: what it was.
        error: the error that ended the last attempt, for what the result does not have of it; ``None`` without one.
    """

    type: ClassVar[str] = "result"

    result: RunResult
    error: AcpError | None = None


RunEvent: TypeAlias = (
    RunStarted
    | AgentReady
    | SessionOpened
    | ReminderSettled
    | PromptSent
    | Updated
    | RequestDecided
    | SomethingNoticed
    | StderrLine
    | LimitReached
    | AttemptFailed
    | EventsSkipped
    | RunFinished
)
"""One event of a run."""
