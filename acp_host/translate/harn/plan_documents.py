"""Plans as documents, beside the plan of an update and wherever else one stands: :func:`plan_document`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.state.harn.plan_documents import PlanDocument, PlanDocumentReported, PlanRevision
from acp_host.translate.harn import HarnReport
from acp_host.translate.harn.payload import Payload, Unusable, merged
from acp_host.wire.harn.members import harn_meta

__all__ = ["beside_plan", "plan_document", "plan_of_older"]

_DOCUMENT, _OLDER = "harnPlanDocument", "harnPlan"


def beside_plan(root: Mapping[str, Any], meta: Any) -> HarnReport | None:
    """Return what stands beside a plan in its update, or ``None`` if that is nothing.

    Args:
        root: the members of the update that ACP does not know.
        meta: its ``_meta``.
    """
    members = merged(root, harn_meta(meta))
    if _DOCUMENT not in members and _OLDER not in members:
        return None
    payload = Payload(members, replayed=members.get("replayed") is True)
    reported: tuple[PlanDocumentReported, ...] = ()
    try:
        if (told := payload.nested(_DOCUMENT)) is not None:
            reported = (PlanDocumentReported(plan_document(told)),)
        elif (older := payload.nested(_OLDER)) is not None:
            reported = (PlanDocumentReported(plan_of_older(older, members[_OLDER])),)
    except Unusable as problem:
        payload.problems.append(str(problem))
    return HarnReport(reported, tuple(payload.problems), is_update=False, replayed=payload.replayed)


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


def plan_of_older(payload: Payload, plan: Any) -> PlanDocument:
    """Read what agents up to April 2026 send in the place of a document, given its members and all of it.

    Raises:
        Unusable: it has no id.
    """
    plan_id, schema = payload.identity("id"), payload.text("schema_version")
    return PlanDocument(document_id=plan_id, schema=schema, revision=PlanRevision(plan=plan))


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
