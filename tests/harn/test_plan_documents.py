"""Plans as documents."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state.harn.plan_documents import MAX_DOCUMENTS, PlanDocument, PlanDocumentReported
from acp_host.wire.plans import PlanItems
from tests.harn.harness import Desk, read, updates
from tests.harn.test_updates_in_a_session import told as told_in_a_session

PLAN = next(iter(updates("session_update_standard.json", "plan")))
OLDER = next(iter(updates("legacy_plan_harnPlan.json", "plan")))


def plan(**members: Any) -> dict[str, Any]:
    return {"sessionUpdate": "plan", "entries": [], **members}


async def test_the_document_and_the_plan_of_one_update() -> None:
    session, diagnostics = await told_in_a_session(PLAN)
    snapshot = session.state.snapshot()
    assert snapshot.harn is not None
    (document,) = snapshot.harn.plan_documents.values()
    assert (document.document_id, document.schema) == ("plan_document_c4169e9e1acd", "harn.plan_document.v1")
    assert document.revision is not None
    assert document.revision.revision_id == "plan_revision_b31f02c6193e9420"
    assert (document.title, document.extra, document.revision.extra) == ("Plan", {}, {})
    content = snapshot.plans[0].content
    assert isinstance(content, PlanItems)
    assert [(entry.content, entry.priority, entry.status) for entry in content.entries] == [
        ("edit", "medium", "pending")
    ]
    assert diagnostics == []


def test_the_older_form() -> None:
    desk = Desk().take(OLDER)
    (document,) = desk.harn.plan_documents.values()
    assert (document.document_id, document.schema, document.title) == ("plan_835c9eaf0b1e", "harn.plan.v1", "Plan")
    assert document.revision is not None
    assert document.revision.plan == OLDER["harnPlan"]
    desk.assert_exact()


def test_the_same_id_again_takes_its_place() -> None:
    desk = Desk().take(PLAN)
    desk.take(plan(harnPlanDocument={**PLAN["harnPlanDocument"], "comments": [{"id": 1}], "new": 2}))
    (document,) = desk.harn.plan_documents.values()
    assert (document.comments, document.extra) == (({"id": 1},), {"new": 2})
    desk.assert_exact()


@pytest.mark.parametrize(
    "members",
    [
        {"harnPlanDocument": {}},
        {"harnPlanDocument": {"document_id": ""}},
        {"harnPlan": {"title": "x"}},
    ],
)
async def test_what_is_no_document_costs_nothing_but_itself(members: dict[str, Any]) -> None:
    report = read(plan(**members))
    assert report is not None
    assert (report.events, len(report.problems), report.is_update) == ((), 1, False)
    session, diagnostics = await told_in_a_session(plan(**members))
    assert len(session.state.snapshot().plans) == 1
    assert [each.kind.value for each in diagnostics] == ["malformed"]


def test_a_plan_without_a_document() -> None:
    assert read(plan()) is None
    assert read(plan(other=1, _meta={"x": 1})) is None
    report = read(plan(harnPlan=7))
    assert report is not None
    assert report.problems == ("harnPlan is not an object: 7",)


def test_under_meta() -> None:
    report = read(plan(_meta={"harn": {"harnPlanDocument": {"document_id": "d"}, "replayed": True}}))
    assert report is not None
    assert report.replayed
    assert report.events == (PlanDocumentReported(PlanDocument(document_id="d")),)


def test_they_are_bounded() -> None:
    desk = Desk()
    for number in range(MAX_DOCUMENTS + 1):
        desk.take(plan(harnPlanDocument={"document_id": str(number)}))
    assert len(desk.harn.plan_documents) == MAX_DOCUMENTS


@pytest.mark.parametrize("document", [PlanDocument(document_id="d"), PlanDocument(document_id="d", revision=None)])
def test_a_plan_may_have_no_title(document: PlanDocument) -> None:
    assert document.title is None
