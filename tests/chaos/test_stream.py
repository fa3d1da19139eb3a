"""What arrives on stdout and is no proper message: noise, broken encodings, sizes, slips of JSON-RPC."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import acp_host
from acp_host import DiagnosticKind, MalformedResponse, OutcomeKind, PeerError, UnsupportedVersion
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos import find
from acp_host.testing.chaos.agents.json_rpc import BROKEN_ANSWERS, ODD_ENDS, SLIPS
from acp_host.testing.chaos.agents.stdout import NOISE, NOT_QUITE_JSON, TEXT_OF_MANY_BYTES, nested
from acp_host.wire.updates import AgentMessageChunk, SessionInfoUpdate
from tests.chaos.bad_agents import (
    DONE,
    PATIENCE,
    connected,
    conversation,
    line,
    open_session,
    permission,
    reported,
    selected,
    texts,
)


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
    seen = await conversation(find("noise-flood"))
    assert seen.result.text == "before after"
    notes = seen.reported(DiagnosticKind.NOISE)
    assert len(notes) < 40
    assert 2_500 <= sum(note.count for note in notes) <= 5_000
    assert seen.answers == []


async def test_r02_noise_is_kept_in_bounded_pieces() -> None:
    seen = await conversation(find("noise-megabyte"))
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
    seen = await conversation(find("no-newline"), max_message_size=1_000_000)
    assert seen.result.text == "before after"
    [note] = seen.reported(DiagnosticKind.OVERSIZED)
    assert "19,660,800 bytes" in note.message


async def test_r07_characters_cut_between_two_reads() -> None:
    seen = await conversation(find("byte-by-byte"))
    assert seen.result.text == f"before {TEXT_OF_MANY_BYTES}after"
    assert seen.diagnostics == []


async def test_r07_equal_texts_are_not_taken_for_repetitions() -> None:
    seen = await conversation(find("same-text-again"))
    assert seen.result.text == "before hahahahahahaafter"


async def test_r08_invalid_utf8() -> None:
    seen = await conversation(find("invalid-utf8"))
    assert seen.result.text == "before caf\ufffd!after"
    [note] = seen.reported(DiagnosticKind.ENCODING)
    assert "UTF-8" in note.message


async def test_r09_a_character_cut_into_surrogate_halves() -> None:
    seen = await conversation(find("half-characters"))
    assert texts(seen.updates) == ["before ", "\ud83d", "\ude00", "after"]
    assert seen.result.text == "before \U0001f600after"
    assert seen.diagnostics == []


async def test_r09_half_a_character_is_sent_back_as_it_came() -> None:
    bad = find("half-a-character-in-an-id")
    seen = await conversation(bad, permissions=lambda request: request.options[0].option_id)
    assert [answer["result"] for answer in seen.answers] == [selected("half \ud83d")]


async def test_r10_a_request_nested_too_deeply_is_answered() -> None:
    seen = await conversation(find("deep-request"))
    assert [(answer["id"], answer["error"]["code"]) for answer in seen.answers] == [(9, -32700)]
    [note] = seen.reported(DiagnosticKind.UNREADABLE)
    assert note.method == "session/request_permission"


async def test_r10_an_update_nested_too_deeply_is_left_out() -> None:
    seen = await conversation(find("deep-update"))
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


@pytest.mark.parametrize("name", ["byte-order-mark", "carriage-returns"])
async def test_r11_byte_order_marks_and_carriage_returns(name: str) -> None:
    seen = await conversation(find(name))
    assert seen.result.text == "before x after"
    assert seen.diagnostics == []


async def test_r11_not_quite_json() -> None:
    seen = await conversation(find("not-quite-json"))
    kinds = [type(update).__name__ for update in seen.updates]
    assert kinds == ["AgentMessageChunk", *["ToolCallUpdate"] * len(NOT_QUITE_JSON), "AgentMessageChunk"]
    assert len(seen.reported(DiagnosticKind.ENCODING)) == len(NOT_QUITE_JSON)


async def test_r12_a_message_that_a_log_line_cut_in_two() -> None:
    seen = await conversation(find("cut-in-two"))
    assert [(answer["id"], answer["error"]["code"]) for answer in seen.answers] == [(5, -32700)]
    assert seen.result.text == "before after"
    assert len(seen.reported(DiagnosticKind.UNREADABLE)) == 1


INVALID, UNKNOWN = DiagnosticKind.INVALID_MESSAGE, DiagnosticKind.UNKNOWN_RESPONSE
ASK = {"method": "session/request_permission", "params": permission()}
RESULT = {"result": selected("reject_once")}
SEEN: dict[str, tuple[DiagnosticKind | None, Any]] = {
    "answer-to-nothing": (UNKNOWN, None),
    "answer-under-a-string": (UNKNOWN, None),  # ours is the number 2
    "answer-under-true": (INVALID, None),
    "error-without-id": (UNKNOWN, None),
    "error-for-null": (UNKNOWN, None),
    "only-a-version": (INVALID, None),
    "empty-object": (INVALID, None),
    "only-an-id": (INVALID, None),
    "update-without-version": (INVALID, None),
    "request-without-version": (INVALID, RESULT),
    "id-zero": (None, RESULT),
    "id-empty": (None, RESULT),
    "id-null": (None, RESULT),
    "id-fraction": (None, RESULT),
    "id-huge": (None, RESULT),
    "id-list": (INVALID, None),
    "params-string": (INVALID, -32602),
    "method-number": (INVALID, -32600),
    "request-and-result": (INVALID, None),
}
"""What is reported of a slip, and answered: a result or the code of an error."""


@pytest.mark.parametrize("name", SLIPS)
async def test_r13_slips_of_json_rpc(name: str) -> None:
    message, (kind, answer) = SLIPS[name], SEEN[name]
    seen = await conversation(find(name))
    assert seen.result.text == ("before x after" if name == "update-without-version" else "before after")
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


@pytest.mark.parametrize("response", BROKEN_ANSWERS.values(), ids=BROKEN_ANSWERS)
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


@pytest.mark.parametrize("name, raw", [*zip(ODD_ENDS, ["budget_exhausted", "", "canceled", *[None] * 7], strict=True)])
async def test_r16_a_turn_that_ends_in_an_odd_way_is_over(name: str, raw: str | None) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("the answer")
        agent.reply(ODD_ENDS[name])
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
    seen = await conversation(find("misleading-members"))
    info = seen.updates[1]
    assert type(info) is SessionInfoUpdate
    assert info.title == "Right"
    assert info.extra == {"type": "plan", "kind": "tool_call"}
    assert seen.diagnostics == []


async def test_r18_any_mixture_of_noise_changes_nothing() -> None:
    """All that is above, shuffled between the messages of a turn."""
    seen = await conversation(find("mixture"))
    assert seen.result.text == "before " + "".join(f"{number} " for number in range(300)) + "after"
    assert seen.answers == []
    assert len(seen.diagnostics) < 200
