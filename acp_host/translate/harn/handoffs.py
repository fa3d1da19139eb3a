"""Updates about work that is handed to somebody else: :func:`handoff`, and :func:`handoff_object` where one stands."""

from __future__ import annotations

from acp_host.state.harn.handoffs import Handoff, HandoffReported, HandoffTarget
from acp_host.translate.harn.payload import Payload

__all__ = ["handoff", "handoff_object"]


def handoff(payload: Payload) -> tuple[HandoffReported, ...]:
    """Read ``handoff``."""
    handoff_id, artifact_id = payload.identity("handoffId"), payload.text("artifactId")
    return (HandoffReported(handoff_object(payload.required("handoff", payload.nested), handoff_id, artifact_id)),)


def handoff_object(payload: Payload, handoff_id: str, artifact_id: str | None = None) -> Handoff:
    """Read the object that describes a handoff; nothing in it is required."""
    payload.any("_type")  # always the same
    own_id = payload.text("id")
    if own_id not in (None, handoff_id):
        payload.problems.append(f"the handoff {handoff_id} calls itself {own_id}")
    target = payload.nested("target_persona_or_human")
    return Handoff(
        handoff_id=handoff_id,
        artifact_id=artifact_id,
        kind=payload.text("kind") or "handoff",
        source_persona=payload.text("source_persona"),
        target=None if target is None else _target(target),
        task=payload.text("task"),
        reason=payload.text("reason"),
        evidence_refs=payload.items("evidence_refs") or (),
        open_questions=payload.items("open_questions") or (),
        blocked_on=payload.items("blocked_on") or (),
        requested_capabilities=payload.items("requested_capabilities") or (),
        allowed_side_effects=payload.items("allowed_side_effects") or (),
        files_or_entities_touched=payload.items("files_or_entities_touched") or (),
        receipt_links=payload.items("receipt_links") or (),
        budget_remaining=payload.any("budget_remaining"),
        deadline_checkback=payload.any("deadline_checkback"),
        confidence=payload.any("confidence"),
        route_decision=payload.any("route_decision"),
        metadata=payload.any("metadata"),
        parent_run_id=payload.text("parent_run_id"),
        created_at=payload.text("created_at"),
        extra=payload.rest(),
    )


def _target(payload: Payload) -> HandoffTarget:
    return HandoffTarget(
        kind=payload.text("kind"),
        id=payload.text("id"),
        label=payload.text("label"),
        uri=payload.text("uri"),
        extra=payload.rest(),
    )
