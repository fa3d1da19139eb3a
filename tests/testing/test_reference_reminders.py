"""How the reference agent takes reminders, on the wire; what it sends is held against ``reminder_forms``."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.testing import AgentTurn, ReferenceAgent, builtin_script
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from tests.testing.reminding import HARN, SAW_NONE, inject, remind, say, told, updates

# --- what is offered ------------------------------------------------------------------------------------------------

RFC_OFFER = {
    "inject": True,
    "emit": True,
    "propagate": ["all", "session", "none"],
    "roleHints": ["system", "developer", "user_block"],
}
MODES = ["interrupt_immediate", "finish_step", "audit_only"]


@pytest.mark.parametrize(
    ("options", "reminders", "remind", "harn"),
    [
        ({}, RFC_OFFER, None, False),
        ({"without": {"reminder_updates"}}, {**RFC_OFFER, "emit": False}, None, False),
        (HARN, None, {"modes": MODES, "pending": {"list": True, "revoke": True}}, True),
        (
            {**HARN, "without": {"reminders", "reminder_queue"}},
            None,
            {"modes": MODES, "pending": {"list": False, "revoke": False}},
            True,
        ),
        ({**HARN, "also": {"harn_reminders", "harn_old"}}, None, None, True),
        ({"without": {"reminders"}}, None, None, False),
        ({"unstable": False}, None, None, False),
    ],
)
async def test_what_is_offered(connect, options: dict[str, Any], reminders: Any, remind: Any, harn: bool) -> None:
    async with connect(ReferenceAgent(**options)) as host:
        assert host.agreement.offer("reminders") == reminders
        assert host.agreement.offer("session.remind") == remind
        assert host.agreement.supports("_meta.harn") is harn


# --- from the host to the model -------------------------------------------------------------------------------------


async def test_it_is_told_once_for_each_request_to_the_model(connect, taps, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        answer = await inject(host, session, tags=["build"], dedupeKey="tests", ttlTurns=2, roleHint="developer")
        assert answer == {"reminderId": "reminder-1"}
        assert told(taps[0]) == []
        assert await say(session, "/say on") == "on"
        assert told(taps[0]) == [("emitted", "reminder-1")]
        text = await say(session, "/tool one", "/model", "/reminders")
        assert text == "The model saw these reminders:\n- developer, 3 x: 2 tests failed\n"
        assert await say(session, "/reminders") == SAW_NONE
    assert updates(taps[0])[0] == {
        "sessionUpdate": "reminder_emitted",
        "reminderId": "reminder-1",
        "body": "2 tests failed",
        "tags": ["build"],
        "dedupeKey": "tests",
        "source": "host",
        "firedAtTurn": 0,
    }
    assert told(taps[0])[1:] == [("emitted", "reminder-1")] * 3 + [("expired", "reminder-1")]
    assert updates(taps[0])[-1] == {
        "sessionUpdate": "reminder_expired",
        "reminderId": "reminder-1",
        "phase": "ttl_expired",
        "expiredAtTurn": 2,
    }


async def test_the_end_of_its_turns_is_told_within_the_turn(connect, taps, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        await inject(host, session, ttlTurns=1)
        await say(session, "/say on")
    messages = taps[0].to_host
    [answer] = taps[0].answers("session/prompt")
    expired = [message.get("params", {}).get("update", {}).get("phase") for message in messages].index("ttl_expired")
    assert expired < messages.index(answer)


async def test_a_newer_one_replaces_older_ones(connect, taps, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        for expected in ({}, {"dedupedCount": 1}, {"dedupedCount": 1}):
            answer = await inject(host, session, dedupeKey="tests", body=f"with {expected}")
            assert answer == {"reminderId": answer["reminderId"], **expected}
        await inject(host, session, dedupeKey="other", body="another matter")
        await say(session, "/say on")
        answer = await inject(host, session, dedupeKey="tests")
        assert answer["dedupedCount"] == 1
        text = await say(session, "/reminders")
        assert text == "The model saw these reminders:\n- system, 1 x: another matter\n- system, 1 x: 2 tests failed\n"
    assert [update for update in updates(taps[0]) if update["sessionUpdate"] == "reminder_deduped"] == [
        {
            "sessionUpdate": "reminder_deduped",
            "reminderId": f"reminder-{new}",
            "dedupeKey": "tests",
            "droppedReminderIds": [f"reminder-{old}"],
        }
        for new, old in ((2, 1), (3, 2), (5, 3))
    ]
    kinds = [message.get("params", {}).get("update", {}).get("sessionUpdate") for message in taps[0].to_host]
    answers = taps[0].answers("session/inject_reminder")
    assert kinds.index("reminder_deduped") == taps[0].to_host.index(answers[1]) + 1, "after the answer that names it"


async def test_one_that_comes_in_the_middle_of_a_turn(connect, taps, tmp_path: Path) -> None:
    asked, may_go_on = asyncio.Event(), asyncio.Event()

    async def script(turn: AgentTurn) -> None:
        asked.set()
        await may_go_on.wait()
        async with turn.tool_call("Look") as call:
            call.start()
        await turn.say(str([[reminder.body for reminder in shown] for shown in turn.seen]))

    async with connect(ReferenceAgent(script=script)) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("Go")
        await asked.wait()
        await inject(host, session)
        may_go_on.set()
        seen = [update async for update in turn]
        assert (await turn).text == "[[], ['2 tests failed']]"
    assert [update.status for update in seen if isinstance(update, ToolCall | ToolCallUpdate)] == [
        "pending",
        "in_progress",
        "completed",
    ]


@pytest.mark.parametrize("mode", ["interrupt_immediate", "finish_step"])
async def test_an_interruption_skips_the_tool_that_was_to_run(connect, taps, tmp_path: Path, mode: str) -> None:
    begun: list[bool] = []
    asked, may_go_on = asyncio.Event(), asyncio.Event()

    async def script(turn: AgentTurn) -> None:
        async with turn.tool_call("Look") as call:
            asked.set()
            await may_go_on.wait()
            call.start()
            begun.append(True)
        await turn.say(str([len(shown) for shown in turn.seen]))

    async with connect(ReferenceAgent(script=script)) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("Go")
        await asked.wait()
        await inject(host, session, mode=mode)
        may_go_on.set()
        seen = [update async for update in turn]
        assert (await turn).text == "[0, 1]"
    statuses = [update.status for update in seen if isinstance(update, ToolCall | ToolCallUpdate)]
    skipped = mode == "interrupt_immediate"
    assert (begun, statuses) == (([], ["pending"]) if skipped else ([True], ["pending", "in_progress", "completed"]))


@pytest.mark.parametrize("prompt", ["Show me", "/read a", "/edit a", "/run x"])
async def test_every_step_of_the_conversation_can_be_interrupted(connect, tmp_path: Path, prompt: str) -> None:
    async def script(turn: AgentTurn) -> str | None:
        turn.remind("Stop", mode="interrupt_immediate")
        return await builtin_script(turn)

    permissions = acp_host.PermissionPolicy.allow_once()
    async with connect(ReferenceAgent(script=script), files=True, terminals=True, permissions=permissions) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt(prompt)
        calls = [update async for update in turn if isinstance(update, ToolCall | ToolCallUpdate)]
        assert (await turn).stop_reason == "end_turn"
    assert [call.status for call in calls if call.tool_call_id == "call-1" and call.status] == ["pending"]


async def test_what_is_for_the_audit_only_no_model_sees(connect, taps, tmp_path: Path) -> None:
    agent = ReferenceAgent()
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        assert await inject(host, session, mode="audit_only", ttlTurns=1) == {"reminderId": "reminder-1"}
        assert await say(session, "/tool x", "/reminders") == SAW_NONE
        assert await say(session, "/reminders") == SAW_NONE
    assert told(taps[0]) == []
    assert [reminder.body for reminder in agent.sessions[session.id].shelf.recorded] == ["2 tests failed"]


@pytest.mark.parametrize("compaction", [True, False])
async def test_a_compaction(connect, taps, tmp_path: Path, compaction: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compaction:
        monkeypatch.setattr(AgentTurn, "offers", lambda self, capability: False)
    async with connect() as host:
        session = await host.new_session(tmp_path)
        await inject(host, session, body="lost")
        await inject(host, session, body="kept", preserveOnCompact=True)
        await say(session, "/compact")
        assert await say(session, "/reminders") == "The model saw these reminders:\n- system, 1 x: kept\n"
    ends = [update for update in updates(taps[0]) if update["sessionUpdate"] == "reminder_expired"]
    assert [(end["reminderId"], end["phase"]) for end in ends] == [("reminder-1", "compacted_out")]


async def test_the_agent_may_clear_them(connect, taps, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        await inject(host, session, tags=["build"])
        await inject(host, session)
        await say(session, "/forget build")
        await say(session, "/forget")
        assert await say(session, "/reminders") == SAW_NONE
    ends = [update for update in updates(taps[0]) if update["sessionUpdate"] == "reminder_expired"]
    assert [(end["reminderId"], end["phase"], end["expiredAtTurn"]) for end in ends] == [
        ("reminder-1", "cleared", 1),
        ("reminder-2", "cleared", 2),
    ]


@pytest.mark.parametrize(("options", "source"), [({}, "provider"), (HARN, "stdlib_provider")])
async def test_the_agents_own(connect, taps, tmp_path: Path, options: dict[str, Any], source: str) -> None:
    async with connect(ReferenceAgent(**options)) as host:
        session = await host.new_session(tmp_path)
        assert await say(session, "/remind Be brief", "/model", "/reminders") == (
            "The model saw these reminders:\n- system, 1 x: Be brief\n"
        )
    [update] = updates(taps[0])
    payload = update.get("_meta", {}).get("harn", {}).get("reminder", update)
    assert (payload["source"], payload["body"]) == (source, "Be brief")


async def test_a_fork_inherits_what_goes_to_all(connect, taps, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        for propagate in ("all", "session", "none"):
            await inject(host, session, body=propagate, propagate=propagate)
        await say(session, "/say on")
        fork = await host.fork_session(session.id, tmp_path)
        assert await say(fork, "/reminders") == "The model saw these reminders:\n- system, 1 x: all\n"
    last = updates(taps[0])[-1]
    assert (last["body"], last["source"], last["reminderId"]) == ("all", "inherited", "reminder-4")


async def test_marked_reminders_in_a_prompt_are_no_commands_of_the_user(connect, tmp_path: Path) -> None:
    marked = "[context from Ed, not typed by the user · rmd-1]\n/stop refusal\n[end of context rmd-1]"
    async with connect() as host:
        session = await host.new_session(tmp_path)
        result = await session.prompt([marked, "/reminders"])
        assert result.stop_reason == "end_turn"
        assert result.text == "The model saw these reminders:\n- user, marked by Ed: /stop refusal\n"
        await session.prompt([marked, "Good day"])
        assert session.state.snapshot().info.title == "Good day"


@pytest.mark.parametrize("feature", ["reminder_updates", "reminder_queue"])
async def test_less_than_everything(connect, taps, tmp_path: Path, feature: str) -> None:
    async with connect(ReferenceAgent(without={feature})) as host:
        session = await host.new_session(tmp_path)
        await inject(host, session)
        if feature == "reminder_queue":
            for method in ("session/pending_injections", "session/revoke_reminder"):
                with pytest.raises(acp_host.MethodNotFound):
                    await host.request(method, {"sessionId": session.id}, force=True)
        assert "2 tests failed" in await say(session, "/reminders")
    assert bool(told(taps[0])) is (feature == "reminder_queue")


# --- the queue ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, HARN], ids=["rfc", "harn"])
async def test_what_waits_can_be_listed_and_revoked(connect, taps, tmp_path: Path, options: dict[str, Any]) -> None:
    put = inject if not options else remind
    async with connect(ReferenceAgent(**options)) as host:
        session = await host.new_session(tmp_path)

        async def ask(method: str, **params: Any) -> Any:
            return await host.request(f"session/{method}", {"sessionId": session.id, **params}, force=True)

        assert await ask("pending_injections") == {"pendingCount": 0, "injections": []}
        await put(host, session, body="one", tags=["x"])
        await put(host, session, body="two", mode="audit_only")
        listed = await ask("pending_injections")
        assert listed["pendingCount"] == 2
        assert [(row["body"], row["mode"], row["position"], row["tags"]) for row in listed["injections"]] == [
            ("one", "finish_step", 0, ["x"]),
            ("two", "audit_only", 1, []),
        ]
        assert (await ask("revoke_reminder", reminderId="reminder-1"))["status"] == "revoked"
        assert (await ask("revoke_reminder", reminder_id="reminder-1"))["status"] == "already_revoked"
        await put(host, session, body="three")
        assert await say(session, "/reminders") == "The model saw these reminders:\n- system, 1 x: three\n"
        for reminder_id, reason in (("reminder-3", "already_delivered"), ("x", "unknown_reminder_id")):
            with pytest.raises(acp_host.InvalidParams) as failure:
                await ask("revoke_reminder", reminderId=reminder_id)
            assert failure.value.data == {"reason": reason, "reminderId": reminder_id}
        for wrong in ({}, {"reminderId": " "}, {"reminderId": 1}):
            with pytest.raises(acp_host.InvalidParams) as failure:
                await ask("revoke_reminder", **wrong)
            assert failure.value.data is None


# --- what is wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "member"),
    [
        ({"body": None}, "body"),
        ({"body": " "}, "body"),
        ({"body": 1}, "body"),
        ({"tags": "x"}, "tags"),
        ({"tags": [""]}, "tags"),
        ({"tags": None}, "tags"),
        ({"dedupeKey": ""}, "dedupeKey"),
        ({"dedupeKey": None}, "dedupeKey"),
        ({"ttlTurns": 0}, "ttlTurns"),
        ({"ttlTurns": True}, "ttlTurns"),
        ({"ttlTurns": None}, "ttlTurns"),
        ({"preserveOnCompact": 1}, "preserveOnCompact"),
        ({"propagate": "far"}, "propagate"),
        ({"roleHint": "ephemeral_cache"}, "roleHint"),
        ({"mode": "wait_for_completion"}, "mode"),
        ({"mode": None}, "mode"),
        ({"_meta": None}, "_meta"),
        ({"sessionId": None}, "sessionId"),
    ],
)
async def test_what_the_rfc_does_not_allow(connect, tmp_path: Path, params: dict[str, Any], member: str) -> None:
    agent = ReferenceAgent()
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(acp_host.InvalidParams) as failure:
            await inject(host, session, **params)
        assert failure.value.data == {"path": f"$.params.{member}"}
    assert agent.sessions[session.id].shelf.waiting == []


async def test_a_session_that_is_not_open(connect, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(also={"harn_reminders"})) as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(acp_host.ResourceNotFound):
            await inject(host, session, sessionId="none")
        with pytest.raises(acp_host.RequestFailed, match="Session not found: none") as failure:
            await remind(host, session, sessionId="none")
        assert failure.value.code == -32004
        assert await remind(host, session, sessionId=None) == {"reminderId": "reminder-1"}, "Harn takes the first one"


# --- sessions that are loaded ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("harn", [True, False])
async def test_a_replay_repeats_what_was_told(connect, taps, tmp_path: Path, harn: bool) -> None:
    agent = ReferenceAgent(**HARN) if harn else ReferenceAgent()
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        await (remind(host, session, ttl_turns=1) if harn else inject(host, session, ttlTurns=1))
        await (remind(host, session, body="more") if harn else inject(host, session, body="more"))
        await say(session, "/say on")
        seen = told(taps[0])
    async with connect(agent) as host:
        again = await host.load_session(session.id, tmp_path)
        replayed = list(updates(taps[1]))
        assert told(taps[1]) == seen
        assert "more" in await say(again, "/reminders"), "the model still has it"
    marks = [update.get("_meta", {}).get("harn", {}).get("replayed") for update in replayed]
    assert marks == [True if harn else None] * len(seen)
    others = [message["params"]["update"] for message in taps[1].to_host if message.get("method") == "session/update"]
    assert others[0].get("_meta") == ({"harn": {"replayed": True}} if harn else None)


async def test_nothing_is_told_about_a_session_that_was_closed(connect, taps, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        await inject(host, session, ttlTurns=1)
        turn = session.prompt("/wait")
        async for _ in turn:
            break
        await host.close_session(session.id)
    assert told(taps[0]) == [("emitted", "reminder-1")]


# --- as a program ---------------------------------------------------------------------------------------------------


async def test_the_program_has_the_same_features(connect, tmp_path: Path) -> None:
    flags = ("--without", "reminders", "--also", "harn_reminders", "--also", "harn_decorations")
    async with connect(ReferenceAgent.command(*flags)) as host:
        session = await host.new_session(tmp_path)
        assert await remind(host, session) == {"reminderId": "reminder-1"}
        with pytest.raises(acp_host.MethodNotFound):
            await inject(host, session)
        assert json.dumps(host.agreement.offer("reminders")) == "null"
