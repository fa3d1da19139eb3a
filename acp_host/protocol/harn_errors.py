"""What a Harn agent's errors mean: :func:`harn_error`.

======  ==============================================================  ===========================
code    and                                                             means
======  ==============================================================  ===========================
-32000  ``data.schema`` is that of a failed prompt                      ``PromptFailed``
-32000  ``data.authMethods``, or the message says ``auth_required``     ``AuthRequired``
-32000  neither                                                         ``RequestFailed``
-32004  the message says that the session was not found                 ``SessionNotFound``
-32004  otherwise                                                       ``NoActivePrompt``
======  ==============================================================  ===========================

All others mean what they mean elsewhere; :func:`~acp_host.wire.harn.refusals.refusal_reason` says more about them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from acp_host.errors import AuthRequired, NoActivePrompt, PromptFailed, RequestFailed, SessionNotFound
from acp_host.wire.harn.prompt import prompt_failure
from acp_host.wire.harn.refusals import refusal_reason

__all__ = ["harn_error"]

_FAILED, _NOT_NOW = AuthRequired.default_code, NoActivePrompt.default_code
_NOT_FOUND = re.compile(r"\bsession not found\b|\bunknown session\b", re.IGNORECASE)
_LONGEST_READ = 4_096
_ENVIRONMENT = "environment_policy."


def harn_error(error: RequestFailed, *, is_harn: bool) -> RequestFailed:
    """Return the error to raise for an agent's error; of an agent that is not Harn, only what names Harn's schema."""
    if error.code == _FAILED:
        failure = prompt_failure(error.data)
        if failure is not None:
            return PromptFailed(error.message, failure=failure, code=error.code, data=error.data, method=error.method)
        if is_harn and not _wants_login(error):
            return RequestFailed(error.message, code=error.code, data=error.data, method=error.method)
    elif is_harn and (refusal_reason(error) or "").startswith(_ENVIRONMENT):
        error.add_note("Say what the programs of its model get: new_session(environment=ChildEnvironment(…)).")
    elif is_harn and error.code == _NOT_NOW:
        kind = SessionNotFound if _NOT_FOUND.search(error.message[:_LONGEST_READ]) else NoActivePrompt
        return kind(error.message, code=error.code, data=error.data, method=error.method)
    return error


def _wants_login(error: RequestFailed) -> bool:
    data = error.data
    listed = isinstance(data, Mapping) and isinstance(data.get("authMethods"), list)
    return listed or "auth_required" in error.message[:_LONGEST_READ]
