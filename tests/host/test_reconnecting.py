"""A connection that is lost and made again, with the sessions, turns and questions of before."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.errors import ConnectionClosed, ConnectionLost, OutcomeUnknown
from acp_host.host import restoration
from acp_host.host.reconnect_machine import ConnectionStatus
from acp_host.host.reconnect_policy import ReconnectPolicy
from acp_host.host.reopening import Lost
from acp_host.services.mcp import HostMcpServer
from acp_host.testing import AgentTurn, ReferenceAgent, ScriptedAgent
from tests.host.cuts import QUICK, Way, refused, unreachable
from tests.host.scripts import OPENS, until


def said(session: acp_host.Session) -> list[str]:
    return [entry.text for entry in session.state.snapshot().transcript if hasattr(entry, "text")]


async def test_the_sessions_go_on_where_they_were(tmp_path: Path) -> None:
    agent = ReferenceAgent()
    way = Way(lambda _: agent)
    async with acp_host.connect(way, reconnect=QUICK) as host:
        session, other = await host.new_session(tmp_path), await host.new_session(tmp_path)
        await session.prompt("/say one")
        way.cut()
        await until(lambda: host.health.snapshot().status is ConnectionStatus.CONNECTED and len(way.made) == 2)
        assert host.sessions == (session, other)
        assert (await session.prompt("/say two")).text == "two"
        assert said(session) == ["/say one", "one", "/say two", "two"]
        assert (await other.prompt("/say three")).text == "three"
        assert session.state.snapshot().health.status == "connected"
        returned = host.health.snapshot().returned
        assert [(one.session_id, one.step, one.lost) for one in returned] == [
            (session.id, "resume", Lost.NOTHING),
            (other.id, "resume", Lost.NOTHING),
        ]


async def test_a_turn_that_is_cut_off_is_not_sent_again_and_says_what_is_known(tmp_path: Path) -> None:
    async def script(turn: AgentTurn) -> None:
        await turn.say("half")
        way.made[-1].cut()
        await asyncio.sleep(0)

    agent = ReferenceAgent(script=script)
    way = Way(lambda _: agent)
    async with acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session(tmp_path)
        turn, queued = session.prompt("first"), session.prompt("second")
        with pytest.raises(OutcomeUnknown) as cut:
            await turn
        interruption = cut.value.interruption
        assert turn.outcome is not None
        assert turn.outcome.interruption is interruption
        assert interruption.started is True
        assert not interruption.safe_to_resend
        assert interruption.text == "half"
        with pytest.raises(OutcomeUnknown):
            await queued
        prompts = [line for way in way.made for line in way.sent if b'"session/prompt"' in line]
        assert [b"first" in line for line in prompts] == [True, False]
        await until(lambda: host.health.snapshot().status is ConnectionStatus.CONNECTED)


async def test_without_a_policy_the_connection_is_over() -> None:
    way = Way(lambda _: ReferenceAgent())
    async with acp_host.connect(way, reconnect=False) as host:
        session = await host.new_session("/")
        way.cut()
        assert isinstance(await host.wait_closed(), ConnectionLost)
        assert host.health.snapshot().status is ConnectionStatus.LOST
        with pytest.raises(ConnectionClosed):
            session.prompt("too late")
    assert len(way.made) == 1


async def test_it_is_given_up_at_once_where_trying_is_of_no_use() -> None:
    agent = ReferenceAgent()
    way = Way(lambda _: agent, [None, refused()])
    async with acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session("/")
        way.cut()
        error = await host.wait_closed()
        assert "401" in str(error)
        assert host.health.snapshot().status is ConnectionStatus.LOST
        assert session.state.snapshot().health.status == "lost"
        with pytest.raises(ConnectionClosed, match=r"was not queued: the connection has ended: .*401"):
            await session.prompt("too late")
    assert len(way.made) == 2


async def test_observers_hear_of_a_change_once() -> None:
    seen: list[str] = []
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        host.health.changed.connect(lambda changes: seen.append(changes.snapshot.status))
    await until(lambda: bool(seen))
    await asyncio.sleep(0)
    assert seen == ["closed"]


async def test_it_is_tried_until_it_works() -> None:
    agent = ReferenceAgent()
    way = Way(lambda _: agent, [None, unreachable(), unreachable(), None])
    seen: list[tuple[str, int]] = []
    async with acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session("/")
        host.health.changed.connect(lambda changes: seen.append((changes.snapshot.status, changes.snapshot.attempt)))
        way.cut()
        assert (await session.prompt("/say after")).text == "after"
        await until(lambda: seen[-1] == ("connected", 0))
    assert ("handshaking", 3) in seen
    assert len(way.made) == 4


async def test_tries_are_bounded_and_what_waits_is_told() -> None:
    agent = ReferenceAgent()
    way = Way(lambda _: agent, [None, unreachable()])
    policy = ReconnectPolicy(first_delay=0.0, tries=3)
    async with acp_host.connect(way, reconnect=policy) as host:
        session = await host.new_session("/")
        way.cut()
        await until(lambda: session.is_suspended)
        waits, listing = session.prompt("later"), asyncio.create_task(host.list_sessions())
        assert "nobody listens" in str(await host.wait_closed())
        with pytest.raises(ConnectionClosed):
            await waits
        assert waits.outcome is not None
        assert waits.outcome.interruption is not None
        assert waits.outcome.interruption.safe_to_resend
        with pytest.raises(ConnectionClosed):
            await listing
    assert len(way.made) == 4


async def test_calls_wait_only_so_long() -> None:
    agent = ReferenceAgent()
    way = Way(lambda _: agent, [None, unreachable()])
    policy = ReconnectPolicy(first_delay=20.0, jitter=0.0, calls_wait=0.0)
    async with acp_host.connect(way, reconnect=policy) as host:
        way.cut()
        await until(lambda: host.health.snapshot().status is ConnectionStatus.WAITING)
        with pytest.raises(ConnectionLost, match="session/list was not sent"):
            await host.list_sessions()
        assert host.health.snapshot().next_try is not None
        host.reconnect_now()
        await until(lambda: len(way.made) == 2)
    assert host.health.snapshot().status is ConnectionStatus.CLOSED


# --- what is of a connection ----------------------------------------------------------------------------------------


async def test_servers_of_this_program_are_lent_anew() -> None:
    calls: list[str] = []

    def server(method: str, params: Any) -> dict[str, Any]:
        calls.append(method)
        return {}

    agent = ReferenceAgent()
    way = Way(lambda _: agent)
    async with asyncio.timeout(40), acp_host.connect(way, reconnect=QUICK, unstable=True) as host:
        session = await host.new_session("/", mcp_servers=[HostMcpServer(server, name="tools")])
        await session.prompt("/mcp one {}")
        way.cut()
        await session.prompt("/mcp two {}")
        assert calls == ["one", "two"]
        ids = [server["serverId"] for made in way.made for server in opened_with(made)]
        assert len(ids) == len(set(ids)) == 2


def opened_with(way: Way) -> list[dict[str, Any]]:
    """The MCP servers that the requests of a connection which open a session have named."""
    messages = [json.loads(message) for message in way.sent]
    return [server for message in messages for server in message.get("params", {}).get("mcpServers", ())]


async def test_what_was_learned_to_be_absent_is_asked_anew() -> None:
    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake(OPENS)
            if number == 0:
                await agent.open_session("s-1")
                await agent.expect("_x/method")
                agent.reply_error(-32601, "Method not found")
                await agent.expect("_x/other")
                await agent.close()
                return
            await agent.expect("session/resume")
            agent.reply({})
            await agent.expect("_x/method")
            agent.reply({"here": True})
            await agent.stall()

        return ScriptedAgent(script)

    async with asyncio.timeout(40), acp_host.connect(Way(make), reconnect=QUICK) as host:
        session = await host.new_session("/")
        with pytest.raises(acp_host.errors.MethodNotFound):
            await session.ext_request("_x/method", {})
        assert session.lacks("_x/method")
        with pytest.raises(OutcomeUnknown) as cut:
            await session.ext_request("_x/other", {})
        assert not cut.value.interruption.safe_to_resend
        assert await session.ext_request("_x/method", {}) == {"here": True}
        assert not session.lacks("_x/method")


async def test_a_turn_of_version_2_ends_with_the_connection() -> None:
    """Its prompt was answered long ago, so that no call ends with the connection."""

    async def script(turn: AgentTurn) -> None:
        await turn.say("half")
        if turn.text == "go":
            way.made[-1].cut()
            await asyncio.sleep(0)

    agent = ReferenceAgent(script=script, protocol_versions=[2])
    way = Way(lambda _: agent)
    async with (
        asyncio.timeout(40),
        acp_host.connect(way, reconnect=QUICK, protocol_versions=(2, 1)) as host,
    ):
        session = await host.new_session("/")
        with pytest.raises(OutcomeUnknown) as cut:
            await session.prompt("go")
        assert cut.value.interruption.started is True
        assert host.agreement.protocol_version == 2
        assert (await session.prompt("once more")).text == "half"


async def test_closing_while_the_connection_is_made_again() -> None:
    agent = ReferenceAgent()
    way = Way(lambda _: agent, [None, unreachable()])
    async with asyncio.timeout(40), acp_host.connect(way, reconnect=ReconnectPolicy(first_delay=60.0)) as host:
        session = await host.new_session("/")
        way.cut()
        waits, call = session.prompt("never"), asyncio.create_task(session.set_mode("auto"))
        await until(lambda: session.is_suspended)
    with pytest.raises(ConnectionClosed):
        await waits
    with pytest.raises(ConnectionClosed):
        await call
    assert host.health.snapshot().status is ConnectionStatus.CLOSED
    assert session.state.snapshot().health.status == "closed"
    assert await host.wait_closed() is None


async def test_a_restart_with_open_sessions_and_a_turn_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoration, "_LAST_ANSWERS", 0.01)
    agent = ReferenceAgent()
    way = Way(lambda _: agent)
    async with asyncio.timeout(40), acp_host.connect(way, reconnect=False) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("/wait")
        await until(lambda: session.current_turn is not None)
        restarting = asyncio.create_task(host.restart())
        with pytest.raises(OutcomeUnknown):
            await turn
        [returned] = await restarting
        assert (returned.step, returned.lost) == ("resume", Lost.NOTHING)
        assert (await session.prompt("/say hi")).text == "hi"
        way.made[-1].cut()
        assert isinstance(await host.wait_closed(), ConnectionLost), "a loss is still none that is repaired"


async def test_a_program_that_sets_reconnect_to_something_else_is_told() -> None:
    with pytest.raises(acp_host.errors.InvalidInput, match="reconnect"):
        acp_host.connect(["agent"], reconnect=5)
