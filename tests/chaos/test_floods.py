"""Agents that make something grow without an end: what is kept of it is bounded, and what is left out is said."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import DiagnosticKind, OutcomeUnknown, UpdatesSkipped
from acp_host.host import driver
from acp_host.host.update_buffer import MAX_LARGE
from acp_host.state.entries import ToolCallEntry
from acp_host.state.members import MAX_MEMBERS
from acp_host.state.notices import MAX_HISTORY_SIZE
from acp_host.state.session_facts import MAX_PLANS, MAX_SUBAGENTS
from acp_host.state.terminals import MAX_AGENT_TERMINALS, MAX_RELEASED
from acp_host.testing import ScriptedAgent
from acp_host.transports import Transport
from tests.chaos.bad_agents import DONE, connected, open_session, reported, until

NEVER_READS = Path(__file__).parent / "programs" / "never_reads.py"
FEW = 5
"""More than a limit, by so many."""


async def test_r443_an_agent_that_asks_on_and_reads_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MOST_UNREAD", 2**15)
    async with acp_host.connect([sys.executable, str(NEVER_READS)]) as host:
        session = await host.new_session()
        with pytest.raises(OutcomeUnknown, match="asks and does not read"):
            await session.prompt("question")


async def test_r443_files_are_not_added_to_what_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "large").write_text("content")
    queued = driver.MOST_UNREAD + 1
    answers: list[dict[str, Any]] = []

    async def script(agent: ScriptedAgent) -> None:
        nonlocal queued
        await agent.handshake()
        await agent.open_session()
        prompt = await agent.expect("session/prompt")
        read = {"sessionId": "session-1", "path": str(tmp_path / "large")}
        answers.append(await agent.call("fs/read_text_file", read))
        queued = 0  # it has read what waited
        answers.append(await agent.call("fs/read_text_file", read))
        agent.reply(DONE, to=prompt)

    async with connected(script, files=True) as host:
        monkeypatch.setattr(type(host._driver.transport), "queued", property(lambda _: queued))
        result = await (await host.new_session(tmp_path)).prompt("question")
        assert result.stop_reason == "end_turn"
        assert answers[0]["error"]["code"] == -32603
        assert "ask again" in answers[0]["error"]["message"]
        assert answers[1]["result"] == {"content": "content"}
        [note] = reported(host, DiagnosticKind.UNEXPECTED)
        assert note.method == "fs/read_text_file"


def test_r443_every_transport_tells_what_waits() -> None:
    from acp_host.testing._in_process import InProcessTransport
    from acp_host.transports import StdioTransport
    from acp_host.transports._around import TransportAround
    from acp_host.transports.memory import memory_pair
    from acp_host.transports.streamable_http import HttpTransport
    from acp_host.transports.websocket import WebSocketTransport

    kinds = [InProcessTransport, StdioTransport, TransportAround, HttpTransport, WebSocketTransport]
    for kind in (*kinds, type(memory_pair()[0])):
        assert kind.queued is not Transport.queued, kind


def of_call(number: int) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "call", "rawOutput": [number, "x" * (MAX_LARGE // 16)]}


async def test_r444_large_updates_that_nobody_takes_give_way_to_newer_ones() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(20):
            agent.update(of_call(number))
        agent.say("small")
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (_, session):
        turn = session.prompt("question")
        await turn.over()
        skipped, *kept, last = [update async for update in turn]
        assert isinstance(skipped, UpdatesSkipped)
        assert 10 <= len(kept) <= 16
        assert [update.raw_output[0] for update in kept] == [*range(skipped.count, 20)]
        assert last.content.text == "small"
        [call] = [entry for entry in session.state.snapshot().transcript if isinstance(entry, ToolCallEntry)]
        assert call.raw_output[0] == 19, "the state knows the latest"


async def test_r444_so_do_those_between_turns() -> None:
    async def script(agent: ScriptedAgent) -> None:
        agent.reply(DONE, to=await agent.expect("session/prompt"))
        for number in range(20):
            agent.update(of_call(number))

    async with open_session(script) as (_, session):
        await session.prompt("question")
        await until(lambda: (call := session.state.tool_call("call")) and call.raw_output[0] == 19)
        skipped = await session.next_update_between_turns()
        assert isinstance(skipped, UpdatesSkipped)
        first: Any = await session.next_update_between_turns()
        assert first.raw_output[0] == skipped.count >= 4


async def test_r445_thousands_of_plans_and_subagents() -> None:
    plans, children = MAX_PLANS + FEW, MAX_SUBAGENTS + FEW

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(plans):
            plan = {"type": "markdown", "planId": f"plan-{number}", "content": "first this, then that"}
            agent.update({"sessionUpdate": "plan_update", "plan": plan})
        for number in range(children):
            child = f"child-{number}"
            running = {"state": "running"}
            agent.update({"sessionUpdate": "subagent_update", "sessionId": child, "title": child, "state": running})
            agent.say(f"I am {number}", child)
        agent.say("done")
        agent.reply(DONE, to=prompt)

    async with open_session(script, unstable=True) as (host, session):
        assert (await session.prompt("question")).text == "done"
        snapshot = session.state.snapshot()
        assert [plan.plan_id for plan in snapshot.plans] == [f"plan-{number}" for number in range(FEW, plans)]
        assert [*snapshot.subagents] == [f"child-{number}" for number in range(FEW, children)]
        assert session.subagents.ids() == tuple(snapshot.subagents)
        told = [note.message for note in reported(host, DiagnosticKind.UNEXPECTED)]
        assert any("plans" in text for text in told)
        assert any("subagents: " in text for text in told)
        assert any("have sent something" in text for text in told)


async def test_r446_members_that_every_message_adds() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        call = {"sessionUpdate": "tool_call_update", "toolCallId": "call"}
        for number in range(MAX_MEMBERS + FEW):
            agent.update({**call, f"beside{number}": number, "_meta": {f"name{number}": number}})
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (host, session):
        await session.prompt("question")
        call = session.state.tool_call("call")
        assert call is not None
        assert [*call.meta.values()] == [*call.extra.values()] == [*range(FEW, MAX_MEMBERS + FEW)]
        told = reported(host, DiagnosticKind.UNEXPECTED)
        assert told[0].message.startswith(f"more than {MAX_MEMBERS} members of _meta, or beside the schema")
        assert sum(note.count for note in told) == 2 * FEW


async def test_r447_notices_of_megabytes() -> None:
    size = MAX_HISTORY_SIZE // 8

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(20):
            notice = {"severity": "info", "title": f"notice {number}", "description": "x" * size}
            agent.update({"sessionUpdate": "notice", **notice})
        agent.reply(DONE, to=prompt)

    async with open_session(script, unstable=True) as (_, session):
        await session.prompt("question")
        notices = session.notices.snapshot()
        assert notices.total == 20, "all are counted"
        assert [entry.title for entry in notices.history] == [f"notice {number}" for number in range(13, 20)]


async def test_r484_commands_of_its_own_by_the_thousand() -> None:
    ended, running = MAX_RELEASED + FEW, MAX_AGENT_TERMINALS - MAX_RELEASED + FEW

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(version=2)
        await agent.open_session("session-1")
        for number in range(ended + running):
            told = {"exitStatus": {"exitCode": 0}} if number < ended else {"command": "serve"}
            agent.update({"sessionUpdate": "terminal_update", "terminalId": f"t{number}", **told})
        agent.update({"sessionUpdate": "session_info_update", "title": "all told"})

    async with connected(script, protocol_versions=(2, 1)) as host:
        session = await host.new_session()
        await until(lambda: session.state.snapshot().info.title == "all told")
        kept = [*session.state.snapshot().terminals]
        assert kept == [f"t{number}" for number in range(ended + running - MAX_AGENT_TERMINALS, ended + running)]
        told_of = reported(host, DiagnosticKind.UNEXPECTED)
        assert {note.message for note in told_of} == {
            f"more than {MAX_AGENT_TERMINALS} commands of the agent's own: the oldest is forgotten"
        }
        assert sum(note.count for note in told_of) == FEW
