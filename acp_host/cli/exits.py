"""The exit codes of the ``acp-host`` command: one table, used by every sub-command and shown by ``--help``."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

from acp_host.errors import AcpError, AuthRequired, LocalError, PeerError, UnsupportedVersion
from acp_host.host.outcome import OutcomeKind

if TYPE_CHECKING:
    from acp_host.automation import RunOutcome, RunResult

__all__ = ["ExitCode", "code_of_error", "code_of_outcome", "code_of_run", "code_of_signal", "exit_code_help"]


class ExitCode(IntEnum):
    """What a command's exit status says."""

    COMPLETED = 0
    AGENT_FAILED = 1
    USAGE = 2
    INCOMPLETE = 3
    REFUSED = 4
    UNVERIFIED = 5
    LOGIN_NEEDED = 6
    POLICY_VIOLATED = 7
    PERMISSION_DENIED = 8
    PROTOCOL_ERROR = 9
    REMINDER_NOT_DELIVERED = 10
    TIMEOUT = 11
    BUDGET_EXCEEDED = 12
    OUTCOME_UNKNOWN = 13
    CANCELLED = 130


_MEANINGS: Mapping[ExitCode, str] = {
    ExitCode.COMPLETED: "completed",
    ExitCode.AGENT_FAILED: "the agent failed: not started, ended early, or answered with an error",
    ExitCode.USAGE: "the command line is wrong, or asks for what the agent does not offer",
    ExitCode.INCOMPLETE: "the agent stopped before it was done, e.g. at a limit of tokens or requests",
    ExitCode.REFUSED: "the agent refused",
    ExitCode.UNVERIFIED: "the agent stopped without saying whether it was done",
    ExitCode.LOGIN_NEEDED: "the agent wants a login first",
    ExitCode.POLICY_VIOLATED: "the agent changed files that the permission policy does not allow it to change",
    ExitCode.PERMISSION_DENIED: "the agent was denied something that it asked permission for, and ended all the same",
    ExitCode.PROTOCOL_ERROR: "the agent broke the protocol",
    ExitCode.REMINDER_NOT_DELIVERED: "the rung that --remind-require names did not take the reminder",
    ExitCode.TIMEOUT: "it took too long, to start, without a word, or in all",
    ExitCode.BUDGET_EXCEEDED: "the agent has spent more than the budget",
    ExitCode.OUTCOME_UNKNOWN: "the prompt was sent, and nobody knows what became of it; once more may be twice",
    ExitCode.CANCELLED: "cancelled, by Ctrl-C or by the agent",
}

_OUTCOMES: Mapping[str, ExitCode] = {
    OutcomeKind.COMPLETED: ExitCode.COMPLETED,
    OutcomeKind.INCOMPLETE: ExitCode.INCOMPLETE,
    OutcomeKind.REFUSED: ExitCode.REFUSED,
    OutcomeKind.CANCELLED: ExitCode.CANCELLED,
    OutcomeKind.FAILED: ExitCode.AGENT_FAILED,
    OutcomeKind.UNVERIFIED: ExitCode.UNVERIFIED,
    OutcomeKind.POLICY_VIOLATED: ExitCode.POLICY_VIOLATED,
    # Of jobs of a fleet, see `JobOutcomeKind`.
    "unknown": ExitCode.OUTCOME_UNKNOWN,
    "not_run": ExitCode.CANCELLED,
}

# The words of `RunReason`, whose package loads all that a run needs: the help of the command needs none of it.
_REASONS: Mapping[str, ExitCode] = {
    "agent_failed": ExitCode.AGENT_FAILED,
    "protocol_error": ExitCode.PROTOCOL_ERROR,
    "login_needed": ExitCode.LOGIN_NEEDED,
    "not_supported": ExitCode.USAGE,
    "outcome_unknown": ExitCode.OUTCOME_UNKNOWN,
    "permission_denied": ExitCode.PERMISSION_DENIED,
    "reminder_not_delivered": ExitCode.REMINDER_NOT_DELIVERED,
    "start_timeout": ExitCode.TIMEOUT,
    "idle_timeout": ExitCode.TIMEOUT,
    "total_timeout": ExitCode.TIMEOUT,
    "budget_exceeded": ExitCode.BUDGET_EXCEEDED,
}


def code_of_run(result: RunResult, *, denied_ok: bool = False) -> ExitCode:
    """Return the exit code for a finished run.

    Args:
        result: what it was.
        denied_ok: that the agent was denied something does not count.
    """
    return code_of_outcome(result.outcome, denied_ok=denied_ok)


def code_of_outcome(outcome: RunOutcome, *, denied_ok: bool = False) -> ExitCode:
    """Return the exit code for how a run ended; arguments as for :func:`code_of_run`."""
    reason = None if denied_ok and outcome.reason == "permission_denied" else outcome.reason
    return _REASONS.get(reason or "") or _OUTCOMES[outcome.kind]


def code_of_error(error: AcpError) -> ExitCode:
    """Return the exit code for an error that ended a command."""
    if isinstance(error, AuthRequired):
        return ExitCode.LOGIN_NEEDED
    if isinstance(error, PeerError) and not isinstance(error, UnsupportedVersion):
        return ExitCode.PROTOCOL_ERROR
    return ExitCode.USAGE if isinstance(error, LocalError) else ExitCode.AGENT_FAILED


def code_of_signal(number: int) -> int:
    """Return the exit code of a command that a signal ended, as shells write it."""
    return 128 + number


def exit_code_help() -> str:
    """Return the table as text for ``--help``."""
    rows = "\n".join(f"  {code.value:>3}  {_MEANINGS[code]}" for code in ExitCode)
    return f"exit codes:\n{rows}\n  128 and more: ended by the signal of that number less 128"
