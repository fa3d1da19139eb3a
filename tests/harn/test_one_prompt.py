"""One prompt of a session at a time, and no call that fails because a Harn agent answers it behind the prompt."""

from __future__ import annotations

import asyncio
from typing import Any

import acp_host
from acp_host.host.cancel_timeouts import CancelTimeouts
from acp_host.testing import ScriptedAgent

HARN: dict[str, Any] = {"_meta": {"harn": {}}}
DONE: dict[str, Any] = {"stopReason": "end_turn"}
AT_ONCE = CancelTimeouts(grace=0.01, withdrawn=0.01)


async def test_a_second_prompt_waits_here_until_the_first_is_answered() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        first = await agent.expect("session/prompt")
        await agent.call("_own/ask", {})
        assert [each["method"] for each in agent.received if "method" in each].count("session/prompt") == 1
        agent.reply(DONE, to=first)
        await agent.expect("session/prompt")
        agent.reply(DONE)

    handlers = {"_own/ask": lambda params: None}
    async with acp_host.connect(ScriptedAgent(script).transport(), handlers=handlers) as host:
        session = await host.new_session()
        turns = [session.prompt("1"), session.prompt("2")]
        assert session.queued_turns == (turns[1],)
        for turn in turns:
            await turn


async def _comes_at_last(capabilities: dict[str, Any], *methods: str) -> None:
    """Give up a prompt, send another one, and check what the agent gets until it answers the first after all."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(capabilities)
        await agent.open_session("s1")
        first = await agent.expect("session/prompt")
        second = None
        for method in ("session/cancel", "$/cancel_request", *methods):
            message = await agent.expect(method)
            second = message if method == "session/prompt" else second
        agent.reply({"stopReason": "cancelled"}, to=first)
        agent.reply(DONE, to=second or await agent.expect("session/prompt"))

    transport = ScriptedAgent(script).transport()
    async with acp_host.connect(transport, cancel_timeouts=AT_ONCE) as host:
        session = await host.new_session()
        first = session.prompt("1")
        first.cancel()
        assert (await first.wait()).outcome.kind == "cancelled"
        second = session.prompt("2")
        await host.notify("_own/go_on")
        await second


async def test_another_one_waits_even_for_a_prompt_that_was_given_up() -> None:
    await _comes_at_last(HARN, "_own/go_on")


async def test_with_another_agent_it_does_not() -> None:
    await _comes_at_last({}, "session/prompt", "_own/go_on")


async def test_a_call_that_is_answered_behind_the_prompt_waits_as_long_as_that_takes() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        prompt = await agent.expect("session/prompt")
        queued = await agent.expect("session/set_mode")
        agent.say("still at it")
        agent.reply(DONE, to=prompt)
        agent.reply({}, to=queued)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        turn = session.prompt("1")
        setting = asyncio.create_task(session.set_mode("ask"))
        assert (await turn).text == "still at it"
        await setting
