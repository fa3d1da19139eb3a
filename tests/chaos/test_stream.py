"""What arrives on stdout and is no proper message: noise, broken encodings, sizes, slips of JSON-RPC."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import acp_host
from acp_host import DiagnosticKind, MalformedResponse, OutcomeKind, PeerError, UnsupportedVersion
from acp_host.testing import ScriptedAgent
from acp_host.wire.updates import AgentMessageChunk, SessionInfoUpdate
from tests.chaos.bad_agents import (
    DONE,
    PATIENCE,
    chunk,
    connected,
    conversation,
    line,
    open_session,
    permission,
    reported,
    selected,
    texts,
)

NOISE = {
    "migration log": b"[2026-01-02 03:04:05] INFO applying migration 0007_sessions\n",
    "config log": b"DEBUG config: merged 3 files {'model': 'x'}\n",
    "banner": b"Loaded cached credentials.\n",
    "name in brackets": b"[Some ACP Agent] session store ready\n",
    "escape sequences": b"\x1b[2J\x1b[H\x1b[1;32mready\x1b[0m\r\n",
    "JSON string": b'"listening"\n',
    "JSON number": b"42\n",
    "JSON null": b"null\n",
    "box": "╭─ Agent ─────╮\n│ [b]hello[/b] │\n╰─────────────╯\n".encode(),
    "literal of another language": b"{ level: 'info', msg: 'ready' }\n",
    "template": b"{model} is ready\n",
    "batch": b'[{"jsonrpc":"2.0","id":1,"method":"session/update","params":{}}]\n',
    "blank": b"\n\r\n   \n",
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
async def test_r01_lines_that_are_no_messages(noise: bytes) -> None:
    agents = []

    async def script(agent: ScriptedAgent) -> None:
        agents.append(agent)
        agent.send_raw(noise)
        await agent.handshake()
        agent.send_raw(noise)
        await agent.open_session()
        agent.send_raw(noise)
        await agent.expect("session/prompt")
        agent.say("an ")
        agent.send_raw(noise)
        agent.say("answer")
        agent.reply(DONE)
        agent.send_raw(noise)

    async with connected(script) as host:
        session = await host.new_session()
        turn = session.prompt("question")
        assert [type(update) async for update in turn] == [AgentMessageChunk] * 2
        assert (await turn).text == "an answer"
    assert [message.get("method") for message in agents[0].received] == ["initialize", "session/new", "session/prompt"]
    kept = reported(host, DiagnosticKind.NOISE)
    assert len(kept) >= 5
    assert {str(note.data).strip() for note in kept} == {text.strip() for text in noise.decode().splitlines() if text}


async def test_r02_noise_by_the_thousand_is_counted_not_listed() -> None:
    def bad(agent: ScriptedAgent) -> None:
        for number in range(5_000):
            agent.send_raw(b"[Some ACP Agent] event %d\n" % number)

    seen = await conversation(bad)
    assert seen.result.text == "before after"
    notes = seen.reported(DiagnosticKind.NOISE)
    assert len(notes) < 40
    assert 2_500 <= sum(note.count for note in notes) <= 5_000
    assert seen.answers == []


async def test_r02_noise_is_kept_in_bounded_pieces() -> None:
    seen = await conversation(lambda agent: agent.send_raw(b"x" * 1_000_000 + b"\n"))
    [note] = seen.reported(DiagnosticKind.NOISE)
    assert len(note.data) <= 2048


@pytest.mark.parametrize(
    "version, error, says",
    [
        ("2024-11-05", PeerError, r"\$\.result\.protocolVersion"),
        (None, PeerError, "protocolVersion"),
        (2, UnsupportedVersion, "version 2, this host version 1"),
        (0, UnsupportedVersion, "version 0"),
    ],
)
async def test_r03_versions(version: Any, error: type[Exception], says: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        params = await agent.handshake(protocolVersion=version)
        assert params["protocolVersion"] == 1
        assert type(params["protocolVersion"]) is int

    agent = ScriptedAgent(script)
    with pytest.raises(error, match=says):
        async with asyncio.timeout(PATIENCE):
            await acp_host.connect(agent.transport())
    await agent.finished()


@pytest.mark.parametrize("size", [65_536, 70_000, 10_000_000])
async def test_r04_long_lines(size: int) -> None:
    seen = await conversation(lambda agent: agent.say("x" * size))
    assert seen.result.text == "before " + "x" * size + "after"
    assert seen.diagnostics == []


async def test_r05_an_update_over_the_maximum_is_left_out() -> None:
    seen = await conversation(lambda agent: agent.say("x" * 200_000), max_message_size=100_000)
    assert seen.result.text == "before after"
    [note] = seen.reported(DiagnosticKind.OVERSIZED)
    assert "200," in note.message
    assert len(note.data) <= 2048


async def test_r05_a_request_over_the_maximum_is_answered() -> None:
    async def bad(agent: ScriptedAgent) -> None:
        response = await agent.call("session/request_permission", permission(rawInput="x" * 200_000))
        assert response["error"]["code"] == -32700

    seen = await conversation(bad, max_message_size=100_000)
    assert len(seen.answers) == 1


@pytest.mark.parametrize("id_first", [True, False])
async def test_r05_an_answer_over_the_maximum_fails_its_call(id_first: bool) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.say("the answer")
        head, tail = {"jsonrpc": "2.0", "id": prompt["id"]}, {"result": {**DONE, "_meta": {"log": "x" * 200_000}}}
        agent.send_raw(line({**head, **tail} if id_first else {**tail, **head}))
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with open_session(script, max_message_size=100_000) as (_, session):
        turn = session.prompt("question")
        with pytest.raises(MalformedResponse, match="longer than the maximum"):
            await turn
        assert turn.text == "the answer"
        assert (await session.prompt("again")).stop_reason == "end_turn"


async def test_r06_a_storm_without_any_newline() -> None:
    async def bad(agent: ScriptedAgent) -> None:
        for _ in range(300):
            agent.send_raw(b"y" * 65_536)
            await agent.drain()
        agent.send_raw(b"\n")

    seen = await conversation(bad, max_message_size=1_000_000)
    assert seen.result.text == "before after"
    [note] = seen.reported(DiagnosticKind.OVERSIZED)
    assert "19,660,800 bytes" in note.message


async def test_r07_characters_cut_between_two_reads() -> None:
    text = "größe 日本語 🎉 “quoted”"

    def bad(agent: ScriptedAgent) -> None:
        params = {"sessionId": "session-1", "update": chunk(text)}
        message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
        for byte in json.dumps(message, ensure_ascii=False).encode() + b"\n":
            agent.send_raw(bytes([byte]))

    seen = await conversation(bad)
    assert seen.result.text == f"before {text}after"
    assert seen.diagnostics == []


async def test_r07_equal_texts_are_not_taken_for_repetitions() -> None:
    def bad(agent: ScriptedAgent) -> None:
        for _ in range(3):
            agent.say("ha")
            agent.update(chunk("ha", messageId="m1"))

    seen = await conversation(bad)
    assert seen.result.text == "before hahahahahahaafter"


async def test_r08_invalid_utf8() -> None:
    def bad(agent: ScriptedAgent) -> None:
        broken = line({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "session-1", "update": 0}})
        agent.send_raw(broken.replace(b" 0}", json.dumps(chunk("caf?!")).encode() + b"}").replace(b"?", b"\xe9"))

    seen = await conversation(bad)
    assert seen.result.text == "before caf\ufffd!after"
    [note] = seen.reported(DiagnosticKind.ENCODING)
    assert "UTF-8" in note.message


async def test_r09_a_character_cut_into_surrogate_halves() -> None:
    high, low = "\ud83d", "\ude00"

    def bad(agent: ScriptedAgent) -> None:
        for half in (high, low):
            agent.send_raw(line({"jsonrpc": "2.0", "method": "session/update",
                                 "params": {"sessionId": "session-1", "update": chunk(half)}}))  # fmt: skip

    seen = await conversation(bad)
    assert texts(seen.updates) == ["before ", high, low, "after"]
    assert seen.result.text == "before \U0001f600after"
    assert seen.diagnostics == []


async def test_r09_half_a_character_is_sent_back_as_it_came() -> None:
    async def bad(agent: ScriptedAgent) -> None:
        params = permission("allow_once")
        params["options"][0]["optionId"] = "half \ud83d"
        agent.send_raw(line({"jsonrpc": "2.0", "id": "q", "method": "session/request_permission", "params": params}))
        assert (await agent.response("q"))["result"] == selected("half \ud83d")

    await conversation(bad, permissions=lambda request: request.options[0].option_id)


NESTED = 5_000


def nested(around: bytes) -> bytes:
    return around.replace(b'"NESTED"', b"[" * NESTED + b"]" * NESTED)


async def test_r10_a_request_nested_too_deeply_is_answered() -> None:
    async def bad(agent: ScriptedAgent) -> None:
        params = permission(rawInput="NESTED")
        message = {"jsonrpc": "2.0", "id": 9, "method": "session/request_permission", "params": params}
        agent.send_raw(nested(line(message)))
        assert (await agent.response(9))["error"]["code"] == -32700

    seen = await conversation(bad)
    [note] = seen.reported(DiagnosticKind.UNREADABLE)
    assert note.method == "session/request_permission"


async def test_r10_an_update_nested_too_deeply_is_left_out() -> None:
    def bad(agent: ScriptedAgent) -> None:
        update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "rawOutput": "NESTED"}
        params = {"sessionId": "session-1", "update": update}
        agent.send_raw(nested(line({"jsonrpc": "2.0", "method": "session/update", "params": params})))

    seen = await conversation(bad)
    assert texts(seen.updates) == ["before ", "after"]
    assert [note.method for note in seen.reported(DiagnosticKind.UNREADABLE)] == ["session/update"]
    assert seen.answers == []


async def test_r10_an_answer_nested_too_deeply_fails_its_call_at_once() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.say("the answer")
        result = {**DONE, "_meta": {"trace": "NESTED"}}
        agent.send_raw(nested(line({"jsonrpc": "2.0", "id": prompt["id"], "result": result})))
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with open_session(script) as (_, session):
        turn = session.prompt("question")
        with pytest.raises(MalformedResponse, match="nested"):
            await turn
        assert turn.text == "the answer"
        assert turn.outcome is not None
        assert turn.outcome.kind == OutcomeKind.FAILED
        assert (await session.prompt("again")).stop_reason == "end_turn"


@pytest.mark.parametrize("rewrite", [lambda raw: b"\xef\xbb\xbf" + raw, lambda raw: raw.replace(b"\n", b"\r\n")])
async def test_r11_byte_order_marks_and_carriage_returns(rewrite: Any) -> None:
    update = {"sessionId": "session-1", "update": chunk("x ")}
    raw = rewrite(line({"jsonrpc": "2.0", "method": "session/update", "params": update}))
    seen = await conversation(lambda agent: agent.send_raw(raw))
    assert seen.result.text == "before x after"
    assert seen.diagnostics == []


@pytest.mark.parametrize("value", ["NaN", "Infinity", '"raw \t tab"'])
async def test_r11_not_quite_json(value: str) -> None:
    update = b'{"sessionUpdate":"tool_call_update","toolCallId":"t","rawOutput":%b}' % value.encode()
    raw = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":%b}}\n' % update
    seen = await conversation(lambda agent: agent.send_raw(raw))
    assert [type(update).__name__ for update in seen.updates] == [
        "AgentMessageChunk",
        "ToolCallUpdate",
        "AgentMessageChunk",
    ]
    assert len(seen.reported(DiagnosticKind.ENCODING)) == 1


async def test_r12_a_message_that_a_log_line_cut_in_two() -> None:
    async def bad(agent: ScriptedAgent) -> None:
        raw = line({"jsonrpc": "2.0", "id": 5, "method": "session/request_permission", "params": permission()})
        agent.send_raw(raw[:120] + b"WARN low memory\n" + raw[120:])
        assert (await agent.response(5))["error"]["code"] == -32700

    seen = await conversation(bad)
    assert seen.result.text == "before after"
    assert len(seen.reported(DiagnosticKind.UNREADABLE)) == 1


INVALID, UNKNOWN = DiagnosticKind.INVALID_MESSAGE, DiagnosticKind.UNKNOWN_RESPONSE
UPDATE = {"method": "session/update", "params": {"sessionId": "session-1", "update": chunk("x ")}}
ASK = {"method": "session/request_permission", "params": permission()}
RESULT = {"result": selected("reject_once")}


@pytest.mark.parametrize(
    "message, kind, answer",
    [
        ({"jsonrpc": "2.0", "id": 77, "result": {}}, UNKNOWN, None),
        ({"jsonrpc": "2.0", "id": "2", "result": DONE}, UNKNOWN, None),  # ours is the number 2
        ({"jsonrpc": "2.0", "id": True, "result": {}}, INVALID, None),
        ({"jsonrpc": "2.0", "error": {"code": -32601, "message": "x"}}, UNKNOWN, None),
        ({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "x"}}, UNKNOWN, None),
        ({"jsonrpc": "2.0"}, INVALID, None),
        ({}, INVALID, None),
        ({"jsonrpc": "2.0", "id": 4}, INVALID, None),
        (UPDATE, INVALID, None),
        ({"id": 4, **ASK}, INVALID, RESULT),
        ({"jsonrpc": "2.0", "id": 0, **ASK}, None, RESULT),
        ({"jsonrpc": "2.0", "id": "", **ASK}, None, RESULT),
        ({"jsonrpc": "2.0", "id": None, **ASK}, None, RESULT),
        ({"jsonrpc": "2.0", "id": 1.5, **ASK}, None, RESULT),
        ({"jsonrpc": "2.0", "id": 2**70, **ASK}, None, RESULT),
        ({"jsonrpc": "2.0", "id": [1], **ASK}, INVALID, None),
        ({"jsonrpc": "2.0", "id": 4, "method": "session/request_permission", "params": "x"}, INVALID, -32602),
        ({"jsonrpc": "2.0", "id": 4, "method": 5}, INVALID, -32600),
        ({"jsonrpc": "2.0", "id": 4, **ASK, "result": {}}, INVALID, None),
    ],
)
async def test_r13_slips_of_json_rpc(message: dict[str, Any], kind: DiagnosticKind | None, answer: Any) -> None:
    async def bad(agent: ScriptedAgent) -> None:
        agent.send_raw(line(message))
        if answer is not None:
            await agent.response(message["id"])

    seen = await conversation(bad)
    assert seen.result.text == ("before x after" if message is UPDATE else "before after")
    assert [note.kind for note in seen.diagnostics] == ([] if kind is None else [kind])
    if answer is None:
        assert seen.answers == []
        return
    [response] = seen.answers
    assert (response["id"], type(response["id"])) == (message["id"], type(message["id"]))
    assert response.get("result") == (None if isinstance(answer, int) else answer["result"])
    assert response.get("error", {}).get("code") == (answer if isinstance(answer, int) else None)


async def test_r13_an_id_used_twice_before_its_answer() -> None:
    may_answer = asyncio.Event()

    async def handler(request: Any) -> str:
        await may_answer.wait()
        return "allow_once"

    async def bad(agent: ScriptedAgent) -> None:
        for _ in range(2):
            agent.send_raw(line({"jsonrpc": "2.0", "id": 1, **ASK}))
        assert (await agent.response(1))["error"]["code"] == -32600
        may_answer.set()
        assert (await agent.response(1))["result"] == selected("allow_once")

    await conversation(bad, permissions=handler)


async def test_r14_a_turn_answered_twice() -> None:
    async def script(agent: ScriptedAgent) -> None:
        first = await agent.expect("session/prompt")
        agent.reply(DONE)
        agent.reply({"stopReason": "refusal"})
        agent.reply_error(-32603, "too late")
        await agent.expect("session/prompt")
        agent.reply({"stopReason": "max_tokens"}, to=first)  # the first again, while the second is on the wire
        agent.say("second")
        agent.reply(DONE)

    async with open_session(script) as (host, session):
        assert (await session.prompt("first")).stop_reason == "end_turn"
        second = await session.prompt("second")
    assert (second.stop_reason, second.text) == ("end_turn", "second")
    notes = reported(host, DiagnosticKind.UNKNOWN_RESPONSE)
    assert len(notes) == 3
    assert "too late" in notes[1].message


@pytest.mark.parametrize(
    "response",
    [
        {"jsonrpc": "2.0", "result": DONE, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "error": {"code": "E1", "message": "x"}},
        {"jsonrpc": "2.0", "error": "something failed"},
        {"jsonrpc": "2.0", "error": None},
        {"jsonrpc": "2.0"},
        {"result": DONE},
        {"jsonrpc": "1.0", "result": DONE},
    ],
)
async def test_r15_an_answer_that_is_no_response_fails_its_call(response: dict[str, Any]) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.say("the answer")
        agent.send_raw(line({"id": prompt["id"], **response}))
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with open_session(script) as (host, session):
        turn = session.prompt("question")
        with pytest.raises(MalformedResponse):
            await turn
        assert turn.text == "the answer"
        assert len(reported(host, DiagnosticKind.INVALID_MESSAGE)) == 1
        assert (await session.prompt("again")).stop_reason == "end_turn"


async def test_r15_error_null_beside_a_result_is_a_result() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.send_raw(line({"jsonrpc": "2.0", "id": prompt["id"], "result": DONE, "error": None}))

    async with open_session(script) as (host, session):
        assert (await session.prompt("question")).stop_reason == "end_turn"
        assert list(host.diagnostics) == []


@pytest.mark.parametrize(
    "result, raw",
    [
        ({"stopReason": "budget_exhausted"}, "budget_exhausted"),
        ({"stopReason": ""}, ""),
        ({"stopReason": "canceled"}, "canceled"),
        ({"stopReason": None}, None),
        ({"stopReason": 7}, None),
        ({"stop_reason": "end_turn"}, None),
        ({}, None),
        (None, None),
        ("done", None),
        ([], None),
    ],
)
async def test_r16_a_turn_that_ends_in_an_odd_way_is_over(result: Any, raw: str | None) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("the answer")
        agent.reply(result)
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with open_session(script) as (host, session):
        turn = session.prompt("question")
        assert texts([update async for update in turn]) == ["the answer"]
        ended = await turn
        assert (ended.text, ended.stop_reason) == ("the answer", raw)
        assert ended.outcome.kind == OutcomeKind.INCOMPLETE
        assert (ended.error is None) == (raw is not None)
        assert len(reported(host, DiagnosticKind.MALFORMED)) == (1 if raw is None else 0)
        assert (await session.prompt("again")).stop_reason == "end_turn"


async def test_r16_a_part_of_the_end_that_cannot_be_read() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.reply({**DONE, "usage": {"totalTokens": "many"}, "_meta": 5})

    async with open_session(script) as (host, session):
        result = await session.prompt("question")
    assert (result.stop_reason, result.usage, result.meta) == ("end_turn", None, {})
    assert len(reported(host, DiagnosticKind.REPAIRED)) == 2


async def test_r17_updates_are_read_where_the_schema_has_them() -> None:
    """Each carries its kind and its members where another one of their names stands beside, to mislead."""

    def bad(agent: ScriptedAgent) -> None:
        update = {"sessionUpdate": "session_info_update", "title": "Right", "type": "plan", "kind": "tool_call"}
        params = {"type": "agent_message_chunk", "title": "Wrong", "sessionId": "session-1", "update": update}
        agent.notify("session/update", params)

    seen = await conversation(bad)
    info = seen.updates[1]
    assert type(info) is SessionInfoUpdate
    assert info.title == "Right"
    assert info.extra == {"type": "plan", "kind": "tool_call"}
    assert seen.diagnostics == []


async def test_r18_any_mixture_of_noise_changes_nothing() -> None:
    """All that is above, shuffled between the messages of a turn."""
    import random

    pieces = [*NOISE.values(), line({"jsonrpc": "2.0", "id": 99, "result": 1}), b'{"jsonrpc":\n', line({}), line([])]
    chance = random.Random(20)

    def bad(agent: ScriptedAgent) -> None:
        for number in range(300):
            for _ in range(chance.randrange(4)):
                agent.send_raw(chance.choice(pieces))
            agent.say(f"{number} ")

    seen = await conversation(bad)
    assert seen.result.text == "before " + "".join(f"{number} " for number in range(300)) + "after"
    assert seen.answers == []
    assert len(seen.diagnostics) < 200
