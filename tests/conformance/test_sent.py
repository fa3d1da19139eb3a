"""All that the host sends is valid by the schema, and it can send all that the schema has."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import acp_host
from acp_host.host.services import ElicitationHandlers
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.services.permissions import PermissionPolicy
from acp_host.testing import ScriptedAgent
from acp_host.wire.content import ImageContent, ResourceLink, TextContent
from acp_host.wire.converters import decoder
from acp_host.wire.elicitation import ElicitationAcceptAction
from acp_host.wire.initialize import Implementation
from acp_host.wire.mcp import (
    HttpHeader,
    McpServerAcp,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
    MessageMcpResponse,
)
from acp_host.wire.methods import METHODS, Direction, Method, MethodKind
from acp_host.wire.proxy import InitializeProxyRequest, ProxySuccessorNotification, ProxySuccessorRequest
from acp_host.wire.session import SystemPrompt, SystemPromptMode
from acp_host.wire.terminals import EnvVariable
from tests.conformance.versions import V1, VERSIONS, Version

SESSION = "session-1"
OFFERED = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True, "acp": True},
    "sessionCapabilities": {
        name: {}
        for name in (
            *("list", "delete", "additionalDirectories", "systemPrompt", "fork", "archive"),
            *("status", "title", "resume", "close"),
        )
    },
    "auth": {"status": {}, "logout": {}},
    "providers": {},
}
OPTIONS: dict[str, Any] = {"configOptions": []}
RESULTS: dict[str, dict[str, Any]] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": OFFERED, "agentInfo": {"name": "a", "version": "1"}},
    "proxy/initialize": {"protocolVersion": 1},
    "proxy/successor": {"any": "thing"},
    "session/new": {"sessionId": SESSION},
    "session/fork": {"sessionId": "session-2"},
    "session/list": {"sessions": []},
    "session/status": {"status": "idle", "open": True},
    "session/set_title": {"title": "t"},
    "session/set_config_option": OPTIONS,
    "session/prompt": {"stopReason": "end_turn"},
    "auth/status": {"state": "authenticated"},
    "providers/list": {"providers": []},
}
"""What the agent answers; ``{}`` to all other requests."""


class Agent(ScriptedAgent):
    """Answers everything; before it answers a prompt, it asks the host for all that it serves."""

    def __init__(self) -> None:
        super().__init__(Agent.converse)
        self.answers: list[tuple[str, dict[str, Any]]] = []

    async def converse(self) -> None:
        while True:
            message = await self.expect()
            if message["method"] == "session/prompt":
                await self.ask_for_everything(message["params"]["prompt"][0]["text"])
            if "id" in message and message["method"] != "_slow":
                self.reply(RESULTS.get(message["method"], {}), to=message)

    async def ask(self, asked: str, /, **params: Any) -> dict[str, Any]:
        answer = await self.call(asked, {"sessionId": SESSION, **params})
        self.answers.append((asked, answer))
        result: dict[str, Any] = answer.get("result", {})
        return result

    async def ask_for_everything(self, folder: str) -> None:
        for kind in ("allow_once", "reject_once", "something_else"):
            option = {"optionId": "o", "name": "Yes", "kind": kind}
            await self.ask("session/request_permission", toolCall={"toolCallId": "c", "kind": "read"}, options=[option])
        path = str(Path(folder, "file.txt"))
        await self.ask("fs/write_text_file", path=path, content="one\ntwo\n")
        await self.ask("fs/read_text_file", path=path, line=2, limit=1)
        await self.ask("fs/read_text_file", path=path + ".missing")
        command = {"command": sys.executable, "args": ["-c", "print('hello')"]}
        terminal = (await self.ask("terminal/create", **command, cwd=folder, outputByteLimit=100))["terminalId"]
        await self.ask("terminal/wait_for_exit", terminalId=terminal)
        for method in ("terminal/output", "terminal/kill", "terminal/release", "terminal/output"):
            await self.ask(method, terminalId=terminal)
        some = {"type": "array", "items": {"type": "string", "enum": ["g", "h", "i"]}}
        kinds = {"a": "string", "c": "integer", "d": "number", "e": "boolean"}
        properties = {name: {"type": kind} for name, kind in kinds.items()} | {"f": some}
        schema = {"type": "object", "properties": properties}
        await self.ask("elicitation/create", mode="form", message="m", requestedSchema=schema)
        await self.ask("elicitation/create", mode="url", message="m", url="https://example.org", elicitationId="e")
        await self.ask("elicitation/create", mode="later", message="m")
        await self.ask("mcp/message", serverId="m", requestId="r", method="tools/list")
        await self.ask("_own/question", a=1)
        await self.ask("session/no_such_method")
        await self.ask("fs/read_text_file", path=5)


async def use_everything(host: acp_host.HostConnection, folder: str) -> None:
    servers = [
        McpServerStdio("a", "/bin/a", ("--b",), (EnvVariable("K", "V"),)),
        McpServerHttp("b", "https://b", (HttpHeader("H", "V"),)),
        McpServerSse("c", "https://c", ()),
        McpServerAcp("d", "d-1"),
    ]
    brief = SystemPrompt(SystemPromptMode.APPEND, (TextContent("Be brief."),))
    session = await host.new_session(folder, mcp_servers=servers, additional_directories=[folder], system_prompt=brief)
    await session.prompt(
        [folder, Path(folder, "file.md"), ImageContent("AA==", "image/png"), ResourceLink("n", "file:///n")]
    )
    await session.set_mode("m")
    await session.set_config_option("c", "v")
    await session.set_config_option("c", True)
    await session.set_title("t")
    await session.status()
    await host.list_sessions(cwd=folder, cursor="c", archived="include")
    await host.list_sessions()
    await host.fork_session(SESSION, folder, meta={"m": 1})
    await host.archive_session(SESSION)
    await host.unarchive_session(SESSION)
    await host.close_session(SESSION)
    await host.load_session(SESSION, folder)
    await host.resume_session(SESSION, folder)
    await host.delete_session(SESSION)
    await host.authenticate("m")
    await host.auth_status()
    await host.logout()
    await host.list_providers()
    await host.set_provider("p", api_type="openai", base_url="https://p", headers={"H": "V"})
    await host.disable_provider("p")
    await host.send_mcp_message("d-1", "r", "notifications/progress", {"a": 1})
    await host.request("proxy/initialize", InitializeProxyRequest(1, client_info=Implementation("h", "1")))
    await host.request("proxy/successor", ProxySuccessorRequest("_own/inside", {"a": 1}))
    await host.notify("proxy/successor", ProxySuccessorNotification("_own/inside"))
    await host.notify("session/cancel", {"sessionId": SESSION})
    with pytest.raises(TimeoutError):
        await host.request("_slow", timeout=0)


def offered_form(_: Any) -> ElicitationAcceptAction:
    return ElicitationAcceptAction({"a": "b", "c": 1, "d": 0.5, "e": False, "f": ("g", "h")})


async def test_all_that_the_host_sends_is_valid(tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("# Title\n")
    agent = Agent()
    async with acp_host.connect(
        agent.transport(),
        files=True,
        terminals=True,
        permissions=PermissionPolicy.allow_once(),
        elicitation=ElicitationHandlers(form=offered_form, url=lambda _: ElicitationAcceptAction()),
        auth_terminal=True,
        unstable=True,
    ) as host:
        host.on_request("mcp/message", lambda _: MessageMcpResponse(result=None))
        host.on_request("_own/question", lambda params: {"echo": params})
        await use_everything(host, str(tmp_path))
        assert [diagnostic for diagnostic in host.diagnostics if diagnostic.kind == "handler_failed"] == []

    requests = [message for message in agent.received if "method" in message]
    for message in requests:
        check_call(message, V1)
    for method, answer in agent.answers:
        check_answer(method, answer, V1)
    sent = {
        (message["method"], MethodKind.REQUEST if "id" in message else MethodKind.NOTIFICATION) for message in requests
    }
    assert {(m.name, m.kind) for m in METHODS if m.direction is not Direction.AGENT_TO_HOST} - sent == set()
    assert {m.name for m in METHODS if m.direction is Direction.AGENT_TO_HOST and m.kind is MethodKind.REQUEST} <= {
        method for method, answer in agent.answers if "result" in answer
    }


SENT = [(v, m) for v in VERSIONS for m in v.table.methods if m.direction is not Direction.AGENT_TO_HOST]
ANSWERED = [
    (v, m) for v in VERSIONS for m in v.table.methods if m.direction is not Direction.HOST_TO_AGENT and m.result
]


def case_id(part: Any) -> str:
    return f"{part.name} {part.kind.value}" if isinstance(part, Method) else f"{part}"


def agreed(version: Version) -> HostProtocol:
    """Return a host that has agreed on a version, and serves one method of an extension."""
    protocol = HostProtocol(protocol_versions=(version.number,), serves=["any"])
    protocol.initialize()
    info = b'"info":{"name":"a","version":"1"}'
    protocol.receive_data(b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":%d,%b}}\n' % (version.number, info))
    protocol.data_to_send()
    assert protocol.agreement.protocol_version == version.number
    return protocol


@pytest.mark.parametrize(("version", "method"), SENT, ids=case_id)
def test_valid_parameters_are_sent_as_they_are(version: Version, method: Method) -> None:
    protocol = agreed(version)
    send = protocol.request if method.kind is MethodKind.REQUEST else protocol.notify
    name = method.params.partition(":")[2]

    @settings(max_examples=5)
    @given(version.strategies.named(name))
    def law(data: Any) -> None:
        for params in (data, decoder(method.params_type)(data)):
            send(method.name, params, force=True)
            message = json.loads(protocol.data_to_send())
            assert json.dumps(message["params"], sort_keys=True) == json.dumps(data, sort_keys=True)
            check_call(message, version)

    law()


@pytest.mark.parametrize(("version", "method"), ANSWERED, ids=case_id)
def test_valid_results_are_sent_as_they_are(version: Version, method: Method) -> None:
    protocol = agreed(version)
    name = (method.result or "").partition(":")[2]

    @settings(max_examples=5)
    @given(version.strategies.named(name))
    def law(data: Any) -> None:
        for result in (data, decoder(method.result_type)(data)):
            protocol.receive_data(b'{"jsonrpc":"2.0","id":7,"method":"any"}\n')
            protocol.respond(7, method.name, result)
            answer = json.loads(protocol.data_to_send())
            assert json.dumps(answer["result"], sort_keys=True) == json.dumps(data, sort_keys=True)
            check_answer(method.name, answer, version)

    law()


def check_call(message: dict[str, Any], version: Version) -> None:
    """Hold a message of the host against the schema of a version."""
    kind = MethodKind.REQUEST if "id" in message else MethodKind.NOTIFICATION
    envelope = "Request" if "id" in message else "Notification"
    entry = find(version, message["method"], kind, Direction.HOST_TO_AGENT)
    assert message["jsonrpc"] == "2.0"
    version.validator(f"Client{envelope}").validate(message)
    if entry is not None:
        version.validator(entry.params.partition(":")[2]).validate(message["params"])


def check_answer(method: str, answer: dict[str, Any], version: Version) -> None:
    """Hold an answer of the host against the schema of a version."""
    entry = find(version, method, MethodKind.REQUEST, Direction.AGENT_TO_HOST)
    assert answer["jsonrpc"] == "2.0"
    version.validator("ClientResponse").validate(answer)
    if "error" in answer:
        version.validator("Error").validate(answer["error"])
    elif entry is not None:
        assert entry.result is not None
        version.validator(entry.result.partition(":")[2]).validate(answer["result"])


def find(version: Version, name: str, kind: MethodKind, direction: Direction) -> Any:
    methods = version.table.methods
    found = [m for m in methods if (m.name, m.kind) == (name, kind) and m.direction in (direction, Direction.BOTH)]
    return found[0] if found else None
