"""What the Harn-like agent says of itself at ``initialize``: :func:`agent_capabilities`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["CONFLICT", "INJECT_MODES", "agent_capabilities"]

INJECT_MODES = ("queue", "steer", "interrupt_immediate")
"""What the newest builds take."""

_UPDATES = (
    "artifact",
    "available_commands_update",
    "fs_watch",
    "handoff",
    "hitl_request",
    "hitl_resolved",
    "live_session_client",
    "log",
    "progress",
    "reminder_emitted",
    "skill_activated",
    "skill_deactivated",
    "skill_narrow",
    "skill_scope_tools",
    "stance_transition",
    "tool_search_query",
    "tool_search_result",
    "transcript_compacted",
    "transcript_projected",
    "worker_update",
)
_TOOL_FIELDS = (
    "audit",
    "changedPaths",
    "data",
    "durationMs",
    "error",
    "errorCategory",
    "executionDurationMs",
    "executor",
    "mutationStatus",
    "parsing",
    "rawInputPartial",
)
_EVENTS = (
    "budget_exhausted",
    "composition_child_call",
    "composition_child_result",
    "composition_error",
    "composition_finish",
    "composition_start",
    "control_outcome",
    "iteration_end",
    "iteration_start",
    "loop_stuck",
    "session_closed",
    "turn_phase_changed",
)
CONFLICT = -32010
"""Code of the error for a plan document that has changed meanwhile."""


def agent_capabilities(*, inject_modes: Sequence[str], reminders: bool) -> dict[str, Any]:
    """Return ``agentCapabilities``.

    Args:
        inject_modes: the modes of ``session/inject``; without any it is not offered.
        reminders: say that reminders are taken; older builds take them and do not say so.
    """
    session: dict[str, Any] = {
        "injectHostEvent": {
            "kinds": ["host_tool_result", "host_attachment"],
            "delivery": ["turn_boundary", "immediate", "after_next_tool_call"],
        }
    }
    if inject_modes:
        session["inject"] = {"modes": list(inject_modes), "pending": {"replace": True}}
    if reminders:
        modes = ["interrupt_immediate", "finish_step", "audit_only"]
        session["remind"] = {"modes": modes, "pending": {"list": True, "revoke": True}}
    return {
        "loadSession": True,
        "session": session,
        "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
        "mcpCapabilities": {"http": True, "sse": True},
        "sessionCapabilities": {
            name: {} for name in ("close", "list", "resume", "fork", "rollback", "redo", "cancelToolCall")
        },
        "_meta": {"harn": _harn()},
    }


def _harn() -> dict[str, Any]:
    return {
        "schemaCompatibility": "agentclientprotocol/agent-client-protocol schema v0.12.2",
        "sessionUpdateExtensions": list(_UPDATES),
        "toolLifecycleExtensionFields": list(_TOOL_FIELDS),
        "contentExtensionFields": ["permission_preview", "visible_delta", "visible_text"],
        "promptResultExtensionFields": ["terminal"],
        "stagedWritesPendingFields": ["pendingCount", "totalBytes", "pendingWrites"],
        "stagedWriteFields": ["path", "kind", "byteDelta", "snapshotId"],
        "sandboxConfinement": {"kind": "none"},
        "extensionMethods": {
            "_harn/agentEvent": {"description": "what the loop does", "kinds": list(_EVENTS)},
            "_harn/providerCatalog": {"schemaVersion": 10},
            "session/plan_document/mutate": {"conflict": {"code": CONFLICT, "schemaVersion": 1}},
        },
        "hostCapabilityOperations": {
            "hypothesis": ["attest_event"],
            "process": ["exec", "list_shells", "get_default_shell", "set_default_shell", "shell_invocation"],
        },
    }
