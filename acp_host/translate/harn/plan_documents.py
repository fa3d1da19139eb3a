"""Plans as documents: beside the plan of an update, in an update of their own, in the answer to a change of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.state.harn.plan_documents import PlanDocument, PlanDocumentReported, PlanRevision
from acp_host.translate.harn import HarnReport
from acp_host.translate.harn.payload import Payload, Unusable, harn_meta

__all__ = ["beside_plan", "harn_plan_document", "plan_document"]

_DOCUMENT, _OLDER = "harnPlanDocument", "harnPlan"


def beside_plan(root: Mapping[str, Any], meta: Any) -> HarnReport | None:
    """Return what stands beside a plan in its update, or ``None`` if that is nothing.

    Args:
        root: the members of the update that ACP does not know.
        meta: its ``_meta``.
    """
    members = {**root, **harn_meta(meta)}
    if _DOCUMENT not in members and _OLDER not in members:
        return None
    payload = Payload(members, replayed=members.get("replayed") is True)
    reported: tuple[PlanDocumentReported, ...] = ()
    try:
        if (told := payload.nested(_DOCUMENT)) is not None:
            reported = (PlanDocumentReported(plan_document(told)),)
        elif (older := payload.nested(_OLDER)) is not None:
            reported = (PlanDocumentReported(_of_older(older, members[_OLDER])),)
    except Unusable as problem:
        payload.problems.append(str(problem))
    return HarnReport(reported, tuple(payload.problems), is_update=False, replayed=payload.replayed)


def harn_plan_document(payload: Payload) -> tuple[PlanDocumentReported, ...]:
    """Read ``harn_plan_document``, in which a peer of the A2A protocol tells of a plan."""
    told = next((payload.nested(name) for name in ("planDocument", _DOCUMENT, "document") if payload.has(name)), None)
    return (PlanDocumentReported(plan_document(payload if told is None else told)),)


def plan_document(payload: Payload) -> PlanDocument:
    """Read a document.

    Raises:
        Unusable: it has no id.
    """
    payload.any("_type")  # always the same
    revision = payload.nested("current_revision")
    return PlanDocument(
        document_id=payload.identity("document_id"),
        schema=payload.text("schema_version"),
        revision=None if revision is None else _revision(revision),
        comments=payload.items("comments") or (),
        resolution_receipts=payload.items("resolution_receipts") or (),
        created_at=payload.text("created_at"),
        updated_at=payload.text("updated_at"),
        extra=payload.rest(),
    )


def _revision(payload: Payload) -> PlanRevision:
    return PlanRevision(
        revision_id=payload.text("revision_id"),
        markdown=payload.text("markdown"),
        plan=payload.any("plan"),
        author=payload.any("author"),
        operation=payload.any("operation"),
        source=payload.any("source"),
        created_at=payload.text("created_at"),
        extra=payload.rest(),
    )


def _of_older(payload: Payload, plan: Any) -> PlanDocument:
    plan_id, schema = payload.identity("id"), payload.text("schema_version")
    return PlanDocument(document_id=plan_id, schema=schema, revision=PlanRevision(plan=plan))
