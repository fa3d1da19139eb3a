"""What a Harn agent tells again rebuilds the state, and has no other effect."""

from __future__ import annotations

import json
from typing import Any

import pytest

import acp_host
from acp_host.state.entries import MessageEntry
from acp_host.testing import ScriptedAgent

HARN: dict[str, Any] = {"loadSession": True, "_meta": {"harn": {}}}
DONE: dict[str, Any] = {"stopReason": "cancelled"}
CHUNK: dict[str, Any] = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "again"}}
NOTICE: dict[str, Any] = {"sessionUpdate": "notice", "severity": "error", "title": "Old"}


def in_meta(update: dict[str, Any]) -> dict[str, Any]:
    update = {**update, "_meta": {"harn": {"replayed": True}}}
    return {"method": "session/update", "params": {"sessionId": "s1", "update": update}}


def in_params(update: dict[str, Any]) -> dict[str, Any]:
    return {"method": "session/update", "params": {"sessionId": "s1", "replayed": True, "update": update}}


def in_message(update: dict[str, Any]) -> dict[str, Any]:
    hub = {"eventId": 7, "sessionId": "s1", "replayed": True}
    return {"method": "session/update", "params": {"sessionId": "s1", "update": update}, "_harn": hub}


MARKED = pytest.mark.parametrize("marked", [in_meta, in_params, in_message])


@MARKED
async def test_what_is_marked_is_history_wherever_it_is_marked(marked: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.say("live")
        for update in (CHUNK, NOTICE):
            agent.send({"jsonrpc": "2.0", **marked(update)})
        agent.say("ly")
        agent.reply(DONE)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        result = await session.prompt("Hi")
        entries = [each for each in session.state.snapshot().transcript if isinstance(each, MessageEntry)]
        notices = session.notices.snapshot()
        assert list(host.diagnostics) == []
    assert result.text == "lively"
    assert [(each.text, each.turn, each.replayed) for each in entries[1:]] == [
        ("lively", 1, False),
        ("again", None, True),
    ]
    assert notices.toasts == ()


async def test_a_hub_that_says_that_nothing_is_told_again() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        hub = {"eventId": 7, "sessionId": "s1", "replayed": False}
        params = {"sessionId": "s1", "update": CHUNK}
        agent.send({"jsonrpc": "2.0", "method": "session/update", "params": params, "_harn": hub})
        agent.reply(DONE)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        assert (await (await host.new_session()).prompt("Hi")).text == "again"


@MARKED
async def test_in_a_session_that_is_loaded_it_is_history_in_any_case(marked: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        request = await agent.expect("session/load")
        user = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Hi"}}
        for update in (user, CHUNK):
            agent.send({"jsonrpc": "2.0", **marked(update)})
        agent.reply({}, to=request)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.load_session("s1")
        entries = [each for each in session.state.snapshot().transcript if isinstance(each, MessageEntry)]
    assert [(each.text, each.turn, each.replayed) for each in entries] == [("Hi", -1, True), ("again", -1, True)]


async def test_a_request_that_is_told_again_is_answered_once() -> None:
    asked: list[Any] = []

    def ask(params: Any) -> int:
        asked.append(params)
        return len(asked)

    answers: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        request = {"jsonrpc": "2.0", "id": 1_000, "method": "_own/ask", "params": {"sessionId": "s1"}}
        again = {**request, "_harn": {"eventId": 1, "replayed": True}}
        agent.send_raw(b"".join(json.dumps(each).encode() + b"\n" for each in (again, again)))
        answers.append(await agent.response(1_000))
        agent.send(again)
        agent.send({**again, "id": 1_001})
        answers.append(await agent.response(1_001))
        agent.send(request)  # an id may be used again for something else
        answers.append(await agent.response(1_000))
        agent.reply(DONE)

    handlers = {"_own/ask": ask}
    async with acp_host.connect(ScriptedAgent(script).transport(), handlers=handlers) as host:
        await (await host.new_session()).prompt("Hi")
        told = [each.message for each in host.diagnostics]
    assert [answer["result"] for answer in answers] == [1, 2, 3]
    assert told == ["request 1000 (_own/ask) was told again, and is answered once"] * 2
    assert asked[0]["replayed"] is True
