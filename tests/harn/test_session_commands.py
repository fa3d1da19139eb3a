"""Harn's further commands about a session: what each sends, and what it makes of the answer."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from acp_host import Session, harn
from acp_host.errors import InvalidInput, InvalidParams, MalformedResponse, MethodNotFound, NotSupported, RequestFailed
from acp_host.harn import UNCHANGED, Checkpoint, HarnSession, HostAttachment, HostToolResult, Provenance, Truncation
from acp_host.state.harn.tool_facts import SkippedPath
from acp_host.testing import ScriptedAgent
from tests.harn.commands import HARN, answering, harn_session
from tests.host.scripts import DONE, until

FROM = Provenance(initiator="user", source="notebook", ts_ms=5)
PICTURE = HostAttachment(
    media_type="image/png", flavor="screenshot", artifact_pointer="file:///a.png", sha256="0a" * 32, size_bytes=3
)


class Exchange:
    """One request, and what it is answered."""

    def __init__(self, method: str, answer: Any) -> None:
        self.method = method
        self.answer = answer
        self.params: dict[str, Any] = {}

    async def script(self, agent: ScriptedAgent) -> None:
        message = await agent.expect(self.method)
        self.params = {name: value for name, value in message["params"].items() if name != "sessionId"}
        assert message["params"]["sessionId"] == "s-1"
        if isinstance(self.answer, tuple):
            agent.reply_error(*self.answer)
        else:
            agent.reply(self.answer)


async def result_of(
    command: Callable[[HarnSession], Any], method: str, answer: Any, capabilities: Any = HARN
) -> tuple[Any, dict[str, Any]]:
    """Return what a command returns if the agent answers so, and the parameters that it has sent."""
    exchange = Exchange(method, answer)
    async with harn_session(exchange.script, capabilities) as session:
        return await command(harn.of(session)), exchange.params


async def told_by(command: Callable[[HarnSession], None]) -> dict[str, Any]:
    """Return the notification that a command sends."""
    messages: list[dict[str, Any]] = []

    async def script(agent: ScriptedAgent) -> None:
        messages.append(await agent.expect())

    async with harn_session(script) as session:
        command(harn.of(session))
        await until(lambda: messages)
    assert "id" not in messages[0]
    return messages[0]


# --- tool calls, limits, waking ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["cancelled", "already_cancelled", "not_found", "postponed"])
async def test_cancel_tool_call(status: str) -> None:
    answer = {"status": status, "callId": "t-1", "tool": None if status == "not_found" else "run"}
    done, params = await result_of(
        lambda it: it.cancel_tool_call("t-1", reason="too slow", tell_model=False), "session/cancel_tool_call", answer
    )
    assert params == {"toolCallId": "t-1", "reason": "too slow", "injectReminder": False}
    assert (done.status, done.call_id, done.tool) == (status, "t-1", answer["tool"])


async def test_set_budget() -> None:
    message = await told_by(lambda it: it.set_budget(cost_usd=1.5))
    assert message["method"] == "session/set_budget"
    assert message["params"] == {"sessionId": "s-1", "llm_cost_usd": 1.5}
    message = await told_by(lambda it: it.set_budget(cost_usd=None, tokens=1000))
    assert message["params"] == {"sessionId": "s-1", "llm_cost_usd": None, "llm_tokens": 1000}


async def test_resume() -> None:
    message = await told_by(lambda it: it.resume())
    assert (message["method"], message["params"]) == ("agent/resume", {"sessionId": "s-1"})


async def test_wrong_arguments_send_nothing() -> None:
    async def script(agent: ScriptedAgent) -> None:
        pass

    async with harn_session(script) as session:
        it = harn.of(session)
        for limits in (
            {},
            {"tokens": UNCHANGED},
            {"cost_usd": -1},
            {"cost_usd": float("nan")},
            {"cost_usd": True},
            {"cost_usd": "1"},
            {"tokens": 1.5},
            {"tokens": -1},
            {"tokens": False},
        ):
            with pytest.raises(InvalidInput):
                it.set_budget(**limits)
        wrong: list[Callable[[], Any]] = [
            lambda: it.cancel_tool_call(""),
            lambda: it.history.truncate(-1),
            lambda: it.history.truncate(True),
            lambda: it.history.restore_tool_call("t-1", "a.py"),
            lambda: it.staged_writes.set_mode("later"),
            lambda: it.staged_writes.commit("a.py"),
            lambda: it.plan_documents.mutate("", "r-1", "edit"),
            lambda: it.plan_documents.mutate("d-1", " ", "edit"),
            lambda: it.people.answer("", "x"),
            lambda: it.people.answer("hitl_approval_1", "x"),
            lambda: it.people.approve("hitl_question_1", True),
            lambda: it.people.approve("hitl_approval_1", "yes"),
            lambda: it.people.accept("hitl_approval_1", True),
            lambda: it.people.accept("hitl_escalation_1", True, by="ana"),
            lambda: it.people.accept("hitl_escalation_1", True, reviewer=5),
            lambda: it.people.accept("hitl_escalation_1", True, responded_at=datetime(2026, 1, 1)),
            lambda: it.inject_host_event("hello", FROM),
            lambda: it.inject_host_event(HostAttachment(**{**members(PICTURE), "sha256": "0a"}), FROM),
            lambda: it.inject_host_event(HostAttachment(**{**members(PICTURE), "size_bytes": -1}), FROM),
        ]
        for command in wrong:
            with pytest.raises(InvalidInput):
                await command()


def members(event: HostAttachment) -> dict[str, Any]:
    names = ("media_type", "flavor", "artifact_pointer", "sha256", "size_bytes")
    return {name: getattr(event, name) for name in names}


async def test_another_agent_is_sent_nothing_and_a_missing_method_is_asked_for_once() -> None:
    async with harn_session(answering(), {}) as session:
        with pytest.raises(NotSupported, match=r"is not Harn, so session/rollback was not sent"):
            await harn.of(session).history.rollback()
        with pytest.raises(NotSupported):
            harn.of(session).resume()
    async with harn_session(answering(("session/fs_mode", (-32601, "no")))) as session:
        writes = harn.of(session).staged_writes
        with pytest.raises(MethodNotFound):
            await writes.set_mode("staged")
        with pytest.raises(NotSupported, match="has said that it does not have session/fs_mode"):
            await writes.set_mode("staged")


async def test_answers_that_are_not_what_they_should_be() -> None:
    with pytest.raises(MalformedResponse, match="is no object, but list") as raised:
        await result_of(lambda it: it.staged_writes.commit(), "session/fs_commit_staged", [])
    assert raised.value.has_result
    async with harn_session(answering(("session/truncate", {"keptTurnCount": "two"}))) as session:
        diagnostics: list[Any] = []
        session._report = diagnostics.append
        assert await harn.of(session).history.truncate(2) == Truncation()
        assert [each.message for each in diagnostics] == [
            "the answer to session/truncate is malformed: expected an integer of at least 0 at "
            "$.result.keptTurnCount, got str"
        ]


# --- going back -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rollback", "redo"])
async def test_rollback_and_redo(method: str) -> None:
    answer = {
        "status": "rolled_back",
        "checkpointId": "c-1",
        "beforeMessageCount": 8,
        "afterMessageCount": 5,
        "fsSnapshotIds": ["f-1"],
        "redoFsSnapshotIds": [],
        "fsRestores": [{"path": "a"}],
    }
    done, params = await result_of(lambda it: getattr(it.history, method)(), f"session/{method}", answer)
    assert params == {}
    assert done == Checkpoint(
        status="rolled_back",
        checkpoint_id="c-1",
        messages_before=8,
        messages_after=5,
        snapshot_ids=("f-1",),
        restores=[{"path": "a"}],
    )
    with pytest.raises(harn.CheckpointRefused) as refused:
        error = (-32000, "busy", {"status": "prompt_active"})
        await result_of(lambda it: getattr(it.history, method)(), f"session/{method}", error)
    assert (refused.value.status, refused.value.code) == ("prompt_active", -32000)
    with pytest.raises(RequestFailed) as other:
        await result_of(lambda it: getattr(it.history, method)(), f"session/{method}", (-32000, "odd"))
    assert not isinstance(other.value, harn.CheckpointRefused)


async def test_truncate_cancels_the_turn_that_runs() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        truncate = await agent.expect("session/truncate")
        assert truncate["params"] == {"sessionId": "s-1", "keepFirst": 0, "reason": "start over"}
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        agent.reply({"keptTurnCount": 0, "removedTurnCount": 1, "newTipTurnId": None}, to=truncate)

    async with harn_session(script) as session:
        turn = session.prompt("go")
        after = await session.inject("later", mode="after_turn")
        assert await harn.of(session).history.truncate(0, reason="start over") == Truncation(kept=0, removed=1)
        assert (await turn).outcome.kind == "cancelled"
        assert after.turn is not None
        assert (await after.turn).outcome.kind == "cancelled"


async def test_restore_tool_call() -> None:
    answer = {
        "toolCallId": "t-1",
        "restoredPaths": ["a.py"],
        "skippedPathsWithReasons": [{"path": "b.py", "reason": "changed since"}, 5],
    }
    done, params = await result_of(
        lambda it: it.history.restore_tool_call("t-1", ["a.py", "b.py"]), "session/restore_tool_call", answer
    )
    assert params == {"toolCallId": "t-1", "paths": ["a.py", "b.py"]}
    assert (done.tool_call_id, done.restored) == ("t-1", ("a.py",))
    assert done.skipped == (SkippedPath(path="b.py", reason="changed since"),)


# --- writes that wait, plans ------------------------------------------------------------------------------------------


async def test_staged_writes() -> None:
    mode, params = await result_of(
        lambda it: it.staged_writes.set_mode("staged"),
        "session/fs_mode",
        {"previousMode": "immediate", "mode": "staged"},
    )
    assert params == {"mode": "staged"}
    assert (mode.mode, mode.previous_mode) == ("staged", "immediate")
    failed = [{"path": "b", "reason": "is a directory"}]
    written, params = await result_of(
        lambda it: it.staged_writes.commit(),
        "session/fs_commit_staged",
        {"committedPaths": ["a"], "failedPathsWithReasons": failed},
    )
    assert (params, written.committed, written.failed[0].reason) == ({}, ("a",), "is a directory")
    gone, params = await result_of(
        lambda it: it.staged_writes.discard(["a"]), "session/fs_discard_staged", {"discardedPaths": ["a"]}
    )
    assert (params, gone) == ({"paths": ["a"]}, ("a",))


CONFLICT = {"documentId": "d-1", "expectedRevisionId": "r-1", "currentRevisionId": "r-2"}
METHODS = {"session/plan_document/mutate": {"conflict": {"code": -32077, "schemaVersion": 1}}}


@pytest.mark.parametrize(
    ("error", "conflict"),
    [
        ((-32077, "no", CONFLICT), True),
        ((-32077, "no", "odd"), True),
        ((-32000, "no", CONFLICT), True),
        ((-32602, "no"), False),
        ((-32000, "busy", {}), False),
    ],
)
async def test_plan_documents_that_have_changed(error: Any, conflict: bool) -> None:
    offers = {"_meta": {"harn": {"extensionMethods": METHODS}}}
    with pytest.raises(RequestFailed) as raised:
        await result_of(
            lambda it: it.plan_documents.mutate("d-1", "r-1", "approve"), "session/plan_document/mutate", error, offers
        )
    assert isinstance(raised.value, harn.PlanConflict) is conflict
    if isinstance(raised.value, harn.PlanConflict) and isinstance(error[2], dict):
        assert (raised.value.document_id, raised.value.current_revision_id) == ("d-1", "r-2")
        assert raised.value.expected_revision_id == "r-1"


async def test_plan_documents() -> None:
    document = {"document_id": "d-1", "current_revision": {"revision_id": "r-2", "markdown": "# Plan"}}
    done, params = await result_of(
        lambda it: it.plan_documents.mutate("d-1", "r-1", "add_comment", body="why?"),
        "session/plan_document/mutate",
        {"planDocument": document},
    )
    assert (done.document_id, done.revision.revision_id) == ("d-1", "r-2")
    mutation = {"kind": "add_comment", "body": "why?"}
    assert params == {"documentId": "d-1", "expectedRevisionId": "r-1", "mutation": mutation}


# --- events of the host, people, the rest -----------------------------------------------------------------------------


async def test_host_events() -> None:
    answer = {"injection_id": "i-1", "sequence": 4, "delivery": "immediate", "status": "queued"}
    ran = HostToolResult(tool_name="pytest", status="completed", raw_input={"k": 1}, duration_ms=12)
    receipt, params = await result_of(
        lambda it: it.inject_host_event(ran, FROM, delivery="immediate"), "session/inject_host_event", answer
    )
    assert params == {
        "event": {
            "kind": "host_tool_result",
            "delivery": "immediate",
            "payload": {
                "tool_name": "pytest",
                "status": "completed",
                "raw_input": {"k": 1},
                "raw_output": None,
                "duration_ms": 12,
            },
            "provenance": {"initiator": "user", "source": "notebook", "ts_ms": 5},
        }
    }
    assert (receipt.injection_id, receipt.sequence, receipt.status) == ("i-1", 4, "queued")
    _, params = await result_of(lambda it: it.inject_host_event(PICTURE, FROM), "session/inject_host_event", answer)
    assert params["event"]["payload"] == members(PICTURE)
    assert "delivery" not in params["event"]


@pytest.mark.parametrize("offer", [{"kinds": ["host_tool_result"]}, {"delivery": ["turn_boundary"]}])
async def test_host_events_that_the_agent_does_not_take(offer: dict[str, Any]) -> None:
    async with harn_session(answering(), {**HARN, "session": {"injectHostEvent": offer}}) as session:
        with pytest.raises(NotSupported, match=r"session\.injectHostEvent\."):
            await harn.of(session).inject_host_event(PICTURE, FROM, delivery="immediate")


async def test_the_state_has_the_plan_as_it_was_changed() -> None:
    document = {"document_id": "d-1", "current_revision": {"revision_id": "r-2"}}
    mutate = "session/plan_document/mutate"
    async with harn_session(answering((mutate, {"planDocument": document}), (mutate, {"planDocument": {}}))) as session:
        plans = harn.of(session).plan_documents
        done = await plans.mutate("d-1", "r-1", "edit")
        kept = session.state.snapshot().harn
        assert kept is not None
        assert kept.plan_documents["d-1"] is done
        diagnostics: list[Any] = []
        session._report = diagnostics.append
        assert await plans.mutate("d-1", "r-2", "edit") is None
        assert "document_id is missing" in diagnostics[0].message


SCHEMA = {
    "type": "object",
    "required": ["branch"],
    "properties": {"branch": {"type": "string", "pattern": "(a+)+$", "minLength": 2}},
}


def asked(kind: str, number: int, **payload: Any) -> dict[str, Any]:
    meta = {"harn": {"requestId": f"hitl_{kind}_{number}", "kind": kind, "payload": payload}}
    return {"sessionUpdate": "hitl_request", "_meta": meta}


async def test_what_a_person_answers_is_held_against_what_was_asked() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.update(asked("question", 1, prompt="Which?", schema=SCHEMA))
        agent.update(asked("question", 2, schema={"$ref": "https://example.org/schema"}))
        agent.update(asked("approval", 3))
        agent.update(asked("question", 4, schema={"type": 5}))
        sent = await agent.expect("harn.hitl.respond")
        await agent.expect("_looked")
        agent.reply({})
        agent.reply_error(-32000, "storage", to=sent)
        await agent.expect("harn.hitl.respond")
        agent.reply({"ok": True})
        meta = {"harn": {"requestId": "hitl_question_1", "kind": "question", "outcome": "answered"}}
        agent.update({"sessionUpdate": "hitl_resolved", "_meta": meta}, "s-1")
        for _ in range(2):
            await agent.expect("harn.hitl.respond")
            agent.reply({"ok": True})
        agent.reply(DONE, to=prompt)

    async with harn_session(script) as session:
        people, turn = harn.of(session).people, session.prompt("go")

        def status(number: int) -> str:
            kept = session.state.snapshot().harn
            return "" if kept is None else kept.human_requests[f"hitl_question_{number}"].status

        await until(lambda: session.state.harn and "hitl_question_4" in session.state.harn.snapshot().human_requests)
        for wrong in ("main", {}, {"branch": 5}, {"branch": "a"}):
            with pytest.raises(InvalidInput, match="does not fit the question"):
                await people.answer("hitl_question_1", wrong)
        with pytest.raises(InvalidInput, match="is of the kind approval"):
            await people.answer("hitl_approval_3", "x")
        with pytest.raises(InvalidInput, match="no JSON form"):
            await people.answer("hitl_question_2", object())
        assert [status(1), status(2)] == ["open", "open"]
        sending = asyncio.ensure_future(people.answer("hitl_question_1", {"branch": "a" * 40 + "!"}))
        await until(lambda: status(1) == "sent")
        await session.ext_request("_looked")
        with pytest.raises(RequestFailed):
            await sending
        assert status(1) == "open"
        await people.answer("hitl_question_1", {"branch": "main"})
        await people.answer("hitl_question_2", "anything")
        await people.answer("hitl_question_4", "anything")
        assert status(1) == "answered"
        with pytest.raises(InvalidInput, match="needs no answer any more: it is answered"):
            await people.answer("hitl_question_1", {"branch": "main"})
        await turn
        assert status(2) == "answered"
        told = session.state.snapshot().harn
        assert told is not None
        assert told.human_requests["hitl_approval_3"].status == "unanswered"


async def test_an_answer_that_is_no_longer_waited_for_is_taken_all_the_same() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.update(asked("question", 1, prompt="Which?"))
        sent = await agent.expect("harn.hitl.respond")
        await agent.expect("$/cancel_request")
        agent.reply(DONE, to=prompt)
        agent.reply({"ok": True}, to=sent)

    async with harn_session(script) as session:
        turn = session.prompt("go")

        def status() -> str:
            kept = session.state.snapshot().harn
            return "" if kept is None else kept.human_requests["hitl_question_1"].status

        await until(status)
        sending = asyncio.ensure_future(harn.of(session).people.answer("hitl_question_1", "main"))
        await until(lambda: status() == "sent")
        sending.cancel()
        await turn
        await until(lambda: status() == "answered")


async def test_answers_of_people() -> None:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    _, params = await result_of(
        lambda it: it.people.answer("hitl_question_1", "main", reviewer="ana", responded_at=at),
        "harn.hitl.respond",
        {"ok": True},
    )
    when = "2026-01-02T00:00:00+00:00"
    assert params == {"request_id": "hitl_question_1", "answer": "main", "reviewer": "ana", "responded_at": when}
    _, params = await result_of(
        lambda it: it.people.approve("hitl_dual_control_1", False, reason="no", metadata={"a": 1}),
        "harn.hitl.respond",
        {"ok": True},
    )
    assert params == {"request_id": "hitl_dual_control_1", "approved": False, "reason": "no", "metadata": {"a": 1}}
    _, params = await result_of(lambda it: it.people.accept("other-1", True), "harn.hitl.respond", {"ok": True})
    assert params == {"request_id": "other-1", "accepted": True}
    with pytest.raises(InvalidParams):
        await result_of(lambda it: it.people.answer("q", 1), "harn.hitl.respond", (-32602, "no"))


async def test_an_answer_is_sent_behind_a_turn_that_waits_for_it_and_cancel_is_the_way_out() -> None:
    asked = asyncio.Event()

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        respond = await agent.expect("harn.hitl.respond")
        asked.set()
        await agent.expect("session/cancel")
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        agent.reply_error(-32000, "unknown request", to=respond)

    async with harn_session(script) as session:
        turn = session.prompt("go")
        waiting = asyncio.ensure_future(harn.of(session).people.answer("hitl_question_1", "main"))
        await asked.wait()
        turn.cancel()
        assert (await turn).outcome.kind == "cancelled"
        with pytest.raises(RequestFailed):
            await waiting


async def test_the_catalogue_and_any_other_request() -> None:
    catalogue, params = await result_of(lambda it: it.provider_catalog(), "_harn/providerCatalog", {"providers": []})
    assert (catalogue, params) == ({"providers": []}, {})
    view, params = await result_of(
        lambda it: it.request("harn.session_view.query", {"limit": 3}), "harn.session_view.query", [1]
    )
    assert (view, params) == ([1], {"limit": 3})


async def test_the_same_object_for_a_session_each_time() -> None:
    async with harn_session(answering()) as session:
        assert harn.of(session) is harn.of(session)
        assert isinstance(session, Session)
        kept = weakref.ref(harn.of(session))
    del session
    gc.collect()
    assert kept() is None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = harn.nothing
    assert set(dir(harn)) == set(harn.__all__)
    for name in harn.__all__:
        assert getattr(harn, name) is not None


async def test_prompts_go_on_after_commands() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/rollback")
        agent.reply({"status": "rolled_back"})
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with harn_session(script) as session:
        await harn.of(session).history.rollback()
        assert (await session.prompt("go")).stop_reason == "end_turn"
