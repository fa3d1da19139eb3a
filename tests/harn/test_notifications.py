"""Harn's notifications come to the state of the session that they belong to."""

from __future__ import annotations

from typing import Any

import pytest

import acp_host
from acp_host.diagnostics import DiagnosticKind
from acp_host.state.harn.workers import WorkerReported
from acp_host.testing import ScriptedAgent
from acp_host.translate.harn import notifications
from acp_host.translate.harn.payload import Payload

AGENT = {"name": "harn", "version": "0.10"}


@pytest.fixture(autouse=True)
def _a_notification(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``_own/news`` be one of Harn's notifications."""

    def read(payload: Payload) -> tuple[WorkerReported, ...]:
        return (WorkerReported(payload.identity("worker"), "running", name=payload.text("name")),)

    monkeypatch.setitem(notifications.NOTIFICATIONS, "_own/news", read)


async def told(*params: Any, agent_info: Any = AGENT, session_ids: tuple[str, ...] = ("s1",)) -> Any:
    """Return the sessions whose agent sends these notifications after a turn, and the diagnostics."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake({}, agentInfo=agent_info)
        for session_id in session_ids:
            await agent.open_session(session_id)
        await agent.expect("session/prompt")
        for each in params:
            agent.notify("_own/news", each)
        agent.reply({"stopReason": "cancelled"})

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        sessions = [await host.new_session() for _ in session_ids]
        await sessions[0].prompt("Hi")
        workers = [() if (harn := each.state.snapshot().harn) is None else tuple(harn.workers) for each in sessions]
        return workers, list(host.diagnostics)


async def test_by_the_session_that_they_name() -> None:
    workers, diagnostics = await told({"sessionId": "s2", "worker": "w"}, session_ids=("s1", "s2"))
    assert workers == [(), ("w",)]
    assert diagnostics == []


@pytest.mark.parametrize("params", [{"worker": "w"}, {"sessionId": "", "worker": "w"}])
async def test_else_by_the_only_prompt_that_runs(params: Any) -> None:
    workers, _ = await told(params, session_ids=("s1", "s2"))
    assert workers == [("w",), ()]


@pytest.mark.parametrize("params", [{"sessionId": "unknown", "worker": "w"}, None, [1]])
async def test_what_belongs_to_no_session_is_a_diagnostic(params: Any) -> None:
    workers, diagnostics = await told(params)
    assert workers == [()]
    assert [each.kind for each in diagnostics] == [DiagnosticKind.UNEXPECTED]


async def test_what_is_wrong_in_them_is_a_diagnostic() -> None:
    workers, diagnostics = await told({"worker": 5}, {"worker": "w", "name": 5})
    assert workers == [("w",)]
    assert [(each.kind.value, each.message.partition(": ")[0]) for each in diagnostics] == [
        ("malformed", "_own/news is malformed"),
    ] * 3


async def test_another_agent_may_mean_something_else() -> None:
    workers, diagnostics = await told({"worker": "w"}, agent_info={"name": "other", "version": "1"})
    assert workers == [()]
    assert [each.kind for each in diagnostics] == [DiagnosticKind.UNKNOWN_METHOD]


@pytest.mark.parametrize("session_id", [{}, {"sessionId": 5}, {"sessionId": None}])
async def test_what_an_agent_tells_of_its_loop_always_names_its_session(session_id: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake({}, agentInfo=AGENT)
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.notify("_harn/agentEvent", {"kind": "loop_stuck", **session_id})
        agent.notify("_harn/agentEvent", {"kind": "budget_exhausted", "sessionId": ""})
        agent.reply({"stopReason": "cancelled"})

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        await session.prompt("Hi")
        harn = session.state.snapshot().harn
        assert harn is not None
        assert [event.kind for event in harn.agent_events] == ["budget_exhausted"]
        assert [each.kind for each in host.diagnostics] == [DiagnosticKind.MALFORMED]


async def test_what_comes_before_the_id_of_its_session_is_known_is_kept() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake({}, agentInfo=AGENT)
        opening = await agent.expect("session/new")
        agent.notify("_own/news", {"sessionId": "s1", "worker": "w", "name": "before"})
        agent.update({"sessionUpdate": "worker_update", "workerId": "w", "status": "running", "workerName": "x"}, "s1")
        agent.notify("_own/news", {"sessionId": "s1", "worker": "w", "name": "last"})
        agent.notify("_own/news", {"sessionId": "another", "worker": "w"})
        agent.reply({"sessionId": "s1"}, to=opening)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        harn = session.state.snapshot().harn
        assert harn is not None
        assert harn.workers["w"].name == "last"
        assert [each.kind for each in host.diagnostics] == [DiagnosticKind.UNEXPECTED]
