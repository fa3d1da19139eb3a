"""Which attempts may be made once more: :func:`may_be_retried`.

==================================================  =================================================================
what ended the attempt                              it may be made once more
==================================================  =================================================================
the agent did not come up, or not in time           yes, unless there is no such program, or the error says that
                                                    waiting does not help (``retryable``)
the connection was lost before the prompt was sent  yes
the agent answered before the prompt with an error  no: it would say the same again
a login, a capability or a rung is missing          no
the prompt was sent, and the connection was lost    only with ``after_prompt``: its outcome is unknown
the prompt was sent, and answered with an error     only with ``after_prompt``, and not where the agent says that it
                                                    would be of no use
the turn has ended                                  no
==================================================  =================================================================
"""

from __future__ import annotations

from acp_host.automation.attempt import Attempt
from acp_host.errors import AcpError, AuthRequired, OutcomeUnknown, PromptFailed, RequestFailed, TransportError

__all__ = ["may_be_retried"]


def may_be_retried(attempt: Attempt, *, after_prompt: bool) -> bool:
    """Tell whether an attempt may be made once more.

    Args:
        attempt: one that has ended.
        after_prompt: also one whose prompt was sent.
    """
    if attempt.result is not None:
        return False
    if attempt.prompt_sent:
        return after_prompt and _may_pass_after_prompt(attempt.error)
    return attempt.timed_out or _may_pass(attempt.error)


def _may_pass(error: AcpError | None) -> bool:
    if isinstance(error, OutcomeUnknown):  # of a request before the prompt: the session it opened is nobody's
        return _may_pass(error.cause)
    if isinstance(error, TransportError):
        return error.retryable and not isinstance(error.__cause__, FileNotFoundError | PermissionError)
    return False


def _may_pass_after_prompt(error: AcpError | None) -> bool:
    if isinstance(error, PromptFailed):
        return error.retryable is not False
    if isinstance(error, OutcomeUnknown):
        return _may_pass(error.cause)
    return isinstance(error, RequestFailed) and not isinstance(error, AuthRequired)
