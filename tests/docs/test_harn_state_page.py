"""The page on what a Harn agent tells beside the conversation."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

import acp_host
from acp_host.state.harn.snapshot import HarnSnapshot
from acp_host.testing import ScriptedAgent
from tests.docs.snippets import read_page, run_page
from tests.harn.harness import named, updates

PAGE = "docs/harn/state.md"


async def test_the_examples_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "chart.png").write_bytes(b"a picture")
    told = [
        *updates("derived_namespaced_updates.json", "worker_update"),
        *updates("derived_namespaced_updates.json", "skill_activated"),
        *updates("derived_namespaced_updates.json", "artifact"),
        named("artifact", artifactId="a-2", spec=(tmp_path / "chart.png").as_uri(), title="Chart"),
        next(updates("derived_namespaced_updates.json", "live_session_client")),
    ]

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        for update in told:
            agent.update(update)
        agent.reply({"stopReason": "end_turn"})
        await agent.expect("session/prompt")
        agent.update(named("worker_update", workerId="wk-0", status="completed"))
        agent.reply({"stopReason": "end_turn"})

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("Hi")
        names = await run_page(PAGE, session=session)
        assert list(host.diagnostics) == []
    assert names["picture"] == b"a picture"
    assert names["ended"] == [5]
    printed = capsys.readouterr().out
    assert "rev running at work\n" in printed
    assert "skill deploy None\n" in printed
    assert "changed: workers/wk-0\n" in printed
    assert "['nb', 'tui'] controlled by nb\n" in printed


def test_topics_of_the_table_are_topics() -> None:
    topics = {attribute.name for attribute in attrs.fields(HarnSnapshot)}
    for topic in ("workers", "skills", "artifacts", "handoffs", "live_clients"):
        assert topic in topics
        assert f"| `{topic}` |" in read_page(PAGE)
