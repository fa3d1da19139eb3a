"""Harn's updates on a connection: they reach the state, and what is wrong with them is a diagnostic."""

from __future__ import annotations

from typing import Any

import acp_host
from acp_host.state.entries import UnknownEntry
from acp_host.testing import ScriptedAgent
from tests.harn.harness import named


async def told(*updates: dict[str, Any]) -> tuple[acp_host.Session, list[acp_host.Diagnostic]]:
    """Return a session whose agent sends these updates in its only turn, and the diagnostics."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        for update in updates:
            agent.notify("session/update", {"sessionId": "s1", "update": update})
        agent.reply({"stopReason": "end_turn"})

    agent = ScriptedAgent(script)
    async with acp_host.connect(agent.transport()) as host:
        session = await host.new_session()
        await session.prompt("Hi")
    return session, list(host.diagnostics)


def worker(status: str, **members: Any) -> dict[str, Any]:
    return named("worker_update", workerId="wk", status=status, **members)


async def test_what_is_told_is_in_the_state_and_not_in_the_transcript() -> None:
    session, diagnostics = await told(worker("running"), worker("completed"))
    harn = session.state.snapshot().harn
    assert harn is not None
    assert harn.workers["wk"].status == "completed"
    assert session.state.harn is not None
    assert session.state.harn.snapshot() is harn
    assert [type(entry) for entry in session.state.snapshot().transcript if isinstance(entry, UnknownEntry)] == []
    assert diagnostics == []


async def test_what_is_wrong_is_a_diagnostic_and_costs_nothing_else() -> None:
    session, diagnostics = await told(
        {"sessionUpdate": "worker_update", "_meta": {"harn": "x"}},
        worker("completed", workerName=7),
        worker("running"),
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}},
    )
    assert [(each.kind.value, each.message) for each in diagnostics] == [
        ("malformed", "a Harn update is malformed: _meta.harn is no object"),
        ("malformed", "a Harn update is malformed: workerId is missing"),
        ("malformed", "a Harn update is malformed: workerName is not a string: 7"),
        ("unexpected", "worker wk is completed; running cannot follow that"),
    ]
    assert {each.session_id for each in diagnostics} == {"s1"}
    assert len(session.state.snapshot().transcript) == 2


async def test_what_may_be_another_agents_update_of_the_same_name_stays_in_the_transcript() -> None:
    session, diagnostics = await told({"sessionUpdate": "artifact", "name": "a.zip"})
    *_, entry = session.state.snapshot().transcript
    assert isinstance(entry, UnknownEntry)
    assert entry.tag == "artifact"
    assert [each.message for each in diagnostics] == ["a Harn update is malformed: artifactId is missing"]
    assert session.state.harn is None


async def test_observers_get_every_update_as_it_came() -> None:
    seen: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.notify("session/update", {"sessionId": "s1", "update": worker("running", further=1)})
        agent.reply({"stopReason": "end_turn"})

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        session.on_update(seen.append)
        turn = session.prompt("Hi")
        in_turn = [update async for update in turn]
    assert [update.data for update in seen] == [worker("running", further=1)]
    assert in_turn == seen
