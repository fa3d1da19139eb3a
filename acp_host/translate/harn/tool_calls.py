"""What Harn says of tool calls, in ``_meta.harn`` or, until April 2026, beside their own members: :func:`tool_call`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acp_host.state.events import ToolCallReported
from acp_host.state.harn.tool_facts import Executor, SkippedPath, ToolFacts
from acp_host.translate.harn import HarnReport
from acp_host.translate.harn.audit import mutation_record
from acp_host.translate.harn.payload import Payload, merged
from acp_host.wire.harn.members import harn_meta
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate

__all__ = ["tool_call"]

_ONLY_HARNS: Final = (
    "audit",
    "executor",
    "executionDurationMs",
    "errorCategory",
    "mutationStatus",
    "changedPaths",
    "rawInputPartial",
    "parsing",
    "restoredPaths",
    "skippedPathsWithReasons",
)
_NAMES: Final = (
    *_ONLY_HARNS,
    "durationMs",
    "error",
    "data",
    "intent",
)


def tool_call(update: ToolCall | ToolCallUpdate, *, is_harn: bool = False) -> HarnReport | None:
    """Return the report about a call with what Harn says of it, or ``None`` where it says nothing.

    Args:
        update: the call.
        is_harn: the agent is known to be Harn, so all that can be Harn's is.
    """
    members = _members(update, is_harn)
    if not members:
        return None
    payload = Payload(members, replayed=members.get("replayed") is True)
    facts = _facts(payload)
    event = ToolCallReported(update, isinstance(update, ToolCall), facts if facts != ToolFacts() else None)
    return HarnReport((event,), tuple(payload.problems), replayed=payload.replayed)


def _members(update: ToolCall | ToolCallUpdate, is_harn: bool) -> Mapping[str, Any]:
    """Return what Harn says, wherever it stands; of what stands at the root only where no other agent would say it."""
    named, root = harn_meta(update.meta), update.extra
    if is_harn or named or any(name in root for name in _ONLY_HARNS):
        return merged({name: root[name] for name in _NAMES if name in root}, named)
    return named


def _facts(payload: Payload) -> ToolFacts:
    audit = payload.nested("audit")
    return ToolFacts(
        audit=None if audit is None else mutation_record(audit),
        executor=_executor(payload),
        duration_ms=payload.number("durationMs", 0),
        execution_duration_ms=payload.number("executionDurationMs", 0),
        error=payload.text("error"),
        error_category=payload.text("errorCategory"),
        mutation_status=payload.text("mutationStatus"),
        changed_paths=payload.texts("changedPaths"),
        data=payload.any("data"),
        parsing=payload.flag("parsing"),
        raw_input_partial=payload.text("rawInputPartial"),
        intent=payload.text("intent"),
        restored_paths=payload.texts("restoredPaths"),
        skipped_paths=_skipped(payload),
    )


def _executor(payload: Payload) -> Executor | None:
    """Read what carries a call out: a word, or an object with a word and more."""
    told = payload.any("executor")
    if isinstance(told, str):
        return Executor(kind=told)
    members = payload.nested("executor")
    kind = None if members is None else members.text("kind")
    return None if members is None or not kind else Executor(kind=kind, server_name=members.text("serverName"))


def _skipped(payload: Payload) -> tuple[SkippedPath, ...] | None:
    found = payload.objects("skippedPathsWithReasons")
    if found is None:
        return None
    named = [(each.text("path"), each.text("reason")) for each in found]
    return tuple([SkippedPath(path=path, reason=reason) for path, reason in named if path])
