"""Agents of version 2 that say too little of what they are doing, or too much, or in the wrong order."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

import acp_host
from acp_host import HostConnection, OutcomeUnknown, RequestFailed, Session
from acp_host.host.cancel_timeouts import CancelTimeouts
from acp_host.state.deltas import DeltaMaker
from acp_host.state.entries import MessageEntry, UnknownEntry
from acp_host.state.terminal_output import MAX_SEGMENTS
from acp_host.testing import ScriptedAgent
from tests.chaos.bad_agents import until

Script = Callable[[ScriptedAgent], Awaitable[Any]]

SOON = CancelTimeouts(grace=0.02, withdrawn=0.02)


@asynccontextmanager
async def open_session(script: Script, **options: Any) -> AsyncIterator[tuple[HostConnection, Session]]:
    """Connect to an agent of version 2 and open a session, which the script goes on with."""

    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(version=2)
        await agent.open_session("s")
        await script(agent)
        await agent.stall()

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport(), protocol_versions=(2, 1), **options) as host:
        yield host, await host.new_session()


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def texts(session: Session) -> list[str]:
    return [entry.text for entry in session.state.snapshot().transcript if isinstance(entry, MessageEntry)]


async def test_r240_a_state_that_is_told_again() -> None:
    async def script(agent: ScriptedAgent) -> None:
        for number in range(3):
            agent.state("idle", "s", stopReason="max_tokens")
            await agent.expect("session/prompt")
            agent.state("idle", stopReason="refusal")
            agent.reply({"messageId": f"m{number}"})
            agent.state("idle")
            agent.state("running")
            agent.state("running")
            agent.say("ok", message_id=f"a{number}")
            agent.state("idle", stopReason="end_turn")

    async with open_session(script) as (host, session):
        for _ in range(3):
            result = await session.prompt("go")
            assert (result.stop_reason, result.text) == ("end_turn", "ok")
        assert list(host.diagnostics) == []


@pytest.mark.parametrize("ever", [True, False])
async def test_r241_a_prompt_that_is_answered_when_all_is_done_or_never(ever: bool) -> None:
    async def script(agent: ScriptedAgent) -> None:
        for number in range(2):
            asked = await agent.expect("session/prompt")
            agent.state("running")
            agent.say("ok", message_id=f"a{number}")
            agent.state("idle", stopReason="end_turn")
            if ever:
                agent.reply({"messageId": f"m{number}"}, to=asked)

    async with open_session(script) as (_, session):
        assert (await session.prompt("one")).text == "ok"
        assert (await session.prompt("two")).text == "ok"


async def test_r242_an_agent_that_never_says_that_it_is_idle() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.accept_prompt("m1")
        agent.state("running")
        await agent.expect("session/cancel")
        await agent.accept_prompt("m2")
        agent.state("running")
        agent.state("idle", stopReason="end_turn")

    async with open_session(script, cancel_timeouts=SOON) as (host, session):
        turn = session.prompt("one")
        await until(lambda: session.state.snapshot().turn.agent_state == "running")
        turn.cancel()
        assert (await turn).outcome.kind == "cancelled"
        assert (await session.prompt("two")).stop_reason == "end_turn"
        assert any("never ended" in diagnostic.message for diagnostic in host.diagnostics)


async def test_r243_work_that_nobody_has_asked_for() -> None:
    async def script(agent: ScriptedAgent) -> None:
        agent.state("running", "s")
        await agent.expect("session/cancel")
        agent.state("idle", "s", stopReason="cancelled")
        await agent.accept_prompt("m1")
        agent.state("running")
        agent.state("idle", stopReason="end_turn")

    async with open_session(script) as (_, session):
        await until(lambda: session.current_turn)
        own, turn = session.current_turn, session.prompt("go")
        assert own is not None
        assert own.origin == "agent"
        own.cancel()
        assert (await own).stop_reason == "cancelled"
        assert (await turn).stop_reason == "end_turn"


async def test_r244_states_that_nobody_knows() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.accept_prompt("m1")
        agent.state("requires_action")
        agent.state("unknown")
        agent.state("_dreaming", of="sheep")
        agent.update({"sessionUpdate": "state_update"})
        agent.state("idle", stopReason="_tired", background="all of it")

    async with open_session(script) as (host, session):
        result = await session.prompt("go")
        assert (result.stop_reason, result.outcome.kind) == ("_tired", "incomplete")
        assert [diagnostic.kind for diagnostic in host.diagnostics] == ["malformed", "repaired"]


async def test_r245_messages_without_ids() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.reply({})
        agent.state("running")
        agent.say("nobody's")
        agent.say("ok", message_id="a")
        agent.state("idle", stopReason="end_turn")

    async with open_session(script) as (host, session):
        assert (await session.prompt("go")).text == "ok"
        assert len([found for found in host.diagnostics if "messageId" in found.message]) == 2
        assert any(isinstance(entry, UnknownEntry) for entry in session.state.snapshot().transcript)


async def test_r246_output_that_is_broken_cut_anywhere_or_endless() -> None:
    line = "zeile ü 😀\n".encode() * 200

    def printed(data: bytes | str) -> dict[str, Any]:
        told = data if isinstance(data, str) else base64.b64encode(data).decode()
        return {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": told}

    async def script(agent: ScriptedAgent) -> None:
        await agent.accept_prompt("m1")
        agent.state("running")
        agent.update(printed("{}"))
        for _ in range(400):
            for at in range(0, len(line), 1_001):
                agent.update(printed(line[at : at + 1_001]))
        agent.update({"sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {"exitCode": 0}})
        agent.state("idle", stopReason="end_turn")

    async with open_session(script) as (host, session):
        await session.prompt("go")
        terminal = session.state.snapshot().terminals["t"]
        assert (terminal.truncated, len(terminal.output), terminal.exit_code) == (True, MAX_SEGMENTS, 0)
        assert "\ufffd" not in "".join(terminal.output)
        assert [diagnostic.kind for diagnostic in host.diagnostics] == ["malformed"]


async def test_r247_messages_in_pieces_whole_and_by_turns() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.accept_prompt("m1")
        agent.state("running")
        agent.say("a1", message_id="a")
        agent.say("b1", message_id="b")
        agent.say(" a2", message_id="a")
        agent.update({"sessionUpdate": "agent_message", "messageId": "b", "content": [text("B")]})
        agent.say("2", message_id="b")
        agent.update({"sessionUpdate": "agent_message", "messageId": "c", "content": [text("gone")]})
        agent.update({"sessionUpdate": "agent_message", "messageId": "c", "content": None})
        agent.state("idle", stopReason="end_turn")

    async with open_session(script) as (_, session):
        assert (await session.prompt("go")).text == "a1 a2B2"
        assert texts(session) == ["go", "a1 a2", "B2", ""]


@pytest.mark.parametrize(
    "echo",
    [
        [],
        [{"sessionUpdate": "user_message", "content": [text("go on")]}],
        [{"sessionUpdate": "user_message_chunk", "content": text(piece)} for piece in ("go ", "on")],
        [{"sessionUpdate": "user_message", "content": [text(" go  on\n")]}, {"sessionUpdate": "user_message"}],
    ],
)
async def test_r248_the_prompt_is_repeated_in_other_forms_or_never(echo: list[dict[str, Any]]) -> None:
    async def script(agent: ScriptedAgent) -> None:
        asked = await agent.expect("session/prompt")
        agent.state("running")
        for piece in echo:
            agent.update({"messageId": "m1", **piece})
        agent.reply({"messageId": "m1"}, to=asked)
        agent.state("idle", stopReason="end_turn")

    async with open_session(script) as (_, session):
        await session.prompt("go on")
        [entry] = session.state.snapshot().transcript
        assert isinstance(entry, MessageEntry)
        assert (entry.text, entry.message_id) == ("go on", "m1")


async def test_r249_an_agent_dies_at_work() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.accept_prompt("m1")
        agent.state("running")
        agent.say("so far", message_id="a")
        await agent.close()

    async with open_session(script) as (_, session):
        turn = session.prompt("go")
        with pytest.raises(OutcomeUnknown):
            await turn
        assert turn.text == "so far"


async def test_r250_a_failure_that_is_told_twice() -> None:
    async def script(agent: ScriptedAgent) -> None:
        asked = await agent.expect("session/prompt")
        agent.state("running")
        agent.state("idle", stopReason="error", error={"code": -32603, "message": "no disk"})
        agent.reply_error(-32603, "no disk", to=asked)
        await agent.accept_prompt("m1")
        agent.state("running")
        agent.state("idle", stopReason="end_turn")

    async with open_session(script) as (_, session):
        with pytest.raises(RequestFailed, match="no disk"):
            await session.prompt("one")
        assert (await session.prompt("two")).stop_reason == "end_turn"


async def test_r251_messages_of_version_1() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.accept_prompt("m1")
        agent.state("running")
        agent.update({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read"})
        agent.update({"sessionUpdate": "plan", "entries": []})
        answer = await agent.call("fs/read_text_file", {"sessionId": "s", "path": "/etc/passwd"})
        assert answer["error"]["code"] == -32601
        agent.state("idle", "s", stopReason="end_turn")

    async with open_session(script) as (_, session):
        await session.prompt("go")
        tags = [entry.tag for entry in session.state.snapshot().transcript if isinstance(entry, UnknownEntry)]
        assert tags == ["tool_call", "plan"]


async def test_r252_a_tool_call_with_results_without_number() -> None:
    def result(number: int) -> dict[str, Any]:
        content = {"type": "content", "content": text(f"result {number}")}
        return {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": content}

    async def script(agent: ScriptedAgent) -> None:
        await agent.accept_prompt("m1")
        agent.state("running")
        for number in range(3_000):
            agent.update(result(number))
        await agent.expect("session/cancel")
        agent.update(result(3_000))
        agent.state("idle", stopReason="cancelled")

    async with open_session(script) as (_, session):
        turn = session.prompt("go")
        await until(lambda: (call := session.state.tool_call("c")) and len(call.content) == 3_000)
        maker, sent = DeltaMaker(session.state.snapshot()), []
        session.state.changed.connect(lambda changes: sent.extend(maker.delta(changes)))
        turn.cancel()
        await turn
        await until(lambda: session.state.snapshot().turn.status == "idle" and sent)
        added = [operation for operation in sent if operation["path"].startswith("/transcript/entries/1/content")]
        assert [operation["op"] for operation in added] == ["add"]
