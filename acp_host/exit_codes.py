"""The exit codes of the ``acp-host`` command and of scripts that drive agents, and how a run comes to one of them.

A leaf, in the words of the values that it is about: the help of the command loads nothing of what a run needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

__all__ = ["ExitCode", "exit_code_of"]


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


# The words of `OutcomeKind`.
_OUTCOMES: Mapping[str, ExitCode] = {
    "completed": ExitCode.COMPLETED,
    "incomplete": ExitCode.INCOMPLETE,
    "refused": ExitCode.REFUSED,
    "cancelled": ExitCode.CANCELLED,
    "failed": ExitCode.AGENT_FAILED,
    "unverified": ExitCode.UNVERIFIED,
    "policy_violated": ExitCode.POLICY_VIOLATED,
    # Of jobs of a fleet, see `JobOutcomeKind`.
    "unknown": ExitCode.OUTCOME_UNKNOWN,
    "not_run": ExitCode.CANCELLED,
}

# The words of `RunReason`.
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


def exit_code_of(kind: str, reason: str | None) -> ExitCode:
    """Return the exit code for how a run, or a job of a fleet, ended.

    Args:
        kind: one of ``OutcomeKind`` or ``JobOutcomeKind``; one of a later version has failed.
        reason: one of ``RunReason``; ``None``, or one of a later version: the kind says it all.
    """
    return _REASONS.get(reason or "") or _OUTCOMES.get(kind, ExitCode.AGENT_FAILED)
