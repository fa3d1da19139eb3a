"""Which session a request of the agent belongs to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_host import HostConnection, Session
from acp_host.diagnostics import DiagnosticKind
from acp_host.errors import RequestFailed
from acp_host.host.incoming import OpenRequest
from acp_host.testing import ScriptedAgent
from acp_host.wire.elicitation import ElicitationAcceptAction
from tests.host.scripts import DONE, connected, until

OPTION = {"optionId": "y", "name": "Yes", "kind": "allow_once"}
SCHEMA = {"type": "object", "properties": {}}


def permission(session_id: str) -> tuple[str, dict[str, Any]]:
    params = {"sessionId": session_id, "toolCall": {"toolCallId": "c"}, "options": [OPTION]}
    return "session/request_permission", params


def form(**scope: Any) -> tuple[str, dict[str, Any]]:
    return "elicitation/create", {"mode": "form", "message": "?", "requestedSchema": SCHEMA, **scope}


class Answers:
    """Handlers that answer when the test lets them."""

    def __init__(self) -> None:
        self.let = asyncio.Event()
        self.options: dict[str, Any] = {"permissions": self.permit, "elicitation": self.fill}

    async def permit(self, request: Any) -> str:
        await self.let.wait()
        return "y"

    async def fill(self, request: Any) -> ElicitationAcceptAction:
        await self.let.wait()
        return ElicitationAcceptAction({})


async def two_sessions(agent: ScriptedAgent) -> None:
    await agent.open_session("s-1")
    await agent.open_session("s-2")


def asked(session: Session) -> list[str]:
    return [question.method for question in session.state.snapshot().questions]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Which sessions were told of the beginning and the end of a request."""
    told: list[tuple[str, str]] = []
    for name in ("request_begins", "request_ends"):
        original = getattr(Session, name)

        def noting(session: Session, request: OpenRequest, name: str = name, original: Any = original) -> None:
            told.append((name, session.id))
            original(session, request)

        monkeypatch.setattr(Session, name, noting)
    return told


@pytest.mark.parametrize("how", ["permission", "form of a session", "form of a prompt"])
async def test_only_the_session_that_it_belongs_to_is_told(how: str, told: list[tuple[str, str]]) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await two_sessions(agent)
        first = await agent.expect("session/prompt")
        second = await agent.expect("session/prompt")
        scope = {"requestId": second["id"]} if how == "form of a prompt" else {"sessionId": "s-2"}
        answer = await agent.call(*(permission("s-2") if how == "permission" else form(**scope)))
        assert "result" in answer
        agent.reply(DONE, to=first)
        agent.reply(DONE, to=second)

    answers = Answers()
    async with connected(script, **answers.options) as host:
        one, two = await host.new_session(), await host.new_session()
        turns = [one.prompt("go"), two.prompt("go")]
        await until(lambda: asked(two))
        assert asked(one) == []
        assert (one.state.snapshot().turn.status, two.state.snapshot().turn.status) == ("running", "waiting")
        answers.let.set()
        await asyncio.gather(*turns)
        assert asked(two) == []
    assert told == [("request_begins", "s-2"), ("request_ends", "s-2")]


async def test_a_form_may_name_the_newest_prompt_of_a_session_and_no_older_one() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        old = await agent.expect("session/prompt")
        agent.reply(DONE)
        new = await agent.expect("session/prompt")
        agent.request(*form(requestId=old["id"]))
        agent.request(*form(requestId=new["id"]))
        await agent.expect("session/cancel")
        assert (await agent.response(2))["result"] == {"action": "cancel"}
        assert (await agent.response(1))["result"] == {"action": "accept", "content": {}}
        agent.reply({"stopReason": "cancelled"}, to=new)

    answers = Answers()
    async with connected(script, **answers.options) as host:
        session = await host.new_session()
        await session.prompt("one")
        turn = session.prompt("two")
        await until(lambda: asked(session))
        turn.cancel()
        answers.let.set()
        await turn


async def test_a_question_that_crosses_a_cancel_is_answered_and_one_of_another_session_is_asked() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await two_sessions(agent)
        first = await agent.expect("session/prompt")
        second = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        crossed = await agent.call(*form(requestId=first["id"]))
        assert crossed["result"] == {"action": "cancel"}
        crossed = await agent.call(*permission("s-1"))
        assert crossed["result"] == {"outcome": {"outcome": "cancelled"}}
        allowed = await agent.call(*permission("s-2"))
        assert allowed["result"]["outcome"]["optionId"] == "y"
        agent.reply({"stopReason": "cancelled"}, to=first)
        agent.reply(DONE, to=second)

    answers = Answers()
    answers.let.set()
    async with connected(script, **answers.options) as host:
        one, two = await host.new_session(), await host.new_session()
        turns = [one.prompt("go"), two.prompt("go")]
        turns[0].cancel()
        await asyncio.gather(*turns)


async def test_what_is_remembered_of_prompts_does_not_grow() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        for _ in range(5):
            await agent.expect("session/prompt")
            agent.reply(DONE)
        await agent.expect("session/close")
        agent.reply({})

    def remembered(host: HostConnection) -> int:
        return len(host._incoming._prompts)

    async with connected(script) as host:
        session = await host.new_session()
        for _ in range(5):
            await session.prompt("go")
        assert remembered(host) == 1
        await host.close_session("s-1")
        assert remembered(host) == 0


async def test_a_question_that_is_open_when_its_session_is_closed_is_closed_in_its_state_too() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        agent.request(*permission("s-1"))
        await agent.expect("session/close")
        agent.reply({})
        await agent.response(1)

    answers = Answers()
    async with connected(script, **answers.options) as host:
        session = await host.new_session()
        await until(lambda: asked(session))
        await host.close_session("s-1")
        answers.let.set()
        await until(lambda: not asked(session))


@pytest.mark.parametrize("data", [object(), {"path": {1}}, {5: "x"}])
async def test_an_error_that_has_no_json_form_is_answered_too(data: Any) -> None:
    answers: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        answers.append(await agent.call("_own/ask", {}))
        answers.append(await agent.call("_own/ask", {"again": True}))

    def refuse(params: Any) -> str:
        if params:
            return "done"
        raise RequestFailed("no", code=-32001, data=data)

    async with connected(script, handlers={"_own/ask": refuse}) as host:
        await until(lambda: len(answers) == 2)
        assert [each.kind for each in host.diagnostics] == [DiagnosticKind.HANDLER_FAILED]
    assert answers[0]["error"] == {"code": -32603, "message": "the host's answer to _own/ask is invalid"}
    assert answers[1]["result"] == "done"
