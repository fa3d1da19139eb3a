"""Requests of extensions that are work of a turn: whose they are, and that they end with it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_host.errors import RequestFailed
from acp_host.host.incoming import HandlerFailed, TurnHandler
from acp_host.testing import ScriptedAgent
from tests.host.scripts import DONE, connected, in_session


class Hanging:
    """A handler that never answers by itself."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def __call__(self, params: Any) -> Any:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


@pytest.mark.parametrize("params", [{"sessionId": "s-1"}, {}])
async def test_it_is_answered_with_an_error_when_its_turn_is_cancelled(params: dict[str, Any]) -> None:
    handler = Hanging()

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        asked = agent.request("_x/work", params)
        answer = await agent.response(asked)
        assert answer["error"]["code"] == -32800
        methods = [message.get("method", "answer") for message in agent.received]
        assert methods.index("session/cancel") > methods.index("answer")
        crossed = await agent.call("_x/work", {"sessionId": "s-1"})
        assert crossed["error"]["message"] == "the turn was cancelled"
        agent.reply(DONE)

    async with in_session(script, handlers={"_x/work": TurnHandler(handler)}) as session:
        turn = session.prompt("Go")
        await handler.begun.wait()
        turn.cancel()
        await turn.wait()
        await handler.cancelled.wait()


async def test_it_goes_on_when_another_session_cancels() -> None:
    let = asyncio.Event()

    async def work(params: Any) -> str:
        await let.wait()
        return "done"

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.open_session("s-2")
        first = await agent.expect("session/prompt")
        second = await agent.expect("session/prompt")
        named, nameless = agent.request("_x/work", {"sessionId": "s-2"}), agent.request("_x/work", {})
        await agent.expect("session/cancel")
        agent.reply({"stopReason": "cancelled"}, to=first)
        let.set()
        assert [(await agent.response(asked))["result"] for asked in (named, nameless)] == ["done", "done"]
        agent.reply(DONE, to=second)

    async with connected(script, handlers={"_x/work": TurnHandler(work)}) as host:
        one, two = await host.new_session(), await host.new_session()
        first, second = one.prompt("One"), two.prompt("Two")
        first.cancel()
        await first.wait()
        await second.wait()


async def test_other_extensions_outlive_the_turn() -> None:
    let = asyncio.Event()

    async def work(params: Any) -> str:
        await let.wait()
        return "done"

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        asked = agent.request("_x/work", {"sessionId": "s-1"})
        agent.say("working")
        await agent.expect("session/cancel")
        agent.reply({"stopReason": "cancelled"}, to=next(m for m in agent.received if m["method"] == "session/prompt"))
        let.set()
        assert (await agent.response(asked))["result"] == "done"

    async with in_session(script, handlers={"_x/work": work}) as session:
        async for _ in (turn := session.prompt("Go")):
            turn.cancel()


async def test_a_handler_can_fail_in_words_of_its_own_and_the_failure_is_reported() -> None:
    def work(params: Any) -> None:
        try:
            raise KeyError("the-secret")
        except KeyError as error:
            raise HandlerFailed("it did not work", code=-32000) from error

    async def script(agent: ScriptedAgent) -> None:
        answer = await agent.call("_x/work", {"sessionId": "s-1"})
        assert answer["error"] == {"code": -32000, "message": "it did not work"}

    async with connected(script, handlers={"_x/work": work}) as host:
        pass
    [failure] = [entry for entry in host.diagnostics if entry.kind == "handler_failed"]
    assert "KeyError" in failure.message


def test_a_failed_handler_is_nothing_that_an_agent_can_answer() -> None:
    assert type(RequestFailed.from_code(-32603, "x")).__name__ == "InternalError"
