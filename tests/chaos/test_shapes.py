"""Messages whose members are unknown, missing, ``null`` or of another type than the schema says."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

import pytest

import acp_host
from acp_host import UNSET, Diagnostic, DiagnosticKind, InvalidInput, NotSupported, PromptFailed
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos import find
from acp_host.testing.chaos.agents.shapes import (
    BAD_CAPABILITIES,
    BAD_QUESTIONS,
    MALFORMED_UPDATES,
    NAMELESS_SESSIONS,
    NOBODYS_UPDATES,
    UNKNOWN_UPDATES,
    UPDATES,
)
from acp_host.wire import _tolerant
from acp_host.wire.commands import AvailableCommandsUpdate
from acp_host.wire.content import UnknownContent
from acp_host.wire.converters import unstructure
from acp_host.wire.mcp import McpServerHttp, McpServerStdio
from acp_host.wire.terminals import EnvVariable
from acp_host.wire.updates import SessionUpdate, UnknownSessionUpdate
from tests.chaos.bad_agents import (
    DONE,
    EDIT,
    cancelled,
    connected,
    conversation,
    open_session,
    permission,
    reported,
    selected,
)


@pytest.mark.parametrize("kind", UPDATES)
async def test_r40_every_kind_of_update_of_the_schema(kind: str) -> None:
    update = {"sessionUpdate": kind, **UPDATES[kind]}
    seen = await conversation(lambda agent: agent.update(update))
    assert type(seen.updates[1]).session_update == kind
    assert unstructure(seen.updates[1], SessionUpdate) == update
    assert seen.diagnostics == []


@pytest.mark.parametrize("update", UNKNOWN_UPDATES)
async def test_r41_an_unknown_kind_of_update_is_data(update: dict[str, Any]) -> None:
    seen = await conversation(lambda agent: agent.update(update))
    assert seen.updates[1] == UnknownSessionUpdate(update["sessionUpdate"], update)
    assert unstructure(seen.updates[1], SessionUpdate) == update
    assert seen.result.stop_reason == "end_turn"


@pytest.mark.parametrize("update, path", MALFORMED_UPDATES)
async def test_r41_a_known_kind_that_cannot_be_read_is_kept(update: dict[str, Any], path: str) -> None:
    seen = await conversation(lambda agent: agent.update(update))
    kept = seen.updates[1]
    assert isinstance(kept, UnknownSessionUpdate)
    assert kept.data == update
    assert path in str(kept.problem)
    [note] = seen.reported(DiagnosticKind.MALFORMED)
    assert note.path == path


@pytest.mark.parametrize("params", NOBODYS_UPDATES)
async def test_r41_an_update_that_does_not_say_what_or_whose_it_is(params: Any) -> None:
    seen = await conversation(lambda agent: agent.notify("session/update", params))
    assert seen.result.text == "before after"
    assert len(seen.reported(DiagnosticKind.MALFORMED)) == 1


async def test_r501_very_many_items_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = {"sessionUpdate": "plan", "entries": [0] * 50_000}
    made = Mock(side_effect=Diagnostic)
    monkeypatch.setattr(_tolerant, "Diagnostic", made)
    seen = await conversation(lambda agent: agent.update(plan))
    assert seen.updates[1].entries == ()
    assert sum(note.count for note in seen.reported(DiagnosticKind.REPAIRED)) == 50_000
    assert made.call_count == 100, "one takes ten times as long as to leave an item out"


async def test_r502_a_time_of_hundreds_of_digits() -> None:
    data = {"schema": "harn.acp.prompt_error.v1", "terminalClass": "timeout", "retryAfterMs": 10**400}

    async def bad(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        # With half a character in it, a line is read in a way that keeps every digit.
        error = {"code": -32000, "message": "busy \ud83d", "data": data}
        agent.send_raw(json.dumps({"jsonrpc": "2.0", "id": prompt["id"], "error": error}).encode() + b"\n")
        agent.reply(DONE, to=await agent.expect("session/prompt"))

    async with open_session(bad) as (_, session):
        with pytest.raises(PromptFailed) as failed:
            await session.prompt("first")
        assert failed.value.retry_after is None
        assert (await session.prompt("second")).stop_reason == "end_turn"


async def test_r42_what_is_within_may_be_unknown_too() -> None:
    contents = [{"type": "hologram", "url": "x"}, {"type": "content", "content": {"type": "smell", "of": "rain"}}]
    update = {"sessionUpdate": "tool_call", **EDIT, "kind": "teleport", "status": "paused", "content": contents}

    def bad(agent: ScriptedAgent) -> None:
        agent.update(update)
        agent.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "smell", "of": "rain"}})

    seen = await conversation(bad)
    call, message = seen.updates[1:3]
    assert (call.kind, call.status) == ("teleport", "paused")
    assert unstructure(call, SessionUpdate) == update
    assert message.content == UnknownContent("smell", {"type": "smell", "of": "rain"})
    assert seen.result.text == "before after"
    assert seen.diagnostics == []


async def test_r42_an_invalid_item_costs_no_more_than_itself() -> None:
    seen = await conversation(find("bad-item"))
    read = seen.updates[1]
    assert isinstance(read, AvailableCommandsUpdate)
    assert [command.name for command in read.available_commands] == ["plan", "go"]
    assert read.available_commands[1].extra == {"new": 1}
    paths = [note.path for note in seen.reported(DiagnosticKind.REPAIRED)]
    assert [str(path).partition("availableCommands")[2][:3] for path in paths] == ["[1]", "[2]"]


async def test_r43_null_where_nothing_is_known() -> None:
    """Seven nulls in what an agent says about its models and modes keep no thread from starting."""
    models = [{"modelId": f"m{number}", "name": "Model", "description": None} for number in range(7)]
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask", "description": None}]}

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake({"promptCapabilities": None, "loadSession": None}, authMethods=None, _meta=None)
        await agent.open_session(
            models={"currentModelId": "m0", "availableModels": models}, modes=modes, configOptions=None, _meta=None
        )
        await agent.expect("session/prompt")
        locations = [{"path": "/x", "line": None}]
        diff = [{"type": "diff", "path": "/x", "newText": "y", "oldText": None}]
        agent.update({"sessionUpdate": "tool_call", **EDIT, "rawInput": None, "locations": locations, "content": diff})
        agent.update({"sessionUpdate": "session_info_update", "title": None})
        agent.update(
            {"sessionUpdate": "available_commands_update",
             "availableCommands": [{"name": "plan", "description": "p", "input": None}]}
        )  # fmt: skip
        agent.reply({**DONE, "usage": None, "_meta": None})

    async with connected(script) as host:
        session = await host.new_session()
        assert session.opening is not None
        opening: Any = session.opening
        assert opening.modes.available_modes[0].description is None, "null is not the same as absent"
        assert opening.config_options is None
        assert opening.extra["models"]["availableModels"] == models
        turn = session.prompt("question")
        call, info, commands = [update async for update in turn]
        assert (call.raw_input, call.raw_output) == (None, UNSET)
        assert (call.locations[0].line, call.content[0].old_text) == (None, None)
        assert (info.title, info.updated_at) == (None, UNSET)
        assert commands.available_commands[0].input is None
        result = await turn
        assert (result.stop_reason, result.usage, dict(result.meta)) == ("end_turn", None, {})
        assert reported(host, DiagnosticKind.MALFORMED) == []
        assert not host.agreement.supports("session/load")


@pytest.mark.parametrize("capabilities", BAD_CAPABILITIES)
async def test_r44_capabilities_that_cannot_be_read_are_not_there(capabilities: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(agentCapabilities=capabilities)
        await agent.open_session()
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with connected(script) as host:
        session = await host.new_session()
        for method in (host.load_session, host.delete_session):
            with pytest.raises(NotSupported):
                await method("session-1")
        with pytest.raises(NotSupported, match=r"promptCapabilities\.image"):
            session.prompt([b"\x89PNG\r\n\x1a\n"])
        assert (await session.prompt("text")).stop_reason == "end_turn"


async def test_r45_an_unknown_kind_of_permission_option_can_be_chosen() -> None:
    seen: list[str] = []

    def handler(request: Any) -> str:
        seen.extend(option.kind for option in request.options)
        return "allow_persistent"

    async def bad(agent: ScriptedAgent) -> None:
        params = permission("allow_once", "allow_persistent", "reject_once")
        assert (await agent.call("session/request_permission", params))["result"] == selected("allow_persistent")

    assert (await conversation(bad, permissions=handler)).diagnostics == []
    assert seen == ["allow_once", "allow_persistent", "reject_once"]


@pytest.mark.parametrize(
    "kinds, policy, answer",
    [
        (("allow_persistent", "reject_once"), "allow_always", selected("reject_once")),
        (("allow_persistent", "deny"), "allow_always", cancelled),
        (("allow_once", "allow_once", "reject_once"), "allow_once", selected("reject_once")),
        (("allow_once", "allow_once"), "allow_once", cancelled),
    ],
)
async def test_r45_a_policy_never_guesses(kinds: tuple[str, ...], policy: str, answer: Any) -> None:
    async def bad(agent: ScriptedAgent) -> None:
        assert (await agent.call("session/request_permission", permission(*kinds)))["result"] == answer

    await conversation(bad, permissions=acp_host.PermissionPolicy(policy))


@pytest.mark.parametrize(
    "params, answer",
    [
        (params, (cancelled if params.get("options") == [] else selected("allow_once")) if readable else -32602)
        for params, readable in BAD_QUESTIONS
    ],
)
async def test_r46_permission_requests_with_something_wrong(params: dict[str, Any], answer: Any) -> None:
    async def bad(agent: ScriptedAgent) -> None:
        response = await agent.call("session/request_permission", {**permission(), **params})
        if isinstance(answer, int):
            assert response["error"]["code"] == answer
            assert response["error"]["data"]["path"].startswith("$.params")
        else:
            assert response["result"] == answer

    await conversation(bad, permissions=acp_host.PermissionPolicy.allow_once())


async def test_r47_mcp_servers_are_sent_whole_or_not_at_all() -> None:
    whole = McpServerStdio("notes", "/bin/notes", (), ())
    named = McpServerStdio("notes", "/bin/notes", ("-v",), (EnvVariable("KEY", "value"),))

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        for servers in (
            [{"name": "notes", "command": "/bin/notes", "args": [], "env": []}],
            [{"name": "notes", "command": "/bin/notes", "args": ["-v"], "env": [{"name": "KEY", "value": "value"}]}],
            [],
        ):
            assert (await agent.open_session())["mcpServers"] == servers, "always present, never null"

    async with connected(script) as host:
        for bad, says in [
            (McpServerStdio("notes", "/bin/notes", None, ()), r"null at \$\.mcpServers\[0\]\.args"),
            ({"name": "notes", "command": "/bin/notes"}, r"'args' is missing at \$\.mcpServers\[0\]"),
            (None, r"\$\.mcpServers\[0\]"),
        ]:
            with pytest.raises(InvalidInput, match=says):
                await host.new_session(mcp_servers=[bad])
        with pytest.raises(NotSupported, match=r"mcpCapabilities\.http"):
            await host.new_session(mcp_servers=[McpServerHttp("notes", "http://127.0.0.1:1", ())])
        for good in ([whole], [named], []):
            await host.new_session(mcp_servers=good)


async def test_r48_numbers_at_the_edge() -> None:
    seen = await conversation(find("odd-numbers"))
    assert [(update.used, update.size) for update in seen.updates[1:3]] == [
        (2**70, 10),
        (2**63 + 1, 2**64 - 1),
    ]
    assert seen.diagnostics == []


@pytest.mark.parametrize("result", NAMELESS_SESSIONS)
async def test_r49_a_session_without_a_usable_name(result: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.expect("session/new")
        agent.reply(result)
        await agent.open_session()

    async with connected(script) as host:
        with pytest.raises(acp_host.MalformedResponse, match="session/new does not fit"):
            await host.new_session()
        assert host.sessions == ()
        assert (await host.new_session()).id == "session-1"


@pytest.mark.parametrize("result", [None, {}, {"anything": 1}, {"_meta": None}])
async def test_r49_empty_answers_come_in_many_forms(result: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/set_mode")
        agent.reply(result)
        await agent.expect("session/delete")
        agent.reply(result)

    async with open_session(script) as (host, session):
        await session.set_mode("code")
        await host.delete_session("another")
        assert list(host.diagnostics) == []
