"""What is measured, and by which attributes."""

from __future__ import annotations

from pathlib import Path

import acp_host
from acp_host import PermissionPolicy
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.host.scripts import DONE, in_session
from tests.host.telemetry.telling import Told


async def test_a_conversation(tmp_path: Path) -> None:
    told = Told()
    async with acp_host.connect(ReferenceAgent().transport(), telemetry=told.telemetry) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("/say one two three")
        await session.prompt("/tool x")
        await session.remind("The tests have changed")
        assert told.values("acp.connections.active") == {(): 1}
        assert told.values("acp.sessions.active") == {(): 1}
    assert told.values("acp.turns", "acp.turn.outcome", "acp.turn.stop_reason") == {("completed", "end_turn"): 2}
    assert told.values("acp.tool_calls", "acp.tool.status") == {("completed",): 1}
    assert told.values("gen_ai.client.operation.duration", "gen_ai.operation.name") == {("invoke_agent",): 2}
    assert told.values("gen_ai.client.token.usage", "gen_ai.token.type") == {("input",): 2, ("output",): 2}
    assert told.values("acp.reminders", "acp.reminder.rung") == {("inject_reminder",): 1}
    requests = told.values("acp.request.duration", "rpc.method", "acp.request.direction")
    assert requests["session/new", "sent"] == 1
    [(attributes, updates)] = told.metrics()["acp.updates"]
    assert set(attributes) == {"gen_ai.agent.name"}
    assert updates >= len(session.state.snapshot().transcript)
    assert told.values("acp.sessions.active") == {(): 0}


async def test_each_update_is_counted_once_whether_it_comes_alone_or_in_a_run() -> None:
    told = Told()

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(50):
            chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": str(number)}}
            agent.notify("session/update", {"sessionId": "s-1", "update": chunk})
        agent.reply(DONE, to=prompt)

    async with in_session(script, telemetry=told.telemetry) as session:
        await session.prompt("go")
        [(_, after)] = told.metrics()["acp.updates"]
    assert after == 50


async def test_errors_are_counted_by_class() -> None:
    told = Told()

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.reply_error(-32603, "no", to=prompt)

    async with in_session(script, telemetry=told.telemetry) as session:
        turn = session.prompt("go")
        await turn.over()
    assert told.values("acp.errors", "acp.error.where", "error.type")["turn", "InternalError"] == 1
    assert told.values("acp.turns", "acp.turn.outcome", "acp.turn.stop_reason") == {("failed", "none"): 1}


async def test_no_attribute_of_a_metric_names_a_session_or_a_path(tmp_path: Path) -> None:
    told = Told()
    async with acp_host.connect(
        ReferenceAgent().transport(),
        telemetry=told.telemetry,
        files=True,
        permissions=PermissionPolicy.allow_once(),
    ) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("Look around")
    measured = repr(told.metrics())
    assert session.id not in measured
    assert str(tmp_path) not in measured
