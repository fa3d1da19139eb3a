"""What the exit codes of the ``acp-host`` command mean, as ``--help`` shows it, and which one an end has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from acp_host.errors import AcpError, AuthRequired, LocalError, PeerError, UnsupportedVersion
from acp_host.exit_codes import ExitCode, exit_code_of

if TYPE_CHECKING:
    from acp_host.automation import RunOutcome, RunResult

__all__ = ["ExitCode", "code_of_error", "code_of_outcome", "code_of_run", "code_of_signal", "exit_code_help"]


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
    return exit_code_of(outcome.kind, reason)


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
