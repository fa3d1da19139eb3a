"""What belongs together by the rules that it is done under."""

from __future__ import annotations

from typing import Any

from acp_host.state import events
from acp_host.state.harn.work import pieces_of_work
from acp_host.wire.permission import PermissionOption, RequestPermissionRequest
from acp_host.wire.tool_calls import ToolCallUpdate
from tests.harn.harness import Desk, named


def call(tool_call_id: str, audit: Any, **members: Any) -> dict[str, Any]:
    said = {"title": tool_call_id, "toolCallId": tool_call_id, "_meta": {"harn": {"audit": audit, **members}}}
    return {"sessionUpdate": "tool_call", **said}


def worker(worker_id: str, audit: Any) -> dict[str, Any]:
    return named("worker_update", workerId=worker_id, status="running", audit=audit)


def test_workers_and_calls_of_one_piece_of_work() -> None:
    reads, writes = {"session_id": "r", "mutation_scope": "read_only"}, {"session_id": "w"}
    desk = Desk().take(
        worker("one", reads),
        worker("two", writes),
        worker("three", None),
        worker("four", {"run_id": "x"}),
        call("a", reads, mutationStatus="unchanged"),
        call("b", writes, changedPaths=["x.py"]),
        call("c", reads, changedPaths=["y.py"]),
        call("d", None, changedPaths=["z.py"]),
        {"sessionUpdate": "tool_call", "toolCallId": "e", "title": "e"},
    )
    asked = RequestPermissionRequest("s", ToolCallUpdate("b"), (PermissionOption("yes", "Yes", "allow_once"),))
    desk.apply(events.QuestionAsked(1, "session/request_permission", asked))
    pieces = pieces_of_work(desk.state.snapshot())
    assert {key: [each.worker_id for each in piece.workers] for key, piece in pieces.items()} == {
        "r": ["one"],
        "w": ["two"],
    }
    assert [each.tool_call_id for each in pieces["r"].tool_calls] == ["a", "c"]
    assert [each.tool_call_id for each in pieces["r"].contradictions] == ["c"]
    assert [each.tool_call_id for each in pieces["w"].tool_calls] == ["b"]
    assert pieces["w"].contradictions == ()
    assert [each.request_id for each in pieces["w"].questions] == [1]
    assert pieces["r"].questions == ()
    assert pieces["r"].record.is_read_only


def test_another_agents_session_has_none() -> None:
    assert pieces_of_work(Desk().state.snapshot()) == {}
