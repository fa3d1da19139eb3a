"""The exit codes of the ``acp-host`` command: one table, used by every sub-command and shown by ``--help``."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from acp_host.errors import AcpError, AuthRequired, LocalError
from acp_host.host.outcome import OutcomeKind, TurnResult

__all__ = ["ExitCode", "code_of_error", "code_of_result", "code_of_signal", "exit_code_help"]


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
    CANCELLED = 130


_MEANINGS: Mapping[ExitCode, str] = {
    ExitCode.COMPLETED: "completed",
    ExitCode.AGENT_FAILED: "the agent failed: not started, ended early, broke the protocol, or answered with an error",
    ExitCode.USAGE: "the command line is wrong, or asks for what the agent does not offer",
    ExitCode.INCOMPLETE: "the agent stopped before it was done, e.g. at a limit of tokens or requests",
    ExitCode.REFUSED: "the agent refused",
    ExitCode.UNVERIFIED: "the agent stopped without saying whether it was done",
    ExitCode.LOGIN_NEEDED: "the agent wants a login first",
    ExitCode.POLICY_VIOLATED: "the agent changed files that the permission policy does not allow it to change",
    ExitCode.CANCELLED: "cancelled, by Ctrl-C or by the agent",
}

_OUTCOMES: Mapping[OutcomeKind, ExitCode] = {
    OutcomeKind.COMPLETED: ExitCode.COMPLETED,
    OutcomeKind.INCOMPLETE: ExitCode.INCOMPLETE,
    OutcomeKind.REFUSED: ExitCode.REFUSED,
    OutcomeKind.CANCELLED: ExitCode.CANCELLED,
    OutcomeKind.FAILED: ExitCode.AGENT_FAILED,
    OutcomeKind.UNVERIFIED: ExitCode.UNVERIFIED,
    OutcomeKind.POLICY_VIOLATED: ExitCode.POLICY_VIOLATED,
}


def code_of_result(result: TurnResult) -> ExitCode:
    """Return the exit code for a finished turn.

    A turn that this side cancelled counts as cancelled, whatever the agent says: a script must not go on from there.
    """
    return ExitCode.CANCELLED if result.cancel_requested else _OUTCOMES[result.outcome.kind]


def code_of_error(error: AcpError) -> ExitCode:
    """Return the exit code for an error that ended a command."""
    if isinstance(error, AuthRequired):
        return ExitCode.LOGIN_NEEDED
    return ExitCode.USAGE if isinstance(error, LocalError) else ExitCode.AGENT_FAILED


def code_of_signal(number: int) -> int:
    """Return the exit code of a command that a signal ended, as shells write it."""
    return 128 + number


def exit_code_help() -> str:
    """Return the table as text for ``--help``."""
    rows = "\n".join(f"  {code.value:>3}  {_MEANINGS[code]}" for code in ExitCode)
    return f"exit codes:\n{rows}\n  128 and more: ended by the signal of that number less 128"
