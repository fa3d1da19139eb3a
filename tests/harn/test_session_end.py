"""A Harn agent ends a session by itself: nobody is asked anything there any more."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import acp_host
from acp_host.testing import ScriptedAgent
from tests.harn.harness import named

PERMISSION = {
    "sessionId": "s1",
    "toolCall": {"toolCallId": "t-1", "title": "write"},
    "options": [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}],
}


@pytest.mark.parametrize("replayed", [False, True])
async def test_its_questions_are_withdrawn_unless_it_tells_of_the_past(replayed: bool) -> None:
    asked, taken = asyncio.Event(), asyncio.Event()
    answers: list[Any] = []
    withdrawn: list[bool] = []

    async def ask(request: Any) -> Any:
        asked.set()
        try:
            await taken.wait()
        except asyncio.CancelledError:
            withdrawn.append(True)
            raise
        return "allow"

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(agentInfo={"name": "harn", "version": "1"})
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.update(named("hitl_request", requestId="hitl_question_1", payload={"prompt": "?"}))
        answer = asyncio.ensure_future(agent.call("session/request_permission", PERMISSION))
        await asked.wait()
        end = {"sessionId": "s1", "kind": "session_closed", "reason": "timeout", "replayed": replayed}
        agent.notify("_harn/agentEvent", end)
        if replayed:
            await agent.call("_own/anything", {})  # is answered when the host has taken what came before
            taken.set()
        answers.append((await answer)["result"]["outcome"]["outcome"])
        agent.reply({"stopReason": "end_turn"})

    async with acp_host.connect(ScriptedAgent(script).transport(), permissions=ask) as host:
        session = await host.new_session()
        await session.prompt("Hi")
        harn = session.state.snapshot().harn
        assert harn is not None
        assert [(alert.event.kind, alert.replayed) for alert in harn.alerts] == [("session_closed", replayed)]
        assert harn.human_requests["hitl_question_1"].status == "unanswered"
    assert answers == ["selected" if replayed else "cancelled"]
    assert withdrawn == ([] if replayed else [True])
