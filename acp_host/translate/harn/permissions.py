"""What Harn says of a permission request, in the ``_meta.harn`` of its tool call: :func:`permission_facts`."""

from __future__ import annotations

from typing import Any

from acp_host.state.events import ToolCallReported
from acp_host.state.harn.permission_facts import (
    Approval,
    Evidence,
    MatchedRule,
    PermissionFacts,
    PolicyDecision,
    ToolDescriptor,
)
from acp_host.state.harn.tool_facts import ToolFacts
from acp_host.translate.harn.audit import mutation_record
from acp_host.translate.harn.payload import Payload
from acp_host.translate.harn.tool_calls import tool_call
from acp_host.wire.harn.members import harn_meta
from acp_host.wire.permission import RequestPermissionRequest

__all__ = ["permission_facts"]

_UNAVAILABLE = ("unavailable_reason", "unavailableReason", "unavailability_reason", "reason")


def permission_facts(request: RequestPermissionRequest) -> tuple[PermissionFacts | None, tuple[str, ...]]:
    """Return what Harn says of a request, or ``None`` where it says nothing; and what of it could not be used."""
    told = harn_meta(request.tool_call.meta)
    mutation = told.get("mutation") or request.extra.get("mutation")
    if not told and mutation is None:
        return None, ()
    payload = Payload({**told, "mutation": mutation})
    approval, descriptor, record = (payload.nested(name) for name in ("approvalRequest", "toolDescriptor", "mutation"))
    facts = PermissionFacts(
        tool_name=payload.text("toolName"),
        approval=None if approval is None else _approval(approval),
        decision=_decision(payload, approval),
        descriptor=None if descriptor is None else _descriptor(descriptor),
        mutation=None if record is None else mutation_record(record),
        tool=_tool(request),
    )
    return facts, tuple(payload.problems)


def _tool(request: RequestPermissionRequest) -> ToolFacts | None:
    report = tool_call(request.tool_call)
    events = () if report is None else report.events
    return next((event.harn for event in events if isinstance(event, ToolCallReported)), None)


def _approval(payload: Payload) -> Approval:
    return Approval(
        id=payload.text("id"),
        action=payload.text("action"),
        args=payload.any("args"),
        principal=payload.text("principal"),
        requested_at=payload.text("requested_at"),
        deadline=payload.text("deadline"),
        approvers_required=payload.integer("approvers_required", 0),
        evidence=tuple([_evidence(each) for each in payload.objects("evidence_refs") or ()]),
        capabilities_requested=payload.texts("capabilities_requested") or (),
    )


def _evidence(payload: Payload) -> Evidence:
    reasons = [payload.text(name) for name in _UNAVAILABLE]
    return Evidence(
        kind=payload.text("kind") or "",
        path=payload.text("path"),
        preimage_sha256=payload.text("preimageSha256"),
        byte_count=payload.integer("byteCount", 0),
        source=payload.text("source"),
        unavailable=next((reason for reason in reasons if reason), None),
    )


def _decision(payload: Payload, approval: Payload | None) -> PolicyDecision | None:
    """Read why it is asked; the agent writes it twice."""
    told = payload.nested("policyDecision")
    if told is None and approval is not None and (undo := approval.nested("undo_metadata")) is not None:
        told = undo.nested("policy_decision")
    if told is None:
        return None
    rule, context = told.nested("matched_rule"), told.nested("context")
    return PolicyDecision(
        action=told.text("action"),
        reason=told.text("reason"),
        matched_rule=None if rule is None else _rule(rule),
        risk_labels=told.texts("risk_labels") or (),
        tool_name=None if context is None else context.text("tool_name"),
        tool_kind=None if context is None else context.text("tool_kind"),
        side_effect=None if context is None else context.text("side_effect"),
        paths=() if context is None else _paths(context.items("paths") or ()),
    )


def _rule(payload: Payload) -> MatchedRule:
    return MatchedRule(
        source=payload.text("source"),
        action=payload.text("action"),
        id=payload.text("id"),
        index=payload.integer("index", 0),
    )


def _paths(items: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the files, each of which is a string or an object with the path in it."""
    found = [item.get("workspace_path") or item.get("path") if isinstance(item, dict) else item for item in items]
    return tuple([path for path in found if isinstance(path, str)])


def _descriptor(payload: Payload) -> ToolDescriptor:
    schemas = [payload.object(name) for name in ("inputSchema", "input_schema", "schema")]
    return ToolDescriptor(
        description=payload.text("description"),
        input_schema=next((schema for schema in schemas if schema is not None), None),
        schema_changed=payload.flag("schemaChanged") is True,
    )
