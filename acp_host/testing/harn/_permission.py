"""Harn's form of a permission request: :func:`approval`, and what its answer amounts to: :func:`is_allowed`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from acp_host.testing.harn._tool_call import HarnToolCall
from acp_host.wire.harn.members import harn_meta
from acp_host.wire.permission import SelectedPermissionOutcome

__all__ = ["approval", "is_allowed"]

_OPTIONS = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]
_RECORD = {"schema", "outcome", "decider", "policy_evaluations", "grant_scope"}
_DECIDERS = (
    "person",
    "remembered_rule",
    "user_policy",
    "managed_policy",
    "runtime_policy",
    "host_unavailable",
    "auto_reviewer",
)


def approval(call: HarnToolCall, session_id: str, diffs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the tool call and the options of ``session/request_permission``."""
    effect = "workspace_write" if diffs else "process_exec"
    decision = {
        "type": "harn.permission_policy_decision.v1",
        "action": "ask",
        "reason": "workspace edit" if diffs else "runs a command",
        "matched_rule": {"source": "rules", "action": "ask", "id": f"{call.kind}-rule", "index": 0},
        "risk_labels": ["approval_required"],
        "context": {"tool_name": call.tool, "tool_kind": call.kind, "side_effect": effect, "paths": []},
    }
    request = {
        "id": call.id,
        "action": call.tool,
        "args": call.raw_input,
        "principal": session_id,
        "requested_at": "2026-04-30T12:00:00Z",
        "approvers_required": 1,
        "evidence_refs": [{"kind": "file_mutation_diff", "source": "pre_approval", **diff} for diff in diffs],
        "undo_metadata": {"policy_decision": decision},
        "capabilities_requested": [f"tool.{call.tool}"],
    }
    preview = {"_meta": {"harn": {"permission_preview": {"source": "pre_approval", "byteCount": 0}}}}
    tool_call = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": call.id,
        "title": call.tool,
        "kind": call.kind,
        "rawInput": call.raw_input,
        "content": [{"type": "diff", **diff, **preview} for diff in diffs],
        "_meta": {"harn": {"toolName": call.tool, "approvalRequest": request, "policyDecision": decision}},
    }
    return {"toolCall": tool_call, "options": _OPTIONS}


def is_allowed(answer: Any) -> bool:
    """Tell whether a host's answer is a yes; everything but that option fails closed, and so does a record of the
    decision that does not go with it.
    """
    outcome = getattr(answer, "outcome", None)
    allowed = isinstance(outcome, SelectedPermissionOutcome) and outcome.option_id == "allow"
    told = harn_meta(getattr(answer, "meta", None)).get("permissionDecision")
    return allowed and (told is None or _is_approval(told))


def _is_approval(record: Any) -> bool:
    """Tell whether a record of a decision is one of an approval, with all that belongs to it and nothing else."""
    if not isinstance(record, Mapping) or record.keys() != _RECORD:
        return False
    return (
        record["schema"] == "harn.tool_permission_decision.v1"
        and record["outcome"] == "approved"
        and record["decider"] in _DECIDERS
        and record["grant_scope"] in ("once", "session")
        and isinstance(record["policy_evaluations"], list | tuple)
    )
