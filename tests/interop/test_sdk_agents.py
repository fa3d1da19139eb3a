"""Whole conversations with agents built on the two official SDKs; part of ``make test``, since they need no model."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

import acp_host
from acp_host import UNSET, ChangeSet, PermissionPolicy, PermissionQueue, PermissionRule, sandbox
from acp_host.sandbox import Bubblewrap
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.plans import Plan
from acp_host.wire.tool_calls import Diff, ToolCall, ToolCallUpdate
from acp_host.wire.updates import AgentMessageChunk, AgentThoughtChunk
from tests.interop.users import Asked, NeverAnswered
from tests.sandboxes import BOTH

PYTHON_SDK_AGENT = [sys.executable, str(Path(__file__).with_name("python_sdk_agent.py"))]


async def test_python_sdk_edit_through_the_host(folder: Path, allowing: Asked) -> None:
    notes = folder / "notes.txt"
    notes.write_text("buy milk\n")
    async with acp_host.connect(PYTHON_SDK_AGENT, files=True, permissions=allowing) as host:
        assert host.agreement.agent_info is not None
        assert host.agreement.agent_info.name == "python-sdk-agent"
        session = await host.new_session(cwd=folder)
        turn = session.prompt("edit")
        updates = [update async for update in turn]
        result = await turn
    assert [type(update) for update in updates] == [
        AgentThoughtChunk,
        Plan,
        ToolCall,
        ToolCallUpdate,
        AgentMessageChunk,
    ]
    finished = updates[3]
    assert isinstance(finished, ToolCallUpdate)
    assert finished.status == "completed"
    assert finished.content == (Diff(path=str(notes), new_text="BUY MILK\n", old_text="buy milk\n"),)
    assert [request.tool_call.tool_call_id for request in allowing.requests] == [finished.tool_call_id]
    assert notes.read_text() == "BUY MILK\n"
    assert (result.stop_reason, result.text) == ("end_turn", "Written.")
    assert list(host.diagnostics) == []


async def test_python_sdk_edit_refused(folder: Path, rejecting: Asked) -> None:
    (folder / "notes.txt").write_text("buy milk\n")
    async with acp_host.connect(PYTHON_SDK_AGENT, files=True, permissions=rejecting) as host:
        session = await host.new_session(cwd=folder)
        assert (await session.prompt("edit")).text == "Left alone."
    assert (folder / "notes.txt").read_text() == "buy milk\n"


async def test_python_sdk_command_in_a_terminal_of_the_host(folder: Path) -> None:
    async with acp_host.connect(PYTHON_SDK_AGENT, terminals=True) as host:
        session = await host.new_session(cwd=folder)
        result = await session.prompt("run echo $((6 * 7)); exit 3")
    assert result.text == "Exit code 3: 42\n"


async def test_python_sdk_all_that_terminals_can_do(folder: Path) -> None:
    (folder / "sub").mkdir()
    async with acp_host.connect(PYTHON_SDK_AGENT, terminals=True) as host:
        session = await host.new_session(cwd=folder)
        result = await session.prompt('serve printf "%s in ${PWD##*/}" "$GREETING"; exec sleep 600')
        assert result.text == "'in sub' True {'SIGTERM'} SIGTERM -32002"
        (view,) = session.state.snapshot().terminals.values()
        assert (view.output, view.signal, view.released) == (("héllo in sub",), "SIGTERM", True)
        assert list(host.diagnostics) == []


@pytest.mark.parametrize("pty", [False, True])
async def test_python_sdk_cancel_while_a_command_runs(folder: Path, pty: bool) -> None:
    """As fast-agent does it: the agent neither kills nor releases the command, and goes on waiting for it."""
    async with acp_host.connect(PYTHON_SDK_AGENT, terminals=acp_host.TerminalService(pty=pty)) as host:
        session = await host.new_session(cwd=folder)
        turn = session.prompt("leave echo started && sleep 600")
        async for snapshot in session.state.watch():
            if any(view.output for view in snapshot.terminals.values()):
                break
        turn.cancel()
        result = await turn
        assert (result.stop_reason, result.text) == ("cancelled", "Ended: None SIGTERM")
        (view,) = session.state.snapshot().terminals.values()
        assert (view.command, view.via_shell, view.signal) == ("echo started && sleep 600", True, "SIGTERM")
        assert not view.released
        assert (await session.prompt("run echo and on")).text.startswith("Exit code 0: and on")
    assert [view.released for view in session.state.snapshot().terminals.values()] == [True, True]


SOURCES = PermissionPolicy(
    rules=(
        PermissionRule(name="notes", decision="allow_once", kinds=("edit",), paths=("notes.txt",)),
        PermissionRule(name="echo", decision="allow_once", commands=("echo *",)),
    )
)


async def test_python_sdk_under_a_policy(folder: Path) -> None:
    """It asks before it edits, and says the kind of its call only beforehand; it runs commands without asking."""
    (folder / "notes.txt").write_text("buy milk\n")
    async with acp_host.connect(PYTHON_SDK_AGENT, files=True, terminals=True, permissions=SOURCES) as host:
        session = await host.new_session(cwd=folder)
        assert (await session.prompt("edit")).text == "Written."
        assert (await session.prompt("run echo 42")).text == "Exit code 0: 42\n"
        with pytest.raises(acp_host.RequestFailed):
            await session.prompt("run echo 42; touch made")
        assert (await session.prompt("and on")).text == "and on"
        records = [(record.action, record.decision, record.rule) for record in host.audit.records]
    assert records == [
        ("fs/read_text_file", "allowed", None),
        ("session/request_permission", "allowed", "notes"),
        ("fs/write_text_file", "allowed", "notes"),
        ("terminal/create", "allowed", "echo"),
        ("terminal/create", "rejected", None),
    ]
    assert not (folder / "made").exists()


KEYS = PermissionPolicy(
    "allow_once", rules=(PermissionRule(name="keys", decision="reject_once", paths=("keys/", "../outside")),)
)


@pytest.mark.parametrize("where", BOTH)
async def test_python_sdk_that_asks_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """What it changes is found out; in a sandbox it cannot change what it must not, inside the project and out."""
    monkeypatch.setattr(sandbox, "_SCRATCH", ("/var/tmp", "/run"))  # the folders of tests are in /tmp
    (folder / "keys").mkdir()
    inside = where == "bubblewrap"
    launcher = Bubblewrap(writable=[folder], read_only=[folder / "keys"]) if inside else None
    async with acp_host.connect(PYTHON_SDK_AGENT, permissions=KEYS, cwd=folder, launcher=launcher) as host:
        session = await host.new_session(cwd=folder)
        results = [await session.prompt(f"sneak {name}") for name in ("notes.txt", "keys/key", "../outside")]
    said = [result.text for result in results]
    kinds = [str(result.outcome.kind) for result in results]
    if inside:
        assert said == ["Nothing has happened.", "Read-only file system.", "Read-only file system."]
        assert kinds == ["completed"] * 3
        assert sorted(path.name for path in folder.parent.iterdir()) == ["project"]
    else:
        assert said == ["Nothing has happened."] * 3
        assert kinds == ["completed", "policy_violated", "completed"], "only the session's folder is looked at"
        assert [violation.path for violation in results[1].outcome.violations] == [str(folder / "keys" / "key")]


async def test_python_sdk_and_a_person_with_a_queue(folder: Path) -> None:
    (folder / "notes.txt").write_text("buy milk\n")
    queue, asked = PermissionQueue(), []

    def answer(changes: ChangeSet) -> None:
        for question in changes.snapshot:
            asked.append((question.request.tool_call.title, question.is_hosts_own, question.can_be_remembered))
            question.choose(question.options[0].option_id)

    queue.changed.connect(answer)
    async with acp_host.connect(PYTHON_SDK_AGENT, files=True, terminals=True, permissions=queue) as host:
        session = await host.new_session(cwd=folder)
        assert (await session.prompt("edit")).text == "Written."
        assert (await session.prompt("run echo $((6 * 7))")).text == "Exit code 0: 42\n"
    assert asked == [
        (UNSET, False, f"python-sdk-agent: edit {folder / 'notes.txt'}"),
        ("echo $((6 * 7))", True, f"python-sdk-agent: run 'echo $((6 * 7))', execute {folder}"),
    ]
    assert (folder / "notes.txt").read_text() == "BUY MILK\n"


async def test_python_sdk_cancel(folder: Path) -> None:
    async with acp_host.connect(PYTHON_SDK_AGENT) as host:
        session = await host.new_session(cwd=folder)
        async for _update in (turn := session.prompt("wait")):
            turn.cancel()
        result = await turn
        assert (result.stop_reason, result.text) == ("cancelled", "Waiting.")
        assert (await session.prompt("and on")).text == "and on"


async def test_python_sdk_cancel_while_permission_is_asked(folder: Path) -> None:
    (folder / "notes.txt").write_text("buy milk\n")
    user = NeverAnswered()
    async with acp_host.connect(PYTHON_SDK_AGENT, files=True, permissions=user) as host:
        session = await host.new_session(cwd=folder)
        turn = session.prompt("edit")
        await user.asked.wait()
        turn.cancel()
        result = await turn
        await user.withdrawn.wait()
    assert result.cancel_requested
    assert result.text == "Left alone."
    assert (folder / "notes.txt").read_text() == "buy milk\n"


async def test_python_sdk_prompts_wait_their_turn(folder: Path) -> None:
    async with acp_host.connect(PYTHON_SDK_AGENT) as host:
        session = await host.new_session(cwd=folder)
        texts = [(await turn).text for turn in [session.prompt(text) for text in ("one", "two", "three")]]
    assert texts == ["one", "two", "three"]


async def test_typescript_sdk_example(folder: Path, node_modules: Path) -> None:
    """Three sessions at once, since a turn takes this agent five seconds: one allows, one rejects, one is cancelled."""
    program = node_modules / "acp-sdk-example" / "dist" / "examples" / "agent.js"
    answers: dict[str, str] = {}

    def answer(request: RequestPermissionRequest) -> str:
        return answers[request.session_id]

    async with acp_host.connect(["node", str(program)], permissions=answer) as host:
        allow, reject, cancel = [await host.new_session(cwd=folder) for _ in range(3)]
        answers |= {allow.id: "allow", reject.id: "reject"}
        turns = [session.prompt("Please change the configuration") for session in (allow, reject, cancel)]
        seen = [await anext(turns[2])]
        turns[2].cancel()
        seen += [update async for update in turns[2]]
        changes = [update.status async for update in turns[0] if isinstance(update, ToolCall | ToolCallUpdate)]
        allowed, rejected, cancelled = await asyncio.gather(*turns)
    assert [type(update) for update in seen] == [AgentMessageChunk]
    assert cancelled.stop_reason == "cancelled"
    assert rejected.stop_reason == "end_turn"
    assert rejected.text.endswith("I'll skip the configuration update.")
    assert allowed.stop_reason == "end_turn"
    assert allowed.text.endswith("The changes have been applied.")
    assert changes == ["pending", "completed", "pending", "completed"]
    assert list(host.diagnostics) == []
