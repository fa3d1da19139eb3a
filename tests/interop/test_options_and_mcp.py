"""Options that are set, and MCP servers that are called, by agents built on the two official SDKs."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import Context, MCPServer

import acp_host
from acp_host import HostMcpServer, RequestFailed, Session

HERE = Path(__file__).parent
PYTHON_SDK_AGENT = [sys.executable, str(HERE / "python_sdk_options_agent.py")]


@pytest.fixture
def typescript_sdk_agent(node_modules: Path) -> list[str]:
    assert node_modules.exists()
    return ["node", str(HERE / "ts_sdk_agent.mjs")]


def shown(session: Session) -> dict[str, tuple[str, Any, Any]]:
    return {each.id: (each.source.value, each.value, each.pending) for each in session.options.snapshot().entries}


class TestOptions:
    async def test_set_at_an_agent_of_the_typescript_sdk(self, typescript_sdk_agent: list[str], folder: Path) -> None:
        async with acp_host.connect(typescript_sdk_agent) as host:
            session = await host.new_session(cwd=folder)
            assert shown(session) == {
                "mode": ("config_option", "ask", None),
                "model": ("config_option", "small", None),
                "fast": ("config_option", False, None),
            }
            await asyncio.gather(session.set_option("mode", "code"), session.set_option("fast", True))
            await session.set_mode("ask")
            with pytest.raises(RequestFailed, match="-32603"):
                await session.set_option("model", "large")
            assert [value[1:] for value in shown(session).values()] == [("ask", None), ("small", None), (True, None)]
            error = session.options.snapshot().entries[1].error
            assert error is not None
            assert list(host.diagnostics) == []

    async def test_modes_and_models_alone(self, typescript_sdk_agent: list[str], folder: Path) -> None:
        async with acp_host.connect([*typescript_sdk_agent, "old"]) as host:
            session = await host.new_session(cwd=folder)
            assert shown(session) == {"mode": ("mode", "ask", None), "model": ("model", "small", None)}
            await session.set_option("mode", "code")
            await session.set_option("model", "large")
            assert shown(session) == {"mode": ("mode", "code", None), "model": ("model", "large", None)}
            with pytest.raises(RequestFailed):
                await session.set_mode("no-such-mode")
            assert shown(session)["mode"][1:] == ("code", None)

    async def test_modes_alone(self, folder: Path) -> None:
        async with acp_host.connect([*PYTHON_SDK_AGENT, "old"]) as host:
            session = await host.new_session(cwd=folder)
            assert shown(session) == {"mode": ("mode", "ask", None)}
            await session.set_option("mode", "code")
            with pytest.raises(RequestFailed):
                await session.set_mode("no-such-mode")
            assert shown(session) == {"mode": ("mode", "code", None)}

    async def test_set_at_an_agent_of_the_python_sdk(self, folder: Path) -> None:
        async with acp_host.connect(PYTHON_SDK_AGENT) as host:
            session = await host.new_session(cwd=folder)
            assert [each[0] for each in shown(session).values()] == ["config_option"] * 3
            await session.set_option("mode", "code")  # the answer to this one says nothing
            await session.set_option("fast", True)
            assert [value[1:] for value in shown(session).values()] == [("code", None), ("small", None), (True, None)]


def tools(begun: asyncio.Event | None = None, ended: asyncio.Event | None = None) -> MCPServer:
    server = MCPServer("notebook")

    @server.tool()
    async def count(upto: int, context: Context) -> str:
        for number in range(upto):
            await context.report_progress(number + 1, upto)
        return f"counted to {upto}"

    @server.tool()
    async def wait() -> str:
        assert begun is not None
        assert ended is not None
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    return server


class TestMcpOverAcp:
    """The TypeScript SDK calls as its own class for that does; the servers are of the official Python package."""

    @asynccontextmanager
    async def session(self, command: list[str], folder: Path, server: Any) -> AsyncIterator[Session]:
        async with asyncio.timeout(30), acp_host.connect(command) as host:
            yield await host.new_session(cwd=folder, mcp_servers=[HostMcpServer(server, name="notebook")])

    async def ask(self, session: Session, method: str, params: Any = None, **more: Any) -> list[Any]:
        asked = json.dumps({"method": method, "params": params, **more})
        return [json.loads(line) for line in (await session.prompt(asked)).text.splitlines()]

    async def test_a_tool_and_its_progress(self, typescript_sdk_agent: list[str], folder: Path) -> None:
        async with self.session(typescript_sdk_agent, folder, tools()) as session:
            [discovered] = await self.ask(session, "server/discover", {})
            assert discovered["result"]["supportedVersions"]
            [listed] = await self.ask(session, "tools/list")
            assert [tool["name"] for tool in listed["result"]["tools"]] == ["count", "wait"]
            call = {"name": "count", "arguments": {"upto": 2}, "_meta": {"progressToken": "p"}}
            # This caller drops what it has not got to when the answer comes: on a busy machine that may be all of it.
            told: list[list[int]] = []
            while len(told) < 20 and not any(told):
                *progress, outcome = await self.ask(session, "tools/call", call)
                told.append([note["params"]["progress"] for note in progress])
                assert outcome["result"]["content"] == [{"type": "text", "text": "counted to 2"}]
            assert told[-1] in ([1], [1, 2])

    async def test_errors_inside_and_around(self, typescript_sdk_agent: list[str], folder: Path) -> None:
        async with self.session(typescript_sdk_agent, folder, tools()) as session:
            [inside] = await self.ask(session, "no/such")
            assert inside["error"]["code"] == -32601
            [around] = await self.ask(session, "tools/list", serverId="another")
            assert around["code"] == -33001

    async def test_a_call_that_the_agent_withdraws(self, typescript_sdk_agent: list[str], folder: Path) -> None:
        begun, ended = asyncio.Event(), asyncio.Event()
        async with self.session(typescript_sdk_agent, folder, tools(begun, ended)) as session:
            [withdrawn] = await self.ask(session, "tools/call", {"name": "wait", "arguments": {}}, abort=500)
            assert withdrawn["code"] == -32800
            assert begun.is_set()
            await ended.wait()

    async def test_a_function(self, typescript_sdk_agent: list[str], folder: Path) -> None:
        async with self.session(typescript_sdk_agent, folder, lambda method, params: {"method": method}) as session:
            assert await self.ask(session, "x/y") == [{"result": {"method": "x/y"}}]
