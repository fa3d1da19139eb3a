"""Connections that are lost anywhere, and agents that come back otherwise than they went."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import ConnectionStatus, HostConnection, Lost, PermissionQueue, ReconnectPolicy, ReminderPolicy, Session
from acp_host.errors import AcpError, ConnectionLost, OutcomeUnknown
from acp_host.testing import AgentTurn, ReferenceAgent, ScriptedAgent
from acp_host.transports import Launch
from tests.chaos.bad_agents import ALL, DONE, PATIENCE, chunk, until
from tests.host.cuts import QUICK, Way, refused, unreachable

BOUNDARIES = range(2, 66)
"""After how many messages of both directions a connection is cut; a whole conversation has fewer than the last."""


WHEN_TOLD = ReconnectPolicy(first_delay=60.0, jitter=0.0)
"""Comes back when the test says so."""


async def back(host: HostConnection, way: Way, number: int = 2) -> None:
    """Wait until the connection was made again for the n-th time."""
    await until(lambda: len(way.made) >= number and host.health.snapshot().status is ConnectionStatus.CONNECTED)


def said(session: Session) -> list[str]:
    return [entry.text for entry in session.state.snapshot().transcript if hasattr(entry, "text")]


def count(way: Way, words: bytes) -> int:
    """How often the host has written a message with these words, arrived or not."""
    return sum(words in message for made in way.made for message in made.written)


# --- every boundary -------------------------------------------------------------------------------------------------


async def ends(call: Any, told: list[str]) -> None:
    """Wait for the end of a call; every one has to come."""
    try:
        await call
    except AcpError as error:
        told.append(type(error).__name__)


def asks_twice() -> ReferenceAgent:
    async def script(turn: AgentTurn) -> None:
        await turn.say(f"{turn.text} begun. ")
        async with turn.tool_call("Look", kind="execute") as call:
            allowed = await turn.permitted(call)
        await turn.say("yes" if allowed else "no")

    return ReferenceAgent(script=script)


@pytest.mark.parametrize(
    "kind",
    [{}, {"also": ["harn_reminders"], "without": ["reminders"]}, {"without": ["resume"]}, {"protocol_versions": [2]}],
    ids=["inject", "remind", "load", "version 2"],
)
@pytest.mark.timeout(60)
async def test_r255_cut_at_every_message(kind: dict[str, Any], tmp_path: Path) -> None:
    async def converse(boundary: int) -> int:
        agent = ReferenceAgent(script=asks_twice().script, **kind)
        way, told = Way(lambda _: agent, [boundary, None]), []
        async with (
            asyncio.timeout(PATIENCE),
            acp_host.connect(
                way,
                reconnect=QUICK,
                permissions=acp_host.PermissionPolicy.allow_once(),
                protocol_versions=(2, 1) if "protocol_versions" in kind else (1,),
            ) as host,
        ):
            try:
                session = await host.new_session(tmp_path)
            except OutcomeUnknown:
                session = await host.new_session(tmp_path)
            first, second = session.prompt("<first>"), session.prompt("<second>")
            await ends(first, told)
            await ends(session.set_mode("auto"), told)
            await ends(session.remind("<a reminder>"), told)
            await ends(session.remind("<a prefix>", policy=ReminderPolicy(rungs=("prefixed_user_message",))), told)
            await ends(second, told)
            await ends(host.list_sessions(), told)
            await ends(session.prompt("<last>"), told)
            await ends(last := session.prompt("<end>"), told)
            assert told or last.text.endswith("<end> begun. yes")
            assert session.state.snapshot().questions == ()
            for words in (b"<first>", b"<second>", b"<last>", b"<end>", b"<a reminder>", b"<a prefix>"):
                assert count(way, words) <= 1, f"cut after {boundary} messages, {words!r} was sent twice"
            for turn in (first, second):
                assert turn.outcome is not None
                assert turn.result is not None or turn.outcome.interruption is not None
            assert len(told) <= 2, told  # the second: what was called before the loss was known, and not sent
            uncertain = [entry for entry in session.reminders.snapshot().entries if entry.status == "uncertain"]
            assert len(uncertain) <= 1
        return len(way.made)

    connections = [await converse(boundary) for boundary in BOUNDARIES]
    assert set(connections) == {1, 2}, "the last boundaries lie behind the conversation"


async def test_r256_a_question_at_the_cut_is_withdrawn_and_asked_anew() -> None:
    queue = PermissionQueue()
    agent = asks_twice()
    way = Way(lambda _: agent)
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK, permissions=queue) as host:
        session = await host.new_session("/")
        turn = session.prompt("one")
        await until(lambda: bool(queue.pending))
        [question] = queue.pending
        way.cut()
        with pytest.raises(OutcomeUnknown) as cut:
            await turn
        assert question.expired
        assert queue.pending == ()
        assert session.state.snapshot().questions == ()
        assert [call.title for call in cut.value.interruption.unfinished] == ["Look"]
        again = session.prompt("two")
        await until(lambda: bool(queue.pending))
        assert queue.pending[0] is not question
        queue.pending[0].choose("allow")
        assert (await again).text.endswith("yes")
        answers = [message for made in way.made for message in made.sent if b'"outcome"' in message]
        assert len(answers) == 1, "the question of the first connection is answered on none"


def opens(agent: ScriptedAgent, **capabilities: Any) -> Any:
    return agent.handshake({**ALL, **capabilities})


async def test_r257_reminders_without_an_answer_are_settled_by_the_agents_list() -> None:
    """One has arrived, the other has not; two more wait and go out once, in order."""
    has = {"session": {"remind": {"pending": {"list": True}}}, "reminders": {"inject": True}}

    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await opens(agent, **has)
            if number == 0:
                await agent.open_session("s-1")
                await agent.expect("session/inject_reminder")
                await agent.expect("session/inject_reminder")
                await agent.close()
                return
            await agent.expect("session/resume")
            agent.reply({})
            await agent.expect("session/pending_injections")
            agent.reply({"reminders": [{"reminderId": "r-1", "body": "arrived"}], "injections": []})
            for body in ("waited", "waited, too"):
                told = await agent.expect("session/inject_reminder")
                assert told["params"]["body"] == body
                agent.reply({"reminderId": f"r-{body}"})
            await agent.stall()

        return ScriptedAgent(script)

    way = Way(make)
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=WHEN_TOLD) as host:
        session = await host.new_session("/")
        first, second = session.remind_soon("arrived"), session.remind_soon("vanished")
        await until(lambda: session.is_suspended)
        assert [session.reminders.get(each.id).status for each in (first, second)] == ["uncertain"] * 2
        third, fourth = session.remind_soon("waited"), session.remind_soon("waited, too")
        assert [session.reminders.get(each.id).status for each in (third, fourth)] == ["queued"] * 2
        host.reconnect_now()
        await until(lambda: session.reminders.get(fourth.id).status == "pending")
        statuses = {entry.body: entry.status for entry in session.reminders.snapshot().entries}
        assert (statuses["waited"], statuses["vanished"]) == ("pending", "failed")
        assert count(way, b"waited") == 2
        assert count(way, b"arrived") == 1


async def test_r258_an_option_that_was_being_set_is_as_the_agent_last_told() -> None:
    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await opens(agent)
            modes = {
                "currentModeId": "ask",
                "availableModes": [{"id": "ask", "name": "A"}, {"id": "auto", "name": "B"}],
            }
            if number == 0:
                await agent.open_session("s-1", modes=modes)
                await agent.expect("session/set_mode")
                await agent.close()
                return
            await agent.expect("session/resume")
            agent.reply({"modes": {**modes, "currentModeId": "auto"}})
            await agent.stall()

        return ScriptedAgent(script)

    way = Way(make)
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session("/")
        with pytest.raises(OutcomeUnknown) as cut:
            await session.set_mode("auto")
        assert cut.value.interruption.safe_to_resend, "setting it twice is setting it once"
        await back(host, way)
        assert session.state.snapshot().modes.current == "auto", "it had arrived, as the agent says when it is back"


# --- how long it is tried -------------------------------------------------------------------------------------------


async def test_r259_a_server_that_comes_back_late() -> None:
    """Bug log 119: what waits for it is not given up after a moment."""
    agent = ReferenceAgent()
    way = Way(lambda _: agent, [None, *[unreachable()] * 8, None])
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK) as host:
        sessions = [await host.new_session("/") for _ in range(8)]
        way.cut()
        turns = [session.prompt("/say there") for session in sessions]
        assert [(await turn).text for turn in turns] == ["there"] * 8
        assert host.sessions == tuple(sessions)


async def test_r260_what_nobody_knows_is_no_loss() -> None:
    """Bug log 120: an unknown message was taken for a broken socket, and the storm began."""

    async def script(agent: ScriptedAgent) -> None:
        await opens(agent)
        await agent.open_session("s-1")
        request = await agent.expect("session/prompt")
        agent.send_raw(b"\x00\xff no message at all\n")
        agent.notify("_nobody/knows", {"this": 1})
        agent.update({"sessionUpdate": "from_the_future"}, "s-1")
        agent.say("all the same", "s-1")
        agent.reply(DONE, to=request)
        await agent.stall()

    way = Way(lambda _: ScriptedAgent(script))
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK) as host:
        assert (await (await host.new_session("/")).prompt("go")).text == "all the same"
        assert host.health.snapshot().status is ConnectionStatus.CONNECTED
    assert len(way.made) == 1


async def test_r261_each_connection_begins_with_a_handshake_of_its_own() -> None:
    """Bug log 122: a new socket under an old protocol object looks connected, and is dead."""
    agent = ReferenceAgent()
    way = Way(lambda _: agent)
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session("/")
        for number in (2, 3, 4):
            way.made[-1].cut()
            await back(host, way, number)
            assert (await session.prompt("/say hi")).text == "hi"
    for made in way.made:
        assert b'"method":"initialize"' in made.sent[0]
    assert all(b'"session/resume"' in made.sent[1] for made in way.made[1:])


@pytest.mark.parametrize("status", [401, 403])
async def test_r262_a_server_that_does_not_let_this_host_in_any_more(status: int) -> None:
    agent = ReferenceAgent()
    way = Way(lambda _: agent, [None, refused(status)])
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session("/")
        way.cut()
        waits = session.prompt("/say hi")
        assert str(status) in str(await host.wait_closed())
        with pytest.raises(acp_host.ConnectionClosed):
            await waits
        assert host.health.snapshot().attempt == 1
    assert len(way.made) == 2


async def test_r263_calls_meanwhile_wait_for_a_bounded_time() -> None:
    agent = ReferenceAgent()
    way = Way(lambda _: agent)
    policy = ReconnectPolicy(first_delay=60.0, jitter=0.0, calls_wait=0.01)
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=policy) as host:
        session = await host.new_session("/")
        way.cut()
        await until(lambda: session.is_suspended)
        with pytest.raises(ConnectionLost, match="session/set_mode was not sent"):
            await session.set_mode("auto")
        with pytest.raises(ConnectionLost, match="_x/told was not sent"):
            await host.notify("_x/told")
        host.reconnect_now()
        await back(host, way)
        await session.set_mode("auto")


# --- agents that come back otherwise --------------------------------------------------------------------------------


async def test_r264_a_session_that_the_agent_has_forgotten() -> None:
    """Bug log 39: the others go on, and the user is told."""
    agent = ReferenceAgent()
    way = Way(lambda _: agent)
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK) as host:
        forgotten, kept = await host.new_session("/"), await host.new_session("/")
        await forgotten.prompt("/say remember")
        way.cut()
        waits = forgotten.prompt("and go on")
        del agent.sessions[forgotten.id]
        await back(host, way)
        assert host.sessions == (kept,)
        assert forgotten.is_lost
        assert said(forgotten) == ["/say remember", "remember"]
        mark = forgotten.state.snapshot().transcript[-1]
        assert isinstance(mark, acp_host.ConnectionEntry)
        assert (mark.lost, mark.summary) == ("context", host.health.snapshot().returned[0].summary)
        assert forgotten.state.snapshot().health.status == "lost"
        with pytest.raises(acp_host.errors.InvalidState, match="is lost"):
            await waits
        lost, goes_on = host.health.snapshot().returned
        assert (lost.step, lost.lost) == (None, Lost.CONTEXT)
        assert lost.summary.endswith(f"could not open it again: there is no session {forgotten.id}")
        assert goes_on.lost is Lost.NOTHING
        assert count(way, b"and go on") == 0, "what was meant for one conversation is not said in another"


async def test_r265_a_new_conversation_where_the_policy_allows_it() -> None:
    agent = ReferenceAgent()
    way = Way(lambda _: agent)
    policy = ReconnectPolicy(first_delay=0.0, sessions=acp_host.ReopenPolicy())
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=policy) as host:
        session = await host.new_session("/")
        way.cut()
        agent.sessions.clear()
        await back(host, way)
        [returned] = host.health.snapshot().returned
        [new] = host.sessions
        assert (returned.session_id, returned.new_session_id) == (session.id, new.id)
        assert "knows nothing" in returned.summary
        assert session.is_lost
        assert (await new.prompt("/say hi")).text == "hi"


async def test_r266_a_session_that_is_opened_and_not_known_at_the_next_prompt() -> None:
    """Bug log 40."""

    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await opens(agent)
            if number == 0:
                await agent.open_session("s-1")
                await agent.close()
                return
            await agent.expect("session/resume")
            agent.reply({})
            await agent.expect("session/prompt")
            agent.reply_error(-32602, "Unsupported ACP session", {"sessionId": "s-1"})
            await agent.stall()

        return ScriptedAgent(script)

    way = Way(make)
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session("/")
        await back(host, way)
        with pytest.raises(AcpError):
            await session.prompt("go on")
        assert session.is_lost
        assert host.sessions == ()


async def test_r267_a_session_that_is_never_opened_holds_up_no_other() -> None:
    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await opens(agent)
            if number == 0:
                await agent.open_session("s-1")
                await agent.open_session("s-2")
                await agent.close()
                return
            await agent.expect("session/resume")
            agent.reply({}, to=await agent.expect("session/resume"))
            agent.reply(DONE, to=await agent.expect("session/prompt"))
            await agent.stall()

        return ScriptedAgent(script)

    way = Way(make)
    policy = ReconnectPolicy(first_delay=0.0, session_timeout=0.3)
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=policy) as host:
        hangs, goes_on = await host.new_session("/"), await host.new_session("/")
        assert (await goes_on.prompt("go")).stop_reason == "end_turn"
        await back(host, way)
        assert hangs.is_lost
        assert host.sessions == (goes_on,)


async def test_r268_a_turn_that_goes_on_after_the_cut() -> None:
    """What it says is not lost, and belongs to no turn: its prompt has ended."""

    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await opens(agent)
            if number == 0:
                await agent.open_session("s-1")
                await agent.expect("session/prompt")
                agent.say("half", "s-1")
                await agent.close()
                return
            await agent.expect("session/resume")
            agent.reply({})
            agent.update(chunk(" and the rest"), "s-1")
            await agent.stall()

        return ScriptedAgent(script)

    way = Way(make)
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session("/")
        with pytest.raises(OutcomeUnknown):
            await session.prompt("go")
        await back(host, way)
        await until(lambda: said(session)[-1] == " and the rest")
        entries = [(type(entry).__name__, entry.turn) for entry in session.state.snapshot().transcript]
        assert entries == [
            ("MessageEntry", 1),
            ("MessageEntry", 1),
            ("MessageEntry", None),
            ("ConnectionEntry", None),
        ] or (entries == [("MessageEntry", 1), ("MessageEntry", 1), ("ConnectionEntry", None), ("MessageEntry", None)])


async def test_r269_history_that_is_told_again_is_there_once() -> None:
    agent = ReferenceAgent(without=["resume"])
    way = Way(lambda _: agent)
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session("/")
        await session.prompt("/say one")
        way.cut()
        await back(host, way)
        assert said(session) == ["/say one", "one"]
        assert (await session.prompt("/say two")).text == "two"
        assert said(session) == ["/say one", "one", "/say two", "two"]


async def test_r270_another_agent_answers() -> None:
    agents = [ReferenceAgent(), ReferenceAgent(without=["image"])]
    agents[1].sessions = agents[0].sessions
    way = Way(lambda number: agents[number])
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK) as host:
        await host.new_session("/")
        assert host.agreement.supports("promptCapabilities.image")
        way.cut()
        await back(host, way)
        assert not host.agreement.supports("promptCapabilities.image")
        assert any("another agent was reached" in note.message for note in host.diagnostics)


async def test_r271_lost_again_while_the_sessions_are_opened(tmp_path: Path) -> None:
    agent = ReferenceAgent()
    way = Way(lambda _: agent, [None, 3, 4, 5, None])
    async with asyncio.timeout(PATIENCE), acp_host.connect(way, reconnect=QUICK) as host:
        sessions = [await host.new_session(tmp_path) for _ in range(3)]
        way.cut()
        turns = [session.prompt(f"/say <{number}>") for number, session in enumerate(sessions)]
        told: list[str] = []
        for turn in turns:
            await ends(turn, told)
        await back(host, way, 5)
        assert host.sessions == tuple(sessions)
        for number, session in enumerate(sessions):
            assert count(way, f"<{number}>".encode()) <= 1
            assert (await session.prompt("/say there")).text == "there"


# --- processes ------------------------------------------------------------------------------------------------------


async def test_r272_a_process_that_is_killed_is_started_again_where_that_is_wished(tmp_path: Path) -> None:
    code = f"""
        import os, pathlib
        await agent.handshake({ALL!r})
        request = await agent.expect()
        agent.reply({{"sessionId": "s-1"}} if request["method"] == "session/new" else {{}}, to=request)
        while True:
            request = await agent.expect("session/prompt")
            agent.say(str(os.getpid()), "s-1")
            if b"die" in repr(request).encode():
                os.kill(os.getpid(), {int(signal.SIGKILL if os.name != "nt" else signal.SIGTERM)})
            agent.reply({{"stopReason": "end_turn"}}, to=request)
    """
    async with asyncio.timeout(PATIENCE), acp_host.connect(ScriptedAgent.command(code), reconnect=QUICK) as host:
        session = await host.new_session(tmp_path)
        first = (await session.prompt("hi")).text
        with pytest.raises(OutcomeUnknown):
            await session.prompt("die")
        second = (await session.prompt("hi again")).text
        assert first != second
        assert session.state.snapshot().health.status == "connected"


async def test_r273_a_process_that_ends_as_soon_as_it_starts_is_given_up(tmp_path: Path) -> None:
    flag = tmp_path / "started"
    code = f"""
        import pathlib, sys
        flag = pathlib.Path({str(flag)!r})
        if flag.exists():
            print("no more memory", file=sys.stderr)
            sys.exit(3)
        flag.touch()
        await agent.handshake({ALL!r})
        await agent.close()
        sys.exit(2)
    """
    policy = ReconnectPolicy(first_delay=0.0, tries=3)
    async with asyncio.timeout(PATIENCE), acp_host.connect(ScriptedAgent.command(code), reconnect=policy) as host:
        error = await host.wait_closed()
        assert "no more memory" in str(error)
        assert host.health.snapshot().status is ConnectionStatus.LOST


async def test_r274_commands_go_on_over_the_network_and_end_with_a_process(tmp_path: Path) -> None:
    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await opens(agent)
            if number == 0:
                await agent.open_session("s-1")
                command = {"sessionId": "s-1", "command": sys.executable, "args": ["-c", "import time; time.sleep(60)"]}
                await agent.call("terminal/create", command)
                await agent.close()
                return
            await agent.expect("session/resume")
            agent.reply({})
            await agent.stall()

        return ScriptedAgent(script)

    for way, goes_on in ((Way(make), True), (LaunchedWay(make), False)):
        async with (
            asyncio.timeout(PATIENCE),
            acp_host.connect(way, reconnect=QUICK, terminals=True, allow_remote_services=True) as host,
        ):
            session = await host.new_session(tmp_path)
            await back(host, way)
            await until(lambda session=session: bool(session.state.snapshot().terminals))
            if not goes_on:
                await until(lambda session=session: terminal_of(session).ended)
            assert terminal_of(session).ended is not goes_on


def terminal_of(session: Session) -> Any:
    [terminal] = session.state.snapshot().terminals.values()
    return terminal


class LaunchedWay(Way):
    """As if what it leads to were a process of this machine."""

    remote = False

    @property
    def launch(self) -> Launch:
        return Launch.of(["the-agent"], "/", {}, inherit_env=False)

    def again(self, env: Any) -> Way:
        return LaunchedWay(self._make, self._cuts, self)
