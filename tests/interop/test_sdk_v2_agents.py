"""Whole conversations in ACP v2 with an agent built on the official TypeScript SDK, and with its protocol router."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

import acp_host
from acp_host import (
    HostConnection,
    HostMcpServer,
    NotSupported,
    PermissionPolicy,
    PermissionRule,
    RequestFailed,
    Session,
)
from acp_host.host.services import ElicitationHandlers
from acp_host.state.entries import MessageEntry, ToolCallEntry, UnknownEntry
from acp_host.state.snapshot import SessionSnapshot
from acp_host.wire.elicitation import ElicitationAcceptAction
from tests.interop.users import Asked

AGENT = Path(__file__).with_name("ts_sdk_v2_agent.mjs")


@asynccontextmanager
async def connected(kind: str, node_modules: Path, **options: Any) -> AsyncIterator[HostConnection]:
    """Connect to an agent that is a program."""
    assert node_modules
    async with acp_host.connect(["node", str(AGENT), kind], protocol_versions=(2, 1), **options) as host:
        yield host


@asynccontextmanager
async def served(kind: str, scheme: str, node_modules: Path) -> AsyncIterator[HostConnection]:
    """Connect to an agent that is served by the SDK."""
    assert node_modules
    process = await asyncio.create_subprocess_exec(
        *("node", str(AGENT), kind, "served"), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    try:
        url = f"{scheme}://127.0.0.1:{int(await process.stdout.readline())}/acp"
        async with acp_host.connect(url, protocol_versions=(2, 1), unstable=True) as host:
            yield host
    finally:
        process.stdin.close()
        await process.wait()


@pytest.fixture(params=["v2", "router", "router over ws", "v2 over http", "router over http"])
async def host(request: pytest.FixtureRequest, node_modules: Path) -> AsyncIterator[HostConnection]:
    """A connection to an agent of v2, alone or behind the router, over each transport."""
    kind, _, scheme = request.param.partition(" over ")
    connection = served(kind, scheme, node_modules) if scheme else connected(kind, node_modules, unstable=True)
    async with connection as host:
        assert host.agreement.protocol_version == 2
        yield host
        assert list(host.diagnostics) == []


@pytest.fixture
async def session(host: HostConnection, folder: Path) -> Session:
    return await host.new_session(folder)


async def becomes(session: Session, wanted: Callable[[SessionSnapshot], bool]) -> SessionSnapshot:
    """Wait until the session's state is as wanted."""
    async for snapshot in session.state.watch():
        if wanted(snapshot):
            return snapshot
    raise AssertionError("the session is over")


async def test_everything_that_an_agent_can_tell(session: Session) -> None:
    result = await session.prompt("all")
    assert (result.stop_reason, result.text) == ("end_turn", "One and two")
    assert result.usage is not None
    assert result.usage.total_tokens == 3
    state = session.state.snapshot()
    user, thought, message, cleared, call, _compaction, own = state.transcript
    assert isinstance(user, MessageEntry)
    assert user.text == "all", "one message, although the agent echoed it"
    assert [entry.text for entry in (thought, message, cleared)] == ["Think.", "One and two", ""]
    assert isinstance(call, ToolCallEntry)
    assert (call.title, call.name, call.status, call.raw_output) == (None, "edit", "completed", {"ok": True})
    text, diff, terminal = call.content
    assert text.content.text == "A chunk."
    assert [change.path for change in diff.changes[:2]] == ["/project/a.txt", "/project/c"]
    assert diff.patch.text.startswith("diff --git /project/a.txt")
    assert terminal.terminal_id == "x"
    assert isinstance(own, UnknownEntry)
    assert own.data["of"] == "the agent's"
    view = state.terminals["x"]
    assert ("".join(view.output), view.exit_code) == ("snapshot ✓ \x1b[1mbold\x1b[0m", 3)
    (plan,) = state.plans
    assert (plan.plan_id, plan.content.entries[0].status) == ("p", "cancelled")
    assert state.usage.used == 5
    assert state.info.title == "Everything"
    assert [notice.title for notice in session.notices.snapshot().history] == ["Mind the gap"]
    assert [command.name for command in state.commands] == ["all"]


async def test_turns_one_after_the_other(session: Session) -> None:
    texts = [(await turn).text for turn in [session.prompt(text) for text in ("one", "two words", "three")]]
    assert texts == ["one", "two words", "three"]
    assert (await session.prompt("refuse")).outcome.kind == "refused"


async def test_cancelling_a_turn(session: Session) -> None:
    async for _update in (turn := session.prompt("wait")):
        turn.cancel()
    assert (await turn).stop_reason == "cancelled"
    assert (await session.prompt("and on")).text == "and on"


async def test_cancelling_one_tool_call(session: Session) -> None:
    turn = session.prompt("call")
    await becomes(session, lambda state: any(getattr(entry, "cancellable", False) for entry in state.transcript))
    await session.cancel_tool_call("long")
    result = await turn
    assert (result.stop_reason, result.text) == ("end_turn", "Cancelled, and on.")
    call = next(entry for entry in session.state.snapshot().transcript if isinstance(entry, ToolCallEntry))
    assert (call.status, call.cancellable) == ("cancelled", False)
    with pytest.raises(NotSupported):
        await session.cancel_tool_call("long")


async def test_work_in_the_background(session: Session) -> None:
    await session.prompt("background")
    state = session.state.snapshot()
    assert [work.terminal_id for work in state.turn.background or ()] == ["back"]
    assert not state.terminals["back"].ended
    await session.cancel_terminal("back")
    state = await becomes(session, lambda state: state.turn.background == ())
    assert (state.terminals["back"].signal, state.turn.turn) == ("SIGTERM", 1)
    assert (await session.prompt("and on")).text == "and on"


async def test_work_that_nobody_asked_for(session: Session) -> None:
    await session.prompt("later")
    state = await becomes(session, lambda state: state.turn.turn == 2 and state.turn.status == "idle")
    assert (state.turn.origin, state.turn.outcome) == ("agent", "completed")
    assert state.transcript[-1].text == "By myself."
    assert (await session.prompt("and on")).text == "and on"


async def test_a_session_is_loaded_and_resumed(host: HostConnection, session: Session, folder: Path) -> None:
    id = session.id
    await session.prompt("one")
    await session.close()
    loaded = await host.load_session(id, folder)
    assert [entry.text for entry in loaded.state.snapshot().transcript] == ["one", "one"]
    assert all(entry.replayed for entry in loaded.state.snapshot().transcript)
    assert (await loaded.prompt("two")).text == "two"
    await loaded.close()
    resumed = await host.resume_session(id, folder)
    assert (await resumed.prompt("three")).text == "three"


async def test_every_method_about_sessions(host: HostConnection, session: Session, folder: Path) -> None:
    options = {entry.id: entry.value for entry in session.options.snapshot().entries}
    assert options == {"model": "small", "fast": False}
    await session.set_option("model", "large")
    await session.set_option("fast", True)
    assert {entry.id: entry.value for entry in session.options.snapshot().entries} == {"model": "large", "fast": True}
    with pytest.raises(RequestFailed):
        await session.set_config_option("no", "x")
    await session.set_title("A title")
    assert (await session.status()).status == "open"
    fork = await host.fork_session(session.id, folder)
    assert (await fork.prompt("forked")).text == "forked"
    await host.archive_session(fork.id)
    listed = {info.session_id: (info.title, info.archived) for info in (await host.list_sessions()).sessions}
    assert listed[fork.id][1] is True
    assert listed[session.id] == ("A title", False)
    await host.unarchive_session(fork.id)
    await host.delete_session(fork.id)
    assert len((await host.list_sessions()).sessions) == 1


async def test_accounts_and_providers(host: HostConnection) -> None:
    await host.logout()
    assert (await host.auth_status()).state == "unauthenticated"
    await host.authenticate("login")
    assert (await host.auth_status()).state == "authenticated"
    await host.set_provider("p", api_type="openai", base_url="http://127.0.0.1:1")
    (provider,) = (await host.list_providers()).providers
    assert provider.current.base_url == "http://127.0.0.1:1"
    await host.disable_provider("p")
    assert (await host.list_providers()).providers[0].current is None


async def test_permission(node_modules: Path, folder: Path) -> None:
    rules = (
        PermissionRule(name="make", decision="allow_once", commands=("make *",)),
        PermissionRule(name="edits", decision="reject_once", kinds=("edit",)),
    )
    async with connected("v2", node_modules, permissions=PermissionPolicy(rules=rules)) as host:
        session = await host.new_session(folder)
        said = [json.loads((await session.prompt(text)).text) for text in ("ask", "run make all", "run rm -rf /")]
        assert [answer["optionId"] for answer in said] == ["no", "yes", "no"]
        assert [(record.action, record.decision, record.rule) for record in host.audit.records] == [
            ("session/request_permission", "rejected", "edits"),
            ("session/request_permission", "allowed", "make"),
            ("session/request_permission", "rejected", None),
        ]


async def test_what_a_person_is_asked(node_modules: Path, folder: Path, allowing: Asked) -> None:
    async with connected("v2", node_modules, permissions=allowing) as host:
        session = await host.new_session(folder)
        await session.prompt("ask")
        await session.prompt("run make all")
    call, command = allowing.requests
    assert (call.title, call.tool_call.title) == ("May I edit?", "Edit a file")
    assert (command.title, command.description) == ("May I run it?", "The SDK asks.")
    assert command.tool_call.raw_input == {"command": "make all", "cwd": "/project"}


async def test_forms(node_modules: Path, folder: Path) -> None:
    form = ElicitationHandlers(form=lambda _: ElicitationAcceptAction({"name": "Ada"}))
    async with connected("v2", node_modules, elicitation=form) as host:
        session = await host.new_session(folder)
        said = json.loads((await session.prompt("form")).text)
    assert said == {"action": "accept", "content": {"name": "Ada"}}


async def test_mcp_servers_of_the_host(node_modules: Path, folder: Path) -> None:
    server = MCPServer("tools")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    async with connected("v2", node_modules) as host:
        session = await host.new_session(folder, mcp_servers=[HostMcpServer(server)])
        said = json.loads((await session.prompt("mcp")).text)
    assert [tool["name"] for tool in said["result"]["tools"]] == ["add"]
