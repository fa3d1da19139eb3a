"""Agents and the versions of the protocol: how they answer, and what those of version 2 do with version 1's words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

import acp_host
from acp_host import DiagnosticKind, HostConnection, NotSupported, UnsupportedVersion
from acp_host.host import handshake
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos.agents.versions import FIRST_VERSION_UPDATES
from acp_host.transports import Transport
from tests.chaos.bad_agents import DONE, PATIENCE
from tests.host.processes import Process

Script = Callable[[ScriptedAgent], Awaitable[None]]
IDLE = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


PLAN = {"sessionUpdate": "plan", "entries": []}


def agent_of(*scripts: Script) -> tuple[Transport, list[ScriptedAgent]]:
    """Return a transport that can be made anew as often as there are further scripts, and the agents so far."""
    waiting, agents = list(scripts), list[ScriptedAgent]()

    def make(_: Any) -> ScriptedAgent:
        agents.append(ScriptedAgent(waiting.pop(0)))
        return agents[-1]

    return Process(make), agents


@asynccontextmanager
async def connected(transport: Transport, **options: Any) -> AsyncIterator[HostConnection]:
    """Connect as a host of both versions; whatever is done with it has to end in time."""
    async with (
        asyncio.timeout(PATIENCE),
        acp_host.connect(transport, protocol_versions=(2, 1), **options) as host,
    ):
        yield host


async def talk(agent: ScriptedAgent) -> None:
    """Go on as an agent of version 1."""
    await agent.open_session()
    await agent.expect("session/prompt")
    agent.say("one")
    agent.reply(DONE)


async def test_r230_read_one_of_the_two_forms() -> None:
    async def script(agent: ScriptedAgent) -> None:
        both = await agent.handshake()
        assert both["capabilities"] is not None
        alone = await agent.handshake({"loadSession": True})
        assert alone.keys() == {"protocolVersion", "clientCapabilities", "clientInfo"}
        assert alone["clientCapabilities"]["fs"]["readTextFile"] is True
        await talk(agent)

    transport, agents = agent_of(script)
    async with connected(transport, files=True) as host:
        assert host.agreement.supports("session/load")
        session = await host.new_session()
        assert (await session.prompt("hi")).text == "one"
        assert list(host.diagnostics) == []
    assert len(agents) == 1, "the same connection was good enough"


async def refuses_again(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.expect("initialize")
    agent.reply_error(-32603, "Already initialized")


async def says_nothing_again(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.expect("initialize")


async def dies_of_it(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.expect("initialize")
    await agent.close()


async def answers_nonsense_again(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.handshake(protocolVersion="one")


@pytest.mark.parametrize("refuses", [refuses_again, says_nothing_again, dies_of_it, answers_nonsense_again])
async def test_r231_take_no_second_initialize(refuses: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "_SECOND_ANSWER", 0.2)

    async def asked_anew(agent: ScriptedAgent) -> None:
        params = await agent.handshake()
        assert params["protocolVersion"] == 1
        assert "info" not in params
        await talk(agent)

    transport, agents = agent_of(refuses, asked_anew)
    async with connected(transport) as host:
        assert not host.closed
        session = await host.new_session()
        assert (await session.prompt("hi")).text == "one"
    assert len(agents) == 2


async def test_r231_take_no_second_initialize_where_there_is_no_other_connection() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await refuses_again(agent)
        await talk(agent)

    async with connected(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        assert (await session.prompt("hi")).text == "one"
        [note] = host.diagnostics
        assert note.kind == DiagnosticKind.UNEXPECTED
        assert "may not know all that this host offers" in note.message


async def test_r231_die_of_the_second_initialize_where_there_is_no_other_connection() -> None:
    with pytest.raises((acp_host.TransportError, acp_host.OutcomeUnknown)):
        async with connected(ScriptedAgent(dies_of_it).transport()):
            pass


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"requested": 2, "supported": [1]}, None),
        ({"requested": 2, "supported": [7, "1", 1]}, None),
        ({"requested": 2, "supported": [3]}, "ACP version 3, this host version 1 and 2"),
        ({"supported": "1"}, "none that it names"),
        (None, "none that it names"),
    ],
)
async def test_r232_refuse_the_version(data: Any, says: str | None) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("initialize")
        agent.reply_error(-32022, "Unsupported protocol version", data)
        await agent.handshake()
        await talk(agent)

    transport, agents = agent_of(script)
    if says is None:
        async with connected(transport) as host:
            assert host.agreement.protocol_version == 1
    else:
        with pytest.raises(UnsupportedVersion, match=says):
            async with connected(transport):
                pass
    assert len(agents) == 1


@pytest.mark.parametrize("code", [-32600, -32602])
async def test_r233_call_both_forms_invalid(code: int) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("initialize")
        agent.reply_error(code, "Unknown property info")
        params = await agent.handshake()
        assert "info" not in params
        await talk(agent)

    transport, _ = agent_of(script)
    async with connected(transport) as host:
        assert host.agreement.protocol_version == 1


async def test_r234_answer_each_question_with_another_version() -> None:
    async def fickle(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.handshake(version=2)
        await agent.handshake()

    transport, agents = agent_of(fickle, fickle)
    with pytest.raises(UnsupportedVersion):
        async with connected(transport):
            pass
    assert len(agents) == 2, "it is not asked for ever"


async def test_r235_speak_version_2_and_ask_for_files_and_terminals() -> None:
    asked = ["fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output"]
    codes: list[int] = []
    done = asyncio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(version=2)
        await agent.open_session()
        for method in asked:
            answer = await agent.call(method, {"sessionId": "session-1", "path": "/etc/passwd", "command": "ls"})
            codes.append(answer["error"]["code"])
        done.set()

    transport, _ = agent_of(script)
    async with connected(transport, files=True, terminals=True) as host:
        await host.new_session()
        await done.wait()
        assert codes == [-32601] * len(asked)


@pytest.mark.parametrize("update", FIRST_VERSION_UPDATES, ids=lambda update: update["sessionUpdate"])
async def test_r236_speak_version_2_in_updates_of_version_1(update: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(version=2)
        await agent.open_session()
        await agent.accept_prompt()
        agent.state("running")
        agent.update(update)
        agent.say("two", message_id="m")
        agent.update(IDLE)

    transport, _ = agent_of(script)
    async with connected(transport) as host:
        session = await host.new_session()
        result = await session.prompt("hi")
        assert result.text == "two", "what cannot be read costs nothing else"
        assert [entry.type for entry in session.state.snapshot().transcript].count("unknown") == 1


@pytest.mark.parametrize(
    ("subject", "allowed"),
    [
        (None, False),
        ({"type": "_later", "path": "notes.txt", "kind": "edit"}, False),
        ({"type": "command", "command": "rm -r .", "cwd": "/"}, False),
        ({"type": "tool_call", "toolCall": {"toolCallId": "new", "kind": "edit"}}, False),
        ({"type": "tool_call", "toolCall": {"toolCallId": "new", "kind": "edit", "content": "{inside}"}}, True),
        ({"type": "tool_call", "toolCall": {"toolCallId": "new", "kind": "edit", "content": "{outside}"}}, False),
    ],
    ids=["nothing", "unknown", "command", "no path", "a diff inside", "a diff outside"],
)
async def test_r237_ask_permission_for_what_nobody_knows(subject: Any, allowed: bool, tmp_path: Any) -> None:
    outcomes: list[Any] = []
    diffs = {
        "{inside}": [{"operation": "modify", "path": str(tmp_path / "notes.txt")}],
        "{outside}": [{"operation": "move", "oldPath": "/etc/passwd", "path": str(tmp_path / "notes.txt")}],
    }
    call = (subject or {}).get("toolCall", {})
    if call.get("content") in diffs:
        call = {**call, "content": [{"type": "diff", "changes": diffs[call["content"]]}]}
        subject = {**subject, "toolCall": call}

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(version=2)
        await agent.open_session()
        await agent.accept_prompt()
        agent.state("requires_action")
        params = {"sessionId": "session-1", "title": "May I?", "options": OPTIONS, "subject": subject}
        outcomes.append((await agent.call("session/request_permission", params))["result"]["outcome"])
        agent.update(IDLE)

    transport, _ = agent_of(script)
    rule = acp_host.PermissionRule(decision="allow_once", kinds=["edit"], paths=["**"])
    policy = acp_host.PermissionPolicy("reject_once", rules=[rule])
    async with connected(transport, permissions=policy) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("hi")
        assert outcomes == [{"outcome": "selected", "optionId": "yes" if allowed else "no"}]
        assert session.state.snapshot().questions == ()


async def test_r238_have_a_mode_that_is_an_option() -> None:
    choices = [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}]
    option = {"type": "select", "configId": "how", "name": "How", "category": "mode", "options": choices}

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(version=2)
        await agent.open_session(configOptions=[{**option, "currentValue": "ask"}])
        message = await agent.expect("session/set_config_option")
        assert message["params"] == {"sessionId": "session-1", "configId": "how", "type": "id", "value": "code"}
        agent.reply({"configOptions": [{**option, "currentValue": "code"}]})
        await agent.open_session("session-2")

    transport, agents = agent_of(script)
    async with connected(transport) as host:
        session = await host.new_session()
        await session.set_mode("code")
        assert session.options.snapshot().get("how").value == "code"
        bare = await host.new_session()
        with pytest.raises(NotSupported, match="configuration option of the category 'mode'"):
            await bare.set_mode("code")
        assert [m["method"] for m in agents[0].received].count("session/set_mode") == 0


async def test_r239_speak_before_the_second_initialize_is_answered() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        agent.notify("session/update", {"sessionId": "early", "update": PLAN})
        answer = await agent.call("_own/question", {})
        assert answer["result"] == {"fine": True}
        await agent.handshake()
        await agent.open_session("early")

    transport, _ = agent_of(script)
    async with connected(transport, handlers={"_own/question": lambda _: {"fine": True}}) as host:
        await host.new_session()
        [note] = host.diagnostics
        assert "unknown session early" in note.message
