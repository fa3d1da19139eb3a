"""What a run was: :class:`RunResult`, plain values that can be pickled, compared, and written as JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import field, frozen
from attrs.converters import optional

from acp_host.errors import OutcomeUnknown, RunFailed
from acp_host.exit_codes import exit_code_of
from acp_host.host.outcome import OutcomeKind

__all__ = [
    "DeniedRequest",
    "FileChange",
    "RunAgent",
    "RunAttempt",
    "RunCost",
    "RunError",
    "RunOutcome",
    "RunReason",
    "RunReminder",
    "RunResult",
    "RunToolCall",
    "TokenUsage",
]


class RunReason(StrEnum):
    """Why a run did not complete, where more is known than that; decide by this, and never by a message."""

    AGENT_FAILED = "agent_failed"
    """The agent did not start, or answered with an error."""
    PROTOCOL_ERROR = "protocol_error"
    """The agent broke the protocol, so that the run could not go on."""
    LOGIN_NEEDED = "login_needed"
    """The agent wants a login first."""
    NOT_SUPPORTED = "not_supported"
    """The agent does not offer what was asked for."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """The prompt was sent, and nobody will say what became of it."""
    PERMISSION_DENIED = "permission_denied"
    """The agent was denied what it asked permission for, by the policy or by a person: what it says of its work, even
    that it has completed, is without that."""
    REMINDER_NOT_DELIVERED = "reminder_not_delivered"
    """The rung that was required did not take the reminder; the prompt was not sent."""
    START_TIMEOUT = "start_timeout"
    """The agent was not ready in time; the prompt was not sent."""
    IDLE_TIMEOUT = "idle_timeout"
    """The agent was silent for too long; the turn was cancelled."""
    TOTAL_TIMEOUT = "total_timeout"
    """The run took too long; the turn was cancelled, if there was one by then."""
    BUDGET_EXCEEDED = "budget_exceeded"
    """More was spent than allowed; the turn was cancelled."""


@frozen(kw_only=True)
class RunOutcome:
    """How a run ended.

    Attributes:
        kind: one of :class:`~acp_host.host.outcome.OutcomeKind`.
        reason: one of :class:`RunReason`; ``None`` where ``kind`` says it all.
        verified: the agent vouches for the completion by more than a stop reason.
        detail: why, for people; may be empty.
    """

    kind: str = field(converter=str)
    reason: str | None = field(default=None, converter=optional(str))
    verified: bool = False
    detail: str = ""


@frozen(kw_only=True)
class RunAgent:
    """Who the agent is, as it says itself.

    Attributes:
        name: its name; empty if it does not say one.
        version: its version; likewise.
        protocol_version: the version of the protocol that was agreed.
    """

    name: str
    version: str
    protocol_version: int


@frozen(kw_only=True)
class RunToolCall:
    """A tool call of the run, as it was last told.

    Attributes:
        tool_call_id: the agent's id.
        title: as sent; empty if the agent has not said one.
        kind: one of :class:`~acp_host.wire.tool_calls.ToolKind` or another word; ``None`` if not said.
        status: as last sent; ``None`` if not said.
        paths: the files that it works on, as sent.
    """

    tool_call_id: str
    title: str = ""
    kind: str | None = None
    status: str | None = None
    paths: tuple[str, ...] = ()


@frozen(kw_only=True)
class FileChange:
    """A file that has changed in the working directory during the run, whoever has changed it.

    Attributes:
        path: relative to the working directory, with ``/``.
        kind: ``created``, ``modified``, ``deleted`` or ``mode``.
        diff: a unified diff of its text; ``None`` where there is none to show, see ``no_diff``.
        no_diff: why there is no diff; empty where there is one.
        allowed: whether the policy allows the change; ``None`` where changes were not held against it.
    """

    path: str
    kind: str
    diff: str | None = None
    no_diff: str = ""
    allowed: bool | None = None


@frozen(kw_only=True)
class TokenUsage:
    """Tokens that the model has read and written, as the agent says at the end of its turn.

    Whether that is the turn's or the whole session's, agents differ in; ``None`` is what the agent does not say.
    """

    total_tokens: int
    input_tokens: int
    output_tokens: int
    thought_tokens: int | None = None
    cached_read_tokens: int | None = None
    cached_write_tokens: int | None = None


@frozen(kw_only=True)
class RunCost:
    """What was spent.

    Attributes:
        amount: in units of ``currency``.
        currency: an ISO 4217 code such as ``EUR``, or another unit such as ``credits``.
    """

    amount: float
    currency: str


@frozen(kw_only=True)
class RunReminder:
    """What became of a reminder of the run.

    Attributes:
        rung: the rung that took it, or that it came to an end at; ``suppressed``: none took it.
        status: one of :class:`~acp_host.state.reminder_entry.ReminderStatus`.
        detail: what went wrong; empty where nothing did.
    """

    rung: str
    status: str
    detail: str = ""


@frozen(kw_only=True)
class DeniedRequest:
    """Something that the agent asked for and was not allowed.

    Attributes:
        action: wire method of its request.
        subject: the path, the command or the title that it was about.
        decided_by: who decided, one of :class:`~acp_host.services.audit.DecidedBy`.
        rule: name of the rule that decided, if one did.
        detail: more words.
    """

    action: str
    subject: str
    decided_by: str
    rule: str | None = None
    detail: str = ""


@frozen(kw_only=True)
class RunError:
    """The error that ended an attempt.

    Attributes:
        type: name of its class, see :mod:`acp_host.errors`.
        message: what happened, without what looks like a secret.
        code: the JSON-RPC error code of the agent's answer; ``None`` for other errors.
        interruption: what is known of a turn that was cut off, in sentences.
    """

    type: str
    message: str
    code: int | None = None
    interruption: tuple[str, ...] = ()


@frozen(kw_only=True)
class RunAttempt:
    """One attempt of the run.

    Attributes:
        number: counts them, from 1.
        prompt_sent: whether the prompt was written to the agent.
        error: what ended it; ``None`` for one that ended as turns do.
        duration: how long it took, in seconds.
    """

    number: int
    prompt_sent: bool
    error: RunError | None = None
    duration: float = 0.0


@frozen(kw_only=True)
class RunResult:
    """A finished run.

    Attributes:
        outcome: how it ended.
        text: the agent's message text of the turn, without thoughts; also of one that was cut off.
        stop_reason: the agent's stop reason as sent; ``None`` where it gave none.
        agent: who the agent is; ``None`` where it never said so.
        session_id: the agent's id of the session, e.g. to go on with it; ``None`` where none was opened.
        tool_calls: the tool calls of the turn, in order.
        changes: the files that have changed, by path.
        changes_problem: why there may be more changes, as a sentence; ``None``: these are all.
        usage: tokens, as far as the agent says them.
        cost: what the run has cost, as far as the agent says it.
        unreported: what a limit was set for and the agent does not report: some of ``tokens``, ``cost``, ``turns``.
        reminders: what became of the reminders, in order.
        denied: what the agent was not allowed.
        attempts: what was tried, in order.
        error: what ended the last attempt; ``None`` where it ended as turns do.
        started_at: when the run began, in seconds since the epoch.
        duration: how long it took, in seconds.
        key: the key that it has in the journal; ``None`` without one.
        from_journal: nothing was done: the journal knew the result.
    """

    outcome: RunOutcome
    text: str = ""
    stop_reason: str | None = None
    agent: RunAgent | None = None
    session_id: str | None = None
    tool_calls: tuple[RunToolCall, ...] = ()
    changes: tuple[FileChange, ...] = ()
    changes_problem: str | None = None
    usage: TokenUsage | None = None
    cost: RunCost | None = None
    unreported: tuple[str, ...] = ()
    reminders: tuple[RunReminder, ...] = ()
    denied: tuple[DeniedRequest, ...] = ()
    attempts: tuple[RunAttempt, ...] = ()
    error: RunError | None = None
    started_at: float = 0.0
    duration: float = field(default=0.0, eq=False)
    key: str | None = None
    from_journal: bool = field(default=False, eq=False)

    @property
    def completed(self) -> bool:
        """Whether the agent says that it has done what it was asked."""
        return self.outcome.kind == OutcomeKind.COMPLETED

    @property
    def exit_code(self) -> int:
        """The exit code that ``acp-host run`` has for it: 0 if it has completed and the agent was denied nothing."""
        return int(exit_code_of(self.outcome.kind, self.outcome.reason))

    @property
    def outcome_unknown(self) -> bool:
        """Whether the prompt was sent and nobody knows what became of it: running it again may do it twice."""
        was_sent = bool(self.attempts) and self.attempts[-1].prompt_sent
        cut_off = was_sent and self.error is not None and self.error.type == OutcomeUnknown.__name__
        return cut_off or self.outcome.reason == RunReason.OUTCOME_UNKNOWN

    def check(self) -> RunResult:
        """Return the result itself, if the run has completed.

        Raises:
            RunFailed: it has not; ``result`` is this.
        """
        if not self.completed:
            raise RunFailed(self)
        return self

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the form that ``schemas/run-1.schema.json`` describes as ``result``."""
        from acp_host.automation.result_json import result_to_json

        return result_to_json(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> RunResult:
        """Return the result that JSON of :meth:`to_json` stands for; members that are not known are left out.

        Raises:
            InvalidInput: it is none; the message names the place.
        """
        from acp_host.automation.result_json import result_from_json

        return result_from_json(data)
