"""All that the host sends to an agent of version 2 is valid by its schema, though it is said in version 1's words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.host.services import ElicitationHandlers
from acp_host.services.permissions import PermissionPolicy
from acp_host.testing import ScriptedAgent
from acp_host.wire.content import ImageContent, ResourceLink, TextContent
from acp_host.wire.elicitation import ElicitationAcceptAction
from acp_host.wire.mcp import HttpHeader, McpServerAcp, McpServerHttp, McpServerStdio, MessageMcpResponse
from acp_host.wire.methods import Direction, MethodKind
from acp_host.wire.session import SystemPrompt, SystemPromptMode
from acp_host.wire.terminals import EnvVariable
from tests.conformance.test_sent import check_answer, check_call, offered_form
from tests.conformance.versions import V2

SESSION = "session-1"
OFFERED = {
    "session": {
        "prompt": {"image": {}, "audio": {}, "embeddedContext": {}},
        "mcp": {"stdio": {}, "http": {}, "acp": {}},
        **{key: {} for key in ["delete", "additionalDirectories", "fork", "archive", "status", "title"]},
        "systemPrompt": {"mode": {"override": {}}},
    },
    "auth": {"status": {}},
    "providers": {},
}
CHOICES = [{"value": "m", "name": "M"}]
MODE = {"type": "select", "configId": "c", "name": "C", "category": "mode", "currentValue": "m", "options": CHOICES}
CALL = {"toolCallId": "c", "title": "T", "status": "in_progress", "capabilities": {"cancel": {}}}
TERMINAL = {"terminalId": "t", "command": "sleep 9", "capabilities": {"cancel": {}}}
RESULTS: dict[str, dict[str, Any]] = {
    "session/new": {"sessionId": SESSION, "configOptions": [MODE], "availableCommands": []},
    "session/fork": {"sessionId": "session-2"},
    "session/list": {"sessions": [{"sessionId": SESSION, "cwd": "/"}]},
    "session/status": {"status": "open", "state": {"state": "idle"}},
    "session/set_title": {"title": "t"},
    "session/set_config_option": {"configOptions": [MODE]},
    "session/prompt": {"messageId": "u"},
    "auth/status": {"state": "authenticated"},
    "providers/list": {"providers": []},
}
"""What the agent answers; ``{}`` to all other requests."""
LOGINS = [{"type": "agent", "methodId": "m", "name": "M"}]


class Agent(ScriptedAgent):
    """Answers everything; once it has taken a prompt, it asks the host for all that it serves."""

    def __init__(self) -> None:
        super().__init__(Agent.converse)
        self.answers: list[tuple[str, dict[str, Any]]] = []

    async def converse(self) -> None:
        await self.handshake(OFFERED, version=2, authMethods=LOGINS)
        while True:
            message = await self.expect()
            if "id" in message and message["method"] != "_slow":
                self.reply(RESULTS.get(message["method"], {}), to=message)
            if message["method"] == "session/prompt":
                self.state("running")
                self.update({"sessionUpdate": "tool_call_update", **CALL})
                self.update({"sessionUpdate": "terminal_update", **TERMINAL})
                await self.ask_for_everything()
                self.state("idle", stopReason="end_turn")

    async def ask(self, asked: str, /, **params: Any) -> None:
        self.answers.append((asked, await self.call(asked, {"sessionId": SESSION, **params})))

    async def ask_for_everything(self) -> None:
        command = {"type": "command", "command": "ls", "cwd": "/"}
        for subject in (None, command, {"type": "tool_call", "toolCall": CALL}, {"type": "later"}):
            for kind in ("allow_once", "something_else"):
                options = [{"optionId": "o", "name": "Yes", "kind": kind}]
                await self.ask("session/request_permission", title="?", subject=subject, options=options)
        some = {"type": "array", "items": {"type": "string", "enum": ["g", "h", "i"]}}
        kinds = {"a": "string", "c": "integer", "d": "number", "e": "boolean"}
        properties = {name: {"type": kind} for name, kind in kinds.items()} | {"f": some}
        schema = {"type": "object", "properties": properties}
        await self.ask("elicitation/create", mode="form", message="m", requestedSchema=schema)
        await self.ask("elicitation/create", mode="url", message="m", url="https://example.org", elicitationId="e")
        await self.ask("elicitation/create", mode="later", message="m")
        await self.ask("mcp/message", serverId="d-1", requestId="r", method="tools/list")
        await self.ask("fs/read_text_file", path="/x")
        await self.ask("session/request_permission", title=5)


async def use_everything(host: acp_host.HostConnection, folder: str) -> None:
    servers = [
        McpServerStdio("a", "/bin/a", ("--b",), (EnvVariable("K", "V"),)),
        McpServerHttp("b", "https://b", (HttpHeader("H", "V"),)),
        McpServerAcp("d", "d-1"),
    ]
    brief = SystemPrompt(SystemPromptMode.OVERRIDE, (TextContent("Be brief."),))
    session = await host.new_session(folder, mcp_servers=servers, additional_directories=[folder], system_prompt=brief)
    await session.prompt(
        [folder, Path(folder, "file.md"), ImageContent("AA==", "image/png"), ResourceLink("n", "file:///n")]
    )
    await session.cancel_tool_call("c")
    await session.cancel_terminal("t")
    await session.set_mode("m")
    await session.set_config_option("c", "m")
    await session.set_config_option("c", True)
    await session.set_title("t")
    await session.status()
    await host.list_sessions(cwd=folder, cursor="c", archived="include")
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
    await host.notify("session/cancel", {"sessionId": SESSION})
    with pytest.raises(TimeoutError):
        await host.request("_slow", timeout=0)


async def test_all_that_the_host_sends_is_valid(tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("# Title\n")
    agent = Agent()
    async with acp_host.connect(
        agent.transport(),
        protocol_versions=(2,),
        permissions=PermissionPolicy.allow_once(),
        elicitation=ElicitationHandlers(form=offered_form, url=lambda _: ElicitationAcceptAction()),
        auth_terminal=True,
    ) as host:
        host.on_request("mcp/message", lambda _: MessageMcpResponse(result=None))
        await use_everything(host, str(tmp_path))
        assert [diagnostic for diagnostic in host.diagnostics if diagnostic.kind == "handler_failed"] == []

    requests = [message for message in agent.received if "method" in message]
    for message in requests:
        check_call(message, V2)
    for method, answer in agent.answers:
        check_answer(method, answer, V2)
    sent = {
        (message["method"], MethodKind.REQUEST if "id" in message else MethodKind.NOTIFICATION) for message in requests
    }
    own = {(m.name, m.kind) for m in V2.table.methods if m.direction is not Direction.AGENT_TO_HOST}
    assert {name for name, _ in own - sent} == {"proxy/initialize", "proxy/successor"}
    answered = {method for method, answer in agent.answers if "result" in answer}
    assert answered == {"session/request_permission", "elicitation/create", "mcp/message"}
