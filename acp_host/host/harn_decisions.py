"""What a Harn agent is told with the answer to its permission request: :func:`decided`.

A plain answer means that a person has allowed this once. Where nobody was asked, the answer says who decided instead,
and the model is told why it was refused.
"""

from __future__ import annotations

from typing import Any

from acp_host.services.audit import DecidedBy
from acp_host.wire._model import NO_EXTRA
from acp_host.wire.permission import (
    RequestPermissionOutcome,
    RequestPermissionResponse,
    SelectedPermissionOutcome,
)

__all__ = ["decided"]

_SCHEMA = "harn.tool_permission_decision.v1"
_DECIDERS = {
    DecidedBy.POLICY: "user_policy",
    DecidedBy.REMEMBERED: "remembered_rule",
    DecidedBy.HOST: "host_unavailable",
}
"""Who decides in place of a person, in Harn's words."""


def decided(
    outcome: RequestPermissionOutcome, by: DecidedBy, *, allows: bool, refuses: bool, reason: str
) -> RequestPermissionResponse:
    """Return the answer, with the record of a decision that no person has made.

    Args:
        outcome: the answer itself.
        by: who decided.
        allows: it allows what was asked for.
        refuses: it refuses it. An answer that does neither, or is none of the options, carries no record.
        reason: why, for the model; told only where a policy or an earlier answer refuses: else it is about this host.
    """
    decider = _DECIDERS.get(by)
    if decider is None or not isinstance(outcome, SelectedPermissionOutcome) or allows == refuses:
        return RequestPermissionResponse(outcome)
    record: dict[str, Any] = {
        "schema": _SCHEMA,
        "outcome": "approved" if allows else "denied",
        "decider": decider,
        "policy_evaluations": [],
        **({"grant_scope": "once"} if allows else {}),
    }
    is_told = refuses and reason and by is not DecidedBy.HOST
    extra = {"reason": reason} if is_told else NO_EXTRA
    return RequestPermissionResponse(outcome, meta={"harn": {"permissionDecision": record}}, extra=extra)
