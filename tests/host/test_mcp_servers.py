"""MCP servers that a session is opened with: how they are told, and those of this program over the connection."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer

import acp_host
from acp_host import HostMcpServer, InvalidInput, NotSupported, Session
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.wire.mcp import HttpHeader, McpServerAcp, McpServerHttp, McpServerSse, McpServerStdio
from acp_host.wire.terminals import EnvVariable
from tests.host.scripts import OPENS, connected, until

STDIO = McpServerStdio("s", "/bin/s", ("-v",), (EnvVariable("A", "1"),))
HTTP = McpServerHttp("h", "https://example.org/mcp", (HttpHeader("X", "1"),))
SSE = McpServerSse("e", "https://example.org/sse", ())
SERVES_ACP = {**OPENS, "mcpCapabilities": {"acp": True}}


def echo(method: str, params: Any) -> Any:
    return {"method": method, "params": params}


class TestTransports:
    @pytest.mark.parametrize(
        ("server", "offered", "told"),
        [
            (STDIO, {}, {"name": "s", "command": "/bin/s", "args": ["-v"], "env": [{"name": "A", "value": "1"}]}),
            (
                HTTP,
                {"http": True},
                {
                    "type": "http",
                    "name": "h",
                    "url": "https://example.org/mcp",
                    "headers": [{"name": "X", "value": "1"}],
                },
            ),
            (SSE, {"sse": True}, {"type": "sse", "name": "e", "url": "https://example.org/sse", "headers": []}),
            (McpServerAcp("a", "id-1"), {"acp": True}, {"type": "acp", "name": "a", "serverId": "id-1"}),
            (HostMcpServer(echo, name="a"), {"acp": True}, {"type": "acp", "name": "a", "serverId": "mcp-1"}),
        ],
    )
    async def test_a_server_is_told_as_the_schema_has_it(self, server: Any, offered: Any, told: Any) -> None:
        async def script(agent: ScriptedAgent) -> None:
            request = await agent.expect("session/new")
            assert request["params"]["mcpServers"] == [told]
            agent.reply({"sessionId": "s-1"})

        async with connected(script, {**OPENS, "mcpCapabilities": offered}) as host:
            await host.new_session(mcp_servers=[server])

    @pytest.mark.parametrize(
        ("server", "capability"),
        [(HTTP, "http"), (SSE, "sse"), (McpServerAcp("a", "id-1"), "acp"), (HostMcpServer(echo), "acp")],
    )
    async def test_one_that_the_agent_would_leave_out_is_not_sent(self, server: Any, capability: str) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("session/new")  # the one that is forced
            agent.reply({"sessionId": "s-1"})

        async with connected(script) as host:
            with pytest.raises(NotSupported) as refused:
                await host.new_session(mcp_servers=[server])
            assert refused.value.capability == f"agentCapabilities.mcpCapabilities.{capability}"
            await host.new_session(mcp_servers=[server], force=True)

    @pytest.mark.parametrize(
        "server",
        [
            McpServerStdio("s", "/bin/s", None, ()),
            McpServerStdio("s", 7, (), ()),
            McpServerHttp("h", "https://example.org", ("X: 1",)),
            McpServerStdio("s", "/bin/s", (), (EnvVariable("A", 1),)),
            McpServerStdio("s", "/bin/s", (), 7),
            {"name": "s", "command": "/bin/s"},
        ],
    )
    async def test_one_that_agents_would_drop_is_not_sent(self, server: Any) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.open_session("s-1")

        async with connected(script, {**OPENS, "mcpCapabilities": {"http": True}}) as host:
            with pytest.raises(InvalidInput):
                await host.new_session(mcp_servers=[server])
            await host.new_session()


def asks(server_id: str = "mcp-1", request_id: str = "r1", method: str = "ping", **params: Any) -> dict[str, Any]:
    return {"serverId": server_id, "requestId": request_id, "method": method, "params": params}


async def asked(agent: ScriptedAgent, params: dict[str, Any]) -> Any:
    """Return the result of ``mcp/message``, or the code of its error."""
    response = await agent.call("mcp/message", params)
    return response["result"] if "result" in response else response["error"]["code"]


class TestOverTheConnection:
    async def test_the_agent_may_call_before_it_has_opened_the_session(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            opening = await agent.expect("session/new")
            assert await asked(agent, asks(x=1)) == {"result": {"method": "ping", "params": {"x": 1}}}
            agent.reply({"sessionId": "s-1"}, to=opening)

        async with connected(script, SERVES_ACP) as host:
            await host.new_session(mcp_servers=[HostMcpServer(echo)])

    async def test_withdrawn_by_the_agent(self) -> None:
        begun, ended = asyncio.Event(), asyncio.Event()

        async def wait(method: str, params: Any) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        async def script(agent: ScriptedAgent) -> None:
            await agent.open_session("s-1")
            agent.send({"jsonrpc": "2.0", "id": 9, "method": "mcp/message", "params": asks()})
            await begun.wait()
            agent.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 9}})
            answer = await agent.receive()
            assert (answer["id"], answer["error"]["code"]) == (9, -32800)

        async with connected(script, SERVES_ACP) as host:
            await host.new_session(mcp_servers=[HostMcpServer(wait)])
            await ended.wait()

    async def test_a_session_that_is_closed_takes_its_servers_with_it(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.open_session("s-1")
            await agent.expect("session/close")
            agent.reply({})
            assert await asked(agent, asks()) == -33001

        async with connected(script, SERVES_ACP) as host:
            session = await host.new_session(mcp_servers=[HostMcpServer(echo)])
            await session.close()

    async def test_a_session_that_could_not_be_opened_leaves_none(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("session/new")
            agent.reply_error(-32603, "no")
            assert await asked(agent, asks()) == -33001

        async with connected(script, SERVES_ACP) as host:
            with pytest.raises(acp_host.RequestFailed):
                await host.new_session(mcp_servers=[HostMcpServer(echo)])

    async def test_loaded_again_with_other_servers(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.open_session("s-1")
            await agent.expect("session/close")
            agent.reply({})
            loading = await agent.expect("session/load")
            [server] = loading["params"]["mcpServers"]
            assert "result" in await asked(agent, asks(server["serverId"]))
            agent.reply({}, to=loading)
            await agent.expect("session/resume")
            agent.reply_error(-32603, "no")
            assert await asked(agent, asks("mcp-1")) == -33001
            assert "result" in await asked(agent, asks("mcp-2"))
            assert await asked(agent, asks("mcp-3")) == -33001

        async with connected(script, {**SERVES_ACP, "sessionCapabilities": {"close": {}, "resume": {}}}) as host:
            session = await host.new_session(mcp_servers=[HostMcpServer(echo)])
            await host.load_session(session.id, mcp_servers=[HostMcpServer(echo)])
            with pytest.raises(acp_host.RequestFailed):
                await host.resume_session("s-2", mcp_servers=[HostMcpServer(echo)])

    async def test_the_end_of_the_connection_ends_the_servers(self) -> None:
        lives: list[str] = []

        @asynccontextmanager
        async def lifespan(server: Any) -> Any:
            lives.append("begins")
            yield
            lives.append("ends")

        async def script(agent: ScriptedAgent) -> None:
            await agent.open_session("s-1")
            await asked(agent, asks(method="no/such"))
            await agent.close()

        async with connected(script, SERVES_ACP) as host:
            await host.new_session(mcp_servers=[HostMcpServer(Server("x", lifespan=lifespan))])
            await host.wait_closed()
            await until(lambda: lives == ["begins", "ends"])


async def said(session: Session, prompt: str) -> str:
    return (await session.prompt(prompt)).text


class TestWithTheReferenceAgent:
    async def test_a_tool_of_this_program(self) -> None:
        server = MCPServer("notebook")

        @server.tool()
        async def cells(context: Context) -> int:
            await context.report_progress(1, 1)
            return 42

        async with acp_host.connect(ReferenceAgent().transport()) as host:
            session = await host.new_session(mcp_servers=[HostMcpServer(server, name="notebook")])
            text = await said(session, '/mcp tools/call {"name": "cells", "arguments": {}}')
            progress, answer = text.splitlines()
            assert progress.startswith('["notifications/progress", {"progressToken": "mcp-request-1"')
            assert '"text": "42"' in answer
            assert '"name": "cells"' in await said(session, "/mcp tools/list")
            assert "-32601" in await said(session, "/mcp no/such")
            assert list(host.diagnostics) == []

    async def test_several_sessions_with_one_server(self) -> None:
        server = HostMcpServer(echo)
        async with acp_host.connect(ReferenceAgent().transport()) as host:
            sessions = [await host.new_session(mcp_servers=[server]) for _ in range(3)]
            texts = await asyncio.gather(*[said(session, f"/mcp ask-{session.id}") for session in sessions])
            assert all(f'"method": "ask-{session.id}"' in text for session, text in zip(sessions, texts, strict=True))

    async def test_without_a_server_of_the_host(self) -> None:
        async with acp_host.connect(ReferenceAgent().transport()) as host:
            assert "the host serves no MCP server" in await said(await host.new_session(), "/mcp ping")

    async def test_an_agent_that_offers_nothing_of_the_kind(self) -> None:
        async with acp_host.connect(ReferenceAgent(without=["mcp"]).transport()) as host:
            with pytest.raises(NotSupported, match="mcpCapabilities"):
                await host.new_session(mcp_servers=[HostMcpServer(echo)])
