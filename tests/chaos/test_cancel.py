"""What agents make of a cancelled turn: errors, late ends, no end at all, questions asked too late."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import acp_host
from acp_host import CancelTimeouts, DiagnosticKind, OutcomeKind
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos.agents.cancelling import ERRORS
from acp_host.wire.prompt import StopReason
from tests.chaos.bad_agents import (
    DONE,
    FORM,
    Hangs,
    cancelled,
    connected,
    open_session,
    permission,
    reported,
    until,
)

SHORT = CancelTimeouts(grace=0.05, withdrawn=0.05)


async def test_r60_every_open_question_is_answered_before_the_cancel() -> None:
    hangs, asks = Hangs(), 3

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        questions = [agent.request("session/request_permission", permission()) for _ in range(asks)]
        questions.append(agent.request("elicitation/create", FORM))
        by_request = {name: value for name, value in FORM.items() if name != "sessionId"}
        questions.append(agent.request("elicitation/create", {**by_request, "requestId": prompt["id"]}))
        other = agent.request("session/request_permission", permission(session_id="another"))
        await agent.expect("session/cancel")
        before = agent.received[: next(n for n, m in enumerate(agent.received) if m.get("method") == "session/cancel")]
        answers = {message["id"]: message["result"] for message in before if "method" not in message}
        assert answers == {
            **dict.fromkeys(questions[:asks], cancelled),
            **{question: {"action": "cancel"} for question in questions[asks:]},
        }
        assert other not in answers, "another session is not concerned"
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    async with open_session(script, permissions=hangs, elicitation=hangs) as (_, session):
        turn = session.prompt("question")
        await until(lambda: hangs.asked == asks + 3)
        turn.cancel()
        assert (await turn).stop_reason == StopReason.CANCELLED
        assert hangs.cancelled == asks + 2


@pytest.mark.parametrize("method, answer", [("session/request_permission", cancelled),
                                            ("elicitation/create", {"action": "cancel"})])  # fmt: skip
async def test_r60_a_question_that_crosses_the_cancel_is_not_shown(method: str, answer: Any) -> None:
    asked: list[Any] = []
    params = FORM if method == "elicitation/create" else permission()

    def handler(request: Any) -> Any:
        asked.append(request)
        return "allow_once"

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        assert (await agent.call(method, params))["result"] == answer
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        await agent.expect("session/prompt")
        await agent.call("session/request_permission", permission())
        agent.reply(DONE)

    async with open_session(script, permissions=handler, elicitation=handler) as (_, session):
        turn = session.prompt("question")
        turn.cancel()
        await turn
        assert asked == []
        await session.prompt("another")
        assert len(asked) == 1, "the next turn asks again"


@pytest.mark.parametrize("code", ERRORS)
async def test_r61_an_error_after_the_cancel_is_a_cancelled_turn(code: int) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("half an ans")
        prompt = agent.received[-1]
        await agent.expect("session/cancel")
        agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "failed"}, "session-1")
        agent.reply_error(code, "aborted", {"why": "AbortError"}, to=prompt)
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with open_session(script) as (_, session):
        turn = session.prompt("question")
        async for _update in turn:
            turn.cancel()
        result = await turn
        assert (result.stop_reason, result.text, result.cancel_requested) == ("cancelled", "half an ans", True)
        assert result.outcome.kind == OutcomeKind.CANCELLED
        assert isinstance(result.error, acp_host.RequestFailed)
        assert (result.error.code, result.error.data) == (code, {"why": "AbortError"})
        assert (await session.prompt("again")).stop_reason == "end_turn"


async def test_r61_without_a_cancel_an_error_is_an_error() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("half an ans")
        agent.reply_error(-32603, "model failed", "details")
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with open_session(script) as (_, session):
        turn = session.prompt("question")
        with pytest.raises(acp_host.InternalError, match="model failed") as caught:
            await turn
        assert (caught.value.data, turn.text) == ("details", "half an ans")
        assert (await session.prompt("again")).stop_reason == "end_turn"


@pytest.mark.parametrize(
    "word, kind",
    [
        ("end_turn", OutcomeKind.COMPLETED),
        ("max_tokens", OutcomeKind.INCOMPLETE),
        ("refusal", OutcomeKind.REFUSED),
        ("cancelled", OutcomeKind.CANCELLED),
        ("canceled", OutcomeKind.INCOMPLETE),
        ("aborted", OutcomeKind.INCOMPLETE),
    ],
)
async def test_r62_the_word_after_a_cancel_is_the_agents(word: str, kind: OutcomeKind) -> None:
    """Whatever it says is passed on as it is, beside what the host itself knows: that it asked."""

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        agent.say("last words", "session-1")
        agent.reply({"stopReason": word}, to=prompt)

    async with open_session(script) as (_, session):
        turn = session.prompt("question")
        turn.cancel("enough")
        result = await turn
    assert (result.stop_reason, result.cancel_requested, result.text) == (word, True, "last words")
    assert (result.stop_reason == StopReason.CANCELLED) == (word == "cancelled")
    assert result.outcome.kind == kind
    assert result.outcome.detail == ("enough" if word == "cancelled" else word)


async def test_r63_an_end_that_crosses_the_cancel() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.say("one")
        agent.reply(DONE, to=prompt)
        await agent.expect("session/cancel")
        await agent.expect("session/prompt")
        agent.say("two")
        agent.reply(DONE)

    async with open_session(script) as (host, session):
        turn = session.prompt("question")
        turn.cancel()
        result = await turn
        assert (result.stop_reason, result.text, result.cancel_requested) == ("end_turn", "one", True)
        assert (await session.prompt("next")).text == "two"
        assert list(host.diagnostics) == []


async def test_r63_the_wish_is_known_before_anything_is_sent() -> None:
    """The agent ends the turn in the very moment of the cancel; nothing wakes up again afterwards."""
    ends: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        asked = agent.request("session/request_permission", permission())
        assert (await agent.response(asked))["result"] == cancelled
        agent.reply(DONE, to=prompt)  # on the answer to its question, before it looks at the cancel
        await agent.expect("session/cancel")
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    hangs = Hangs()
    async with open_session(script, permissions=hangs, cancel_timeouts=SHORT) as (host, session):
        turn = session.prompt("question")
        await until(lambda: hangs.asked)
        turn.cancel()
        assert turn.cancel_requested
        ends.append(await turn)
        await until(lambda: reported(host, DiagnosticKind.UNKNOWN_RESPONSE))
        assert (ends[0].stop_reason, ends[0].cancel_requested) == ("end_turn", True)
        assert session.current_turn is None
        await asyncio.sleep(0.15)
        assert [note.kind for note in host.diagnostics] == [DiagnosticKind.UNKNOWN_RESPONSE]


async def test_r64_a_turn_that_never_ends_is_given_up_in_steps() -> None:
    seen: list[str] = []

    async def script(agent: ScriptedAgent) -> None:
        first = await agent.expect("session/prompt")
        agent.say("half an ans")
        seen.append((await agent.expect("session/cancel"))["method"])
        withdrawal = await agent.expect("$/cancel_request")
        assert withdrawal["params"] == {"requestId": first["id"]}
        seen.append(withdrawal["method"])
        await agent.expect("session/prompt")
        agent.say("second", "session-1")
        agent.reply({"stopReason": "cancelled"}, to=first)  # far too late
        agent.reply(DONE)

    async with open_session(script, cancel_timeouts=SHORT) as (host, session):
        first = session.prompt("question")
        second = session.prompt("queued")
        await until(lambda: first.text)
        first.cancel("enough")
        result = await first
        assert (result.stop_reason, result.text, result.cancel_requested) == ("cancelled", "half an ans", True)
        assert (result.outcome.kind, result.outcome.detail) == (OutcomeKind.CANCELLED, "enough")
        assert (await second).text == "second"
        assert seen == ["session/cancel", "$/cancel_request"]
        notes = [note.message for note in host.diagnostics]
        assert len(notes) == 2
        assert "its prompt is withdrawn" in notes[0]
        assert "taken as over" in notes[1]
        assert not host.closed, "the agent is left alone: whether to start it anew is not decided here"


@pytest.mark.parametrize("answer", ["error", "result"])
async def test_r64_an_agent_that_needs_the_second_step(answer: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        await agent.expect("$/cancel_request")
        if answer == "error":
            agent.reply_error(-32800, "request cancelled", to=prompt)
        else:
            agent.reply({"stopReason": "cancelled"}, to=prompt)

    async with open_session(script, cancel_timeouts=CancelTimeouts(grace=0.05, withdrawn=60)) as (host, session):
        turn = session.prompt("question")
        turn.cancel()
        result = await turn
        assert (result.stop_reason, result.cancel_requested) == ("cancelled", True)
        assert (result.error is None) == (answer == "result")
        assert len(list(host.diagnostics)) == 1


async def test_r64_an_agent_that_never_listens_again() -> None:
    async def script(agent: ScriptedAgent) -> None:
        for _ in range(3):
            await agent.expect("session/prompt")
            await agent.expect("session/cancel")
            await agent.expect("$/cancel_request")

    async with open_session(script, cancel_timeouts=SHORT) as (host, session):
        for _ in range(3):
            turn = session.prompt("question")
            turn.cancel()
            assert (await turn).outcome.kind == OutcomeKind.CANCELLED
        assert len(list(host.diagnostics)) == 6


async def test_r65_an_agent_that_talks_on_after_the_cancel() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        for number in range(500):
            agent.say(f"{number} ", "session-1")
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        agent.say("and on", "session-1")

    async with open_session(script) as (_, session):
        turn = session.prompt("question")
        turn.cancel()
        updates = [update async for update in turn]
        assert len(updates) == 500
        assert (await turn).text == "".join(f"{number} " for number in range(500))
        assert (await session.next_update_between_turns()).content.text == "and on"


async def test_r66_queued_turns_are_cancelled_without_a_word() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompts = [await agent.expect("session/prompt")]
        agent.reply(DONE)
        prompts.append(await agent.expect("session/prompt"))
        agent.reply(DONE)
        assert [prompt["params"]["prompt"][0]["text"] for prompt in prompts] == ["first", "third"]

    async with open_session(script) as (_, session):
        first, second, third = (session.prompt(text) for text in ("first", "second", "third"))
        assert session.queued_turns == (second, third)
        second.cancel("changed my mind")
        assert second.done
        assert session.queued_turns == (third,)
        result = await second
        assert (result.stop_reason, result.outcome.detail, result.text) == ("cancelled", "changed my mind", "")
        assert [update async for update in second] == []
        assert [(await turn).stop_reason for turn in (first, third)] == ["end_turn"] * 2


async def test_r66_a_whole_session_is_cancelled() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with open_session(script) as (_, session):
        turns = [session.prompt(text) for text in ("first", "second", "third")]
        session.cancel()
        assert [(await turn).stop_reason for turn in turns] == ["cancelled"] * 3
        assert (await session.prompt("fourth")).stop_reason == "end_turn"


async def test_r66_cancelling_again_or_afterwards_does_nothing() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        await agent.expect("session/prompt")
        agent.reply(DONE)
        await agent.expect("session/list")
        agent.reply({"sessions": []})

    async with open_session(script) as (host, session):
        turn = session.prompt("question")
        for _ in range(3):
            turn.cancel()
        await turn
        turn.cancel()
        ended = session.prompt("another")
        result = await ended
        ended.cancel()
        session.cancel()
        assert not result.cancel_requested
        assert not ended.cancel_requested
        await host.list_sessions()  # nothing else was sent before it


async def test_r67_tasks_that_wait_for_a_turn() -> None:
    """A cancelled task takes its turn with it, unless it only waited."""

    async def script(agent: ScriptedAgent) -> None:
        for _ in range(2):
            prompt = await agent.expect("session/prompt")
            await agent.expect("session/cancel")
            agent.reply({"stopReason": "cancelled"}, to=prompt)
        await agent.expect("session/prompt")
        await until(lambda: waited)
        agent.reply(DONE)

    waited: list[bool] = []

    async def iterate(turn: Any) -> None:
        async for _ in turn:
            pass

    async def own(turn: Any) -> None:
        await turn

    async with open_session(script) as (_, session):
        for work in (iterate, own):
            turn = session.prompt("question")
            task = asyncio.create_task(work(turn))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await turn.wait()).cancel_requested
        turn = session.prompt("question")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(turn.wait(), 0.01)
        waited.append(True)
        assert not (await turn).cancel_requested


async def test_r68_commands_of_a_cancelled_turn_are_ended() -> None:
    """Some agents neither kill nor release what they started."""

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        create = {"sessionId": "session-1", "command": "sleep", "args": ["600"]}
        terminal = {"sessionId": "session-1", **(await agent.call("terminal/create", create))["result"]}
        waiting = agent.request("terminal/wait_for_exit", terminal)
        await agent.expect("session/cancel")
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        assert (await agent.response(waiting))["result"]["signal"] == "SIGTERM"

    terminals = acp_host.TerminalService()
    async with open_session(script, terminals=terminals) as (_, session):
        turn = session.prompt("question")
        await until(lambda: terminals.terminals(session.id))
        turn.cancel()
        await turn


async def test_r68_an_agent_may_wait_for_its_command_before_it_looks_for_a_cancel() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        create = {"sessionId": "session-1", "command": "sleep", "args": ["600"]}
        terminal = {"sessionId": "session-1", **(await agent.call("terminal/create", create))["result"]}
        ended = (await agent.call("terminal/wait_for_exit", terminal))["result"]
        await agent.expect("session/cancel")
        agent.say(ended["signal"])
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    terminals = acp_host.TerminalService()
    async with open_session(script, terminals=terminals) as (_, session):
        turn = session.prompt("question")
        await until(lambda: terminals.terminals(session.id))
        turn.cancel()
        assert (await turn).text == "SIGTERM"


async def test_r69_the_agent_is_gone_before_the_cancel_arrives() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        await agent.close()

    async with open_session(script) as (host, session):
        turn, queued = session.prompt("question"), session.prompt("queued")
        await host.wait_closed()
        turn.cancel()
        session.cancel()
        with pytest.raises(acp_host.OutcomeUnknown):
            await turn
        with pytest.raises(acp_host.ConnectionClosed, match="not sent"):
            await queued


async def test_r69_the_agent_dies_of_the_cancel() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("half an ans")
        await agent.expect("session/cancel")
        agent.log("panic: cancel of nil turn")
        raise SystemExit(101)

    async with open_session(script) as (_, session):
        turn = session.prompt("question")
        await until(lambda: turn.text)
        turn.cancel()
        with pytest.raises(acp_host.OutcomeUnknown, match="panic") as caught:
            await turn
        assert isinstance(caught.value.cause, acp_host.TransportError)
        assert caught.value.cause.exit_status == 101
        assert turn.text == "half an ans"


async def test_r69_a_cancelled_call_is_withdrawn() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        request = await agent.expect("session/new")
        assert (await agent.expect("$/cancel_request"))["params"] == {"requestId": request["id"]}
        agent.reply({"sessionId": "late"}, to=request)
        await agent.open_session()

    async with connected(script) as host:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(host.new_session(), 0.05)
        assert (await host.new_session()).id == "session-1"
        assert list(host.diagnostics) == []
