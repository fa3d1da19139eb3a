"""How the state shows that the agent is there, gone, or at work by itself; what comes between turns; failed starts."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import acp_host
from acp_host import ConnectionClosed, DiagnosticKind, OutcomeUnknown, StartFailed, StartTimeout
from acp_host.state.activity import QUIET
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.testing import ScriptedAgent
from tests.host.scripts import DONE, in_session, shown, until, words

# --- health -----------------------------------------------------------------------------------------------------------


async def test_an_agent_that_is_lost() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        agent.log("out of memory")
        sys.exit(3)

    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await script(agent)

    async with acp_host.connect(ScriptedAgent(whole).transport()) as host:
        session = await host.new_session()
        assert session.state.snapshot().health.status == "connected"
        statuses: list[str] = []
        session.state.select(lambda snapshot: snapshot.health.status, statuses.append)
        with pytest.raises(OutcomeUnknown):
            await session.prompt("go")
        await host.wait_closed()
        snapshot = session.state.snapshot()
        assert snapshot.health.status == "lost"
        assert "out of memory" in snapshot.health.detail
        assert (snapshot.turn.status, snapshot.turn.activity, snapshot.turn.outcome) == ("idle", False, "failed")
        await until(lambda: statuses == ["lost"])


async def test_a_connection_that_this_side_closes() -> None:
    async def script(agent: ScriptedAgent) -> None:
        agent.say("hello", "s-1")

    async with in_session(script) as session:
        await until(lambda: shown(session))
        assert session.state.snapshot().turn.activity
    snapshot = session.state.snapshot()
    assert (snapshot.health.status, snapshot.health.detail) == ("closed", "")
    assert not snapshot.turn.activity


async def test_an_agent_that_ends_the_stream_is_lost() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.close()

    async with in_session(script) as session:
        await until(lambda: session.state.snapshot().health.status == "lost")
        assert session.state.snapshot().health.detail


async def test_prompts_that_wait_are_gone_with_the_agent() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        await agent.close()

    async with in_session(script) as session:
        first, second = session.prompt("first"), session.prompt("second")
        assert [queued.turn for queued in session.state.snapshot().turn.queued] == [second.number]
        with pytest.raises(OutcomeUnknown):
            await first
        with pytest.raises(ConnectionClosed, match="was not sent"):
            await second
        assert session.state.snapshot().turn.queued == ()


# --- activity ---------------------------------------------------------------------------------------------------------


async def test_an_agent_that_works_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock()
    schedulers: list[ManualScheduler] = []

    def scheduler() -> ManualScheduler:
        schedulers.append(ManualScheduler(clock))
        return schedulers[-1]

    monkeypatch.setattr("acp_host.host.connection_life.AsyncioScheduler", scheduler)

    def pass_time() -> None:
        for _ in range(3):
            clock.advance(QUIET)
            schedulers[0].flush()

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.reply(DONE)
        agent.update(words("user", "the nightly job"), "s-1")
        agent.update({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "status": "in_progress"}, "s-1")
        await agent.expect("_test/go_on")
        agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}, "s-1")
        agent.reply({})

    async with in_session(script) as session:
        await session.prompt("go")
        await until(lambda: session.state.snapshot().tool_calls)
        turn = session.state.snapshot().turn
        assert (turn.status, turn.activity) == ("idle", True)
        pass_time()
        assert session.state.snapshot().turn.activity
        await session._driver.call("_test/go_on")
        pass_time()
        assert not session.state.snapshot().turn.activity


# --- updates between turns --------------------------------------------------------------------------------------------


async def test_what_has_come_between_turns_can_be_taken_at_once() -> None:
    async def script(agent: ScriptedAgent) -> None:
        agent.say("one", "s-1")
        agent.say("two", "s-1")
        await agent.expect("session/prompt")
        agent.say("in the turn")
        agent.reply(DONE)

    async with in_session(script) as session:
        await until(lambda: shown(session) == [("onetwo", False)])
        taken: list[Any] = session.take_updates_between_turns()
        assert [update.content.text for update in taken] == ["one", "two"]
        assert session.take_updates_between_turns() == []
        await session.prompt("go")
        assert session.take_updates_between_turns() == []
    assert session.take_updates_between_turns() == []


async def test_what_was_taken_does_not_come_again() -> None:
    async def script(agent: ScriptedAgent) -> None:
        agent.say("one", "s-1")
        await agent.expect("session/prompt")
        agent.reply(DONE)
        agent.say("two", "s-1")

    async with in_session(script) as session:
        await until(lambda: shown(session))
        session.take_updates_between_turns()
        await session.prompt("go")
        update: Any = await session.next_update_between_turns()
        assert update.content.text == "two"


# --- starts that fail -------------------------------------------------------------------------------------------------

NOISE = b"npm warn deprecated\n"


@pytest.mark.parametrize("how", ["ends", "stalls"])
async def test_a_start_that_fails_brings_what_was_noticed_and_a_bounded_tail(how: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        agent.send_raw(NOISE)
        agent.log("x" * 100_000 + "the reason")
        await agent.expect("initialize")
        if how == "ends":
            sys.exit(1)
        await agent.stall()

    transport = ScriptedAgent(script).transport()
    transport.stderr_tail = lambda: "x" * 60_000 + "the reason"
    timeouts = acp_host.StartTimeouts(warm=0.2)
    with pytest.raises(StartFailed) as caught:
        await acp_host.connect(transport, start_timeouts=timeouts)
    error = caught.value
    assert isinstance(error, StartTimeout) == (how == "stalls")
    assert [(note.kind, note.data) for note in error.diagnostics] == [(DiagnosticKind.NOISE, "npm warn deprecated")]
    assert str(error).endswith("the reason")
    assert len(error.stderr_tail) == 8 * 1024
    assert len(str(error)) < 9 * 1024


async def test_a_program_that_is_not_there_brings_none() -> None:
    with pytest.raises(StartFailed) as caught:
        await acp_host.connect(["no-such-program-at-all"])
    assert caught.value.diagnostics == ()
