"""How agents tell of modes, models and options, and what they do when one is set; and what they do with MCP servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from acp_host import HostMcpServer, InvalidInput, OutcomeUnknown, RequestFailed, Session, SessionOption
from acp_host.services.mcp import MAX_OPEN
from acp_host.testing import ScriptedAgent
from acp_host.wire.mcp import McpServerHttp, McpServerStdio
from tests.chaos.bad_agents import ALL, DONE, connected, until

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask", "description": None}, {"id": "code", "name": "Code"}],
}
MODELS = {
    "currentModelId": "big[low]",
    "availableModels": [
        {"modelId": "big[low]", "name": "Big (low)", "description": None},
        {"modelId": "big[high]", "name": "Big (high)", "description": None},
    ],
}


def select(option_id: str, current: str, *values: str, **members: Any) -> dict[str, Any]:
    choices = [{"value": value, "name": value.title(), "description": None} for value in values]
    return {
        "type": "select",
        "id": option_id,
        "name": option_id,
        "currentValue": current,
        "options": choices,
        **members,
    }


def configured(mode: str = "ask", model: str = "big") -> list[dict[str, Any]]:
    return [
        select("mode", mode, "ask", "code", category="mode"),
        select("model", model, "big", "small", category="model"),
    ]


def told(*options: dict[str, Any]) -> dict[str, Any]:
    return {"sessionUpdate": "config_option_update", "configOptions": list(options)}


def mode(mode_id: str) -> dict[str, Any]:
    return {"sessionUpdate": "current_mode_update", "currentModeId": mode_id}


@asynccontextmanager
async def opened(script: Callable[[ScriptedAgent], Any], **opening: Any) -> AsyncIterator[Session]:
    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        await agent.open_session("session-1", **opening)
        await script(agent)

    async with connected(whole) as host:
        yield await host.new_session()


async def nothing(agent: ScriptedAgent) -> None:
    pass


def option(session: Session, option_id: str) -> SessionOption:
    found = session.options.snapshot().get(option_id)
    assert found is not None
    return found


def values(session: Session) -> dict[str, Any]:
    return {each.id: (each.value, each.pending) for each in session.options.snapshot().entries}


async def test_r190_what_is_told_in_both_forms_is_shown_once() -> None:
    async with opened(nothing, modes=MODES, models=MODELS, configOptions=configured()) as session:
        assert [(each.id, each.source) for each in session.options.snapshot().entries] == [
            ("mode", "config_option"),
            ("model", "config_option"),
        ]


async def test_r190_how_hard_it_thinks_told_as_its_modes() -> None:
    modes = {"currentModeId": "off", "availableModes": [{"id": word, "name": word} for word in ("off", "high")]}
    thinking = select("thinking", "off", "off", "high", category="thought_level")

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.update(mode("high"))
        agent.reply(DONE)

    async with opened(script, modes=modes, configOptions=[thinking]) as session:
        await session.prompt("Think")
        assert values(session) == {"thinking": ("high", None)}


async def test_r191_modes_and_models_alone_are_options_like_others() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/set_mode")
        agent.reply({})
        request = await agent.expect("session/set_model")
        assert request["params"] == {"sessionId": "session-1", "modelId": "big[high]"}
        agent.reply(None)

    async with opened(script, modes=MODES, models=MODELS) as session:
        assert values(session) == {"mode": ("ask", None), "model": ("big[low]", None)}
        await session.set_option("mode", "code")
        await session.set_option("model", "big[high]")
        assert values(session) == {"mode": ("code", None), "model": ("big[high]", None)}


SAYS_NOTHING: list[Any] = [{}, None, {"configOptions": []}, {"configOptions": None}, {"ok": True}]


@pytest.mark.parametrize("answer", [*SAYS_NOTHING, {"configOptions": configured(model="small")}])
@pytest.mark.parametrize("before", [[], [told(*configured(model="small"))]])
@pytest.mark.parametrize("after", [[], [told(*configured(model="small"))]])
async def test_r192_an_answer_that_says_all_or_nothing_and_updates_around_it(
    answer: Any, before: list[Any], after: list[Any]
) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/set_config_option")
        for update in before:
            agent.update(update)
        agent.reply(answer)
        for update in after:
            agent.update(update)

    async with opened(script, configOptions=configured()) as session:
        await session.set_option("model", "small")
        assert values(session) == {"mode": ("ask", None), "model": ("small", None)}


@pytest.mark.parametrize("method", ["mode", "option"])
async def test_r192_a_change_that_is_told_in_the_other_form(method: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        if method == "mode":
            await agent.expect("session/set_mode")
            agent.update(told(*configured(mode="code")))
            agent.reply({})
        else:
            await agent.expect("session/set_config_option")
            agent.update(mode("code"))
            agent.reply({"configOptions": configured(mode="code")})

    async with opened(script, modes=MODES, configOptions=configured()) as session:
        await (session.set_mode("code") if method == "mode" else session.set_option("mode", "code"))
        snapshot = session.state.snapshot()
        assert option(session, "mode").value == snapshot.modes.current == "code"
        assert [each.current_value for each in snapshot.config_options] == ["code", "big"]


async def test_r193_only_what_was_refused_is_reverted() -> None:
    async def script(agent: ScriptedAgent) -> None:
        model = await agent.expect("session/set_config_option")
        await agent.expect("session/set_config_option")
        agent.reply({})  # the mode, while the model waits
        agent.reply_error(-32602, "no credit", to=model)

    async with opened(script, configOptions=configured()) as session:
        results = await asyncio.gather(
            session.set_option("model", "small"), session.set_option("mode", "code"), return_exceptions=True
        )
        assert isinstance(results[0], RequestFailed)
        assert values(session) == {"mode": ("code", None), "model": ("big", None)}
        assert "no credit" in str(option(session, "model").error)
        assert option(session, "mode").error is None


async def test_r193_of_two_values_for_one_option_the_last_counts() -> None:
    async def script(agent: ScriptedAgent) -> None:
        first = await agent.expect("session/set_config_option")
        second = await agent.expect("session/set_config_option")
        agent.reply({"configOptions": configured(mode="code")}, to=first)
        agent.reply_error(-32603, "not now", to=second)

    async with opened(script, configOptions=configured()) as session:
        results = await asyncio.gather(
            session.set_option("mode", "code"), session.set_option("mode", "ask"), return_exceptions=True
        )
        assert [type(result).__name__ for result in results] == ["NoneType", "InternalError"]
        assert values(session)["mode"] == ("code", None)


async def test_r194_what_was_under_way_when_the_agent_died_is_not_believed() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/set_config_option")
        await agent.close()

    async with opened(script, configOptions=configured()) as session:
        with pytest.raises(OutcomeUnknown):
            await session.set_option("model", "small")
        assert values(session)["model"] == ("big", None)
        assert option(session, "model").error is not None


async def test_r195_nulls_and_kinds_that_nobody_knows() -> None:
    slider = {"type": "slider", "id": "heat", "name": "Heat", "currentValue": 0.5, "description": None}
    broken = {"type": "select", "id": "odd", "name": "Odd", "currentValue": 7, "options": []}
    group = select("group", "a", description=None, category=None)
    group["options"] = [
        {"group": "g", "name": "Near", "options": [{"value": "a", "name": "A", "description": None}, {"no": "value"}]}
    ]
    async with opened(nothing, configOptions=[*configured(), slider, broken, group]) as session:
        assert set(values(session)) == {"mode", "model", "heat", "group"}  # what cannot be read is a diagnostic
        assert {choice.description for choice in option(session, "model").choices} == {None}
        assert (option(session, "heat").kind, option(session, "heat").value) == ("slider", 0.5)
        assert [choice.group for choice in option(session, "group").choices] == ["Near"]
        with pytest.raises(InvalidInput, match="cannot set"):
            await session.set_option("heat", "x")


async def test_r196_what_crosses_a_set_on_its_way_does_not_flicker() -> None:
    seen: list[Any] = []
    agent_may_go_on = asyncio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/set_config_option")
        for model in ("big", "small", "big"):
            agent.update(told(*configured(mode="ask", model=model)))
            await asyncio.sleep(0)
        await agent_may_go_on.wait()
        agent.reply({})

    async with opened(script, configOptions=configured()) as session:
        session.options.changed.connect(lambda changes: seen.append(changes.snapshot.get("mode").value))
        setting = asyncio.create_task(session.set_option("mode", "code"))
        await until(lambda: len(seen) >= 3)
        agent_may_go_on.set()
        await setting
        assert set(seen) == {"code"}
        assert values(session)["mode"] == ("code", None)


@pytest.mark.parametrize(
    "server",
    [
        McpServerStdio("s", "/bin/s", None, ()),
        McpServerStdio("s", "/bin/s", (), None),
        McpServerStdio(None, "/bin/s", (), ()),
        McpServerHttp("h", "https://example.org", {"X": "1"}),
        {"name": "s", "command": "/bin/s"},
    ],
)
async def test_r197_a_server_that_they_would_leave_out_is_not_sent(server: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake({**ALL, "mcpCapabilities": {"http": True}})
        await agent.open_session("session-1")

    async with connected(script) as host:
        with pytest.raises(InvalidInput):
            await host.new_session(mcp_servers=[server])
        await host.new_session()


def mcp(server_id: Any = "mcp-1", request_id: Any = "r", method: Any = "ping", **members: Any) -> dict[str, Any]:
    return {"serverId": server_id, "requestId": request_id, "method": method, **members}


@asynccontextmanager
async def serving(function: Any, script: Callable[[ScriptedAgent], Any]) -> AsyncIterator[Session]:
    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake({**ALL, "mcpCapabilities": {"acp": True}})
        await agent.open_session("session-1")
        await script(agent)

    async with connected(whole) as host:
        yield await host.new_session(mcp_servers=[HostMcpServer(function)])


async def test_r198_calls_of_servers_that_are_not_there_or_no_calls_at_all() -> None:
    calls = [
        (mcp("mcp-2"), -33001),
        (mcp(""), -33001),
        (mcp(None), -32602),
        (mcp(request_id=7), -32602),
        (mcp(method=None), -32602),
        (mcp(params=[1]), -32602),
        ({}, -32602),
    ]

    async def script(agent: ScriptedAgent) -> None:
        for params, code in calls:
            assert (await agent.call("mcp/message", params))["error"]["code"] == code
        assert (await agent.call("mcp/message", mcp(params=None)))["result"] == {"result": ["ping", None]}

    async with serving(lambda method, params: [method, params], script):
        pass


async def test_r198_calls_without_end_and_twice_the_same() -> None:
    gate = asyncio.Event()

    async def function(method: str, params: Any) -> str:
        await gate.wait()
        return "done"

    async def script(agent: ScriptedAgent) -> None:
        ids = [agent.request("mcp/message", mcp(request_id=f"r{number}")) for number in range(MAX_OPEN)]
        assert (await agent.call("mcp/message", mcp(request_id="r0")))["error"]["code"] == -32602
        assert (await agent.call("mcp/message", mcp(request_id="more")))["error"]["code"] == -33000
        gate.set()
        for request_id in ids:
            assert (await agent.response(request_id))["result"] == {"result": "done"}

    async with serving(function, script):
        pass


@pytest.mark.parametrize("result", [object(), {1, 2}, {"a": b"bytes"}])
async def test_r198_a_tool_whose_fault_it_is_tells_nothing_of_it(result: Any) -> None:
    def function(method: str, params: Any) -> Any:
        if method == "raise":
            raise RuntimeError("/home/user/secret")
        return result

    async def script(agent: ScriptedAgent) -> None:
        for method in ("raise", "return"):
            response = await agent.call("mcp/message", mcp(method=method))
            assert "secret" not in str(response)
            assert response["error"]["code"] in (-33002, -32603)

    async with serving(function, script):
        pass


async def test_r199_a_session_that_is_never_named_has_a_name() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.reply(DONE)
        await agent.expect("session/prompt")
        agent.update({"sessionUpdate": "session_info_update", "title": "Tests"})
        agent.reply(DONE)

    async with opened(script) as session:
        await session.prompt("Fix the tests\nand do it well")
        info = session.state.snapshot().info
        assert (info.title, info.provisional) == ("Fix the tests", True)
        await session.prompt("Go on")
        info = session.state.snapshot().info
        assert (info.title, info.provisional) == ("Tests", False)
