"""What an agent tells of a task over A2A comes to the same state."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.translate.harn.task_stream import translate_task_event
from acp_host.wire.plans import PlanItems
from tests.harn.harness import Desk, named, updates

PLAN = next(iter(updates("session_update_standard.json", "plan")))
OLDER = next(iter(updates("legacy_plan_harnPlan.json", "plan")))


def desk_of(*told: dict[str, Any]) -> Desk:
    desk = Desk()
    for event in told:
        report = translate_task_event({"taskId": "t-1", "contextId": "c-1", **event})
        assert report is not None
        desk.problems += report.problems
        desk.apply(*report.events)
    desk.deliver()
    return desk


def status(final: bool = False, **members: Any) -> dict[str, Any]:
    return {"kind": "status-update", "type": "status", "final": final, **members}


def test_a_worker() -> None:
    update = next(iter(updates("session_update_extensions.json", "worker_update")))
    told = desk_of({"type": "worker_update", **update["_meta"]["harn"]})
    assert told.harn == Desk().take(update).harn
    assert told.problems == []


def test_a_question_and_its_end() -> None:
    asked = {"type": "hitl", "phase": "requested", "requestId": "r", "kind": "question", "payload": {"prompt": "?"}}
    desk = desk_of(asked)
    assert desk.harn == Desk().take(named("hitl_request", requestId="r", kind="question", payload={"prompt": "?"})).harn
    desk = desk_of(
        asked, {"type": "hitl", "phase": "resolved", "requestId": "r", "kind": "question", "outcome": "timeout"}
    )
    assert desk.harn.human_requests["r"].status == "timeout"


@pytest.mark.parametrize(
    "update, told",
    [
        (PLAN, {"type": "harn_plan_document", "planDocument": PLAN["harnPlanDocument"]}),
        (OLDER, {"type": "harn_plan", "plan": OLDER["harnPlan"]}),
    ],
)
def test_a_plan_and_its_document(update: dict[str, Any], told: dict[str, Any]) -> None:
    desk = desk_of({**told, "entries": update["entries"]})
    assert desk.harn == Desk().take(update).harn
    (plan,) = desk.state.snapshot().plans
    assert isinstance(plan.content, PlanItems)
    assert [entry.content for entry in plan.content.entries] == [entry["content"] for entry in update["entries"]]
    assert desk.problems == []


def test_a_document_whose_steps_cannot_be_read() -> None:
    desk = desk_of({"type": "harn_plan_document", "planDocument": {"document_id": "d"}})
    assert list(desk.harn.plan_documents) == ["d"]
    assert desk.state.snapshot().plans == ()
    desk = desk_of({"type": "harn_plan_document", "planDocument": {"document_id": "d"}, "entries": [7]})
    assert len(desk.state.snapshot().plans) == 1
    assert len(desk.problems) == 1


def test_a_status_that_is_not_final_is_in_words() -> None:
    parts = [{"kind": "text", "text": "Plan:"}, {"kind": "data"}, {"kind": "text", "text": "- [x] look"}]
    desk = desk_of(status(status={"state": "working", "message": {"parts": parts}}))
    assert [line.message for line in desk.harn.narration] == ["Plan:\n- [x] look"]
    assert desk.harn.progress == {}


def test_measurements_come_with_a_status() -> None:
    fact = {"schema_version": 1, "iteration": 1}
    desk = desk_of(status(status={"state": "working"}, metadata={"harn": {"sessionHealth": fact}}))
    assert [(event.kind, event.data) for event in desk.harn.agent_events if event.type == "other"] == [
        ("session_health", fact)
    ]


@pytest.mark.parametrize(
    "told",
    [
        status(final=True, status={"state": "completed"}),
        {"kind": "status-update"},
        {"kind": "artifact-update", "artifact": {}},
        {"type": ["worker_update"]},
        "an event",
    ],
)
def test_what_is_of_a2a_alone(told: Any) -> None:
    assert translate_task_event(told) is None


@pytest.mark.parametrize("told", [{"type": "worker_update"}, {"type": "harn_plan_document", "planDocument": 7}])
def test_what_says_not_what_it_is_about(told: Any) -> None:
    report = translate_task_event(told)
    assert report is not None
    assert report.events == ()
    assert report.problems


def test_a_status_may_say_nothing() -> None:
    assert desk_of(status()).state.snapshot().harn is None
