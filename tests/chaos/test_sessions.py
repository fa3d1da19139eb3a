"""Agents that lose sessions, or half of them, and do not say so clearly."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import acp_host
from acp_host import InvalidState, Lost, Quirk, QuirkKind, ReopenPolicy, SessionNotReopened
from acp_host.state.entries import MessageEntry
from acp_host.testing import ScriptedAgent
from acp_host.wire.mcp import McpServerStdio
from tests.chaos.bad_agents import ALL, DONE, EDIT, chunk, connected, open_session, until

AT_ONCE = ReopenPolicy(pause=0)
BEFORE = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "before"}}
PLAN = {"sessionUpdate": "plan", "entries": [{"content": "Look", "priority": "high", "status": "completed"}]}
OPTION = {
    "id": "model",
    "name": "Model",
    "type": "select",
    "currentValue": "a",
    "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
}

MISSING: list[tuple[int, str, Any]] = [
    (-32002, "Resource not found", {"uri": "old"}),
    (-32002, "Resource not found", {"sessionId": "old"}),
    (-32002, "Resource not found", None),
    (-32602, "Invalid params", {"details": "Session not found"}),
    (-32603, "Internal error", {"details": "No conversation found with session ID: old"}),
    (-32600, "Unknown session old", None),
]


@pytest.mark.parametrize("error", MISSING)
async def test_r180_a_session_that_is_gone_however_it_is_said(error: tuple[int, str, Any]) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        for method in ("session/resume", "session/load"):
            await agent.expect(method)
            agent.reply_error(*error)
        await agent.open_session("another")

    async with connected(script) as host:
        opened = await host.open_session("old", policy=AT_ONCE)
        assert (opened.session.id, opened.lost) == ("another", Lost.CONTEXT)
        assert [attempt.result for attempt in opened.attempts] == ["gone", "gone", "worked"]
        assert opened.summary, "the user is told"


async def test_r181_a_failure_that_passes_costs_nothing() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        await agent.expect("session/resume")
        agent.reply_error(-32603, "The database is busy")
        await agent.expect("session/resume")
        agent.reply({})

    async with connected(script) as host:
        assert (await host.open_session("old", policy=AT_ONCE)).session.id == "old"


async def test_r181_a_failure_that_does_not_pass_is_told_with_its_reasons() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake({"loadSession": True})
        for _ in range(2):
            await agent.expect("session/load")
            agent.reply_error(-32603, "The database is busy")

    async with connected(script) as host:
        with pytest.raises(SessionNotReopened, match="The database is busy"):
            await host.open_session("old", policy=AT_ONCE)


async def test_r181_what_single_agents_want() -> None:
    kinds = [(QuirkKind.LOCK_OUTLIVES_AGENT, ""), (QuirkKind.REOPENS_WITHOUT_MCP_SERVERS, "session/load")]
    rows = tuple(Quirk(agent="scripted-agent", kind=kind, subject=subject, why="so it is") for kind, subject in kinds)

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake({"loadSession": True})
        for answer in ("Already open in another process", None):
            assert (await agent.expect("session/load"))["params"]["mcpServers"] == []
            if answer:
                agent.reply_error(-32602, answer)
            else:
                agent.reply({})

    server = McpServerStdio("s", "server", (), ())
    async with connected(script, quirks=rows) as host:
        opened = await host.open_session("old", mcp_servers=[server], policy=AT_ONCE)
        assert opened.step == "load"


async def test_r182_a_session_that_was_loaded_and_is_unknown_at_the_prompt() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        await agent.expect("session/load")
        agent.update(BEFORE, "old")
        agent.reply({})
        await agent.expect("session/prompt")
        agent.reply_error(-32603, "Unsupported ACP session")
        await agent.open_session("another")
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with connected(script) as host:
        session = await host.load_session("old")
        with pytest.raises(acp_host.InternalError):
            await session.prompt("go")
        assert session.is_lost
        assert [entry.text for entry in session.state.snapshot().transcript if isinstance(entry, MessageEntry)] == [
            "before",
            "go",
        ]
        with pytest.raises(InvalidState, match="lost"):
            session.prompt("again")
        another = (await host.open_session("old", policy=ReopenPolicy(steps=("new",)))).session
        await another.prompt("again")


async def test_r183_everything_of_a_replay_is_history_and_nothing_of_it_is_dropped() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        await agent.expect("session/load")
        for update in (BEFORE, chunk("said"), {"sessionUpdate": "tool_call", **EDIT}, PLAN, PLAN):
            agent.update(update, "old")
        agent.update({"sessionUpdate": "config_option_update", "configOptions": [OPTION]}, "old")
        agent.reply({})
        await agent.expect("session/set_config_option")
        agent.reply({})
        agent.update(
            {"sessionUpdate": "config_option_update", "configOptions": [{**OPTION, "currentValue": "b"}]}, "old"
        )
        await agent.expect("session/prompt")
        agent.say("live", "old")
        agent.reply(DONE)

    async with connected(script) as host:
        session = await host.load_session("old")
        snapshot = session.state.snapshot()
        assert [entry.replayed for entry in snapshot.transcript] == [True, True, True]
        assert len(snapshot.plans) == 1
        assert [option.current_value for option in snapshot.config_options] == ["a"]
        await session.set_config_option("model", "b")
        await session.prompt("go")
        snapshot = session.state.snapshot()
        assert [entry.replayed for entry in snapshot.transcript] == [True, True, True, False, False]
        assert [option.current_value for option in snapshot.config_options] == ["b"]


@pytest.mark.parametrize("ending", ["error", "end"])
async def test_r184_a_replay_that_breaks_off_leaves_everything_as_it_was(ending: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("hello")
        agent.reply(DONE)
        await agent.expect("session/close")
        agent.reply({})
        await agent.expect("session/load")
        agent.update(BEFORE, "session-1")
        agent.update(PLAN, "session-1")
        if ending == "error":
            agent.reply_error(-32603, "broken")
        else:
            await agent.close()

    async with open_session(script) as (host, session):
        await session.prompt("go")
        shown = [*session.state.snapshot().transcript]
        with pytest.raises(acp_host.AcpError):
            await host.load_session("session-1")
        snapshot = session.state.snapshot()
        assert [*snapshot.transcript] == shown
        assert snapshot.plans == ()


async def test_r185_lists_without_end() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        for _ in range(3):
            await agent.expect("session/list")
            agent.reply({"sessions": [{"sessionId": "s", "cwd": "/"}, "nonsense"], "nextCursor": "more"})
            if _ == 1:
                break

    async with connected(script) as host:
        assert [info.session_id async for info in host.iter_sessions()] == ["s"]
        assert any("came back" in note.message for note in host.diagnostics)


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
async def test_r186_a_session_that_is_to_end_and_is_not_there(method: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect(method)
        agent.reply_error(-32002, "Resource not found", {"uri": "session-1"})

    async with open_session(script) as (host, session):
        await (host.close_session if method == "session/close" else host.delete_session)(session.id)
        assert host.sessions == ()
        with pytest.raises(InvalidState):
            session.prompt("too late")


async def test_r187_an_open_session_that_is_not_loaded_again() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake({"loadSession": True}, agentInfo={"name": "Copilot", "version": "1.0.102"})
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        agent.reply(DONE)
        await agent.expect("session/load")
        agent.reply_error(-32602, "Session s-1 is already loaded")
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with connected(script) as host:
        session = await host.new_session()
        await session.prompt("one")
        assert await host.load_session("s-1") is session
        await session.prompt("two")
        assert len(session.state.snapshot().transcript) == 2


async def test_r188_a_view_that_goes_away_ends_nothing() -> None:
    class View:
        def draw(self, changes: Any) -> None:
            pass

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("half")
        await agent.expect("_view/gone")
        agent.reply({})
        agent.say(" and half", "session-1")
        agent.reply(DONE, to=agent.received[2])

    async with open_session(script) as (host, session):
        view = View()
        session.state.changed.connect(view.draw)
        turn = session.prompt("go")
        await until(lambda: session.state.snapshot().transcript[-1:])
        del view
        gc.collect()
        await host.request("_view/gone")
        assert (await turn).text == "half and half"
