"""What an agent wants from a person."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state import events
from acp_host.state.harn.agent_events import AgentSessionEnded
from acp_host.state.harn.human_requests import (
    MAX_REQUESTS,
    HumanAnswerRefused,
    HumanAnswerSent,
    HumanAnswerTaken,
    HumanRequest,
    HumanRequestResolved,
)
from tests.harn.harness import Desk, frames, named, updates

ID = "hitl_question_s_1"


def asked(request_id: str = ID, **members: Any) -> dict[str, Any]:
    return named("hitl_request", requestId=request_id, **members)


def resolved(outcome: str | None = "answered", request_id: str = ID) -> dict[str, Any]:
    return named("hitl_resolved", requestId=request_id, kind="question", outcome=outcome)


def test_a_question_and_what_became_of_it() -> None:
    question, answer = (
        next(iter(updates("derived_namespaced_updates.json", kind))) for kind in ("hitl_request", "hitl_resolved")
    )
    desk = Desk().take(question)
    request = desk.harn.human_requests["hitl_question_s-1_1"]
    assert (request.kind, request.prompt, request.default, request.timeout) == ("question", "Which branch?", "main", 60)
    assert (request.schema, request.approval, request.quorum, request.reviewers) == (None, {}, 1, ())
    assert request.is_open
    desk.take(answer)
    request = desk.harn.human_requests["hitl_question_s-1_1"]
    assert (request.status, request.is_open) == ("answered", False)
    desk.assert_exact()


def test_both_announcements_are_one_request() -> None:
    frame = next(each for each in frames("derived_unadvertised_bridge_frames.json") if each["method"][:4] == "harn")
    request_id = frame["params"]["request_id"]
    update = asked(request_id, kind="approval", payload={"detail": "Deploy?", "quorum": 2, "reviewers": ["ana", 1]})
    either = Desk().take(update).hear(frame["method"], **frame["params"])
    other = Desk().hear(frame["method"], **frame["params"]).take(update)
    for desk in (either, other):
        (request,) = desk.harn.human_requests.values()
        assert (request.agent, request.trace_id, request.requested_at) == ("main", "t-1", "2026-09-01T00:00:00Z")
        assert (request.prompt, request.approval["action"]) == ("Deploy?", "deploy")
        assert request.timeout == 86400
        desk.assert_exact()
    assert either.harn.human_requests[request_id].quorum == 2
    assert either.harn.human_requests[request_id].reviewers == ("ana",)


def test_a_payload_may_be_anything() -> None:
    desk = Desk().take(
        asked("hitl_escalation_1", payload="Look here"), asked("x", payload=None), asked("y", payload=[7])
    )
    requests = desk.harn.human_requests
    assert (requests["hitl_escalation_1"].kind, requests["hitl_escalation_1"].prompt) == ("escalation", "Look here")
    assert (requests["x"].kind, requests["x"].payload, requests["y"].prompt) == (None, {}, "")
    strange = {"quorum": True, "reviewers": "all", "timeout_ms": "1", "approval_request": 7, "prompt": ""}
    request = HumanRequest(request_id="x", payload=strange)
    assert (request.quorum, request.reviewers, request.timeout, request.approval) == (1, (), None, {})
    assert request.prompt == ""
    assert HumanRequest(request_id="x", payload={"timeout_ms": 10**400}).timeout is None


def test_an_answer_is_on_its_way_until_the_agent_says_what_became_of_it() -> None:
    desk = Desk().take(asked()).apply(HumanAnswerSent(ID))
    request = desk.harn.human_requests[ID]
    assert (request.status, request.is_open, request.waits_for_agent) == ("sent", True, True)
    desk.apply(HumanAnswerRefused(ID), HumanAnswerRefused(ID))
    assert desk.harn.human_requests[ID].status == "open"
    desk.apply(HumanAnswerSent(ID), HumanRequestResolved(ID, "cancelled"), HumanAnswerRefused(ID), HumanAnswerSent("x"))
    assert desk.harn.human_requests[ID].status == "cancelled"


@pytest.mark.parametrize("quorum, status", [(None, "answered"), (1, "answered"), (2, "open")])
def test_an_answer_that_was_taken_is_the_end_unless_more_have_to_answer(quorum: int | None, status: str) -> None:
    desk = Desk().take(asked(payload={"quorum": quorum})).apply(HumanAnswerSent(ID), HumanAnswerTaken(ID))
    assert desk.harn.human_requests[ID].status == status


def test_what_the_agent_says_counts_more_than_that_it_took_an_answer() -> None:
    desk = Desk().take(asked()).apply(HumanAnswerSent(ID)).take(resolved("timeout")).apply(HumanAnswerTaken(ID))
    assert desk.harn.human_requests[ID].status == "timeout"
    assert list(desk.apply(HumanAnswerTaken("unknown")).harn.human_requests) == [ID]


def test_an_answer_may_wait_for_the_end_of_the_turn() -> None:
    desk = Desk().take(asked(), asked("late")).apply(HumanAnswerSent(ID), events.TurnEnded(1, "completed"))
    assert [request.status for request in desk.harn.human_requests.values()] == ["sent", "unanswered"]
    desk.apply(HumanAnswerTaken(ID), HumanAnswerSent("late"), HumanAnswerTaken("late"))
    assert [request.status for request in desk.harn.human_requests.values()] == ["answered", "answered"]


@pytest.mark.parametrize("end", [events.SessionClosed(), AgentSessionEnded()])
def test_nothing_waits_behind_the_end_of_the_session(end: Any) -> None:
    desk = Desk().take(asked()).apply(HumanAnswerSent(ID), end)
    assert desk.harn.human_requests[ID].status == "unanswered"


@pytest.mark.parametrize("end", [events.TurnEnded(1, "completed"), events.SessionClosed(), AgentSessionEnded()])
def test_what_is_open_at_the_end_is_so_no_more(end: Any) -> None:
    desk = Desk().take(asked(), asked("done"), resolved("timeout", "done")).apply(end)
    desk.deliver()
    assert [request.status for request in desk.harn.human_requests.values()] == ["unanswered", "timeout"]
    desk.take(resolved())
    assert desk.harn.human_requests[ID].status == "answered"
    desk.assert_exact()


@pytest.mark.parametrize("word", ["open", "sent", "unanswered"])
def test_no_word_of_the_agent_leaves_open_what_is_over(word: str) -> None:
    request = Desk().take(asked(), resolved(word)).harn.human_requests[ID]
    assert (request.status, request.is_over) == ("answered", True)


def test_what_is_said_first_of_its_end_counts() -> None:
    desk = Desk().take(asked(), resolved("timeout"), resolved("answered"), asked(payload={"prompt": "?"}))
    assert desk.harn.human_requests[ID].status == "timeout"
    assert desk.harn.human_requests[ID].prompt == "?"


def test_an_end_that_comes_first() -> None:
    desk = Desk().take(resolved(None))
    assert desk.harn.human_requests[ID] == HumanRequest(request_id=ID, kind="question", status="answered")


def test_open_ones_stay_longest() -> None:
    desk = Desk().take(asked())
    for number in range(MAX_REQUESTS):
        desk.take(resolved(request_id=str(number)))
    assert len(desk.harn.human_requests) == MAX_REQUESTS
    assert ID in desk.harn.human_requests
