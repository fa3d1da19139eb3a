"""Turns of an agent that says what it is doing (version 2): what begins one, what ends it, and what waits meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import acp_host
from acp_host import HostConnection, OutcomeKind, Rung, Session
from acp_host.errors import (
    AuthRequired,
    InternalError,
    InvalidInput,
    NotSupported,
    OutcomeUnknown,
    RequestFailed,
)
from acp_host.host.cancel_timeouts import CancelTimeouts
from acp_host.reminders import ReminderPolicy
from acp_host.state.entries import MessageEntry, ToolCallEntry
from acp_host.testing import ScriptedAgent
from acp_host.wire.updates import AgentMessageChunk
from acp_host.wire.v2.state_update import SessionStateUpdate
from tests.host.scripts import Script, until

SOON = CancelTimeouts(grace=0.01, withdrawn=0.01)


@asynccontextmanager
async def connected(script: Script, **options: Any) -> AsyncIterator[HostConnection]:
    """Connect to an agent of version 2 that follows the script, to its end."""

    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(version=2)
        await script(agent)

    agent = ScriptedAgent(whole)
    async with (
        asyncio.timeout(40),
        acp_host.connect(agent.transport(), protocol_versions=(2, 1), **options) as host,
    ):
        yield host
        await agent.finished()


@asynccontextmanager
async def in_session(script: Script, **options: Any) -> AsyncIterator[Session]:
    async def whole(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await script(agent)

    async with connected(whole, **options) as host:
        yield await host.new_session()


def messages(session: Session) -> list[tuple[str, str, int | None]]:
    entries = [entry for entry in session.state.snapshot().transcript if isinstance(entry, MessageEntry)]
    return [(entry.speaker.value, entry.text, entry.turn) for entry in entries]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


class TestTheTextOfATurn:
    @pytest.mark.parametrize("tells_whole", [True, False])
    async def test_is_that_of_its_own_messages(self, tells_whole: bool) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.accept_prompt("u1")
            agent.state("running")
            agent.say("one", message_id="a1")
            agent.state("idle", stopReason="end_turn")
            await agent.accept_prompt("u2")
            agent.state("running")
            if tells_whole:
                agent.update({"sessionUpdate": "agent_message", "messageId": "a1", "content": [text("one, better")]})
            else:
                agent.say(", better", message_id="a1")
            agent.say("two", message_id="a2")
            agent.state("idle", stopReason="end_turn")

        async with in_session(script) as session:
            first, second = session.prompt("1"), session.prompt("2")
            assert (await second).text == "two"
            assert (await first).text == "one"
            assert ("assistant", "one, better", 1) in messages(session)


class TestTheEndOfATurn:
    async def test_is_the_first_idle_after_the_agent_has_worked(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.accept_prompt("m1")
            agent.state("running")
            agent.say("Hel", message_id="m2")
            agent.say("lo", message_id="m2")
            usage = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}
            agent.state("idle", stopReason="end_turn", usage=usage, _meta={"a": 1})

        async with in_session(script) as session:
            turn = session.prompt("Hi")
            kinds = [type(update) async for update in turn]
            result = await turn
            assert kinds[-1] is SessionStateUpdate
            assert sum(issubclass(kind, AgentMessageChunk) for kind in kinds) == 2
            assert (result.stop_reason, result.text, result.outcome.kind) == ("end_turn", "Hello", "completed")
            assert result.usage is not None
            assert result.meta == {"a": 1}
            assert messages(session) == [("user", "Hi", 1), ("assistant", "Hello", 1)]
            snapshot = session.state.snapshot()
            assert snapshot.usage.last_turn == result.usage
            assert (snapshot.turn.status, snapshot.turn.agent_state, snapshot.turn.origin) == ("idle", "idle", "user")

    async def test_is_not_the_answer_to_the_prompt(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.accept_prompt("m1")
            await agent.expect("session/cancel")
            agent.state("running")
            agent.state("idle", stopReason="cancelled")

        async with in_session(script) as session:
            turn = session.prompt("Hi")
            await until(lambda: session.state.snapshot().transcript[0].message_id == "m1")
            assert not turn.done
            turn.cancel()
            await turn

    @pytest.mark.parametrize("answer_first", [True, False])
    async def test_may_come_before_the_answer(self, answer_first: bool) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("session/prompt")
            agent.state("running")
            agent.say("ok", message_id="m2")
            agent.state("idle", stopReason="end_turn")
            agent.reply({"messageId": "m1"})
            await agent.accept_prompt("m3")
            agent.state("running")
            agent.state("idle", stopReason="end_turn")

        async with in_session(script) as session:
            assert (await session.prompt("One")).text == "ok"
            assert (await session.prompt("Two")).text == ""

    async def test_is_not_a_snapshot_told_again(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            for number in (1, 2):
                await agent.expect("session/prompt")
                agent.state("idle", stopReason="cancelled")  # before anything is said of this prompt
                agent.reply({"messageId": f"m{number}"})
                agent.state("idle")
                agent.state("running")
                agent.say("ok", message_id=f"a{number}")
                agent.state("idle", stopReason="end_turn")
                agent.state("idle", stopReason="end_turn")

        async with in_session(script) as session:
            for words in ("One", "Two"):
                result = await session.prompt(words)
                assert (result.stop_reason, result.text) == ("end_turn", "ok")

    async def test_is_an_idle_with_a_reason_where_nothing_had_to_be_done(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.accept_prompt("m1")
            agent.state("idle")
            agent.state("idle", stopReason="end_turn")

        async with in_session(script) as session:
            assert (await session.prompt("/clear")).stop_reason == "end_turn"

    async def test_is_not_that_of_another_message(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("session/prompt")
            agent.reply({"messageId": "m1"})
            agent.update({"sessionUpdate": "user_message", "messageId": "other", "content": [text("Else")]})
            agent.state("idle", stopReason="refusal")
            agent.update({"sessionUpdate": "user_message", "messageId": "m1", "content": [text("Hi")]})
            agent.state("idle", stopReason="end_turn")

        async with in_session(script) as session:
            assert (await session.prompt("Hi")).stop_reason == "end_turn"

    async def test_without_a_reason_nobody_knows_why(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.accept_prompt("m1")
            agent.state("running")
            agent.state("idle")

        async with in_session(script) as session:
            result = await session.prompt("Hi")
            assert (result.stop_reason, result.outcome.kind) == (None, OutcomeKind.INCOMPLETE)

    @pytest.mark.parametrize(
        ("error", "kind", "words"),
        [
            ({"code": -32603, "message": "no more disk"}, InternalError, "no more disk"),
            ({"code": -32000, "message": "log in"}, AuthRequired, "log in"),
            ({"code": -32002, "message": "Session s-1 not found", "data": {"sessionId": "s-1"}}, RequestFailed, "s-1"),
            (None, RequestFailed, "does not say why"),
        ],
    )
    async def test_can_be_a_failure_of_the_work(self, error: Any, kind: type[Exception], words: str) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.accept_prompt("m1")
            agent.state("running")
            usage = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}
            agent.state("idle", stopReason="error", usage=usage, **({} if error is None else {"error": error}))
            await agent.accept_prompt("m2")
            agent.state("running")
            agent.state("idle", stopReason="end_turn")

        async with in_session(script) as session:
            turn = session.prompt("Hi")
            with pytest.raises(kind, match=words):
                await turn
            told = session.state.snapshot()
            assert (told.turn.outcome, told.turn.stop_reason) == ("failed", "error")
            assert told.usage.last_turn is not None
            assert (await session.prompt("Go on")).stop_reason == "end_turn"

    async def test_of_a_prompt_that_is_refused_is_the_answer(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("session/prompt")
            agent.reply_error(-32602, "no such block")
            await agent.accept_prompt("m1")
            agent.state("running")
            agent.state("idle", stopReason="end_turn")

        async with in_session(script) as session:
            with pytest.raises(RequestFailed, match="no such block"):
                await session.prompt("Hi")
            assert (await session.prompt("Again")).stop_reason == "end_turn"

    async def test_an_answer_without_an_id_is_told_of_and_the_turn_goes_on(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("session/prompt")
            agent.reply({})
            agent.state("running")
            agent.say("ok", message_id="m2")
            agent.state("idle", stopReason="end_turn")

        async with connected(with_session(script)) as host:
            session = await host.new_session()
            assert (await session.prompt("Hi")).text == "ok"
            assert any("messageId" in diagnostic.message for diagnostic in host.diagnostics)

    async def test_the_text_is_that_of_the_messages_as_they_are_at_the_end(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.accept_prompt("m1")
            agent.state("running")
            agent.say("draft", message_id="a")
            agent.say("two", message_id="b")
            agent.update({"sessionUpdate": "agent_message", "messageId": "a", "content": [text("one ")]})
            agent.update({"sessionUpdate": "agent_message", "messageId": "b"})
            agent.state("idle", stopReason="end_turn")

        async with in_session(script) as session:
            assert (await session.prompt("Hi")).text == "one two"


def with_session(script: Script) -> Script:
    async def whole(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await script(agent)

    return whole


class TestWorkOfTheAgentsOwn:
    async def test_is_a_turn_and_prompts_wait_for_its_end(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            agent.state("running", "s-1")
            agent.say("by myself", "s-1", message_id="a")
            assert (await agent.expect("_test/go"))["method"]
            assert len(agent.received) == 3  # no prompt so far
            agent.state("idle", "s-1", stopReason="end_turn")
            await agent.accept_prompt("m1")
            agent.state("running")
            agent.state("idle", stopReason="end_turn")

        async with connected(with_session(script)) as host:
            session = await host.new_session()
            await until(lambda: messages(session))
            own = session.current_turn
            assert own is not None
            assert (own.origin, own.prompt.blocks) == ("agent", ())
            told = session.state.snapshot().turn
            assert (told.status, told.origin, told.turn) == ("running", "agent", own.number)
            turn = session.prompt("Hi")
            assert session.queued_turns == (turn,)
            await host.notify("_test/go", {})
            assert (await own).text == "by myself"
            assert (await turn).stop_reason == "end_turn"
            assert messages(session) == [("assistant", "by myself", own.number), ("user", "Hi", turn.number)]
            shown = session.take_updates_between_turns()
            assert [type(update).__name__ for update in shown] == [
                "SessionStateUpdate",
                "AgentMessageChunk",
                "SessionStateUpdate",
            ]

    async def test_can_be_cancelled(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            agent.state("requires_action", "s-1")
            await agent.expect("session/cancel")
            agent.state("idle", "s-1", stopReason="cancelled")

        async with in_session(script) as session:
            await until(lambda: session.current_turn)
            assert session.state.snapshot().turn.status == "waiting"
            own = session.current_turn
            assert own is not None
            session.cancel()
            assert (await own).stop_reason == "cancelled"

    async def test_that_began_before_the_session_was_opened_here(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("session/new")
            agent.notify(
                "session/update",
                {"sessionId": "s-1", "update": {"sessionUpdate": "state_update", "state": "running"}},
            )
            agent.reply({"sessionId": "s-1"})
            agent.state("idle", "s-1", stopReason="end_turn")

        async with connected(script) as host:
            session = await host.new_session()
            await until(lambda: session.state.snapshot().turn.outcome)
            assert session.state.snapshot().turn.origin == "agent"

    async def test_that_goes_on_in_a_session_that_is_loaded(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            asked = await agent.expect("session/resume")
            assert asked["params"]["replayFrom"] == {"type": "start"}
            agent.update({"sessionUpdate": "user_message", "messageId": "m", "content": [text("Before")]})
            agent.say("Then", message_id="n")
            agent.state("running")
            agent.reply({"availableCommands": [{"type": "command", "name": "web", "description": "Search"}]})
            agent.say("Now", message_id="o")
            agent.state("idle", stopReason="end_turn")

        async with connected(script) as host:
            session = await host.load_session("s-1", "/tmp")
            await until(lambda: session.state.snapshot().turn.outcome)
            entries = session.state.snapshot().transcript
            assert [(entry.text, entry.replayed, entry.turn) for entry in entries] == [
                ("Before", True, -1),
                ("Then", True, -1),
                ("Now", False, 1),
            ]
            assert [command.name for command in session.state.snapshot().commands] == ["web"]

    async def test_what_goes_on_after_a_prompt_has_failed(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("session/prompt")
            agent.state("running")
            agent.reply_error(-32603, "not inserted")
            agent.state("idle", stopReason="error")

        async with in_session(script) as session:
            with pytest.raises(InternalError, match="not inserted"):
                await session.prompt("Hi")
            await until(lambda: session.current_turn is None and session.state.snapshot().turn.turn == 2)
            assert session.state.snapshot().turn.origin == "agent"


class TestCancelling:
    async def test_the_agent_says_when_it_has_stopped(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.accept_prompt("m1")
            agent.state("running")
            await agent.expect("session/cancel")
            agent.say("so far", message_id="a")
            agent.state("idle", stopReason="cancelled")

        async with in_session(script) as session:
            turn = session.prompt("Hi")
            await until(lambda: session.state.snapshot().turn.agent_state == "running")
            turn.cancel("enough")
            result = await turn
            assert (result.stop_reason, result.text, result.outcome.detail) == ("cancelled", "so far", "enough")

    async def test_a_turn_that_never_ends_is_given_up_and_the_next_prompt_is_sent(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.accept_prompt("m1")
            agent.state("running")
            await agent.expect("session/cancel")
            await agent.expect("session/prompt")
            agent.state("idle", stopReason="cancelled")  # of the first one, at last
            agent.reply({"messageId": "m2"})
            agent.state("running")
            agent.say("ok", message_id="a")
            agent.state("idle", stopReason="end_turn")

        async with in_session(script, cancel_timeouts=SOON) as session:
            turn = session.prompt("Hi")
            await until(lambda: session.state.snapshot().turn.agent_state == "running")
            turn.cancel()
            assert (await turn).stop_reason == "cancelled"
            assert (await session.prompt("Go on")).text == "ok"

    async def test_a_prompt_that_is_not_answered_is_withdrawn(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            asked = await agent.expect("session/prompt")
            await agent.expect("session/cancel")
            withdrawn = await agent.expect("$/cancel_request")
            assert withdrawn["params"]["requestId"] == asked["id"]
            agent.reply_error(-32800, "cancelled", to=asked)

        async with in_session(script, cancel_timeouts=SOON) as session:
            turn = session.prompt("Hi")
            await until(lambda: session.current_turn)
            turn.cancel()
            assert (await turn).stop_reason == "cancelled"

    async def test_a_single_tool_call(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.accept_prompt("m1")
            agent.state("running")
            call = {"sessionUpdate": "tool_call_update", "toolCallId": "c"}
            agent.update({**call, "status": "in_progress", "capabilities": {"cancel": {}}})
            asked = await agent.expect("tool_call/cancel")
            assert asked["params"] == {"sessionId": "s-1", "toolCallId": "c"}
            agent.reply({})
            agent.update({**call, "status": "cancelled", "capabilities": None}, "s-1")
            agent.state("idle", "s-1", stopReason="end_turn")

        async with in_session(script) as session:
            turn = session.prompt("Hi")
            await until(lambda: session.state.tool_call("c"))
            await session.cancel_tool_call("c")
            await turn
            call = session.state.tool_call("c")
            assert isinstance(call, ToolCallEntry)
            assert (call.status, call.finished, call.cancellable) == ("cancelled", True, False)
            with pytest.raises(NotSupported, match="does not offer"):
                await session.cancel_tool_call("c")
            with pytest.raises(InvalidInput, match="no tool call 'other'"):
                await session.cancel_tool_call("other")

    async def test_a_terminal(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            terminal = {"sessionUpdate": "terminal_update", "terminalId": "t"}
            agent.update({**terminal, "command": "make", "capabilities": {"cancel": {}}}, "s-1")
            asked = await agent.expect("terminal/cancel")
            assert asked["params"] == {"sessionId": "s-1", "terminalId": "t"}
            agent.reply({})
            agent.update({**terminal, "exitStatus": {"signal": "SIGTERM"}, "capabilities": {}}, "s-1")

        async with in_session(script) as session:
            await until(lambda: session.state.snapshot().terminals)
            await session.cancel_terminal("t")
            await until(lambda: session.state.snapshot().terminals["t"].ended)
            with pytest.raises(NotSupported, match="does not offer"):
                await session.cancel_terminal("t")
            with pytest.raises(InvalidInput, match="no terminal 'other'"):
                await session.cancel_terminal("other")


class TestTheConnection:
    async def test_a_turn_at_work_ends_unknown_when_the_connection_is_lost(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.accept_prompt("m1")
            agent.state("running")
            await agent.close()

        async with in_session(script) as session:
            with pytest.raises(OutcomeUnknown, match="session/prompt"):
                await session.prompt("Hi")
            assert session.state.snapshot().turn.agent_state is None

    async def test_output_that_is_no_base64_is_told_of(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            agent.update({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "?"}, "s-1")
            agent.update({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "aGk="}, "s-1")

        async with connected(with_session(script)) as host:
            session = await host.new_session()
            await until(lambda: session.state.snapshot().terminals.get("t"))
            await until(lambda: session.state.snapshot().terminals["t"].output)
            assert session.state.snapshot().terminals["t"].output == ("hi",)
            [told] = [found for found in host.diagnostics if "not base64" in found.message]
            assert "data='?'" in told.data


class TestReminders:
    async def test_one_that_leads_a_prompt_is_delivered_with_the_answer(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            asked = await agent.expect("session/prompt")
            agent.state("running")
            agent.say("early", message_id="a")
            await agent.expect("_test/go")
            agent.reply({"messageId": "m1"}, to=asked)
            echo = {"sessionUpdate": "user_message", "messageId": "m1", "content": asked["params"]["prompt"]}
            agent.update(echo, "s-1")
            agent.state("idle", "s-1", stopReason="end_turn")

        async with connected(with_session(script)) as host:
            session = await host.new_session()
            policy = ReminderPolicy(rungs=(Rung.PREFIXED_USER_MESSAGE,))
            session.remind_soon("Mind the gap", policy=policy)
            turn = session.prompt("Hi")
            await until(lambda: len(messages(session)) == 2)
            [entry] = session.reminders.snapshot().entries
            assert entry.status == "sending"
            await host.notify("_test/go", {})
            await turn
            [entry] = session.reminders.snapshot().entries
            assert entry.status == "emitted"
            kinds = [entry.type for entry in session.state.snapshot().transcript]
            assert kinds == ["reminder", "message", "message"]
            assert messages(session)[0] == ("user", "Hi", 1)
