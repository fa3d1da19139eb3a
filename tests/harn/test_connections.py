"""Sessions that work at the same time, each over a connection of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import acp_host
from acp_host.errors import InvalidState, RequestFailed
from acp_host.harn import SessionConnections
from acp_host.testing import ScriptedAgent

HARN: dict[str, Any] = {"loadSession": True, "_meta": {"harn": {}}}
DONE: dict[str, Any] = {"stopReason": "end_turn"}


class Program:
    """Agents of one kind, one for each connection."""

    def __init__(self) -> None:
        self.agents: list[ScriptedAgent] = []
        self.gone = 0
        self.all_run = asyncio.Barrier(2)

    async def script(self, agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session(f"s{len(self.agents)}")
        await agent.expect("session/prompt")
        await self.all_run.wait()
        agent.reply(DONE)

    def connect(self) -> acp_host.connect:
        agent = ScriptedAgent(self.script)
        self.agents.append(agent)
        return acp_host.connect(agent.transport())


async def test_they_work_at_the_same_time() -> None:
    program = Program()
    async with SessionConnections(program.connect) as connections:
        sessions = [await connections.new_session(), await connections.new_session()]
        await asyncio.gather(*(session.prompt("Hi").wait() for session in sessions))
        assert connections.sessions == tuple(sessions)
        hosts = [connections.host_of(session) for session in sessions]
        assert hosts[0] is not hosts[1]
    assert all(host.closed for host in hosts)
    assert connections.sessions == ()
    with pytest.raises(InvalidState):
        await connections.new_session()


async def test_one_is_closed_with_its_session() -> None:
    program = Program()
    async with SessionConnections(program.connect, limit=1) as connections:
        session = await connections.new_session()
        with pytest.raises(InvalidState, match="1 connections are open"):
            await connections.new_session()
        host = connections.host_of(session)
        await connections.close_session(session)
        assert host.closed
        with pytest.raises(InvalidState):
            connections.host_of(session)
        await connections.new_session()
    assert len(program.agents) == 2


async def test_a_session_that_is_not_opened_leaves_no_connection_behind() -> None:
    hosts: list[acp_host.HostConnection] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.expect("session/load")
        agent.reply_error(-32602, "Unknown session: s9")

    async def connect() -> acp_host.HostConnection:
        hosts.append(await acp_host.connect(ScriptedAgent(script).transport()))
        return hosts[-1]

    async with SessionConnections(connect, limit=1) as connections:
        for _ in range(2):
            with pytest.raises(RequestFailed):
                await connections.load_session("s9")
        assert all(host.closed for host in hosts)
        assert connections.sessions == ()


async def test_what_is_opened_while_all_is_closed_is_closed_too() -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()
    hosts: list[acp_host.HostConnection] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.expect("session/new")
        asked.set()
        await go_on.wait()
        agent.reply({"sessionId": "s1"})

    async def connect() -> acp_host.HostConnection:
        hosts.append(await acp_host.connect(ScriptedAgent(script).transport()))
        return hosts[-1]

    connections = SessionConnections(connect)
    opening = asyncio.create_task(connections.new_session())
    await asked.wait()
    await connections.close()
    go_on.set()
    with pytest.raises(InvalidState, match="closed meanwhile"):
        await opening
    assert hosts[0].closed
