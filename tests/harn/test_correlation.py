"""Everything that a Harn agent sends belongs to a prompt by its name, also when that prompt is over."""

from __future__ import annotations

from typing import Any

import pytest

import acp_host
from acp_host.state.entries import MessageEntry
from acp_host.testing import ScriptedAgent
from acp_host.wire.codec import encode
from tests.host.scripts import until

HARN: dict[str, Any] = {"_meta": {"harn": {}}}
DONE: dict[str, Any] = {"stopReason": "end_turn", "_meta": {"harn": {"terminal": {"kind": "natural"}}}}


def chunk(text: str) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def of(name: str, update: dict[str, Any], session_id: str = "s1") -> dict[str, Any]:
    return {"sessionId": session_id, "promptCorrelation": {"messageId": name}, "update": update}


def permission(**members: Any) -> dict[str, Any]:
    options = [
        {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
        {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
    ]
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "edit"}
    return {"toolCall": call, "options": options, **members}


def texts(session: acp_host.Session) -> list[tuple[int | None, str]]:
    """Return what the agent said, and in which turn."""
    entries = session.state.snapshot().transcript
    return [(each.turn, each.text) for each in entries if isinstance(each, MessageEntry) and each.speaker != "user"]


async def test_prompts_are_named_for_harn_and_each_differently() -> None:
    names: list[str] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        for _ in range(2):
            names.append((await agent.expect("session/prompt"))["params"]["messageId"])
            agent.reply(DONE)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        await session.prompt("1")
        await session.prompt("2")
    assert len(set(names)) == 2


async def test_and_for_no_other_agent() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        assert "messageId" not in (await agent.expect("session/prompt"))["params"]
        agent.reply(DONE)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        await (await host.new_session()).prompt("1")


async def test_what_comes_late_goes_to_the_turn_it_is_of() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        first = (await agent.expect("session/prompt"))["params"]["messageId"]
        agent.notify("session/update", of(first, chunk("in time")))
        agent.reply(DONE)
        agent.notify("session/update", of(first, chunk("late")))
        second = (await agent.expect("session/prompt"))["params"]["messageId"]
        agent.notify("session/update", of(second, chunk("a")))
        agent.notify("session/update", of(first, chunk(" and")))
        agent.notify("session/update", of(first, chunk(" later")))
        agent.notify("session/update", of(second, chunk("b")))
        agent.notify("session/update", of("unknown", chunk("c")))
        agent.notify("session/update", {"sessionId": "s1", "update": chunk("d")})
        agent.reply(DONE)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        await session.prompt("1")
        result = await session.prompt("2")
        aside = [update.content.text for update in session.take_updates_between_turns()]
    assert result.text == "abcd"
    assert aside == ["late", " and", " later"]
    assert texts(session) == [(1, "in time"), (1, "late"), (2, "abcd"), (1, " and later")]


async def test_many_chunks_at_once_go_where_each_belongs() -> None:
    def stream(name: str, letter: str) -> list[bytes]:
        params = [of(name, chunk(f"{letter}{number} ")) for number in range(50)]
        return [encode({"jsonrpc": "2.0", "method": "session/update", "params": each}) for each in params]

    def said(letter: str) -> str:
        return "".join(f"{letter}{number} " for number in range(50))

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        first = (await agent.expect("session/prompt"))["params"]["messageId"]
        agent.send_raw(b"".join(stream(first, "a")))
        agent.reply(DONE)
        second = (await agent.expect("session/prompt"))["params"]["messageId"]
        agent.send_raw(b"".join([*stream(second, "b"), *stream(first, "c"), *stream(second, "d")]))
        agent.reply(DONE)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        assert (await session.prompt("1")).text == said("a")
        assert (await session.prompt("2")).text == said("b") + said("d")
    assert texts(session) == [(1, said("a")), (2, said("b") + said("d")), (1, said("c"))]


async def test_a_call_of_a_turn_that_is_over_is_told_more_about_in_its_place() -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "status": "in_progress"}

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        first = (await agent.expect("session/prompt"))["params"]["messageId"]
        agent.notify("session/update", of(first, call))
        agent.reply(DONE)
        await agent.expect("session/prompt")
        agent.notify("session/update", of(first, {**call, "status": "completed"}))
        agent.reply(DONE)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        await session.prompt("1")
        await session.prompt("2")
        [entry] = session.state.snapshot().tool_calls
    assert (entry.key, entry.turn, entry.status, entry.unfinished) == ("c", 1, "completed", False)


async def test_what_a_turn_that_is_over_asks_is_refused_and_nobody_is_asked() -> None:
    asked: list[Any] = []
    answers: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        first = (await agent.expect("session/prompt"))["params"]["messageId"]
        agent.reply(DONE)
        second = (await agent.expect("session/prompt"))["params"]["messageId"]
        for name in (first, second):
            told = permission(sessionId="s1", promptCorrelation={"messageId": name})
            answers.append(await agent.call("session/request_permission", told))
        answers.append(await agent.call("_own/ask", {"promptCorrelation": {"messageId": first}}))
        agent.reply(DONE)

    handlers = {"_own/ask": lambda params: asked.append(params)}
    permissions = acp_host.PermissionPolicy(default="allow_once")
    connect = acp_host.connect(ScriptedAgent(script).transport(), permissions=permissions, handlers=handlers)
    async with connect as host:
        session = await host.new_session()
        await session.prompt("1")
        await session.prompt("2")
        assert session.state.snapshot().questions == ()
    assert "Inactive prompt" in answers[0]["error"]["message"]
    assert answers[1]["result"]["outcome"] == {"outcome": "selected", "optionId": "allow"}
    assert "Inactive prompt" in answers[2]["error"]["message"]
    assert asked == []


@pytest.mark.parametrize("named", [{"sessionId": ""}, {}])
async def test_a_question_without_a_session_is_of_the_prompt_that_it_names(named: dict[str, Any]) -> None:
    answers: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        await agent.open_session("s2")
        prompts = [await agent.expect("session/prompt"), await agent.expect("session/prompt")]
        name = prompts[1]["params"]["messageId"]
        correlated = permission(promptCorrelation={"messageId": name}, **named)
        answers.append(await agent.call("session/request_permission", correlated))
        answers.append(await agent.call("session/request_permission", permission(**named)))
        for prompt in prompts:
            agent.reply(DONE, to=prompt)

    policy = acp_host.PermissionPolicy(default="allow_once")
    async with acp_host.connect(ScriptedAgent(script).transport(), permissions=policy) as host:
        sessions = [await host.new_session(), await host.new_session()]
        turns = [session.prompt("Hi") for session in sessions]
        for turn in turns:
            await turn
        calls = [[call.tool_call_id for call in session.state.snapshot().tool_calls] for session in sessions]
    assert answers[0]["result"]["outcome"] == {"outcome": "selected", "optionId": "allow"}
    assert calls == [[], ["c"]]
    assert answers[1]["error"]["code"] == -32602


@pytest.mark.parametrize("named", [{}, {"sessionId": ""}, {"promptCorrelation": {"messageId": "unknown"}}])
async def test_a_question_without_a_session_and_a_prompt_is_nobodys(named: dict[str, Any]) -> None:
    asked: list[Any] = []
    answers: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        answers.append(await agent.call("session/request_permission", permission(**named)))
        await agent.expect("session/prompt")
        answers.append(await agent.call("session/request_permission", permission(**named)))
        agent.reply(DONE)

    def ask(request: Any) -> str:
        asked.append(request)
        return "allow"

    async with acp_host.connect(ScriptedAgent(script).transport(), permissions=ask) as host:
        session = await host.new_session()
        await until(lambda: answers)
        assert asked == []
        await session.prompt("Hi")
    assert "error" in answers[0]
    assert answers[1]["result"]["outcome"] == {"outcome": "selected", "optionId": "allow"}


async def test_an_update_without_a_session_is_of_the_only_one() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.notify("session/update", {"sessionId": "", "update": chunk("a")})
        agent.notify("session/update", {"sessionId": "", "update": chunk("b")})
        agent.reply(DONE)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        assert (await (await host.new_session()).prompt("Hi")).text == "ab"
        assert list(host.diagnostics) == []


async def test_of_another_agent_it_is_nobodys() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.notify("session/update", {"sessionId": "", "update": chunk("a")})
        agent.reply(DONE)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        assert (await (await host.new_session()).prompt("Hi")).text == ""
        assert len(list(host.diagnostics)) == 1


@pytest.mark.parametrize("request_id", [1_000, 0, 2**53, "text", "7"])
async def test_the_ids_of_requests_come_back_as_they_are(request_id: Any) -> None:
    answers: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.send({"jsonrpc": "2.0", "id": request_id, "method": "_own/ask", "params": {}})
        answers.append(await agent.response(request_id))
        agent.reply(DONE)

    handlers = {"_own/ask": lambda params: 1}
    async with acp_host.connect(ScriptedAgent(script).transport(), handlers=handlers) as host:
        await (await host.new_session()).prompt("Hi")
    assert answers == [{"jsonrpc": "2.0", "id": request_id, "result": 1}]
