"""The page on what a Harn agent tells of its work."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

import acp_host
from acp_host.state.harn import agent_events
from acp_host.state.harn.snapshot import HarnSnapshot
from acp_host.testing import ScriptedAgent
from tests.docs.snippets import read_page, run_page
from tests.harn.harness import frames, named

PAGE = "docs/harn/work.md"
ELSEWHERE = {"plan": "Fix the parser", "checkpoint_id": "cp-1", "schema": "harn.external_agent.v1"}


async def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    suspension = {"suspension": {"reason": "waits for the build"}}
    told: list[dict[str, Any]] = [
        named("progress", phase="index", message="scanning", progress=3, total=4),
        named("worker_update", workerId="w", workerName="rev", status="suspended", metadata=suspension),
        {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "delegate", "rawOutput": {"result": ELSEWHERE}},
        named("hitl_request", requestId="hitl_question_1", payload={"prompt": "Which branch?", "default": "main"}),
    ]

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(agentInfo={"name": "harn", "version": "1"})
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        for update in told:
            agent.update(update)
        for frame in frames("agent_events_with_composition.json"):
            agent.notify(frame["method"], {**frame["params"], "sessionId": "s1"})
        agent.update(named("hitl_request", requestId="hitl_question_2", payload={"prompt": "Which tag?"}))
        agent.reply({"stopReason": "end_turn"})
        agent.update(named("hitl_request", requestId="hitl_question_3", payload={"prompt": "Which day?", "default": 1}))
        agent.notify("agent/idle", {"sessionId": "s1", "iteration": 1, "backoff_ms": 100})

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        await session.prompt("Hi")
        async for snapshot in session.state.watch():
            if snapshot.harn is not None and snapshot.harn.idle is not None:
                break
        await run_page(PAGE, session=session)
        assert list(host.diagnostics) == []
    printed = capsys.readouterr().out
    assert "index scanning 0.75\n" in printed
    assert "! the budget is used up: 8 iterations\n" in printed
    assert "used up: None None\n" in printed
    assert "judge_decision\n" in printed
    assert "question Which day? 1\n" in printed
    assert "Which branch?" not in printed
    assert "cmp-2 failed workspace_write ['tool.write_file']\n" in printed
    assert "an external agent asks to approve its plan\nFix the parser\n" in printed
    assert "rev parked: waits for the build\n" in printed
    assert printed.endswith("running\n")


def test_topics_of_the_tables_are_topics() -> None:
    page = read_page(PAGE) + read_page("docs/harn/state.md")
    for attribute in attrs.fields(HarnSnapshot):
        assert f"`{attribute.name}`" in page


def test_classes_of_the_table_are_classes() -> None:
    page = read_page(PAGE)
    for name in agent_events.__all__:
        cls = getattr(agent_events, name)
        if isinstance(getattr(cls, "kind", None), str) and attrs.has(cls):
            assert f"| `{name}` | `{cls.kind}`" in page
