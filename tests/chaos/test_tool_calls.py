"""Tool calls that nobody announced, told twice, or left as they are; histories that are more than messages."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host import RequestFailed
from acp_host.state.entries import ToolCallEntry
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos.agents.order import HISTORY, MODES
from acp_host.testing.chaos.agents.showing import CALL, TOOL_CALLS, changed, text
from tests.chaos.bad_agents import ALL, DONE, connected, open_session, permission, until


async def after(*updates: dict[str, Any]) -> tuple[ToolCallEntry, ...]:
    """The tool calls of a session after a turn with these updates, about which nothing was wrong."""

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for update in updates:
            agent.update(update)
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (host, session):
        await session.prompt("go")
        assert list(host.diagnostics) == []
        return session.state.snapshot().tool_calls


async def test_r150_a_call_that_was_never_announced_has_what_was_said_of_it_and_no_more() -> None:
    [call] = await after(changed(content=[text("done")]))
    assert (call.tool_call_id, call.provisional) == ("1", True)
    assert (call.title, call.kind, call.status, call.locations) == (None, None, None, ())
    assert len(call.content) == 1
    [call] = await after(*TOOL_CALLS["call-announced-late"][3])
    assert (call.title, call.kind, call.status, call.provisional) == ("Edit a.py", "edit", "completed", False)


async def test_r150_a_call_that_is_only_asked_about() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.call("session/request_permission", permission())
        agent.update(changed("call-1", status="completed"))
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (_, session):
        await session.prompt("go")
        [call] = session.state.snapshot().tool_calls
    assert (call.title, call.kind, call.status, call.provisional) == ("Edit notes.txt", "edit", "completed", True)


async def test_r151_a_list_that_is_sent_again_takes_the_place_of_the_old_one() -> None:
    [call] = await after(
        {**CALL, "content": [text("one"), text("two")], "locations": [{"path": "/a"}, {"path": "/b"}]},
        changed(content=[text("three")], locations=[{"path": "/c"}]),
    )
    assert [item.content.text for item in call.content] == ["three"]
    assert [location.path for location in call.locations] == ["/c"]
    [call] = await after({**CALL, "content": [text("one")]}, changed(content=[]))
    assert call.content == ()


async def test_r152_a_call_that_is_announced_twice_is_one() -> None:
    [call] = await after(*TOOL_CALLS["call-announced-twice"][3])
    assert (call.title, call.kind, call.status) == ("Edit a.py, really", "edit", "completed")
    assert (len(call.content), call.raw_input, len(call.locations)) == (1, {"path": "a.py"}, 1)


async def test_r152_an_id_for_the_stream_and_another_for_the_work() -> None:
    """Nobody can tell that they are one; the one that is left does not go on for ever."""
    calls = await after(*TOOL_CALLS["two-ids-for-one-call"][3])
    assert [(call.status, call.unfinished) for call in calls] == [("pending", True), ("completed", False)]


@pytest.mark.parametrize("later", ["failed", "in_progress", "wedged"])
async def test_r153_what_was_sent_is_shown_and_can_be_corrected(later: str) -> None:
    [call] = await after(CALL, changed(status="completed", content=[text("Error: no such file")]))
    assert (call.status, call.content[0].content.text) == ("completed", "Error: no such file")
    [call] = await after(CALL, changed(status="completed"), changed(status=later))
    assert call.status == later


async def test_r154_calls_of_a_turn_that_failed_are_over_and_those_of_its_repetition_are_others() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.update(CALL)
        agent.reply_error(-32603, "overloaded", to=prompt)
        prompt = await agent.expect("session/prompt")
        agent.update(CALL)
        agent.update(changed(status="completed"))
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (_, session):
        with pytest.raises(RequestFailed, match="overloaded"):
            await session.prompt("go")
        [left] = session.state.snapshot().tool_calls
        assert (left.status, left.unfinished) == ("pending", True)
        await session.prompt("go")
        first, second = session.state.snapshot().tool_calls
    assert (first.turn, first.unfinished, second.turn, second.unfinished) == (1, True, 2, False)
    assert (first.tool_call_id, second.tool_call_id) == ("1", "1")
    assert first.key != second.key


async def test_r155_a_call_without_a_title_can_be_told_by_what_it_was_given() -> None:
    raw = {"command": "npm test", "cwd": "/work"}
    [call] = await after(*TOOL_CALLS["call-without-a-name"][3])
    assert (call.title, call.kind) == (None, None)
    assert (call.raw_input, call.meta) == (raw, {"tool": "bash"})


# Histories


@pytest.mark.parametrize("answered", [0, 5, len(HISTORY)])
async def test_r156_a_history_has_everything_in_it_once(answered: int) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        for _ in range(2):
            loading = await agent.receive()
            if loading["method"] == "session/close":
                agent.reply({}, to=loading)
                loading = await agent.expect("session/load")
            for number, update in enumerate([*HISTORY, None]):
                if number == answered:
                    agent.reply({"modes": MODES}, to=loading)
                if update is not None:
                    agent.update(update, "old")
        prompt = await agent.expect("session/prompt")
        agent.say("new", "old")
        agent.reply(DONE, to=prompt)

    async with connected(script) as host:
        for _ in range(2):  # and once again: nothing is there twice
            session = await host.load_session("old")
            await until(lambda session=session: len(session.state.snapshot().transcript) == 3)
        turn = session.prompt("go")
        updates = [update async for update in turn]
        snapshot = session.state.snapshot()
    assert len(updates) == 1, "nothing of the history is in the turn"
    assert (await turn).text == "new"
    assert [entry.replayed for entry in snapshot.transcript] == [True, True, True, False, False]
    assert len(snapshot.plans) == 1
    assert [entry.status for entry in snapshot.plans[0].content.entries] == ["completed"]
    assert [command.name for command in snapshot.commands] == ["review"]
    assert snapshot.info.title == "Thoughts"
    assert snapshot.usage.used == 5
