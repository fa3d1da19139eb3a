"""Scripts that drive agents: one prompt in one call, its result as plain values.

Start with :func:`run_prompt`; :mod:`acp_host.blocking` has it without ``await``.
"""

from acp_host.automation.journal import RunJournal
from acp_host.automation.limits import Budget, Retries, Timeouts
from acp_host.automation.result import (
    DeniedRequest,
    FileChange,
    RunAgent,
    RunAttempt,
    RunCost,
    RunError,
    RunOutcome,
    RunReason,
    RunReminder,
    RunResult,
    RunToolCall,
    TokenUsage,
)
from acp_host.automation.run import Run
from acp_host.automation.run_prompt import run_prompt
from acp_host.automation.target import ResolvedTarget, resolve_target

__all__ = [
    "Budget",
    "DeniedRequest",
    "FileChange",
    "ResolvedTarget",
    "Retries",
    "Run",
    "RunAgent",
    "RunAttempt",
    "RunCost",
    "RunError",
    "RunJournal",
    "RunOutcome",
    "RunReason",
    "RunReminder",
    "RunResult",
    "RunToolCall",
    "Timeouts",
    "TokenUsage",
    "resolve_target",
    "run_prompt",
]
