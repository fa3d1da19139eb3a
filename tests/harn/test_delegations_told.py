"""Work that an agent gives to one elsewhere, found where it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_host.state.entries import ToolCallEntry
from acp_host.state.harn.external_agents import ExternalDelegation
from acp_host.state.harn.handoffs import Handoff
from acp_host.state.harn.tool_facts import ToolFacts
from acp_host.translate.harn.external_agents import delegation_of_call, delegation_of_handoff, external_delegation
from acp_host.wire.content import TextContent
from acp_host.wire.harn.external_agents import Budget, Checkpoint
from acp_host.wire.tool_calls import Content

CHECKPOINT = {
    "_type": "external_agent_checkpoint",
    "schema": "harn.external_agent.v1",
    "checkpoint_id": "cp-1",
    "plan": "Fix the parser",
    "expected_scope": ["src/**"],
    "budget": {"max_usd": 2, "max_tokens": 1000},
    "evidence_refs": [],
    "metadata": {"a": 1},
}
ENVELOPE = {
    "schema": "harn.external_agent.handoff.v1",
    "status": "checkpoint_required",
    "task": "Fix it",
    "target": "fixer",
    "idempotency_key": "k-1",
    "budget": {"max_usd": 2.5, "max_seconds": 60, "max_tokens": None},
    "checkpoint": CHECKPOINT,
    "artifacts": [],
    "receipts": [],
}


def envelope(**members: Any) -> dict[str, Any]:
    return {**ENVELOPE, **members}


def call(**members: Any) -> ToolCallEntry:
    return ToolCallEntry(position=0, key="t", tool_call_id="t", **members)


def test_a_plan_that_waits_for_approval() -> None:
    told = external_delegation(ENVELOPE)
    assert told == ExternalDelegation(
        status="checkpoint_required",
        task="Fix it",
        target="fixer",
        idempotency_key="k-1",
        checkpoint=Checkpoint(
            checkpoint_id="cp-1",
            plan="Fix the parser",
            expected_scope=["src/**"],
            metadata={"a": 1},
            raw=CHECKPOINT,
        ),
        budget=Budget(usd=2.5, seconds=60),
        raw=ENVELOPE,
    )
    assert told.wants_approval
    assert told.words == "fixer asks to approve its plan\nFix the parser\nallowed: 2.5 USD, 60 s"


def test_a_plan_alone() -> None:
    told = external_delegation(CHECKPOINT)
    assert told is not None
    assert (told.status, told.budget) == ("checkpoint_required", Budget(usd=2, tokens=1000))
    assert told.words.startswith("an external agent asks to approve its plan\n")


def test_more_used_than_allowed_is_for_review() -> None:
    used = {"cost_usd": 3, "tool_calls": 4, "duration_seconds": 1.5, "token_count": 7}
    told = external_delegation(envelope(status="budget_exceeded", budget_used=used, result={"patch": "--- a"}))
    assert told is not None
    assert told.wants_review
    assert not told.wants_approval
    assert told.budget_used == Budget(usd=3, tokens=7, seconds=1.5, tool_calls=4)
    assert told.diff == "--- a"
    assert told.words == (
        "fixer has used more than it may: review its work\n"
        "used: 3 USD, 7 tokens, 1.5 s, 4 tool calls\n"
        "allowed: 2.5 USD, 60 s"
    )


@pytest.mark.parametrize("members", [{"replayed": True, "status": "completed"}, {"status": "replayed"}])
def test_what_was_done_before(members: dict[str, Any]) -> None:
    told = external_delegation(envelope(**members))
    assert told is not None
    assert (told.status, told.words) == ("replayed", "fixer had done this before; it was not done again")


def test_the_end_and_any_other_status() -> None:
    told = external_delegation(envelope(status="completed", diff="d", handoff={"id": 1}, receipts=[1]))
    assert told is not None
    assert told.report is not None
    assert (told.diff, told.report.handoff, told.report.receipts) == ("d", {"id": 1}, (1,))
    assert told.words == "fixer: completed"
    other = external_delegation(envelope(status="not_able", error="no such skill", target=None))
    assert other is not None
    assert other.words == "an external agent: not able\nno such skill"
    assert external_delegation({"schema": "harn.external_agent.handoff.v1"}) is not None


def test_a_failure() -> None:
    error = {"error": "external_agent_error", "kind": "timeout", "category": "timeout", "message": "took too long"}
    told = external_delegation(error)
    assert told is not None
    assert (told.status, told.error_kind, told.error_category) == ("failed", "timeout", "timeout")
    assert told.words == "an external agent has not done it\ntook too long"
    assert ExternalDelegation(status="failed").words == "an external agent has not done it"


def test_a_diff_may_be_an_artifact() -> None:
    told = external_delegation(
        envelope(status="completed", artifacts=[{"kind": "x"}, {"kind": "diff", "text": "--- b"}])
    )
    assert told is not None
    assert told.diff == "--- b"
    assert told.report is not None
    assert (len(told.report.artifacts), told.report.handoff) == (2, {})


@pytest.mark.parametrize(
    "told",
    [None, "x", [], {}, {"schema": "other"}, {"schema": "harn.external_agent.v1", "budget_cap": True}, {"error": "x"}],
)
def test_anything_else_is_none(told: Any) -> None:
    assert external_delegation(told) is None


@pytest.mark.parametrize(
    "members",
    [
        {"raw_output": ENVELOPE},
        {"raw_output": {"result": {"value": [1, ENVELOPE]}}},
        {"raw_output": json.dumps(ENVELOPE)},
        {"content": (Content(TextContent(json.dumps(ENVELOPE))),)},
        {"raw_output": "{external_agent", "harn": ToolFacts(data={"x": ENVELOPE})},
    ],
)
def test_it_is_found_in_the_output_of_a_tool(members: dict[str, Any]) -> None:
    assert delegation_of_call(call(**members)) == external_delegation(ENVELOPE)


def test_the_outermost_is_found() -> None:
    inside = envelope(checkpoint=None, task="inside")
    told = delegation_of_call(call(raw_output=[{"a": {"b": inside}}, ENVELOPE]))
    assert told is not None
    assert told.task == "Fix it"


@pytest.mark.parametrize("output", [None, "text", 7, {"a": [1, 2]}, json.dumps(ENVELOPE) + " " * 1_000_001])
def test_other_output_has_none(output: Any) -> None:
    assert delegation_of_call(call(raw_output=output)) is None


def test_nobody_goes_through_all_of_a_large_output() -> None:
    assert delegation_of_call(call(raw_output=[*range(2000), ENVELOPE])) is None
    deep: Any = ENVELOPE
    for _ in range(2000):
        deep = [deep]
    assert delegation_of_call(call(raw_output=deep)) is None


@pytest.mark.parametrize(
    "members",
    [{"metadata": {"external": ENVELOPE}}, {"extra": ENVELOPE}, {"evidence_refs": (1, ENVELOPE)}],
)
def test_it_is_found_in_a_handoff(members: dict[str, Any]) -> None:
    assert delegation_of_handoff(Handoff(handoff_id="h", **members)) == external_delegation(ENVELOPE)


def test_a_handoff_without_one() -> None:
    assert delegation_of_handoff(Handoff(handoff_id="h", evidence_refs=({"a": 1},))) is None
