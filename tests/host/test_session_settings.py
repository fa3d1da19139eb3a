"""Modes and configuration options that the user sets: the state shows what the agent took."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host import RequestFailed, Session
from acp_host.testing import ScriptedAgent
from tests.host.scripts import in_session

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
