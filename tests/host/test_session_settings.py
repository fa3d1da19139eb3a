"""Modes and configuration options that the user sets: the state shows what the agent took."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import acp_host
from acp_host import ConnectionClosed, InvalidInput, InvalidParams, OutcomeUnknown, RequestFailed, Session
from acp_host.testing import ScriptedAgent
from tests.host.scripts import OPENS, in_session, until

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
FAST = {"type": "boolean", "id": "fast", "name": "Fast", "currentValue": False}
MODEL = {"type": "select", "id": "model", "name": "Model", "currentValue": "a", "options": []}
OPENING: dict[str, Any] = {"modes": MODES, "configOptions": [FAST, MODEL]}


def values(session: Session) -> list[Any]:
    return [option.current_value for option in session.state.snapshot().config_options]


def answering(method: str, answer: Any, *updates: dict[str, Any], before: bool = True):
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect(method)
        for update in updates if before else ():
            agent.update(update)
        agent.reply(answer)
        for update in () if before else updates:
            agent.update(update)

    return script


@pytest.mark.parametrize("answer", [{}, None])
async def test_a_mode_is_on_when_the_agent_has_answered(answer: Any) -> None:
    async with in_session(answering("session/set_mode", answer), opening=OPENING) as session:
        assert session.state.snapshot().modes.current == "ask"
        await session.set_mode("code")
        assert session.state.snapshot().modes.current == "code"
        assert len(session.state.snapshot().modes.available) == 2


async def test_what_the_agent_says_behind_its_answer_counts() -> None:
    update = {"sessionUpdate": "current_mode_update", "currentModeId": "ask"}
    async with in_session(answering("session/set_mode", {}, update, before=False), opening=OPENING) as session:
        await session.set_mode("code")
        await session.next_update_between_turns()
        assert session.state.snapshot().modes.current == "ask"


@pytest.mark.parametrize("answer", [{}, None, {"configOptions": []}])
@pytest.mark.parametrize(
    ("config_id", "value", "expected"), [("fast", True, [True, "a"]), ("model", "b", [False, "b"])]
)
async def test_an_option_has_the_value_that_was_set_where_the_answer_is_empty(
    answer: Any, config_id: str, value: Any, expected: list[Any]
) -> None:
    async with in_session(answering("session/set_config_option", answer), opening=OPENING) as session:
        await session.set_config_option(config_id, value)
        assert values(session) == expected


async def test_what_the_answer_says_counts() -> None:
    told = [{**FAST, "currentValue": True}, {**MODEL, "currentValue": "c"}]
    async with in_session(answering("session/set_config_option", {"configOptions": told}), opening=OPENING) as session:
        await session.set_config_option("model", "b")
        assert values(session) == [True, "c"]


async def test_an_update_behind_the_answer_counts() -> None:
    update = {"sessionUpdate": "config_option_update", "configOptions": [FAST, {**MODEL, "currentValue": "c"}]}
    script = answering("session/set_config_option", {}, update, before=False)
    async with in_session(script, opening=OPENING) as session:
        await session.set_config_option("model", "b")
        await session.next_update_between_turns()
        assert values(session) == [False, "c"]


async def test_what_was_refused_stays_as_it_was() -> None:
    async def script(agent: ScriptedAgent) -> None:
        for method in ("session/set_mode", "session/set_config_option"):
            await agent.expect(method)
            agent.reply_error(-32602, "no")

    async with in_session(script, opening=OPENING) as session:
        with pytest.raises(RequestFailed):
            await session.set_mode("code")
        with pytest.raises(RequestFailed):
            await session.set_config_option("model", "b")
        assert session.state.snapshot().modes.current == "ask"
        assert values(session) == [False, "a"]


# --- by the view of options -----------------------------------------------------------------------------------------

MODELS = {"currentModelId": "m1", "availableModels": [{"modelId": "m1", "name": "One"}, {"modelId": "m2", "name": "2"}]}


def shown(session: Session, option_id: str) -> tuple[Any, Any, str | None]:
    option = session.options.snapshot().get(option_id)
    assert option is not None
    return option.value, option.pending, option.error


@pytest.mark.parametrize(
    ("opening", "option_id", "value", "method", "params"),
    [
        (OPENING, "fast", True, "session/set_config_option", {"configId": "fast", "value": True, "type": "boolean"}),
        (OPENING, "model", "b", "session/set_config_option", {"configId": "model", "value": "b"}),
        (OPENING, "mode", "code", "session/set_mode", {"modeId": "code"}),
        ({"models": MODELS}, "model", "m2", "session/set_model", {"modelId": "m2"}),
    ],
)
async def test_a_set_goes_by_the_method_that_its_source_needs(
    opening: Any, option_id: str, value: Any, method: str, params: Any
) -> None:
    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect(method)
        assert request["params"] == {"sessionId": "s-1", **params}
        agent.reply({})

    async with in_session(script, opening=opening) as session:
        setting = asyncio.create_task(session.set_option(option_id, value))
        await until(lambda: shown(session, option_id) == (value, value, None))
        await setting
        assert shown(session, option_id) == (value, None, None)


async def test_two_at_once_and_one_is_refused() -> None:
    async def script(agent: ScriptedAgent) -> None:
        first = await agent.expect("session/set_config_option")
        await agent.expect("session/set_mode")
        agent.reply({})
        agent.reply_error(-32602, "too dear", to=first)

    async with in_session(script, opening=OPENING) as session:
        results = await asyncio.gather(
            session.set_option("model", "b"), session.set_option("mode", "code"), return_exceptions=True
        )
        assert [type(result) for result in results] == [InvalidParams, type(None)]
        value, pending, error = shown(session, "model")
        assert (value, pending) == ("a", None)
        assert error is not None
        assert "too dear" in error
        assert shown(session, "mode") == ("code", None, None)


@pytest.mark.parametrize(
    ("option_id", "value", "says"),
    [("speed", "x", "its options are: fast, model, mode"), ("mode", "x", "its choices are ask, code")],
)
async def test_what_cannot_be_is_not_sent(option_id: str, value: Any, says: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/set_mode")
        agent.reply({})

    async with in_session(script, opening=OPENING) as session:
        with pytest.raises(InvalidInput, match=says):
            await session.set_option(option_id, value)
        await session.set_option("mode", "code")


async def test_a_lost_connection_shows_what_is_known() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/set_mode")
        await agent.close()

    async with in_session(script, opening=OPENING) as session:
        with pytest.raises(OutcomeUnknown):
            await session.set_option("mode", "code")
        value, pending, error = shown(session, "mode")
        assert (value, pending) == ("ask", None)
        assert error is not None


async def test_on_a_connection_that_has_ended_nothing_is_pending() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.close()

    async with in_session(script, opening=OPENING) as session:
        await until(lambda: session.state.snapshot().health.status != "connected")
        with pytest.raises(ConnectionClosed):
            await session.set_option("mode", "code")
        assert shown(session, "mode")[:2] == ("ask", None)


@pytest.mark.parametrize("answer", [{}, {"error": {"code": -32800, "message": "cancelled"}}])
async def test_a_caller_that_gives_up(answer: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect("session/set_mode")
        await agent.expect("$/cancel_request")
        if answer:
            agent.reply_error(-32800, "cancelled", to=request)
        else:
            agent.reply({}, to=request)

    async with in_session(script, opening=OPENING) as session:
        setting = asyncio.create_task(session.set_option("mode", "code"))
        await until(lambda: shown(session, "mode")[1] == "code")
        setting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await setting
        assert shown(session, "mode")[:2] == ("ask", None)
        if not answer:  # it was too late to give up
            await until(lambda: shown(session, "mode")[0] == "code")


async def test_a_result_that_cannot_be_read_is_a_result() -> None:
    answer = {"configOptions": 7, "ok": True}
    async with in_session(answering("session/set_config_option", answer), opening=OPENING) as session:
        await session.set_option("model", "b")
        assert shown(session, "model") == ("b", None, None)


@pytest.mark.parametrize("method", ["session/set_mode", "session/set_model"])
async def test_the_same_of_modes_and_models(method: str) -> None:
    async with in_session(answering(method, "ok"), opening={"modes": MODES, "models": MODELS}) as session:
        option_id, value = ("mode", "code") if method == "session/set_mode" else ("model", "m2")
        await session.set_option(option_id, value)
        assert shown(session, option_id) == (value, None, None)


async def test_a_title_is_shown_as_the_agent_keeps_it() -> None:
    script = answering("session/set_title", {"title": "Tests"})
    async with in_session(script, {**OPENS, "sessionCapabilities": {"title": {}}}) as session:
        await session.set_title("  Tests ")
        assert session.state.snapshot().info.title == "Tests"


async def test_an_option_that_needs_a_login_is_set_after_it() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/set_mode")
        agent.reply_error(-32000, "log in first")
        await agent.expect("authenticate")
        agent.reply({})
        await agent.expect("session/set_mode")
        await until(lambda: shown(session, "mode") == ("code", "code", None))
        agent.reply({})

    async def log_in(question: Any) -> str:
        return "web"

    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(OPENS, authMethods=[{"id": "web", "name": "Web"}])
        await agent.open_session("s-1", **OPENING)
        await script(agent)

    agent = ScriptedAgent(whole)
    async with asyncio.timeout(40), acp_host.connect(agent.transport(), authenticate=log_in) as host:
        session = await host.new_session()
        await session.set_option("mode", "code")
        assert shown(session, "mode") == ("code", None, None)
        await agent.finished()
