"""All that the host sends to an agent of version 2 is valid by its schema, and it can send all that the schema has."""

from __future__ import annotations

import json
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
from acp_host.wire.mcp import HttpHeader, McpServerAcp, McpServerHttp, McpServerStdio, MessageMcpResponse
from acp_host.wire.methods import Direction, Method, MethodKind
from acp_host.wire.proxy import ProxySuccessorNotification, ProxySuccessorRequest
from acp_host.wire.session import SystemPrompt, SystemPromptMode
from acp_host.wire.terminals import EnvVariable
from tests.conformance.versions import V2

SESSION = "session-1"
INFO = {"name": "a", "version": "1"}
OFFERED = {
    "session": {
        "prompt": {"image": {}, "audio": {}, "embeddedContext": {}},
        "mcp": {"stdio": {}, "http": {}, "acp": {}},
        **{name: {} for name in ("delete", "additionalDirectories", "fork", "archive", "status", "title")},
        "systemPrompt": {"mode": {"override": {}}},
    },
    "auth": {"status": {}},
    "providers": {},
}
RESULTS: dict[str, dict[str, Any]] = {
    "initialize": {
        **{"protocolVersion": 2, "info": INFO, "capabilities": OFFERED},
        "authMethods": [{"type": "agent", "methodId": "m", "name": "Log in"}],
    },
    "proxy/initialize": {"protocolVersion": 2, "info": INFO},
    "proxy/successor": {"any": "thing"},
    "session/new": {"sessionId": SESSION},
    "session/fork": {"sessionId": "session-2"},
    "session/list": {"sessions": []},
    "session/status": {"status": "open"},
    "session/set_title": {"title": "t"},
    "session/set_config_option": {"configOptions": []},
    "session/prompt": {"messageId": "message-1"},
    "auth/status": {"state": "authenticated"},
    "providers/list": {"providers": []},
}
"""What the agent answers; ``{}`` to all other requests."""
TOOL_CALL = {"toolCallId": "c", "title": "Read", "kind": "read"}
SUBJECTS = (
    {"type": "tool_call", "toolCall": TOOL_CALL},
    {"type": "command", "command": "make", "cwd": "/project", "toolCallId": "c"},
    {"type": "_own", "a": 1},
    None,
)


class Agent(ScriptedAgent):
    """Answers everything; before a turn ends, it asks the host for all that it serves."""

    def __init__(self) -> None:
        super().__init__(Agent.converse)
        self.answers: list[tuple[str, dict[str, Any]]] = []

    async def converse(self) -> None:
        while True:
            message = await self.expect()
            if "id" in message and message["method"] != "_slow":
                self.reply(RESULTS.get(message["method"], {}), to=message)
            if message["method"] == "session/resume":
                self.state("idle", SESSION)
            if message["method"] == "session/prompt":
                prompt = message["params"]["prompt"]
                self.update({"sessionUpdate": "user_message", "messageId": "message-1", "content": prompt}, SESSION)
                self.state("running", SESSION)
                await self.ask_for_everything()
                self.state("idle", SESSION, stopReason="end_turn")

    async def ask(self, asked: str, /, **params: Any) -> None:
        self.answers.append((asked, await self.call(asked, {"sessionId": SESSION, **params})))

    async def ask_for_everything(self) -> None:
        for kind in ("allow_once", "reject_once", "something_else"):
            option = {"optionId": "o", "name": "Yes", "kind": kind}
            for subject in SUBJECTS:
                await self.ask("session/request_permission", title="May I?", subject=subject, options=[option])
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
        await self.ask("fs/read_text_file", path="/a")
        await self.ask("terminal/create", command="make")
        await self.ask("session/request_permission", title=5)


async def use_everything(host: acp_host.HostConnection, folder: str) -> None:
    servers = [
        McpServerStdio("a", "/bin/a", ("--b",), (EnvVariable("K", "V"),)),
        McpServerHttp("b", "https://b", (HttpHeader("H", "V"),)),
        McpServerAcp("d", "d-1"),
    ]
    brief = SystemPrompt(SystemPromptMode.APPEND, (TextContent("Be brief."),))
    session = await host.new_session(folder, mcp_servers=servers, additional_directories=[folder], system_prompt=brief)
    await session.prompt(
        [folder, Path(folder, "file.md"), ImageContent("AA==", "image/png"), ResourceLink("n", "file:///n")]
    )
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
    await host.request("terminal/cancel", {"sessionId": SESSION, "terminalId": "t"})
    await host.request("tool_call/cancel", {"sessionId": SESSION, "toolCallId": "c"})
    await host.request("proxy/initialize", {"protocolVersion": 2, "info": INFO})
    await host.request("proxy/successor", ProxySuccessorRequest("_own/inside", {"a": 1}))
    await host.notify("proxy/successor", ProxySuccessorNotification("_own/inside"))
    await host.notify("session/cancel", {"sessionId": SESSION})
    with pytest.raises(TimeoutError):
        await host.request("_slow", timeout=0)


def offered_form(_: Any) -> ElicitationAcceptAction:
    return ElicitationAcceptAction({"a": "b", "c": 1, "d": 0.5, "e": False, "f": ("g", "h")})


@pytest.mark.parametrize("versions", [(2,), (2, 1)], ids=str)
async def test_all_that_the_host_sends_is_valid(tmp_path: Path, versions: tuple[int, ...]) -> None:
    (tmp_path / "file.md").write_text("# Title\n")
    agent = Agent()
    async with acp_host.connect(
        agent.transport(),
        protocol_versions=versions,
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
        check_call(message)
    for method, answer in agent.answers:
        check_answer(method, answer)
    refused = {method: answer["error"]["code"] for method, answer in agent.answers if "error" in answer}
    assert refused.pop("session/request_permission") == -32602
    assert {code for method, code in refused.items() if method.startswith(("fs/", "terminal/"))} == {-32601}
    sent = {
        (message["method"], MethodKind.REQUEST if "id" in message else MethodKind.NOTIFICATION) for message in requests
    }
    methods = V2.table.methods
    assert {(m.name, m.kind) for m in methods if m.direction is not Direction.AGENT_TO_HOST} - sent == set()
    assert {m.name for m in methods if m.direction is Direction.AGENT_TO_HOST and m.kind is MethodKind.REQUEST} <= {
        method for method, answer in agent.answers if "result" in answer
    }


def speaking(**options: Any) -> HostProtocol:
    """Return the host's end of a connection on which version 2 was agreed."""
    protocol = HostProtocol(protocol_versions=(2,), **options)
    protocol.initialize()
    answer = {"jsonrpc": "2.0", "id": 0, "result": RESULTS["initialize"]}
    protocol.receive_data(json.dumps(answer).encode() + b"\n")
    assert protocol.events()
    protocol.data_to_send()
    return protocol


@pytest.mark.parametrize(
    "method",
    [m for m in V2.table.methods if m.direction is not Direction.AGENT_TO_HOST],
    ids=lambda m: f"{m.name} {m.kind.value}",
)
def test_valid_parameters_are_sent_as_they_are(method: Method) -> None:
    protocol = speaking()
    send = protocol.request if method.kind is MethodKind.REQUEST else protocol.notify
    name = method.params.partition(":")[2]

    @settings(max_examples=5)
    @given(V2.strategies.named(name))
    def law(data: Any) -> None:
        for params in (data, decoder(method.params_type)(data)):
            send(method.name, params, force=True)
            message = json.loads(protocol.data_to_send())
            assert json.dumps(message["params"], sort_keys=True) == json.dumps(data, sort_keys=True)
            check_call(message)

    law()


@pytest.mark.parametrize(
    "method",
    [m for m in V2.table.methods if m.direction is not Direction.HOST_TO_AGENT and m.result],
    ids=lambda m: m.name,
)
def test_valid_results_are_sent_as_they_are(method: Method) -> None:
    protocol = speaking(serves=["any"])
    name = (method.result or "").partition(":")[2]

    @settings(max_examples=5)
    @given(V2.strategies.named(name))
    def law(data: Any) -> None:
        for result in (data, decoder(method.result_type)(data)):
            protocol.receive_data(b'{"jsonrpc":"2.0","id":7,"method":"any"}\n')
            protocol.respond(7, method.name, result)
            answer = json.loads(protocol.data_to_send())
            assert json.dumps(answer["result"], sort_keys=True) == json.dumps(data, sort_keys=True)
            check_answer(method.name, answer)

    law()


def check_call(message: dict[str, Any]) -> None:
    kind = MethodKind.REQUEST if "id" in message else MethodKind.NOTIFICATION
    envelope = "Request" if "id" in message else "Notification"
    entry = V2.table.agent_method(message["method"], kind)
    assert message["jsonrpc"] == "2.0"
    V2.validator(f"Client{envelope}").validate(message)
    if entry is not None:
        V2.validator(entry.params.partition(":")[2]).validate(message["params"])


def check_answer(method: str, answer: dict[str, Any]) -> None:
    entry = V2.table.client_method(method, MethodKind.REQUEST)
    assert answer["jsonrpc"] == "2.0"
    V2.validator("ClientResponse").validate(answer)
    if "error" in answer:
        V2.validator("Error").validate(answer["error"])
    elif entry is not None:
        assert entry.result is not None
        V2.validator(entry.result.partition(":")[2]).validate(answer["result"])
