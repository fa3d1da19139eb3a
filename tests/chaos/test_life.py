"""How a connection ends: by the agent, in the middle of things, or by the host, whatever is going on."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import acp_host
from acp_host import ConnectionClosed, ConnectionLost, DiagnosticKind, InvalidState, OutcomeKind, OutcomeUnknown
from acp_host.host import connection_life
from acp_host.testing import ScriptedAgent
from tests.chaos.bad_agents import (
    ALL,
    DONE,
    FORM,
    PATIENCE,
    Hangs,
    connected,
    open_session,
    permission,
    reported,
    until,
)


@pytest.mark.parametrize("status", [0, 1, 134])
async def test_r70_an_agent_that_ends_in_the_middle_of_a_turn(status: int) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("half an ans")
        agent.log("fatal: out of memory")
        raise SystemExit(status)

    async with open_session(script) as (host, session):
        turn, queued = session.prompt("question"), session.prompt("queued")
        listing = asyncio.create_task(host.list_sessions())
        assert [update.content.text async for update in _lenient(turn)] == ["half an ans"]
        with pytest.raises(OutcomeUnknown, match="out of memory") as caught:
            await turn
        cause = caught.value.cause
        assert isinstance(cause, ConnectionLost)
        assert (cause.exit_status, "out of memory" in cause.stderr_tail) == (status, True)
        assert (turn.text, turn.stop_reason) == ("half an ans", None)
        assert turn.outcome is not None
        assert turn.outcome.kind == OutcomeKind.FAILED
        with pytest.raises(ConnectionClosed, match="not sent"):
            await queued
        with pytest.raises(OutcomeUnknown, match="session/list was sent"):
            await listing
        with pytest.raises(ConnectionClosed):
            session.prompt("another")
        assert await host.wait_closed() is cause
        assert host.closed


async def _lenient(turn: Any) -> Any:
    try:
        async for update in turn:
            yield update
    except OutcomeUnknown:
        return


async def test_r71_a_turn_that_ends_with_the_agent_is_not_lost() -> None:
    """The answer and the end of the stream arrive together, and another prompt waits to be sent."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("the answer")
        agent.reply(DONE)
        await agent.close()

    async with open_session(script) as (host, session):
        turn, queued = session.prompt("question"), session.prompt("queued")
        result = await turn
        assert (result.stop_reason, result.text) == ("end_turn", "the answer")
        with pytest.raises(ConnectionClosed, match="not sent"):
            await queued
        assert host.closed


async def test_r71_updates_that_were_not_read_yet_outlive_the_connection() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        for number in range(100):
            agent.say(str(number))
        agent.reply(DONE)
        agent.say("late")
        await agent.close()

    async with open_session(script) as (host, session):
        turn = session.prompt("question")
        await host.wait_closed()
    assert [update.content.text async for update in turn] == [str(number) for number in range(100)]
    assert (await turn).stop_reason == "end_turn"
    assert (await session.next_update_between_turns()).content.text == "late"
    with pytest.raises(ConnectionClosed):
        await session.next_update_between_turns()


async def test_r72_the_last_line_has_no_newline() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.send_raw(b'{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}' % prompt["id"])
        await agent.close()

    async with open_session(script) as (_, session):
        assert (await session.prompt("question")).stop_reason == "end_turn"


async def test_r72_the_last_line_is_cut_off() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.send_raw(b'{"jsonrpc":"2.0","id":%d,"result":{"stopRea' % prompt["id"])
        await agent.close()

    async with open_session(script) as (host, session):
        with pytest.raises((OutcomeUnknown, acp_host.MalformedResponse)):
            await session.prompt("question")
        assert len(reported(host, DiagnosticKind.UNREADABLE)) == 1


# What is going on when the host closes: what the agent does, and what the host waits for.


async def _idle(agent: ScriptedAgent) -> None:
    pass


async def _prompted(agent: ScriptedAgent) -> None:
    await agent.expect("session/prompt")
    agent.say("half an ans")


async def _flood(agent: ScriptedAgent) -> None:
    await agent.expect("session/prompt")
    while True:
        for _ in range(100):
            agent.say("x")
        await agent.drain()


async def _asks(agent: ScriptedAgent) -> None:
    await agent.expect("session/prompt")
    agent.request("session/request_permission", permission())
    agent.request("elicitation/create", FORM)
    agent.request("_vendor/ask", {})


async def _runs(agent: ScriptedAgent) -> None:
    await agent.expect("session/prompt")
    for _ in range(3):
        agent.request("terminal/create", {"sessionId": "session-1", "command": "sleep", "args": ["600"]})
    terminal = {"sessionId": "session-1", **(await agent.response(1))["result"]}
    agent.request("terminal/wait_for_exit", terminal)


async def _cancelled(agent: ScriptedAgent) -> None:
    await agent.expect("session/prompt")
    await agent.expect("session/cancel")


@pytest.mark.parametrize("after", [0, 1, 5, 50])
@pytest.mark.parametrize("script", [_idle, _prompted, _flood, _asks, _runs, _cancelled])
async def test_r73_a_close_in_the_middle_of_anything(
    script: Callable[[ScriptedAgent], Awaitable[None]], after: int
) -> None:
    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        await agent.open_session()
        await script(agent)
        await agent.stall()

    hangs = Hangs()
    agent = ScriptedAgent(whole)
    async with asyncio.timeout(PATIENCE):
        host = await acp_host.connect(agent.transport(), permissions=hangs, elicitation=hangs, terminals=True)
        session = await host.new_session()
        turns = [session.prompt("question"), session.prompt("queued")]
        if script is _cancelled:
            turns[0].cancel()
        calls = [
            asyncio.create_task(call) for call in (host.new_session(), host.list_sessions(), session.set_mode("x"))
        ]
        readers = [asyncio.create_task(_read(turn)) for turn in turns]
        for _ in range(after):
            await asyncio.sleep(0.001)
        started = time.monotonic()
        await host.close()
        assert time.monotonic() - started < 10
        for end in await asyncio.gather(*calls, *readers, *(turn.wait() for turn in turns), return_exceptions=True):
            assert isinstance(end, ConnectionClosed | OutcomeUnknown), end
        assert hangs.asked == hangs.cancelled
        assert await host.wait_closed() is None
        with pytest.raises(ConnectionClosed):
            session.prompt("another")
        await host.close()


async def _read(turn: Any) -> None:
    async for _ in turn:
        pass


async def test_r73_a_turn_that_ends_while_the_host_closes_is_not_lost() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session()
        prompt = await agent.expect("session/prompt")
        asked = agent.request("session/request_permission", permission())
        assert (await agent.response(asked))["result"] == {"outcome": {"outcome": "cancelled"}}
        agent.say("the answer", "session-1")
        agent.reply(DONE, to=prompt)
        await agent.stall()

    class HoldsOn:
        """Takes a moment to close its window, in which the agent ends the turn."""

        asked = False

        async def __call__(self, request: Any) -> str:
            self.asked = True
            try:
                await asyncio.Event().wait()
            finally:
                await until(lambda: turn.done)
            raise AssertionError

    handler = HoldsOn()
    async with asyncio.timeout(PATIENCE):
        host = await acp_host.connect(ScriptedAgent(script).transport(), permissions=handler)
        turn = (await host.new_session()).prompt("question")
        await until(lambda: handler.asked)
        await host.close()
        assert (await turn).text == "the answer"


async def test_r73_a_close_that_is_cancelled_goes_on() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.stall()

    async with asyncio.timeout(PATIENCE):
        host = await acp_host.connect(ScriptedAgent(script).transport())
        closing = asyncio.create_task(host.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await host.wait_closed()
        await host.close()


async def test_r74_a_handler_that_will_not_end_does_not_hold_up_the_close(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_life, "_LAST_STEPS", 0.1)
    asked, released = asyncio.Event(), asyncio.Event()

    async def stubborn(request: Any) -> str:
        asked.set()
        for _ in range(3):
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()
        return "allow_once"

    async def script(agent: ScriptedAgent) -> None:
        agent.request("session/request_permission", permission())

    async with open_session(script, permissions=stubborn) as (host, _):
        await asked.wait()
        await host.close()
        assert "did not end" in reported(host, DiagnosticKind.HANDLER_FAILED)[0].message
        released.set()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait({task for task in tasks if task.get_name() == "acp_host tasks"})


async def test_r74_a_handler_may_close_the_connection() -> None:
    hosts: list[Any] = []

    async def closes(request: Any) -> str:
        await hosts[0].close()
        return "allow_once"

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        asked = agent.request("session/request_permission", permission())
        assert (await agent.response(asked))["result"] == {"outcome": {"outcome": "cancelled"}}

    async with open_session(script, permissions=closes) as (host, session):
        hosts.append(host)
        with pytest.raises(OutcomeUnknown):
            await session.prompt("question")


@pytest.mark.parametrize("answers", [True, False])
async def test_r75_a_session_that_is_closed_while_its_turn_runs(answers: bool) -> None:
    hangs = Hangs()

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        asked = agent.request("session/request_permission", permission())
        await agent.expect("session/close")
        agent.reply({})
        assert (await agent.response(asked))["result"] == {"outcome": {"outcome": "cancelled"}}
        if answers:
            agent.reply({"stopReason": "cancelled"}, to=prompt)
        else:
            await agent.expect("$/cancel_request")

    timeouts = acp_host.CancelTimeouts(grace=0.05 if not answers else 60, withdrawn=0.05)
    async with open_session(script, permissions=hangs, cancel_timeouts=timeouts) as (host, session):
        turn, queued = session.prompt("question"), session.prompt("queued")
        await until(lambda: hangs.asked)
        await host.close_session(session.id)
        result = await turn
        assert (result.stop_reason, result.outcome.detail) == ("cancelled", "the session was closed")
        with pytest.raises(InvalidState, match="was closed"):
            await queued
        with pytest.raises(InvalidState, match="was closed"):
            session.prompt("another")
        assert host.sessions == ()
        assert len(list(host.diagnostics)) == (0 if answers else 2)


async def test_r75_a_turn_in_its_cancel_when_the_session_is_closed() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        await agent.expect("session/close")
        agent.reply(None)
        await agent.expect("$/cancel_request")

    timeouts = acp_host.CancelTimeouts(grace=0.3, withdrawn=0.05)
    async with open_session(script, cancel_timeouts=timeouts) as (host, session):
        turn = session.prompt("question")
        turn.cancel("enough")
        await host.close_session(session.id)
        assert (await turn).outcome.detail == "enough"


@pytest.mark.parametrize("what", ["nothing", "noise", "half a message", "end"])
async def test_r76_an_agent_that_never_answers_the_handshake(what: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("initialize")
        agent.log("waiting for a licence")
        if what == "noise":
            agent.send_raw(b"Listening on http://127.0.0.1:8080\n")
        elif what == "half a message":
            agent.send_raw(b'{"jsonrpc":"2.0","id":0,')
        elif what == "end":
            await agent.close()
        await agent.stall()

    timeouts = acp_host.StartTimeouts(warm=0.2)
    with pytest.raises(acp_host.StartFailed) as caught:
        async with asyncio.timeout(PATIENCE):
            await acp_host.connect(ScriptedAgent(script).transport(), start_timeouts=timeouts)
    assert isinstance(caught.value, acp_host.StartTimeout) == (what != "end")
    assert "waiting for a licence" in caught.value.stderr_tail
    assert ("Listening on" in str(caught.value)) == (what == "noise")
    assert ("may not be an ACP agent" in str(caught.value)) == (what != "end")


async def test_r76_an_agent_that_refuses_the_handshake() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("initialize")
        agent.reply_error(-32603, "no such configuration", {"file": "x.toml"})

    with pytest.raises(acp_host.InternalError, match="no such configuration") as caught:
        async with asyncio.timeout(PATIENCE):
            await acp_host.connect(ScriptedAgent(script).transport())
    assert caught.value.data == {"file": "x.toml"}


async def test_r76_an_agent_that_asks_before_it_answers_the_handshake() -> None:
    async def script(agent: ScriptedAgent) -> None:
        asked = [
            agent.request("session/request_permission", permission()),
            agent.request("fs/read_text_file", {"sessionId": "session-1", "path": "/etc/passwd"}),
            agent.request("_vendor/ask", {}),
        ]
        assert (await agent.response(asked[0]))["result"]["outcome"]["optionId"] == "reject_once"
        assert (await agent.response(asked[1]))["error"]["code"] == -32002
        assert (await agent.response(asked[2]))["error"]["code"] == -32601
        await agent.handshake()

    async with connected(script, files=True):
        pass
