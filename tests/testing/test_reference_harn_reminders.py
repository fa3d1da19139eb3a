"""How the reference agent takes reminders in Harn's way; what it sends is held against ``reminder_forms``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.testing import ReferenceAgent
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from tests.testing.reminding import HARN, SAW_NONE, a_turn_that_waits, inject, remind, say, told, updates


@pytest.mark.parametrize(
    ("params", "code", "problem"),
    [
        ({"dedupeKey": "x"}, "001", r"unknown reminder option\(s\): dedupeKey$"),
        ({"ttlTurns": 1, "roleHint": "system"}, "001", "roleHint, ttlTurns"),
        ({"goal": {}}, "001", "goal"),
        ({"content": "x"}, "002", "content"),
        ({"body": None}, "002", "body"),
        ({"body": " "}, "002", "body"),
        ({"reminder": "x"}, "002", "reminder"),
        ({"tags": [1]}, "002", "tags"),
        ({"dedupe_key": " "}, "002", "dedupe_key"),
        ({"ttl_turns": 0}, "002", "ttl_turns"),
        ({"preserve_on_compact": "yes"}, "002", "preserve_on_compact"),
        ({"role_hint": "user"}, "002", "role_hint"),
        ({"authority": "high"}, "002", "authority"),
        ({"source": "host"}, "002", "source"),
        ({"fired_at_turn": -1}, "002", "fired_at_turn"),
        ({"_meta": []}, "002", "_meta"),
        ({"propagate": "far"}, "005", "propagate"),
    ],
)
async def test_what_harn_does_not_allow(
    connect, tmp_path: Path, params: dict[str, Any], code: str, problem: str
) -> None:
    agent = ReferenceAgent(**HARN)
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(acp_host.InvalidParams, match=f"session/remind: HARN-RMD-{code}: .*{problem}") as failure:
            await remind(host, session, **params)
        assert failure.value.data is None
    assert agent.sessions[session.id].shelf.waiting == []


# --- Harn's ways ----------------------------------------------------------------------------------------------------


async def test_harns_form(connect, taps, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(**HARN)) as host:
        session = await host.new_session(tmp_path)
        options = {"id": "mine", "tags": [" a ", "a"], "ttl_turns": 1, "role_hint": "user_block", "dedupe_key": None}
        more = {"authority": "advisory", "source": "bridge", "fired_at_turn": 7, "_meta": {"x": 1}}
        assert await remind(host, session, **options, **more) == {"reminderId": "mine"}
        nested = {"body": " nested ", "propagate": "none", "preserve_on_compact": True}
        assert await remind(host, session, body=None, reminder=nested) == {"reminderId": "reminder-1"}
        await say(session, "/say on")
        assert "2 tests" not in await say(session, "/reminders"), "its turn is over, and nobody says so"
    assert updates(taps[0])[:2] == [
        {
            "sessionUpdate": "reminder_emitted",
            "_meta": {
                "harn": {
                    "reminder": {
                        "reminderId": "mine",
                        "body": "2 tests failed",
                        "tags": ["a"],
                        "roleHint": "user_block",
                        "renderedRole": "user",
                        "source": "bridge",
                        "ttlTurns": 1,
                        "authority": "advisory",
                    }
                }
            },
        },
        {
            "sessionUpdate": "reminder_emitted",
            "_meta": {
                "harn": {
                    "reminder": {
                        "reminderId": "reminder-1",
                        "body": "nested",
                        "tags": [],
                        "roleHint": "system",
                        "renderedRole": "system",
                        "source": "bridge",
                        "ttlTurns": None,
                    }
                }
            },
        },
    ]


@pytest.mark.parametrize("mode", [None, "wait_for_completion"])
async def test_harn_takes_a_mode_that_it_does_not_know_for_the_audit(connect, tmp_path: Path, mode: str | None) -> None:
    async with connect(ReferenceAgent(**HARN)) as host:
        session = await host.new_session(tmp_path)
        await remind(host, session, mode=mode)
        assert await say(session, "/reminders") == SAW_NONE


async def test_harn_lets_equal_keys_wait_side_by_side(connect, taps, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(**HARN)) as host:
        session = await host.new_session(tmp_path)
        for body in ("one", "two"):
            assert set(await remind(host, session, body=body, dedupe_key="k")) == {"reminderId"}
        listed = await host.request("session/pending_injections", {"sessionId": session.id}, force=True)
        assert [row["body"] for row in listed["injections"]] == ["one", "two"]
        assert await say(session, "/reminders") == "The model saw these reminders:\n- system, 1 x: two\n"
    assert told(taps[0]) == [("emitted", "reminder-2")]


@pytest.mark.parametrize("bridge", [True, False])
async def test_harn_answers_behind_the_running_prompt(connect, taps, tmp_path: Path, bridge: bool) -> None:
    also = {"harn_reminders"} if bridge else {"harn_reminders", "harn_no_bridge"}
    async with connect(ReferenceAgent(without={"reminders"}, also=also)) as host:
        session = await host.new_session(tmp_path)
        other = await host.new_session(tmp_path)
        turn = await a_turn_that_waits(session)
        calls = [asyncio.ensure_future(remind(host, each)) for each in (session, other, session)]
        listing = asyncio.ensure_future(
            host.request("session/pending_injections", {"sessionId": session.id}, force=True)
        )
        assert await say(other, "/say on") == "on", "it has read what came before"
        assert not any(call.done() for call in (*calls, listing))
        turn.cancel()
        await turn
        if bridge:
            assert [(await call)["reminderId"] for call in calls] == ["reminder-1", "reminder-2", "reminder-3"]
            assert (await listing)["pendingCount"] == 2
        else:
            for call in calls:
                with pytest.raises(acp_host.RequestFailed, match="no active bridge") as failure:
                    await call
                assert failure.value.code == -32004
            await listing
    [prompt] = [each for each in taps[0].answers("session/prompt") if each["result"]["stopReason"] == "cancelled"]
    at = taps[0].to_host.index
    assert all(at(prompt) < at(answer) for answer in taps[0].answers("session/remind"))


async def test_the_rfc_is_answered_at_once(connect, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(also={"harn_reminders"})) as host:
        session = await host.new_session(tmp_path)
        turn = await a_turn_that_waits(session)
        assert await inject(host, session) == {"reminderId": "reminder-1"}
        turn.cancel()
        await turn


async def test_an_older_harn(connect, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(without={"reminders"}, also={"harn_reminders", "harn_old"})) as host:
        session = await host.new_session(tmp_path)
        for name, value in (("id", "x"), ("authority", "contract")):
            with pytest.raises(acp_host.InvalidParams, match=rf"HARN-RMD-001: unknown reminder option\(s\): {name}$"):
                await remind(host, session, **{name: value})
        assert await remind(host, session) == {"reminderId": "reminder-1"}


async def test_a_notification_is_taken_and_its_errors_are_silent(connect, taps, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(**HARN)) as host:
        session = await host.new_session(tmp_path)
        given = {"sessionId": session.id, "mode": "finish_step"}
        await host.notify("session/remind", {**given, "text": "wrong"}, force=True)
        await host.notify("session/remind", {**given, "body": "right"}, force=True)
        assert "1 x: right" in await say(session, "/reminders")
    assert [message["id"] for message in taps[0].to_host if "error" in message] == []


@pytest.mark.parametrize("updates_too", [True, False])
async def test_decorated_tool_calls(connect, taps, tmp_path: Path, updates_too: bool) -> None:
    without = {"reminders"} if updates_too else {"reminders", "reminder_updates"}
    async with connect(ReferenceAgent(without=without, also={"harn_reminders", "harn_decorations"})) as host:
        session = await host.new_session(tmp_path)
        await remind(host, session, body="one", ttl_turns=1)
        await remind(host, session, body="two", ttl_turns=1)
        turn = session.prompt("/tool x")
        calls = [update async for update in turn if isinstance(update, ToolCall | ToolCallUpdate)]
    carried = [(call.meta or {}).get("harn", {}).get("reminder", {}).get("body") for call in calls]
    assert carried == ["one", "two", None, None]
    assert bool(told(taps[0])) is updates_too
