"""Agents that tell something again, late, or without an end: what is known of it stays what it is."""

from __future__ import annotations

import time
from typing import Any

import pytest

from acp_host.diagnostics import DiagnosticKind
from acp_host.state import events
from acp_host.state.clock import ManualScheduler
from acp_host.state.entries import MessageEntry, Speaker
from acp_host.state.reminder_builder import MOST_DROPPED
from acp_host.state.session_state import SessionState
from acp_host.testing import ScriptedAgent
from acp_host.wire.codec import encode
from acp_host.wire.content import ResourceLink
from tests.chaos.bad_agents import DONE, chunk, connected, open_session, reported

HARN: dict[str, Any] = {"_meta": {"harn": {}}}
NATURAL: dict[str, Any] = {**DONE, "_meta": {"harn": {"terminal": {"kind": "natural"}}}}
NESTED = "nested"
"""Stands for JSON that is nested about as deep as is read, and deeper than is written."""


def update(agent: ScriptedAgent, told: dict[str, Any]) -> None:
    line = encode({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "session-1", "update": told}})
    agent.send_raw(line.replace(b'"nested"', b"[" * 990 + b"]" * 990))


async def tells_of_options(agent: ScriptedAgent) -> None:
    option = {"type": "boolean", "id": "fast", "name": "Fast", "currentValue": True, "_meta": {"vendor": NESTED}}
    odd = {"type": "dial", "id": "dial", "name": "Dial", "currentValue": NESTED}
    prompt = await agent.expect("session/prompt")
    update(agent, {"sessionUpdate": "config_option_update", "configOptions": [option, odd]})
    agent.reply(DONE, to=prompt)


async def tells_of_work_beside(agent: ScriptedAgent) -> None:
    await agent.accept_prompt("m")
    agent.state("running")
    beside = {"type": "vendor", "data": NESTED}
    update(agent, {"sessionUpdate": "terminal_update", "terminalId": "t", "_meta": {"vendor": NESTED}})
    idle = {"state": "idle", "stopReason": "end_turn"}
    update(agent, {"sessionUpdate": "state_update", **idle, "background": [beside]})


@pytest.mark.parametrize(("version", "tells"), [(1, tells_of_options), (2, tells_of_work_beside)])
async def test_r505_the_same_again_nested_as_deep_as_it_can_be(version: int, tells: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(version=version)
        await agent.open_session("session-1")
        for _ in range(3):
            await tells(agent)

    async with connected(script, protocol_versions=(1,) if version == 1 else (2, 1)) as host:
        session = await host.new_session()
        for _ in range(3):
            await session.prompt("go")
            snapshot = session.state.snapshot()
            if version == 1:
                assert [option.id for option in snapshot.options.entries] == ["fast", "dial"]
            else:
                assert [*snapshot.terminals] == ["t"]
                assert len(snapshot.turn.background or ()) == 1
        assert reported(host, DiagnosticKind.HANDLER_FAILED) == []


def of(name: str, update: dict[str, Any]) -> dict[str, Any]:
    return {"sessionId": "session-1", "promptCorrelation": {"messageId": name}, "update": update}


async def test_r506_a_call_that_is_told_again_while_it_runs() -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Look", "status": "in_progress"}

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("session-1")
        await agent.expect("session/prompt")
        agent.update(call)
        agent.update({**call, "_meta": {"harn": {"replayed": True}}})
        agent.reply(NATURAL)

    async with connected(script) as host:
        session = await host.new_session()
        await session.prompt("go")
        known = session.state.tool_call("c")
        assert known is not None
        assert (known.status, known.unfinished) == ("in_progress", True)


async def test_r507_messages_are_numbered_anew_in_each_turn_and_some_come_late() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("session-1")
        first = (await agent.expect("session/prompt"))["params"]["messageId"]
        agent.reply(NATURAL)
        second = (await agent.expect("session/prompt"))["params"]["messageId"]
        look = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Look", "status": "completed"}
        for name, update in (
            (second, chunk("a", messageId="1")),
            (second, look),
            (first, chunk("x", messageId="1")),
            (second, chunk("b", messageId="1")),
        ):
            agent.notify("session/update", of(name, update))
        agent.reply(NATURAL)

    async with connected(script) as host:
        session = await host.new_session()
        await session.prompt("1")
        assert (await session.prompt("2")).text == "ab"
        entries = [entry for entry in session.state.snapshot().transcript if isinstance(entry, MessageEntry)]
        assert [(entry.turn, entry.text) for entry in entries] == [(1, "1"), (2, "2"), (2, "ab"), (1, "x")]


async def test_r508_a_reminder_that_takes_the_place_of_others_without_end() -> None:
    def deduped(number: int) -> dict[str, Any]:
        dropped = [f"r-{number}-{each}" for each in range(100)]
        return {"sessionUpdate": "reminder_deduped", "reminderId": "r", "droppedReminderIds": dropped}

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(2 * MOST_DROPPED // 100):
            agent.update(deduped(number))
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (_, session):
        await session.prompt("go")
        [entry] = session.reminders.entries
        assert entry.reminder_id == "r"
        facts = session.reminders._book.facts_of("r")
        assert len(facts.dropped) == MOST_DROPPED


def test_r509_a_message_of_blocks_without_number() -> None:
    state = SessionState("session-1", ManualScheduler())
    began = time.process_time()
    for _ in range(40_000):
        state.apply(events.MessageChunk(Speaker.ASSISTANT, ResourceLink("a", "file:///a")))
    assert time.process_time() - began < 1.5  # where each is added to a copy of the others it takes several times that
    [message] = state.snapshot().transcript
    assert isinstance(message, MessageEntry)
    assert len(message.parts) == 40_000
