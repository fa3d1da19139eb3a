"""Messages that come early, late, or outside of any turn; and that nothing reorders or holds up the stream."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

import acp_host
from acp_host import DiagnosticKind
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos.agents.order import COMMANDS, TITLE
from acp_host.wire.commands import AvailableCommandsUpdate
from acp_host.wire.notices import Notice
from acp_host.wire.tool_calls import ToolCall
from acp_host.wire.updates import AgentMessageChunk, SessionInfoUpdate, UserMessageChunk
from tests.chaos.bad_agents import (
    ALL,
    DONE,
    EDIT,
    chunk,
    connected,
    in_virtual_time,
    line,
    open_session,
    permission,
    reported,
    selected,
    texts,
    until,
)


@pytest.mark.parametrize(
    "update, kind", [(TITLE, SessionInfoUpdate), (COMMANDS, AvailableCommandsUpdate), (chunk("hi"), AgentMessageChunk)]
)
async def test_r20_updates_before_the_session_has_a_name(update: dict[str, Any], kind: type) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.expect("session/new")
        agent.update(update, "s1")
        agent.update(chunk("for nobody"), "another")
        agent.update(TITLE, "s1")
        agent.reply({"sessionId": "s1"})
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with connected(script) as host:
        session = await host.new_session()
        early = [await session.next_update_between_turns() for _ in range(2)]
        assert [type(one) for one in early] == [kind, SessionInfoUpdate]
        [note] = reported(host, DiagnosticKind.UNEXPECTED)
        assert note.session_id == "another"
        assert (await session.prompt("question")).text == ""


async def test_r20_updates_for_a_session_that_is_refused() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.expect("session/new")
        agent.update(TITLE, "s1")
        agent.reply_error(-32603, "no")

    async with connected(script) as host:
        with pytest.raises(acp_host.InternalError):
            await host.new_session()
        assert [note.session_id for note in reported(host, DiagnosticKind.UNEXPECTED)] == ["s1"]


async def test_r20_two_sessions_opened_at_once() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        requests = [await agent.expect("session/new") for _ in range(2)]
        for name in ("s2", "s1"):
            agent.update(chunk(name), name)
        for name, request in zip(("s2", "s1"), reversed(requests), strict=True):
            agent.update(chunk(f"{name} again"), name)
            agent.reply({"sessionId": name}, to=request)

    async with connected(script) as host:
        for session in await asyncio.gather(host.new_session(), host.new_session()):
            early = [await session.next_update_between_turns() for _ in range(2)]
            assert texts(early) == [session.id, f"{session.id} again"]
        assert list(host.diagnostics) == []


async def test_r20_a_file_asked_for_before_the_session_has_a_name(tmp_path: Any) -> None:
    (tmp_path / "notes.txt").write_text("buy milk")

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.expect("session/new")
        asked = agent.request("fs/read_text_file", {"sessionId": "s1", "path": str(tmp_path / "notes.txt")})
        agent.reply({"sessionId": "s1"})
        assert (await agent.response(asked))["result"] == {"content": "buy milk"}

    async with connected(script, files=True) as host:
        await host.new_session(tmp_path)


async def test_r21_updates_between_and_after_turns() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("one")
        agent.reply(DONE)
        agent.update({"sessionUpdate": "tool_call", **EDIT})
        agent.say("late")
        await agent.expect("session/prompt")
        agent.say("two")
        agent.reply(DONE)
        agent.update(TITLE)

    async with open_session(script) as (host, session):
        seen: list[Any] = []
        session.on_update(seen.append)
        first = await session.prompt("first")
        late = [await session.next_update_between_turns() for _ in range(2)]
        second = await session.prompt("second")
        title = await session.next_update_between_turns()
        assert (first.text, second.text) == ("one", "two")
        assert [type(update) for update in (*late, title)] == [ToolCall, AgentMessageChunk, SessionInfoUpdate]
        assert len(seen) == 5, "observers see all of them, in and out of turns"
        assert list(host.diagnostics) == [], "nothing about this is wrong"


async def test_r22_words_that_belong_to_no_turn() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session()
        agent.say("A new version is available!", "session-1")
        agent.request("session/request_permission", permission())
        await agent.response(1)
        await agent.expect("session/prompt")
        agent.say("the answer")
        agent.reply(DONE)

    asked: list[Any] = []

    def handler(request: Any) -> str:
        asked.append(request)
        return "reject_once"

    async with connected(script, permissions=handler) as host:
        session = await host.new_session()
        await until(lambda: asked)
        turn = session.prompt("question")
        assert texts([update async for update in turn]) == ["the answer"]
        assert (await turn).text == "the answer"
        banner = await session.next_update_between_turns()
        assert texts([banner]) == ["A new version is available!"]


async def test_r22_late_words_are_not_the_beginning_of_the_next_answer() -> None:
    """The next prompt waits already, and would be sent in the moment in which the late words are read."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        answer = line({"jsonrpc": "2.0", "id": agent.received[-1]["id"], "result": DONE})
        late = line({"jsonrpc": "2.0", "method": "session/update",
                     "params": {"sessionId": "session-1", "update": chunk("late")}})  # fmt: skip
        agent.send_raw(answer + late)
        await agent.expect("session/prompt")
        agent.say("two")
        agent.reply(DONE)

    async with open_session(script) as (_, session):
        first, second = session.prompt("first"), session.prompt("second")
        assert [(await turn).text for turn in (first, second)] == ["", "two"]
        assert texts([await session.next_update_between_turns()]) == ["late"]


@pytest.mark.parametrize("session_id", ["session-1", "never-heard-of"])
async def test_r23_a_permission_asked_outside_of_turns_is_answered(session_id: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session()
        response = await agent.call("session/request_permission", permission(session_id=session_id))
        assert response["result"] == selected("allow_once")

    async with connected(script, permissions=acp_host.PermissionPolicy.allow_once()) as host:
        await host.new_session()


@pytest.mark.parametrize("method", ["fs/read_text_file", "fs/write_text_file", "terminal/create"])
async def test_r23_services_are_refused_to_unknown_sessions(method: str, tmp_path: Any) -> None:
    (tmp_path / "secret").write_text("x")
    params = {"sessionId": "other", "path": str(tmp_path / "secret"), "content": "y", "command": "true"}

    async def script(agent: ScriptedAgent) -> None:
        error = (await agent.call(method, params))["error"]
        assert (error["code"], error["data"]) == (-32002, {"sessionId": "other"})

    async with open_session(script, files=True, terminals=True):
        pass
    assert (tmp_path / "secret").read_text() == "x"


async def test_r24_no_handler_reorders_or_holds_up_the_stream() -> None:
    answered = asyncio.Event()

    async def slow(request: Any) -> str:
        await answered.wait()
        return "allow_once"

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(200):
            agent.say(f"{number} ")
            if number % 50 == 0:
                agent.request("session/request_permission", permission())
                agent.request("_slow/extension", {})
        agent.reply(DONE, to=prompt)

    async with open_session(script, permissions=slow) as (host, session):
        host.on_request("_slow/extension", lambda _: answered.wait())

        def raises(update: Any) -> None:
            raise ZeroDivisionError

        session.on_update(raises)
        turn = session.prompt("question")
        seen = []
        async for update in turn:
            seen.append(update)
            await asyncio.sleep(0)
        assert texts(seen) == [f"{number} " for number in range(200)]
        assert (await turn).text == "".join(f"{number} " for number in range(200))
        answered.set()
    failures = reported(host, DiagnosticKind.HANDLER_FAILED)
    assert "ZeroDivisionError" in failures[0].message
    assert len(failures) < 40


async def test_r24_an_observer_that_raises_what_is_no_exception_loses_nothing() -> None:
    cancelled = asyncio.get_running_loop().create_future()
    cancelled.cancel()
    heard = []

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.send_raw(line(agent_says("one")) + line(agent_says("two")))
        agent.reply(DONE, to=prompt)

    def agent_says(text: str) -> dict[str, Any]:
        params = {
            "sessionId": "session-1",
            "update": {"sessionUpdate": "agent_message_chunk", "content": chunk_of(text)},
        }
        return {"jsonrpc": "2.0", "method": "session/update", "params": params}

    def chunk_of(text: str) -> dict[str, Any]:
        return {"type": "text", "text": text}

    async with open_session(script) as (host, session):
        session.on_update(lambda _: cancelled.result())
        session.state.changed.connect(lambda _: cancelled.result())
        session.state.changed.connect(heard.append)
        host.diagnostics.connect(lambda _: cancelled.result())
        assert (await session.prompt("question")).text == "onetwo"
        await until(lambda: heard)
    assert "CancelledError" in reported(host, DiagnosticKind.HANDLER_FAILED)[0].message


async def test_r24_a_result_comes_after_all_that_was_sent_before_it() -> None:
    async def script(agent: ScriptedAgent) -> None:
        for _ in range(50):
            prompt = await agent.expect("session/prompt")
            agent.say("a")
            agent.update({"sessionUpdate": "tool_call", **EDIT})
            agent.say("b")
            agent.reply(DONE, to=prompt)
            agent.say("c")

    async with open_session(script) as (_, session):
        for _ in range(50):
            assert (await session.prompt("question")).text == "ab"


async def test_r25_an_end_before_the_last_words() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("part one, ")
        agent.reply(DONE)
        agent.say("part two")

    async with open_session(script) as (_, session):
        assert (await session.prompt("question")).text == "part one, "
        assert texts([await session.next_update_between_turns()]) == ["part two"]


@in_virtual_time
async def test_r26_a_silent_agent_is_cancelled_in_time() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.say("one")
        await agent.expect("session/cancel")
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    async with open_session(script) as (_, session):
        result = await session.prompt("question", idle_timeout=0.1)
    assert (result.stop_reason, result.text, result.cancel_requested) == ("cancelled", "one", True)
    assert "no update for 0.1 s" in result.outcome.detail


@in_virtual_time
async def test_r26_any_sign_of_life_starts_the_time_anew() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(8):
            await asyncio.sleep(0.1)
            if number % 2:
                agent.update(TITLE)
            else:
                await agent.call("session/request_permission", permission())
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (_, session):
        result = await session.prompt("question", idle_timeout=0.4)
    assert (result.stop_reason, result.cancel_requested) == ("end_turn", False)


@pytest.mark.parametrize("held", [0.25, 0.9])
@in_virtual_time
async def test_r26_the_time_a_user_takes_does_not_count(held: float) -> None:
    """The question is open for longer than the limit, or answered shortly before it is looked at."""

    async def thinks(request: Any) -> str:
        await asyncio.sleep(held)
        return "allow_once"

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        assert (await agent.call("session/request_permission", permission()))["result"] == selected("allow_once")
        await asyncio.sleep(0.2)
        agent.reply(DONE, to=prompt)

    async with open_session(script, permissions=thinks) as (_, session):
        result = await session.prompt("question", idle_timeout=0.35)
    assert (result.stop_reason, result.cancel_requested) == ("end_turn", False)


async def test_r26_an_hour_long_command_is_not_silence(tmp_path: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        create = {"sessionId": "session-1", "command": "sleep", "args": ["0.6"]}
        terminal = {"sessionId": "session-1", **(await agent.call("terminal/create", create))["result"]}
        assert (await agent.call("terminal/wait_for_exit", terminal))["result"]["exitCode"] == 0
        await agent.call("terminal/release", terminal)
        agent.reply(DONE, to=prompt)

    async with open_session(script, terminals=True) as (_, session):
        result = await session.prompt("question", idle_timeout=0.3)
    assert (result.stop_reason, result.cancel_requested) == ("end_turn", False)


@pytest.mark.parametrize("when", ["before", "after", "around"])
async def test_r27_a_replay_before_or_after_the_answer_to_load(when: str) -> None:
    replay = [{**chunk("question"), "sessionUpdate": "user_message_chunk"}, chunk("answer"), TITLE]

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        await agent.expect("session/load")
        split = {"before": 3, "after": 0, "around": 1}[when]
        for update in replay[:split]:
            agent.update(update)
        agent.reply({} if when == "after" else None)
        for update in replay[split:]:
            agent.update(update)
        await agent.expect("session/prompt")
        agent.say("new")
        agent.reply(DONE)

    async with connected(script) as host:
        session = await host.load_session("old")
        replayed = [await session.next_update_between_turns() for _ in replay]
        assert [type(update) for update in replayed] == [UserMessageChunk, AgentMessageChunk, SessionInfoUpdate]
        assert [entry.replayed for entry in session.state.snapshot().transcript] == [True, True]
        assert (await session.prompt("question")).text == "new"
        assert list(host.diagnostics) == []


async def test_r28_a_session_is_let_go_before_it_is_loaded_again() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        await agent.expect("session/load")
        agent.reply({})
        for _ in range(2):
            await agent.expect("session/close")
            agent.reply({})
            await agent.expect("session/load")
            agent.reply({})

    async with connected(script) as host:
        session = await host.load_session("old")
        assert [await host.load_session("old") for _ in range(2)] == [session, session]
        assert host.sessions == (session,)


async def test_r28_an_agent_that_cannot_let_go_or_will_not() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/close")
        agent.reply_error(-32603, "never heard of it")
        await agent.expect("session/load")
        agent.reply({})
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/load")  # a turn is running: a close would end it
        agent.reply({})
        agent.say("the answer", "session-1")
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (host, session):
        await host.load_session(session.id)
        [note] = reported(host, DiagnosticKind.UNEXPECTED)
        assert "never heard of it" in note.message
        turn = session.prompt("question")
        await host.load_session(session.id)
        assert (await turn).text == "the answer"


async def test_r29_a_flood_of_updates_for_nobody() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(3_000):
            agent.update(chunk("x"), f"ghost-{number}")
        agent.say("the answer")
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (host, session):
        assert (await session.prompt("question")).text == "the answer"
    notes = reported(host, DiagnosticKind.UNEXPECTED)
    assert len(notes) < 40, "what else there is to report must not drown in it"
    assert sum(note.count for note in notes) >= 1_500


async def test_r30_notices_by_the_thousand(caplog: pytest.LogCaptureFixture) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(3_000):
            severity = ("info", "warning", "error", "dreadful")[number % 4]
            agent.update({"sessionUpdate": "notice", "severity": severity, "title": f"notice {number}"})
        agent.say("the answer")
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (_, session):
        with caplog.at_level(logging.WARNING, logger="acp_host.notices"):
            turn = session.prompt("question")
            updates = [update async for update in turn]
            assert (await turn).text == "the answer"
    assert [type(update) for update in updates] == [Notice] * 3_000 + [AgentMessageChunk]
    assert len(caplog.records) == 1_500


async def test_r30_a_notice_before_anything_is_agreed(caplog: pytest.LogCaptureFixture) -> None:
    async def script(agent: ScriptedAgent) -> None:
        agent.update({"sessionUpdate": "notice", "severity": "warning", "title": "starting slowly"}, "s1")
        await agent.handshake()
        await agent.open_session()

    with caplog.at_level(logging.WARNING, logger="acp_host.notices"):
        async with connected(script) as host:
            await host.new_session()
    assert "starting slowly" in caplog.text


async def test_r31_more_updates_than_anybody_takes() -> None:
    """Nobody reads the first thirty thousand: the reader goes on, the text is whole, and the loss is told."""

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(30_000):
            agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": str(number)})
            if number % 1_000 == 0:
                agent.say(".")
                await agent.drain()
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (_, session):
        turn = session.prompt("question")
        await until(lambda: turn.done)
        updates = [update async for update in turn]
        assert isinstance(updates[0], acp_host.UpdatesSkipped)
        assert updates[0].count + len(updates) - 1 == 30_030
        assert updates[-1].title == "29999"
        assert (await turn).text == "." * 30


async def test_r32_two_readers_of_one_turn() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(20):
            agent.say(f"{number} ")
            await asyncio.sleep(0)
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (_, session):
        turn = session.prompt("question")

        async def read() -> list[Any]:
            return [update async for update in turn]

        seen = await asyncio.gather(read(), read(), turn.wait())
        assert len(seen[0]) + len(seen[1]) == 20


async def test_r32_a_reader_that_goes_away_while_another_waits() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (_, session):
        turn = session.prompt("question")
        waiting = asyncio.create_task(turn.wait())
        await asyncio.sleep(0)

        async def read() -> None:
            async for _ in turn:
                pass

        reading = asyncio.create_task(read())
        await asyncio.sleep(0)
        reading.cancel()
        result = await waiting
        assert (result.stop_reason, result.cancel_requested) == ("end_turn", True)
        with pytest.raises(asyncio.CancelledError):
            await reading
