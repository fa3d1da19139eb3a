"""What subagents send themselves is shown beside the session that announced them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import acp_host
from acp_host.state.entries import MessageEntry
from acp_host.state.session_state import SessionState
from acp_host.testing import ScriptedAgent
from tests.host.scripts import DONE, connected, words


def texts(state: SessionState | None) -> list[str]:
    assert state is not None
    return [entry.text for entry in state.snapshot().transcript if isinstance(entry, MessageEntry)]


def announced(session_id: str, **said: Any) -> dict[str, Any]:
    return {"sessionUpdate": "subagent_update", "sessionId": session_id, **said}


async def test_it_is_offered_with_the_drafts_only() -> None:
    for unstable in (False, True):
        async with acp_host.connect(acp_host.testing.ReferenceAgent().transport(), unstable=unstable) as host:
            assert bool(host.agreement.supports("clientCapabilities.subagents")) is unstable


async def test_each_has_a_state_of_its_own() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        agent.update(announced("child", title="Helper", state={"state": "running"}), "s-1")
        agent.update(words("user", "look"), "child")
        for piece in ("I ", "look", " around"):
            agent.update(words("agent", piece), "child")
        agent.update(announced("grandchild"), "child")
        agent.update(words("agent", "deep"), "grandchild")
        agent.update({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read"}, "child")
        agent.update(words("agent", "for nobody"), "stranger")
        agent.say("done", "s-1")
        agent.reply(DONE)

    async with connected(script, unstable=True) as host:
        session = await host.new_session()
        result = await session.prompt("go")
        assert result.text == "done", "what a subagent says is no answer of the session"
        assert session.state.snapshot().subagents["child"].title == "Helper"
        assert texts(session.subagent_state("child")) == ["look", "I look around"]
        assert texts(session.subagent_state("grandchild")) == ["deep"]
        child = session.subagent_state("child")
        assert child is not None
        assert [call.title for call in child.snapshot().tool_calls] == ["Read"]
        assert texts(session.state) == ["go", "done"]
        assert session.subagent_state("stranger") is None
        assert [note.session_id for note in host.diagnostics] == ["stranger"]
        assert host.sessions == (session,)


async def test_they_end_with_their_session() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        agent.update(announced("child"), "s-1")
        agent.update(words("agent", "hello"), "child")
        agent.reply(DONE)
        await agent.expect("session/close")
        agent.reply({})
        await agent.expect("_end")
        agent.update(words("agent", "late"), "child")
        agent.reply({})

    async with connected(script, unstable=True) as host:
        session = await host.new_session()
        await session.prompt("go")
        await session.close()
        await host.request("_end")
        assert texts(session.subagent_state("child")) == ["hello"]
        assert [note.session_id for note in host.diagnostics] == ["child"]


async def test_they_work_in_the_directories_of_their_session(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside / "deep", outside):
        folder.mkdir(parents=True)
        (folder / "notes.txt").write_text("buy milk")
    answers: list[dict[str, Any]] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        agent.update(announced("child", cwd=str(inside / "deep")), "s-1")
        agent.update(announced("greedy", cwd=str(outside), additionalDirectories=["/"]), "s-1")
        for child, folder in (("child", inside / "deep"), ("greedy", outside)):
            read = {"sessionId": child, "path": str(folder / "notes.txt")}
            answers.append(await agent.call("fs/read_text_file", read))
            run = {"sessionId": child, "command": sys.executable, "args": ["-c", "import os; print(os.getcwd())"]}
            answers.append(created := await agent.call("terminal/create", run))
            if "result" in created:
                terminal = {"sessionId": child, **created["result"]}
                await agent.call("terminal/wait_for_exit", terminal)
                answers.append(await agent.call("terminal/output", terminal))

    allowed = acp_host.PermissionPolicy.allow_once()
    async with connected(script, unstable=True, files=True, terminals=True, permissions=allowed) as host:
        await host.new_session(inside)
    read, _, printed, refused, not_run = answers
    assert read["result"]["content"] == "buy milk"
    assert printed["result"]["output"].strip() == str(inside / "deep")
    assert "error" in refused
    assert "error" in not_run, "a directory that a subagent names gives it no leave to be there"
