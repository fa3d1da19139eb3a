"""What Harn says of tool calls, in the transcript."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state import events
from acp_host.state.entries import ToolCallEntry
from acp_host.state.harn.tool_facts import Executor, SkippedPath, ToolFacts
from acp_host.testing import ScriptedAgent
from acp_host.translate.v1 import translate
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.updates import SessionUpdate
from tests.harn.harness import Desk, named, read, updates
from tests.host.scripts import DONE, in_session


def call(update: str = "tool_call", *, root: dict[str, Any] | None = None, **told: Any) -> dict[str, Any]:
    return {**named(update), "_meta": {"harn": told}, "toolCallId": "c", "title": "edit", **(root or {})}


def entry(*told: dict[str, Any]) -> ToolCallEntry:
    """Return the call after updates of a turn, having checked that the deltas lead there."""
    desk = Desk()
    desk.apply(events.TurnStarted(1, (), ()))
    for update in told:
        report = read(update)
        if report is None:
            event = translate(structure_tolerant(update, SessionUpdate)[0])
            assert event is not None
            desk.apply(event)
        else:
            desk.problems += report.problems
            desk.apply(*report.events)
        desk.deliver()
    desk.assert_exact()
    assert desk.problems == []
    [found] = desk.state.snapshot().tool_calls
    return found


def facts(*told: dict[str, Any]) -> ToolFacts:
    found = entry(*told).harn
    assert found is not None
    return found


def test_each_fact_is_read() -> None:
    audit = {"session_id": "m", "mutation_scope": "read_only", "approval_policy": {"auto_deny": ["rm"]}}
    found = facts(
        call(audit=audit, parsing=True, rawInputPartial="{", intent="Fix the test"),
        call(
            "tool_call_update",
            executor={"kind": "mcp_server", "serverName": "linear"},
            durationMs=11.5,
            executionDurationMs=7,
            error="no",
            errorCategory="parse_aborted",
            mutationStatus="unchanged",
            changedPaths=["a.py"],
            data={"any": [1]},
            parsing=False,
        ),
    )
    assert found.audit is not None
    assert (found.audit.session_id, found.audit.is_read_only) == ("m", True)
    assert found.executor == Executor(kind="mcp_server", server_name="linear")
    assert (found.duration_ms, found.execution_duration_ms) == (11.5, 7)
    assert (found.error, found.error_category, found.mutation_status) == ("no", "parse_aborted", "unchanged")
    assert (found.changed_paths, found.data) == (("a.py",), {"any": [1]})
    assert (found.parsing, found.raw_input_partial, found.intent) == (False, "{", "Fix the test")


@pytest.mark.parametrize("word", ["harn_builtin", "host_bridge", "provider_native", "of_tomorrow"])
def test_what_carries_it_out_may_be_a_word(word: str) -> None:
    assert facts(call(executor=word)).executor == Executor(kind=word)


def test_what_is_said_last_counts_and_nothing_is_said_by_null() -> None:
    found = facts(call(durationMs=1, error="a"), call("tool_call_update", durationMs=2, error=None))
    assert (found.duration_ms, found.error) == (2, "a")


def test_a_call_of_another_agent_has_no_facts() -> None:
    plain = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "_meta": {"x": 1}, "durationMs": 5}
    assert entry(plain).harn is None


def test_the_older_form_says_the_same() -> None:
    told = {"durationMs": 8, "executionDurationMs": 6, "executor": "harn_builtin", "changedPaths": ["a"]}
    older = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "edit", **told}
    assert facts(older) == facts(call("tool_call_update", **told))
    [frame] = updates("legacy_tool_call_root_fields.json")
    assert facts(frame).executor == Executor(kind="harn_builtin")


@pytest.mark.parametrize(
    ("told", "read_as"),
    [
        ({"parsing": True}, ToolFacts(parsing=True)),
        ({"restoredPaths": ["a"]}, ToolFacts(restored_paths=("a",))),
        (
            {"durationMs": 3, "_meta": {"harn": {"mutationStatus": "applied"}}},
            ToolFacts(duration_ms=3, mutation_status="applied"),
        ),
    ],
)
def test_one_fact_of_the_older_form_is_enough(told: Any, read_as: ToolFacts) -> None:
    assert facts({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "edit", **told}) == read_as


@pytest.mark.parametrize(("meta", "is_read"), [({"harn": {}}, True), (None, False)])
async def test_what_others_might_say_as_well_is_read_where_the_agent_is_harn(meta: Any, is_read: bool) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.update({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "error": "no", "durationMs": 3})
        agent.reply(DONE)

    async with in_session(script, {} if meta is None else {"_meta": meta}) as session:
        await session.prompt("go")
        [found] = session.state.snapshot().tool_calls
    assert found.harn == (ToolFacts(duration_ms=3, error="no") if is_read else None)


def test_what_is_in_meta_counts_more_than_the_root() -> None:
    found = facts(call(durationMs=1, executor="a", root={"durationMs": 2, "executor": "b", "error": "root"}))
    assert (found.duration_ms, found.executor, found.error) == (1, Executor(kind="a"), "root")
    assert facts(call(durationMs=None, root={"durationMs": 2, "executor": "b"})).duration_ms == 2


def test_the_wire_data() -> None:
    found = entry(*updates("tool_call_harn_meta.json"))
    assert found.harn is not None
    assert found.harn.raw_input_partial == '{"path":"src'
    assert found.harn.audit is not None
    assert (found.status, found.harn.mutation_status, found.harn.parsing) == ("failed", "not_applied", False)


def test_what_has_the_wrong_type_is_told_and_costs_nothing_else() -> None:
    wrong = {"durationMs": -1, "executor": 7, "changedPaths": "a", "parsing": "no", "audit": [], "error": "e"}
    report = read(call(**wrong))
    assert report is not None
    assert len(report.problems) == 5
    [event] = report.events
    assert isinstance(event, events.ToolCallReported)
    assert event.harn == ToolFacts(error="e")


def test_a_call_whose_changes_were_taken_back_is_over() -> None:
    restored = call(
        "tool_call_update",
        kind="tool_call_restored",
        restoredPaths=["a"],
        skippedPathsWithReasons=[{"path": "b", "reason": "changed since"}, {"reason": "?"}],
        root={"status": "restored"},
    )
    found = entry(call(root={"status": "completed"}), restored)
    assert (found.status, found.finished) == ("restored", True)
    assert found.harn is not None
    assert found.harn.restored_paths == ("a",)
    assert found.harn.skipped_paths == (SkippedPath(path="b", reason="changed since"),)


@pytest.mark.parametrize(
    ("told", "contradicts"),
    [
        ({"mutationStatus": "applied"}, True),
        ({"changedPaths": ["a"]}, True),
        ({"mutationStatus": "unchanged", "changedPaths": []}, False),
    ],
)
def test_a_change_under_a_promise_to_change_nothing_is_seen(told: Any, contradicts: bool) -> None:
    assert facts(call(audit={"mutation_scope": "read_only"}, **told)).contradicts_audit is contradicts
    assert not facts(call(audit={"mutation_scope": "apply_workspace"}, **told)).contradicts_audit


def test_what_did_not_change_is_the_same_object() -> None:
    desk = Desk()
    [event] = read(call(durationMs=1)).events
    desk.apply(events.TurnStarted(1, (), ()), event)
    before = desk.state.snapshot().tool_calls[0].harn
    over = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}
    update = translate(structure_tolerant(over, SessionUpdate)[0])
    assert update is not None
    desk.apply(update)
    assert desk.state.snapshot().tool_calls[0].harn is before
