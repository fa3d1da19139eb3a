"""What a Harn agent sends besides, as the gallery shows it."""

from __future__ import annotations

from typing import Any

from acp_host.testing.gallery.samples import IMAGE
from acp_host.testing.gallery.stage import SESSION_ID

__all__ = ["ALERTS", "ARTIFACTS", "AUDIT", "CALLS", "PERMISSION_FACTS", "QUESTIONS", "WORKERS"]

AUDIT = {
    "session_id": "mut-1",
    "run_id": "run-1",
    "execution_kind": "workflow",
    "mutation_scope": "apply_workspace",
    "approval_policy": {"auto_approve": [], "auto_deny": [], "require_approval": ["edit_*"]},
}
"""By which rules something was changed."""

WORKERS = {
    "running": "WorkerSpawned",
    "progressed": "WorkerProgressed",
    "awaiting_input": "WorkerWaitingForInput",
    "suspended": "WorkerSuspended",
    "completed": "WorkerCompleted",
    "failed": "WorkerFailed",
    "stopped": "WorkerStopped",
    "cancelled": "WorkerCancelled",
    "daydreaming": "WorkerDaydreams",
}
"""Status of a worker → the event that tells it."""

_CHART = {"mark": "bar", "data": {"values": [{"test": "passed", "count": 41}, {"test": "failed", "count": 1}]}}
ARTIFACTS: dict[str, dict[str, Any]] = {
    "chart": {
        "kind": "vega-lite",
        "mimeType": "application/vnd.vegalite.v5+json",
        "spec": _CHART,
        "fallback": "41 passed, 1 failed",
    },
    "table": {"kind": "table", "mimeType": "application/json", "spec": {"columns": ["k", "v"], "rows": [["x", 1]]}},
    "markdown": {"kind": "markdown", "mimeType": "text/markdown", "spec": "# A report\n\nAll is **well**."},
    "html": {"kind": "html", "mimeType": "text/html", "spec": "<h1>A report</h1><script>pwned('artifact')</script>"},
    "image": {"kind": "image", "mimeType": "image/png", "spec": IMAGE, "fallback": "A picture."},
    "unknown": {"kind": "hologram", "mimeType": "application/x-hologram", "spec": {"depth": 3}},
}
"""What it gives to look at, by what it is."""

QUESTIONS: dict[str, dict[str, Any]] = {
    "question": {"prompt": "Which branch shall I push to?", "schema": {"type": "string"}, "default": "main"},
    "approval": {"action": "deploy", "detail": {"target": "live"}, "reviewers": ["ada"], "prompt": "Deploy it?"},
    "dual_control": {"action": "drop table", "n": 2, "m": 3, "approvers": ["ada", "grace"], "prompt": "Drop it?"},
    "escalation": {"role": "lead", "reason": "The budget is used up."},
    "riddle": {"prompt": "What walks on four legs?"},
}
"""What it wants from a person, by kind."""

ALERTS: dict[str, dict[str, Any]] = {
    "budget_exhausted": {"budgetKind": "cost", "limit": "session", "limitValue": 2.0, "sessionCostUsd": 2.03},
    "loop_stuck": {"maxNudges": 3, "lastIteration": 4, "tailExcerpt": "still thinking…"},
    "control_outcome": {
        "controlId": "ctl-1",
        "method": "session/inject",
        "outcome": "rejected",
        "status": "rejected",
        "reason": "The turn is over.",
    },
    "mcp_auth_required": {"server": "linear", "resource": "https://linear.example", "scope": ["read"]},
    "session_closed": {"reason": "timeout", "status": "timeout", "metadata": {"idle_ms": 5_000}},
    "boundary_failure": {
        "boundary": "host_bridge",
        "failureKind": "dropped_frames",
        "owner": "harn",
        "detail": "The host did not read.",
        "droppedCount": 3,
    },
    "some_future_kind": {"anything": True},
}
"""What it tells of its loop, by kind."""

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "parsing": ("pending", {"parsing": True, "rawInputPartial": '{"path":"da'}),
    "applied": (
        "completed",
        {
            "mutationStatus": "applied",
            "changedPaths": ["dates.py"],
            "durationMs": 11,
            "executionDurationMs": 7,
            "executor": "harn_builtin",
            "intent": "Fix the format",
        },
    ),
    "refused": (
        "failed",
        {"mutationStatus": "not_applied", "error": "not allowed", "errorCategory": "permission_denied"},
    ),
    "by_mcp": (
        "completed",
        {"executor": {"kind": "mcp_server", "serverName": "linear"}, "mutationStatus": "unchanged"},
    ),
    "contradicts": (
        "completed",
        {"audit": {"session_id": "r", "mutation_scope": "read_only"}, "changedPaths": ["dates.py"]},
    ),
    "restored": (
        "restored",
        {"restoredPaths": ["dates.py"], "skippedPaths": [{"path": "b.py", "reason": "changed since"}]},
    ),
}
"""What it says of a tool call: status, and members of its own."""

_DECISION = {
    "type": "harn.permission_policy_decision.v1",
    "action": "ask",
    "reason": "workspace edit",
    "matched_rule": {"source": "rules", "action": "ask", "id": "edit-rule", "index": 0},
    "risk_labels": ["approval_required", "outside_of_git"],
    "context": {
        "tool_name": "edit_file",
        "tool_kind": "edit",
        "side_effect": "workspace_write",
        "paths": ["dates.py"],
    },
}
_APPROVAL = {
    "id": "call-1",
    "action": "edit_file",
    "args": {"path": "dates.py"},
    "principal": SESSION_ID,
    "requested_at": "2026-01-01T12:00:00Z",
    "deadline": "2026-01-01T12:05:00Z",
    "approvers_required": 1,
    "evidence_refs": [
        {"kind": "file_mutation_diff", "path": "dates.py", "source": "pre_approval", "byteCount": 80},
        {"kind": "file_preimage", "path": "logo.png", "unavailable_reason": "it is no text"},
    ],
    "capabilities_requested": ["tool.edit_file"],
}
_DESCRIPTOR = {"description": "Changes a file.", "inputSchema": {"type": "object"}, "schemaChanged": True}
PERMISSION_FACTS = {
    "toolName": "edit_file",
    "approvalRequest": _APPROVAL,
    "policyDecision": _DECISION,
    "toolDescriptor": _DESCRIPTOR,
    "mutation": AUDIT,
}
"""All that it says of a permission request."""
