"""Connections that are lost, or made again, at moments that nobody would choose."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import ConnectionStatus, Diagnostic, HostConnection, ReconnectPolicy
from acp_host.errors import AcpError, ConnectionLost
from acp_host.testing import AgentTurn, ReferenceAgent, ScriptedAgent
from acp_host.transports import Receiver
from tests.host.cuts import QUICK, Way
from tests.host.scripts import until

WHEN_TOLD = ReconnectPolicy(first_delay=60.0, jitter=0.0, stable_after=0.0)
CAPABLE = {"loadSession": True, "sessionCapabilities": {"resume": {}, "close": {}, "list": {}}}


async def back(host: HostConnection, way: Way, number: int = 2) -> None:
    """Wait until the connection was made for the n-th time."""
    await until(lambda: len(way.made) >= number and host.health.snapshot().status is ConnectionStatus.CONNECTED)


def prompts(way: Way) -> list[bytes]:
    return [line for made in way.made for line in made.written if b'"session/prompt"' in line]


async def test_an_agent_that_counts_its_sessions_anew_gives_old_ids_to_new_sessions() -> None:
    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake({} if number else CAPABLE)
            opened = 0
            while True:
                request = await agent.expect()
                if request["method"] == "session/new":
                    opened += 1
                    agent.reply({"sessionId": f"s-{opened}"})
                elif request["method"] == "session/prompt":
                    agent.say("here", request["params"]["sessionId"])
                    agent.reply({"stopReason": "end_turn"})

        return ScriptedAgent(script)

    way = Way(make)
    policy = ReconnectPolicy(first_delay=0.0, sessions=acp_host.ReopenPolicy())
    async with asyncio.timeout(40), acp_host.connect(way, reconnect=policy) as host:
        before = [await host.new_session("/"), await host.new_session("/")]
        way.cut()
        await back(host, way)
        assert [session.is_lost for session in before] == [True, True]
        now = host.sessions
        assert sorted(session.id for session in now) == ["s-1", "s-2"]
        assert not set(now) & set(before)
        for session in now:
            assert (await session.prompt("there?")).text == "here"
        for session in before:
            with pytest.raises(acp_host.errors.InvalidState, match="is lost"):
                session.prompt("there?")
            assert session.state.snapshot().health.status == "lost"


async def test_what_an_observer_starts_while_the_connection_comes_back_waits_at_the_next_loss() -> None:
    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake(CAPABLE)
            if number == 0:
                await agent.open_session("s-1")
                await agent.stall()
            await agent.expect("session/resume")
            agent.reply({})
            await speak.wait()
            agent.say("hi", "s-1")
            await agent.expect("session/list")
            agent.reply({"sessions": []})
            await agent.stall()

        return ScriptedAgent(script)

    speak = asyncio.Event()
    way = Way(make)
    loss, outcomes = asyncio.Event(), []

    async def ask_at_the_next_loss() -> None:
        await loss.wait()
        try:
            await host.list_sessions()
            outcomes.append("listed")
        except AcpError as error:
            outcomes.append(type(error).__name__)

    tasks: list[asyncio.Task[None]] = []
    async with asyncio.timeout(40), acp_host.connect(way, reconnect=WHEN_TOLD) as host:
        session = await host.new_session("/")
        way.cut()
        await until(lambda: session.is_suspended)
        host.reconnect_now()
        await back(host, way)
        session.on_update(lambda _: tasks or tasks.append(asyncio.create_task(ask_at_the_next_loss())))
        speak.set()
        await until(lambda: tasks)
        way.made[-1].cut()
        await until(lambda: session.is_suspended)
        loss.set()
        for _ in range(20):
            await asyncio.sleep(0)
        host.reconnect_now()
        await asyncio.gather(*tasks)
        assert outcomes == ["listed"]


async def test_a_call_waits_through_two_losses_in_a_row() -> None:
    """The second loss comes in the very step in which the connection is back."""

    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake(CAPABLE)
            if number == 0:
                await agent.open_session("s-1")
                await agent.stall()
            await agent.expect("session/resume")
            agent.reply({})
            await agent.expect("session/list")
            agent.reply({"sessions": []})

        return ScriptedAgent(script)

    def at_once(diagnostic: Diagnostic) -> None:
        if "was made again" in str(diagnostic) and len(way.made) == 2:
            way.made[-1].cut()

    way = Way(make)
    async with (
        asyncio.timeout(40),
        acp_host.connect(way, reconnect=WHEN_TOLD) as host,
    ):
        session = await host.new_session("/")
        way.cut()
        await until(lambda: session.is_suspended)
        listing = asyncio.create_task(host.list_sessions())
        host.diagnostics.connect(at_once)
        await asyncio.sleep(0)
        host.reconnect_now()
        await until(lambda: len(way.made) == 2 and host.health.snapshot().status is ConnectionStatus.WAITING)
        host.reconnect_now()
        assert (await listing).sessions == ()
        assert len(way.made) == 3


@pytest.mark.parametrize("version", [1, 2])
async def test_a_restart_lets_the_turn_end_and_sends_what_comes_meanwhile_afterwards(version: int) -> None:
    go_on = asyncio.Event()

    async def script(turn: AgentTurn) -> None:
        await turn.say(turn.text)
        if turn.text == "first":
            await go_on.wait()
            await turn.say(" done")
        elif turn.text == "second" and len(way.made) == 1:
            await asyncio.Event().wait()

    agent = ReferenceAgent(script=script, protocol_versions=[version])
    way = Way(lambda _: agent)
    async with (
        asyncio.timeout(40),
        acp_host.connect(way, reconnect=QUICK, protocol_versions=(2, 1) if version == 2 else (1,)) as host,
    ):
        session = await host.new_session("/")
        first, second = session.prompt("first"), session.prompt("second")
        await until(lambda: first.text == "first")
        restart = asyncio.create_task(host.restart())
        await asyncio.sleep(0)
        third = session.prompt("third")
        await until(lambda: host.health.snapshot().status is ConnectionStatus.WAITING)
        for _ in range(20):
            await asyncio.sleep(0)
        go_on.set()
        assert (await first).text == "first done"
        await restart
        assert (await second).text == "second"
        assert (await third).text == "third"
        assert len(prompts(way)) == 3


async def test_a_prompt_waits_while_a_restart_waits_for_another_call() -> None:
    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake(CAPABLE)
            if not number:
                await agent.open_session("s-1")
                slow = await agent.expect("_slow")
                await answer.wait()
                agent.reply({}, to=slow)
            else:
                await agent.expect("session/resume")
                agent.reply({})
                await agent.expect("session/prompt")
                agent.reply({"stopReason": "end_turn"})
            await agent.stall()

        return ScriptedAgent(script)

    answer = asyncio.Event()
    way = Way(make)
    async with asyncio.timeout(40), acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session("/")
        slow = asyncio.create_task(host.request("_slow"))
        await until(lambda: way.written[-1].count(b"_slow"))
        restart = asyncio.create_task(host.restart())
        await until(lambda: host.health.snapshot().status is ConnectionStatus.WAITING)
        turn = session.prompt("meanwhile")
        await asyncio.sleep(0)
        answer.set()
        assert await slow == {}
        await restart
        assert (await turn).stop_reason == "end_turn"
        assert [b"meanwhile" in line for line in prompts(way)] == [True]


@pytest.mark.parametrize("call", ["cancel_tool_call", "pending_injections", "log_out", "refresh"])
async def test_every_call_waits_until_the_session_is_open_again(call: str) -> None:
    methods = {
        "cancel_tool_call": "tool_call/cancel",
        "pending_injections": "session/pending_injections",
        "log_out": "auth/logout",
        "refresh": "auth/status",
    }

    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake(
                {"session": {}, "auth": {"status": {}}},
                version=2,
                authMethods=[{"type": "agent", "methodId": "browser", "name": "Browser"}],
            )
            if number == 0:
                await agent.open_session("s-1")
                work = {"toolCallId": "c-1", "title": "Work", "status": "in_progress", "capabilities": {"cancel": {}}}
                agent.update({"sessionUpdate": "tool_call_update", **work}, "s-1")
                await agent.stall()
            await agent.expect("session/resume")
            order.append("resume")
            agent.reply({})
            order.append((await agent.expect(methods[call]))["method"])
            agent.reply({"state": "unauthenticated"} if call == "refresh" else {})
            await agent.stall()

        return ScriptedAgent(script)

    order: list[str] = []
    way = Way(make)
    async with (
        asyncio.timeout(40),
        acp_host.connect(way, reconnect=WHEN_TOLD, protocol_versions=(2,)) as host,
    ):
        session = await host.new_session("/")
        await until(lambda: session.state.tool_call("c-1"))
        way.cut()
        await until(lambda: session.is_suspended)
        waits = asyncio.create_task(
            {
                "cancel_tool_call": lambda: session.cancel_tool_call("c-1"),
                "pending_injections": session.pending_injections,
                "log_out": host.authentication.log_out,
                "refresh": host.authentication.refresh,
            }[call]()
        )
        await asyncio.sleep(0)
        host.reconnect_now()
        await waits
        assert order == ["resume", methods[call]]


async def test_a_loss_right_before_a_session_is_opened_again_is_one_more_try(tmp_path: Path) -> None:
    """Whatever is lost between the handshake and the first request is lost like any other connection."""
    agent = ReferenceAgent()
    for messages in range(1, 5):
        way = Way(lambda _: agent, [None, messages, None])
        async with asyncio.timeout(40), acp_host.connect(way, reconnect=QUICK) as host:
            session = await host.new_session(tmp_path)
            way.cut()
            await back(host, way, 3)
            assert (await session.prompt("/say hi")).text == "hi"

    class Dying(Way):
        async def start(self, receiver: Receiver) -> None:
            await super().start(receiver)
            if self.number == 1:
                self.connection_lost(ConnectionLost("it was gone at once"))

        def again(self, env: Mapping[str, str]) -> Way:
            return Dying(self._make, self._cuts, self)

    way = Dying(lambda _: agent)
    async with asyncio.timeout(40), acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session(tmp_path)
        way.cut()
        await back(host, way, 3)
        assert (await session.prompt("/say hi")).text == "hi"


@pytest.mark.parametrize("error", [None, ConnectionLost("it was gone at once")])
async def test_an_agent_that_is_gone_before_it_is_asked_has_failed_to_start(error: AcpError | None) -> None:
    class Dying(Way):
        async def start(self, receiver: Receiver) -> None:
            await super().start(receiver)
            self.connection_lost(error)

    with pytest.raises(acp_host.StartFailed):
        await acp_host.connect(Dying(lambda _: ReferenceAgent()))


LOST, REOPENING = "while the connection is lost", "while the session is opened again"


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("is_forgotten", [True, False], ids=["the agent forgets the login", "the agent knows it"])
@pytest.mark.parametrize("moment", [LOST, REOPENING])
async def test_a_prompt_that_waits_for_a_login_is_sent_once_its_session_is_open_again(
    moment: str, is_forgotten: bool, version: int
) -> None:
    chosen, reopened = asyncio.Event(), asyncio.Event()
    told: list[str] = []

    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            named = {"id": "browser"} if version == 1 else {"type": "agent", "methodId": "browser"}
            capabilities, ways = CAPABLE if version == 1 else None, [{**named, "name": "Browser"}]
            await agent.handshake(capabilities, version=version, authMethods=ways)
            if number == 0:
                await agent.open_session("s-1")
                await agent.expect("session/prompt")
                agent.reply_error(-32000, "log in first")
            logged_in = not is_forgotten
            while True:
                request = await agent.expect()
                told.append(request["method"])
                if request["method"] == "session/resume":
                    await reopened.wait()
                    if not logged_in:
                        agent.reply_error(-32000, "log in first", to=request)
                        continue
                logged_in = logged_in or request["method"].startswith("auth")
                if request["method"] != "session/prompt":
                    agent.reply({}, to=request)
                elif version == 1:
                    agent.reply({"stopReason": "end_turn"}, to=request)
                else:
                    agent.reply({"messageId": "m"}, to=request)
                    agent.state("running")
                    agent.state("idle", stopReason="end_turn")

        return ScriptedAgent(script)

    async def choose(request: Any) -> str:
        told.append("asked")
        await chosen.wait()
        return "browser"

    way = Way(make)
    versions = (1,) if version == 1 else (2,)
    async with (
        asyncio.timeout(40),
        acp_host.connect(way, reconnect=WHEN_TOLD, authenticate=choose, protocol_versions=versions) as host,
    ):
        session = await host.new_session("/")
        first, second = session.prompt("first"), session.prompt("second")
        await until(lambda: told == ["asked"])
        way.cut()
        await until(lambda: session.is_suspended)
        if moment == LOST:
            chosen.set()
        for _ in range(20):
            await asyncio.sleep(0)
        host.reconnect_now()
        if moment == REOPENING:
            await until(lambda: "session/resume" in told)
            chosen.set()
            for _ in range(20):
                await asyncio.sleep(0)
        assert "session/prompt" not in told
        reopened.set()
        assert [(await turn).stop_reason for turn in (first, second)] == ["end_turn", "end_turn"]
        assert told[-2:] == ["session/prompt", "session/prompt"]
        assert told.count("session/prompt") == 2
        assert told.count("asked") == 1
        assert [entry.text for entry in session.state.snapshot().transcript if hasattr(entry, "text")] == [
            "first",
            "second",
        ]


async def test_a_prompt_that_waits_for_a_login_fails_unsent_where_the_connection_is_given_up() -> None:
    chosen = asyncio.Event()

    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            if number == 0:
                await agent.handshake(CAPABLE, authMethods=[{"id": "browser", "name": "Browser"}])
                await agent.open_session("s-1")
                await agent.expect("session/prompt")
                agent.reply_error(-32000, "log in first")
            elif number == 1:
                await agent.handshake(CAPABLE, authMethods=[{"id": "browser", "name": "Browser"}])
                await agent.expect("authenticate")
                agent.reply({})
            else:
                await agent.close()
            await agent.stall()

        return ScriptedAgent(script)

    async def choose(request: Any) -> str:
        asked.set()
        await chosen.wait()
        return "browser"

    asked = asyncio.Event()
    way = Way(make)
    policy = ReconnectPolicy(first_delay=0.0, tries=2, stable_after=0.0, session_timeout=5.0)
    async with asyncio.timeout(40), acp_host.connect(way, reconnect=policy, authenticate=choose) as host:
        session = await host.new_session("/")
        turn = session.prompt("first")
        await asked.wait()
        way.cut()
        chosen.set()
        await until(lambda: len(way.made) == 2 and any(b"authenticate" in line for line in way.made[1].sent))
        for _ in range(20):
            await asyncio.sleep(0)
        way.made[-1].cut()
        with pytest.raises(AcpError) as unsent:
            await turn
        await host.wait_closed()
        assert "not sent" in str(unsent.value)
        assert turn.outcome is not None
        assert turn.outcome.interruption is not None
        assert turn.outcome.interruption.safe_to_resend
