"""From what is known of the attempts to the result of a run: :func:`result_of`. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from acp_host.automation.attempt import Attempt
from acp_host.automation.budget import BudgetWatch
from acp_host.automation.changed_files import ChangedFiles, relative_path
from acp_host.automation.hiding import hiding, secrets_given, without_secrets
from acp_host.automation.result import (
    DeniedRequest,
    FileChange,
    RunAgent,
    RunAttempt,
    RunError,
    RunOutcome,
    RunReason,
    RunResult,
    RunToolCall,
    TokenUsage,
)
from acp_host.errors import (
    AcpError,
    AuthRequired,
    LocalError,
    OutcomeUnknown,
    PeerError,
    ReminderNotDelivered,
    RequestFailed,
    StartTimeout,
    UnsupportedVersion,
)
from acp_host.host.outcome import OutcomeKind, TurnResult
from acp_host.protocol.negotiation import Agreement
from acp_host.services.audit import AuditDecision, AuditRecord, DecidedBy
from acp_host.services.change_verdicts import ChangeReport, ChangeVerdict
from acp_host.state.entries import ToolCallEntry
from acp_host.wire._model import Unset
from acp_host.wire.usage import Usage

__all__ = ["agent_of", "attempt_of", "error_of", "result_of", "tool_call_of"]

_REASONS: tuple[tuple[type[AcpError], RunReason], ...] = (
    (OutcomeUnknown, RunReason.OUTCOME_UNKNOWN),
    (AuthRequired, RunReason.LOGIN_NEEDED),
    (ReminderNotDelivered, RunReason.REMINDER_NOT_DELIVERED),
    (UnsupportedVersion, RunReason.AGENT_FAILED),
    (PeerError, RunReason.PROTOCOL_ERROR),
    (LocalError, RunReason.NOT_SUPPORTED),
)
"""Classes of errors and what they are called in an outcome; all others: the agent failed."""
_DENIALS = (DecidedBy.POLICY, DecidedBy.USER, DecidedBy.REMEMBERED, DecidedBy.APPROVAL)
_ABOUT_PERMISSION = ("session/request_permission", "fs/read_text_file", "fs/write_text_file", "terminal/create")
_SPOILED_BY_DENIAL = (OutcomeKind.COMPLETED, OutcomeKind.UNVERIFIED, OutcomeKind.REFUSED, OutcomeKind.CANCELLED)
"""The kinds of outcomes that a denial explains, or takes something from."""


def attempt_of(attempt: Attempt, duration: float) -> RunAttempt:
    """Return what the result says of an attempt."""
    return RunAttempt(
        number=attempt.number, prompt_sent=attempt.prompt_sent, error=error_of(attempt.error), duration=duration
    )


def error_of(error: AcpError | None) -> RunError | None:
    """Return what the result says of an error."""
    if error is None:
        return None
    interruption = error.interruption if isinstance(error, OutcomeUnknown) else None
    return RunError(
        type=type(error).__name__,
        message=str(error),
        code=error.code if isinstance(error, RequestFailed) else None,
        interruption=() if interruption is None else interruption.reasons,
    )


def result_of(
    last: Attempt,
    *,
    attempts: tuple[RunAttempt, ...],
    budget: BudgetWatch,
    changes: ChangedFiles | None,
    started_at: float,
    duration: float,
) -> RunResult:
    """Return the result of a run.

    Args:
        last: its last attempt.
        attempts: all of them.
        budget: what they have spent.
        changes: the files that have changed; ``None`` where nobody has looked.
        started_at: when it began, in seconds since the epoch.
        duration: how long it took, in seconds.
    """
    answer, turn = last.result, last.turn
    denied = tuple(_denied(last.decided))
    result = RunResult(
        outcome=_with_denials(_outcome(last), denied, stopped=turn is not None and turn.cancel_requested),
        text=answer.text if answer is not None else turn.text if turn is not None else "",
        stop_reason=None if answer is None or answer.stop_reason is None else str(answer.stop_reason),
        agent=None if last.host is None else agent_of(last.host.agreement),
        session_id=None if last.session is None else last.session.id,
        tool_calls=_tool_calls(last),
        changes=() if changes is None else _judged(changes.changes, answer, last.plan.cwd),
        changes_problem=None if changes is None else changes.problem,
        usage=_usage(answer),
        cost=budget.cost,
        unreported=budget.unreported,
        reminders=last.reminders,
        denied=denied,
        attempts=attempts,
        error=error_of(last.error) or (None if answer is None else error_of(answer.error)),
        started_at=started_at,
        duration=duration,
    )
    secrets = secrets_given(last.host, last.plan.environment)
    return without_secrets(result, hiding(secrets)) if secrets else result


def _outcome(attempt: Attempt) -> RunOutcome:
    if attempt.result is not None:
        return _outcome_of_turn(attempt, attempt.result)
    if attempt.error is not None:
        return _outcome_of_error(attempt, attempt.error)
    stop = attempt.stop
    if attempt.timed_out:
        detail = f"the agent was not ready within {attempt.plan.timeouts.start:g} s"
        return RunOutcome(kind=OutcomeKind.FAILED, reason=RunReason.START_TIMEOUT, detail=detail)
    if stop.reason is not None:
        return RunOutcome(kind=OutcomeKind.FAILED, reason=stop.reason, detail=stop.detail)
    return RunOutcome(kind=OutcomeKind.CANCELLED, detail=stop.detail)


def _outcome_of_turn(attempt: Attempt, answer: TurnResult) -> RunOutcome:
    """Return what an ended turn means: a violation first, then what ended it early, then what the agent says."""
    outcome, turn, stop = answer.outcome, attempt.turn, attempt.stop
    assert turn is not None
    said = RunOutcome(kind=outcome.kind, verified=outcome.verified, detail=outcome.detail)
    if outcome.kind is OutcomeKind.POLICY_VIOLATED:
        return said
    if attempt.went_idle:
        return RunOutcome(kind=OutcomeKind.INCOMPLETE, reason=RunReason.IDLE_TIMEOUT, detail=turn.cancel_reason)
    if turn.cancel_requested and stop.reason is not None:
        return RunOutcome(kind=OutcomeKind.INCOMPLETE, reason=stop.reason, detail=stop.detail)
    if turn.cancel_requested:
        return RunOutcome(kind=OutcomeKind.CANCELLED, detail=stop.detail)
    if isinstance(answer.error, PeerError):
        return evolve(said, reason=RunReason.PROTOCOL_ERROR)
    return said


def _outcome_of_error(attempt: Attempt, error: AcpError) -> RunOutcome:
    reason = next((reason for kind, reason in _REASONS if isinstance(error, kind)), RunReason.AGENT_FAILED)
    if isinstance(error, StartTimeout):
        reason = RunReason.START_TIMEOUT
    elif isinstance(error, OutcomeUnknown) and isinstance(error.cause, PeerError):
        reason = RunReason.PROTOCOL_ERROR
    elif isinstance(error, OutcomeUnknown) and not attempt.prompt_sent:
        reason = RunReason.AGENT_FAILED
    return RunOutcome(kind=OutcomeKind.FAILED, reason=reason, detail=str(error))


def _with_denials(outcome: RunOutcome, denied: tuple[DeniedRequest, ...], *, stopped: bool) -> RunOutcome:
    """Return the outcome with the reason that the agent was denied something, where that explains it."""
    decided = any(each.decided_by in _DENIALS and each.action in _ABOUT_PERMISSION for each in denied)
    if not decided or stopped or outcome.reason is not None or outcome.kind not in _SPOILED_BY_DENIAL:
        return outcome
    detail = outcome.detail or f"what it asked for was denied: {denied[0].subject}"
    return evolve(outcome, reason=RunReason.PERMISSION_DENIED, detail=detail)


def _denied(decided: Iterable[AuditRecord]) -> Iterable[DeniedRequest]:
    for record in decided:
        if record.decision is AuditDecision.REJECTED:
            yield DeniedRequest(
                action=record.action,
                subject=record.subject,
                decided_by=str(record.decided_by),
                rule=record.rule,
                detail=record.detail,
            )


def agent_of(agreement: Agreement) -> RunAgent:
    """Return who an agent says that it is."""
    info = agreement.agent_info
    return RunAgent(
        name="" if info is None else info.name,
        version="" if info is None else info.version,
        protocol_version=agreement.protocol_version,
    )


def _tool_calls(attempt: Attempt) -> tuple[RunToolCall, ...]:
    if attempt.session is None or attempt.turn is None:
        return ()
    number = attempt.turn.number
    entries = attempt.session.state.snapshot().tool_calls
    return tuple([tool_call_of(entry) for entry in entries if entry.turn == number and not entry.replayed])


def tool_call_of(entry: ToolCallEntry) -> RunToolCall:
    """Return what the result says of a tool call."""
    return RunToolCall(
        tool_call_id=entry.tool_call_id,
        title=entry.title or "",
        kind=None if entry.kind is None else str(entry.kind),
        status=None if entry.status is None else str(entry.status),
        paths=tuple([location.path for location in entry.locations]),
    )


def _usage(answer: TurnResult | None) -> TokenUsage | None:
    usage: Usage | None = None if answer is None else answer.usage
    if usage is None:
        return None
    return TokenUsage(
        total_tokens=usage.total_tokens,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        thought_tokens=_known(usage.thought_tokens),
        cached_read_tokens=_known(usage.cached_read_tokens),
        cached_write_tokens=_known(usage.cached_write_tokens),
    )


def _known(tokens: int | None | Unset) -> int | None:
    return tokens if isinstance(tokens, int) else None


def _judged(changes: Iterable[FileChange], answer: TurnResult | None, cwd: str) -> tuple[FileChange, ...]:
    """Return the changes with what the policy says of each, where it was held against them."""
    report: ChangeReport | None = None if answer is None else answer.changes
    if report is None:
        return tuple(changes)
    verdicts = {relative_path(change.path, cwd): change.verdict for change in report.changes}
    return tuple(
        [
            evolve(change, allowed=verdicts[change.path] is not ChangeVerdict.FORBIDDEN)
            if change.path in verdicts
            else change
            for change in changes
        ]
    )
