"""What an agent tells of its own loop."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state import events
from acp_host.state.harn.agent_events import (
    BoundaryFailure,
    BudgetExhausted,
    ControlOutcome,
    LoopStuck,
    McpAuthRequired,
    OtherAgentEvent,
    SessionEnd,
    TurnPhase,
)
from acp_host.state.harn.agent_loop import MAX_ALERTS, MAX_EVENTS
from acp_host.state.json_form import to_json
from tests.harn.harness import FIXTURES, Desk, frames


def told(kind: str, **members: Any) -> Desk:
    return Desk().hear("_harn/agentEvent", sessionId="s", kind=kind, **members)


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.glob("*agent_events*.json")))
def test_every_event_is_read(name: str) -> None:
    desk = Desk()
    for frame in frames(name):
        desk.hear(frame["method"], **frame["params"])
        desk.assert_exact()
    assert desk.problems == []
    kinds = [frame["params"]["kind"] for frame in frames(name)]
    expected = [kind for kind in kinds if not kind.startswith("composition_")]
    assert [event.kind for event in desk.harn.agent_events] == expected


def test_the_phase_of_the_turn() -> None:
    desk = Desk()
    phases = []
    for frame in frames("derived_agent_events.json")[:3]:
        desk.hear(frame["method"], **frame["params"])
        phases.append(desk.harn.turn_phase)
    assert [(phase.phase, phase.words, phase.verdict) for phase in phases if phase is not None] == [
        ("generating", "generating", None),
        ("verifying", "verifying", None),
        ("terminal", "terminal", "natural"),
    ]
    assert [*desk.harn.alerts] == []
    desk.apply(events.TurnStarted(2, (), ()))
    desk.deliver()
    assert desk.harn.turn_phase is None
    desk.assert_exact()


def test_a_verdict_that_is_none() -> None:
    assert TurnPhase(phase="terminal", outcome="natural").verdict is None
    assert TurnPhase(phase="terminal", outcome={"kind": 7}).verdict is None
    assert TurnPhase(phase="terminal", outcome={"kind": "policy_stop"}).words == "terminal: policy_stop"


@pytest.mark.parametrize(
    "kind, members, event, words",
    [
        (
            "budget_exhausted",
            {"maxIterations": 8},
            BudgetExhausted(max_iterations=8),
            "the budget is used up: 8 iterations",
        ),
        (
            "budget_exhausted",
            {"budgetKind": "cost", "limit": "per_call", "limitValue": 0.5, "costUsd": 0.6, "model": "m"},
            BudgetExhausted(budget_kind="cost", limit="per_call", limit_value=0.5, cost_usd=0.6, model="m"),
            "the budget is used up: cost",
        ),
        ("budget_exhausted", {}, BudgetExhausted(), "the budget is used up"),
        (
            "loop_stuck",
            {"maxNudges": 3, "tailExcerpt": "hm"},
            LoopStuck(max_nudges=3, tail_excerpt="hm"),
            "the agent does not get on, it said last: hm",
        ),
        ("loop_stuck", {"why": 1}, LoopStuck(extra={"why": 1}), "the agent does not get on"),
        (
            "control_outcome",
            {"method": "session/inject", "status": "rejected", "outcome": "rejected", "reason": "invalid_mode"},
            ControlOutcome(method="session/inject", status="rejected", outcome="rejected", reason="invalid_mode"),
            "session/inject was rejected: invalid_mode",
        ),
        (
            "control_outcome",
            {"status": "rejected", "outcome": "rejected"},
            ControlOutcome(status="rejected", outcome="rejected"),
            "a request was rejected",
        ),
        (
            "mcp_auth_required",
            {"server": "linear", "scope": ["read"]},
            McpAuthRequired(server="linear", scope=["read"]),
            "the MCP server linear wants a login",
        ),
        (
            "session_closed",
            {"reason": "timeout", "status": "timeout"},
            SessionEnd(reason="timeout", status="timeout"),
            "the agent has ended the session: timeout",
        ),
        ("session_closed", {}, SessionEnd(), "the agent has ended the session"),
        (
            "boundary_failure",
            {"boundary": "stream", "failureKind": "parse", "droppedCount": 2, "unreported": True},
            BoundaryFailure(boundary="stream", failure_kind="parse", dropped_count=2, unreported=True),
            "output of the model was lost at stream: parse",
        ),
        ("boundary_failure", {}, BoundaryFailure(), "output of the model was lost"),
    ],
)
def test_what_a_user_should_see(kind: str, members: dict[str, Any], event: Any, words: str) -> None:
    desk = told(kind, **members)
    assert [alert.event for alert in desk.harn.alerts] == [event]
    assert [*desk.harn.agent_events] == [event]
    assert event.words == words
    assert (event.kind, to_json(event)["type"]) == (kind, kind)
    desk.assert_exact()


@pytest.mark.parametrize("status", ["accepted", "idempotent", None])
def test_what_was_granted_is_no_alert(status: str | None) -> None:
    desk = told("control_outcome", status=status, outcome="done")
    assert [*desk.harn.alerts] == []
    assert [event.words for event in desk.harn.agent_events] == [f"a request was {status or 'decided'}: done"]


def test_history_is_told_apart() -> None:
    desk = told("loop_stuck", replayed=True)
    assert [alert.replayed for alert in desk.harn.alerts] == [True]
    assert [alert.replayed for alert in told("loop_stuck").harn.alerts] == [False]


def test_any_other_kind_is_kept_as_it_came() -> None:
    desk = told("some_future_kind", anything=[1], promptCorrelation={"messageId": "m"})
    assert [*desk.harn.agent_events] == [OtherAgentEvent(kind="some_future_kind", data={"anything": [1]})]
    assert desk.harn.agent_events.entries[0].words == "some future kind"
    assert desk.problems == []


@pytest.mark.parametrize("params", [{}, {"kind": 7}, {"kind": "turn_phase_changed"}])
def test_without_a_kind_or_a_phase_there_is_nothing(params: dict[str, Any]) -> None:
    desk = Desk().hear("_harn/agentEvent", **params)
    assert desk.state.snapshot().harn is None
    assert desk.problems


def test_members_of_the_wrong_type_are_none() -> None:
    desk = told("budget_exhausted", maxIterations="8", costUsd=True, provider=7)
    assert [*desk.harn.agent_events] == [BudgetExhausted()]
    assert len(desk.problems) == 3


def test_alerts_outlast_a_flood_of_other_events() -> None:
    desk = told("loop_stuck")
    for _ in range(MAX_EVENTS):
        desk.hear("_harn/agentEvent", kind="llm_call_log")
    assert len(desk.harn.agent_events) == MAX_EVENTS
    assert [alert.event.kind for alert in desk.harn.alerts] == ["loop_stuck"]
    for _ in range(MAX_ALERTS):
        desk.hear("_harn/agentEvent", kind="boundary_failure")
    assert len(desk.harn.alerts) == MAX_ALERTS
