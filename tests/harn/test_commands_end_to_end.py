"""Harn's commands against an agent that has its ways: what an application calls, and what comes of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import acp_host
from acp_host.errors import InvalidParams, InvalidState
from acp_host.harn import HostToolResult, PlanConflict, Provenance, SessionConnections, of
from acp_host.testing import HarnAgent, HarnTurn
from tests.harn.whole_agents import running, talking, waits
from tests.host.scripts import until


async def says(turn: HarnTurn) -> None:
    await turn.say("Done")


async def test_going_back_and_forth() -> None:
    async with talking(HarnAgent(says)) as session:
        await session.prompt("1")
        await session.prompt("2")
        history = of(session).history
        back = await history.rollback()
        assert (back.status, back.checkpoint_id) == ("ok", "checkpoint-2")
        assert (back.messages_before, back.messages_after) == (4, 2)
        assert (await history.redo()).checkpoint_id == "checkpoint-2"
        assert (await history.truncate(1)).removed == 1


async def test_to_cut_the_end_off_ends_the_turn_that_runs() -> None:
    agent = HarnAgent(waits)
    async with talking(agent) as session:
        turn = await running(session, agent)
        left = await of(session).history.truncate(0)
        assert (left.kept, left.removed) == (0, 1)
        assert (await turn).outcome.kind == "cancelled"


async def test_writes_that_wait() -> None:
    async with talking(HarnAgent(says)) as session:
        writes = of(session).staged_writes
        mode = await writes.set_mode("staged")
        assert (mode.previous_mode, mode.mode) == ("immediate", "staged")
        assert (await writes.commit(["a.py"])).committed == ("a.py",)
        assert await writes.discard() == ()
        told = session.state.snapshot().harn
        assert told is not None
        assert told.staged_writes is not None


async def test_a_plan_that_has_changed_meanwhile() -> None:
    async with talking(HarnAgent(says)) as session:
        plans = of(session).plan_documents
        await plans.mutate("plan-1", "revision-1", "approve")
        with pytest.raises(PlanConflict):
            await plans.mutate("plan-1", "revision-of-yesterday", "approve")


async def test_what_happens_at_the_host() -> None:
    async with talking(HarnAgent(says)) as session:
        result = HostToolResult(tool_name="pytest", status="completed", raw_output="1 failed")
        receipt = await of(session).inject_host_event(result, Provenance(initiator="user", source="notebook"))
        assert receipt.status == "queued"
        await until(lambda: session.state.snapshot().harn is not None)


async def test_one_call_is_stopped_and_the_turn_goes_on() -> None:
    async def script(turn: HarnTurn) -> None:
        async with turn.tool_call("exec", "execute") as call:
            call.start()
            await asyncio.Event().wait()
        await turn.say("went on")

    agent = HarnAgent(script)
    async with talking(agent) as session:
        turn = await running(session, agent)
        await until(lambda: session.state.snapshot().tool_calls)
        stopped = await of(session).cancel_tool_call("call-1", reason="too slow")
        assert stopped.status == "cancelled"
        assert (await turn).text == "went on "


async def test_a_budget_is_set_at_once() -> None:
    agent = HarnAgent(waits)
    async with talking(agent) as session:
        turn = await running(session, agent)
        of(session).set_budget(cost_usd=2.5, tokens=None)
        await until(lambda: agent.sessions[session.id].budget)
        assert agent.sessions[session.id].budget == {"llm_cost_usd": 2.5, "llm_tokens": None}
        turn.cancel()
        await turn


@pytest.mark.parametrize("bridge", [True, False])
async def test_an_agent_that_idles_goes_on(bridge: bool) -> None:
    """Without the bridge the wish to go on waits behind the very turn that idles; a message does not."""
    went_on: list[bool] = []

    async def script(turn: HarnTurn) -> None:
        went_on.append(await turn.idle())

    agent = HarnAgent(script, bridge=bridge)
    async with talking(agent) as session:
        turn = await running(session, agent)
        await until(lambda: (told := session.state.snapshot().harn) is not None and told.idle is not None)
        if bridge:
            of(session).resume()
        else:
            await session.inject("go on")
        await turn
        assert went_on == [True]


async def test_an_answer_in_the_midst_of_a_turn_comes_too_late() -> None:
    answers: list[Any] = []

    async def script(turn: HarnTurn) -> None:
        answers.append(await turn.ask_human("question", prompt="Which branch?", default="main").wait(0.05))

    agent = HarnAgent(script)
    async with talking(agent) as session:
        turn = session.prompt("go")
        await until(lambda: (told := session.state.snapshot().harn) is not None and told.human_requests)
        [request] = session.state.snapshot().harn.human_requests.values()
        answering = asyncio.create_task(of(session).people.answer(request.request_id, "main"))
        await until(lambda: session.state.snapshot().harn.human_requests[request.request_id].waits_for_agent)
        await turn
        await answering
        assert answers == [None]
        assert session.state.snapshot().harn.human_requests[request.request_id].status == "timeout"


async def test_an_answer_after_the_turn_is_taken() -> None:
    async def script(turn: HarnTurn) -> None:
        turn.ask_human("approval", detail="Push?")

    async with talking(HarnAgent(script)) as session:
        await session.prompt("go")
        [request] = session.state.snapshot().harn.human_requests.values()
        await of(session).people.approve(request.request_id, True, reviewer="ana")
        assert session.state.snapshot().harn.human_requests[request.request_id].status == "answered"


async def test_modes_are_told_as_harn_does() -> None:
    async with talking(HarnAgent(says)) as session:
        await session.set_mode("code")
        await until(lambda: session.state.snapshot().modes.current == "code")
        with pytest.raises(InvalidParams):
            await session.set_mode("shout", force=True)


async def test_who_takes_over_speaks_from_then_on() -> None:
    agent = HarnAgent(says)
    async with talking(agent) as first, acp_host.connect(agent.transport()) as other:
        await of(first).live.attach("editor", mode="controller")
        second = await other.load_session(first.id)
        await of(second).live.attach("phone")
        with pytest.raises(InvalidState, match="editor"):
            second.prompt("go")
        await of(second).live.takeover()
        await until(lambda: not of(first).live.in_control)
        with pytest.raises(InvalidState, match="phone"):
            first.prompt("go")
        assert (await second.prompt("go")).outcome.verified


async def test_sessions_of_one_connection_wait_for_each_other_and_of_several_do_not() -> None:
    both = asyncio.Barrier(2)

    async def script(turn: HarnTurn) -> None:
        if turn.text == "together":
            await both.wait()
        await turn.say(turn.text)

    agent = HarnAgent(script)
    async with asyncio.timeout(40), acp_host.connect(agent.transport()) as host:
        sessions = [await host.new_session() for _ in range(2)]
        texts = [(await turn).text for turn in [session.prompt("alone") for session in sessions]]
        assert texts == ["alone ", "alone "]
    async with asyncio.timeout(40), SessionConnections(lambda: acp_host.connect(agent.transport())) as connections:
        sessions = [await connections.new_session() for _ in range(2)]
        results = await asyncio.gather(*(session.prompt("together") for session in sessions))
        assert [result.text for result in results] == ["together ", "together "]


async def test_to_close_a_session_ends_what_runs_in_it() -> None:
    agent = HarnAgent(waits)
    async with talking(agent) as session:
        turn = await running(session, agent)
        await session.close()
        assert (await turn).outcome.kind == "cancelled"
        assert agent.sessions[session.id].readers == set()


async def test_sessions_are_listed() -> None:
    agent = HarnAgent(says)
    async with asyncio.timeout(40), acp_host.connect(agent.transport()) as host:
        session = await host.new_session()
        found = [each.session_id async for each in host.iter_sessions()]
        assert found == [session.id]
        resumed = await host.resume_session(session.id)
        assert resumed.id == session.id
