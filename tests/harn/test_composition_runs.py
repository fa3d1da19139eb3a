"""The programs that an agent composes of its tools."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.state import events
from acp_host.state.harn.agent_events import AgentSessionEnded
from acp_host.state.harn.composition_runs import MAX_CALLS, MAX_RUNS, CompositionRun
from acp_host.state.harn.side_effects import LEVELS, farthest
from tests.harn.harness import Desk, frames

TOLD = [frame["params"] for frame in frames("agent_events_with_composition.json")]
RUNS = {
    run_id: [params for params in TOLD if params.get("runId") == run_id and params["kind"].startswith("composition")]
    for run_id in ("cmp-1", "cmp-2")
}


def desk_of(*told: dict[str, Any]) -> Desk:
    desk = Desk()
    for params in told:
        desk.hear("_harn/agentEvent", **params)
    return desk


def parent(kind: str = "start", **members: Any) -> dict[str, Any]:
    return {"kind": f"composition_{kind}", "runId": "r", **members}


def child(kind: str = "call", call_id: str = "c", **members: Any) -> dict[str, Any]:
    return {"kind": f"composition_child_{kind}", "runId": "r", "toolCallId": call_id, **members}


def the_run(*told: dict[str, Any]) -> CompositionRun:
    desk = desk_of(*told)
    desk.assert_exact()
    assert desk.problems == []
    return desk.harn.composition_runs["r"]


def test_a_run_and_one_that_was_denied() -> None:
    desk = desk_of(*TOLD)
    good, denied = desk.harn.composition_runs.values()
    assert (good.run_id, good.status, good.level, good.stdout) == ("cmp-1", "finished", "read_only", "2 files scanned")
    assert (good.duration_ms, good.result) == (18, {"matches": ["crates/harn-vm/src/lib.rs"]})
    (call,) = good.calls
    assert (call.tool_name, call.status, call.executor) == ("tool.search", "completed", "harn_builtin")
    assert (call.raw_input, call.raw_output, call.level) == ({"query": "agent_events"}, {"count": 1}, "read_only")
    assert (denied.status, denied.failure_category, denied.level) == ("failed", "policy_denied", "workspace_write")
    (call,) = denied.calls
    assert (call.status, call.error_category) == ("failed", "permission_denied")
    assert (good.extra, denied.extra, call.extra) == ({}, {}, {})
    assert not [event for event in desk.harn.agent_events if event.kind.startswith("composition")]
    desk.assert_exact()


@pytest.mark.parametrize("run_id", RUNS)
def test_the_order_does_not_matter(run_id: str) -> None:
    told = {desk_of(*order).harn.composition_runs[run_id].status for order in itertools.permutations(RUNS[run_id])}
    assert told == {"finished" if run_id == "cmp-1" else "failed"}
    whole = desk_of(*RUNS[run_id]).harn.composition_runs[run_id]
    for order in itertools.permutations(RUNS[run_id]):
        assert desk_of(*order, *RUNS[run_id]).harn.composition_runs[run_id] == whole


def test_a_call_that_reaches_farther_than_its_run() -> None:
    run = the_run(
        parent(requestedSideEffectCeiling="read_only"),
        child(annotations={"side_effect_level": "workspace_write"}, requestedSideEffectLevel="read_only"),
    )
    assert (run.ceiling, run.level, run.calls[0].level) == ("read_only", "workspace_write", "workspace_write")


def test_nobody_says_how_far() -> None:
    assert the_run(child(annotations=7), parent("finish")).level is None


def test_a_run_that_is_heard_of_by_a_call() -> None:
    run = the_run(child("result", status="completed"), child("call", toolName="t"))
    assert (run.status, run.language, run.call_count) == ("running", None, 1)
    assert run.call("c") == run.calls[0]
    assert run.call("x") is None
    assert (run.calls[0].status, run.calls[0].tool_name) == ("completed", "t")


def test_a_call_after_the_end() -> None:
    run = the_run(parent(), parent("finish"), child(requestedSideEffectLevel="network"))
    assert (run.status, run.level, len(run.calls)) == ("finished", "network", 1)


@pytest.mark.parametrize("end", [events.TurnEnded(1, "completed"), events.SessionClosed(), AgentSessionEnded()])
def test_a_run_without_an_end(end: Any) -> None:
    desk = desk_of(parent(), {**parent("finish"), "runId": "done"}).apply(end)
    desk.deliver()
    assert [run.status for run in desk.harn.composition_runs.values()] == ["incomplete", "finished"]
    desk.assert_exact()
    desk.hear("_harn/agentEvent", **parent("error", error="late"))
    assert (desk.harn.composition_runs["r"].status, desk.harn.composition_runs["r"].error) == ("failed", "late")


def test_what_is_said_first_of_its_end_counts() -> None:
    desk = desk_of(parent("finish", stdout="a"), parent("error", stdout="b"))
    assert (desk.harn.composition_runs["r"].status, desk.harn.composition_runs["r"].stdout) == ("finished", "a")
    assert desk.problems == ["run r has finished; it cannot have failed then"]


def test_without_ids_there_is_nothing() -> None:
    desk = desk_of({"kind": "composition_start"}, {"kind": "composition_child_call", "runId": "r"})
    assert desk.problems == ["runId is missing", "toolCallId is missing"]
    assert desk.state.snapshot().harn is None


def test_they_are_bounded() -> None:
    told = [child(call_id=str(number), requestedSideEffectLevel="read_only") for number in range(MAX_CALLS)]
    run = the_run(*told, child(call_id="last", requestedSideEffectLevel="network"))
    assert (len(run.calls), run.call_count, run.level) == (MAX_CALLS, MAX_CALLS + 1, "network")
    desk = desk_of(parent(), *({**parent("finish"), "runId": str(number)} for number in range(MAX_RUNS)))
    assert len(desk.harn.composition_runs) == MAX_RUNS
    assert "r" in desk.harn.composition_runs


@given(st.lists(st.sampled_from([*LEVELS, None, "_own"])))
def test_the_farthest_level_is_one_of_them_and_nothing_is_farther(levels: list[str | None]) -> None:
    reach = [*LEVELS, "_own"]
    known = [level for level in levels if level is not None]
    result = farthest(*levels)
    assert result in known or (result is None and not known)
    assert all(reach.index(level) <= reach.index(result or "none") for level in known)


@given(st.lists(st.sampled_from([*RUNS["cmp-1"], *RUNS["cmp-2"]]), max_size=12))
def test_in_any_order_and_number_the_deltas_are_exact(told: list[dict[str, Any]]) -> None:
    desk = desk_of(*told)
    desk.assert_exact()
    for run in () if desk.state.snapshot().harn is None else desk.harn.composition_runs.values():
        assert run.level == farthest(run.ceiling, *(call.level for call in run.calls))
