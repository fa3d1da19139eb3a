"""What an error of the agent means for a reminder: :func:`verdict_on`.

===================================================================  ================================================
the agent answered                                                   then
===================================================================  ================================================
-32601                                                               the agent does not have the method: next rung
-32800                                                               not delivered, and that is that
-32602, or ``HARN-RMD-nnn`` anywhere in the message                  the reminder itself is wrong: raise
-32002, or -32004 whose message says that there is no such session   there is no session: raise
-32000 with ``data.authMethods``                                     the user has to log in: raise
any other error                                                      next rung
nothing, or nothing that can be read                                 the agent may have it: ambiguous
===================================================================  ================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from acp_host.errors import AcpError, LocalError, RequestFailed, SessionNotFound
from acp_host.state.reminder_entry import ReminderFault
from acp_host.wire.rpc_error import ErrorCode

__all__ = ["Verdict", "fault_of", "refuses_id", "verdict_on"]

_NOT_FOUND_OR_NOT_NOW = SessionNotFound.default_code
"""Harn: the session is unknown, or cannot serve the request now; the message says which."""

_RMD = re.compile(r"HARN-RMD-\d{3}")
_NAMES = re.compile(r"[A-Za-z_]\w*")


class Verdict(Enum):
    """What to do about an error."""

    ABSENT = "absent"
    NEXT = "next"
    RAISE = "raise"
    CANCELLED = "cancelled"
    AMBIGUOUS = "ambiguous"


def verdict_on(error: AcpError) -> Verdict:
    """Return what an error, received or raised while sending, means; see the table at the top of the module."""
    if isinstance(error, LocalError):
        return Verdict.NEXT  # nothing was written
    if not isinstance(error, RequestFailed):
        return Verdict.AMBIGUOUS
    if error.code == ErrorCode.METHOD_NOT_FOUND:
        return Verdict.ABSENT
    if error.code == ErrorCode.REQUEST_CANCELLED:
        return Verdict.CANCELLED
    if error.code in (ErrorCode.INVALID_PARAMS, ErrorCode.RESOURCE_NOT_FOUND) or _rmd_code(error) is not None:
        return Verdict.RAISE
    if error.code == _NOT_FOUND_OR_NOT_NOW and "session not found" in error.message.lower():
        return Verdict.RAISE
    if error.code == ErrorCode.AUTHENTICATION_REQUIRED and _wants_login(error):
        return Verdict.RAISE
    return Verdict.NEXT


def _rmd_code(error: RequestFailed) -> str | None:
    """Return the ``HARN-RMD-nnn`` in an error's message, if there is one."""
    found = _RMD.search(error.message)
    return found[0] if found else None


def refuses_id(error: AcpError) -> bool:
    """Whether the agent rejected the option ``id`` of ``session/remind`` (HARN-RMD-001)."""
    if not isinstance(error, RequestFailed) or _rmd_code(error) != "HARN-RMD-001":
        return False
    return "id" in _NAMES.findall(error.message.rpartition("HARN-RMD-001")[2])


def fault_of(error: AcpError, rung: str | None) -> ReminderFault:
    """Return an error as the panel shows it."""
    if isinstance(error, RequestFailed):
        return ReminderFault(message=error.message, rung=rung, code=error.code, rmd=_rmd_code(error))
    return ReminderFault(message=str(error), rung=rung)


def _wants_login(error: RequestFailed) -> bool:
    return isinstance(error.data, Mapping) and "authMethods" in error.data
