"""Reading what Harn writes about who may change what: :func:`mutation_record`."""

from __future__ import annotations

from acp_host.state.harn.audit import ApprovalPolicy, MutationRecord
from acp_host.translate.harn.payload import Payload

__all__ = ["mutation_record"]


def mutation_record(payload: Payload) -> MutationRecord:
    """Read an ``audit`` object; nothing in it is required."""
    policy = payload.nested("approval_policy")
    return MutationRecord(
        session_id=payload.text("session_id"),
        parent_session_id=payload.text("parent_session_id"),
        run_id=payload.text("run_id"),
        worker_id=payload.text("worker_id"),
        execution_kind=payload.text("execution_kind"),
        mutation_scope=payload.text("mutation_scope"),
        approval_policy=None if policy is None else _approval_policy(policy),
        extra=payload.rest(),
    )


def _approval_policy(payload: Payload) -> ApprovalPolicy:
    return ApprovalPolicy(
        auto_approve=payload.texts("auto_approve") or (),
        auto_deny=payload.texts("auto_deny") or (),
        require_approval=payload.texts("require_approval") or (),
        write_path_allowlist=payload.texts("write_path_allowlist") or (),
    )
