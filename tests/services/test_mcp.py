"""MCP servers of this program: what the agent asks of them, and what it gets."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, TextContent, Tool

from acp_host.diagnostics import Diagnostic
from acp_host.errors import InvalidInput, RequestFailed
from acp_host.services.mcp import MAX_OPEN, HostMcpServer, McpServers
from acp_host.wire.mcp import McpError, McpServerAcp, MessageMcpNotification, MessageMcpRequest, MessageMcpResponse

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "agent", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HANDSHAKE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}


class Agent:
    """Asks servers that it was lent, as an agent does over the connection."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Future[None]] = []
        self.notified: list[MessageMcpNotification] = []
        self.diagnostics: list[Diagnostic] = []
        self.hub = McpServers(self.start, self.send, self.diagnostics.append)
        self.numbers = 0

    def start(self, work: Any) -> None:
        self.tasks.append(asyncio.ensure_future(work))

    async def send(self, notification: MessageMcpNotification) -> None:
        self.notified.append(notification)

    async def ask(
        self, server: McpServerAcp, method: str, params: Mapping[str, Any] | None = None, *, meta: Any = ENVELOPE
    ) -> MessageMcpResponse:
        self.numbers += 1
        given = {**(params or {}), **({"_meta": meta} if meta else {})}
        return await self.hub.message(MessageMcpRequest(server.server_id, f"r{self.numbers}", method, given or None))

    async def call(self, server: McpServerAcp, tool: str, meta: Any = ENVELOPE, **arguments: Any) -> Any:
        return await self.ask(server, "tools/call", {"name": tool, "arguments": arguments}, meta=meta)


@asynccontextmanager
async def agent() -> AsyncIterator[Agent]:
    async with asyncio.timeout(40):
        asking = Agent()
        yield asking
        asking.hub.close()
        await asyncio.gather(*asking.tasks)


class Tools:
    """A low-level server with one tool, which does what it is told."""

    def __init__(self, tool: Callable[..., Any]) -> None:
        async def list_tools(context: Any, params: Any) -> Any:
            raise NotImplementedError

        async def call_tool(context: Any, params: Any) -> CallToolResult:
            text = await tool(context, **(params.arguments or {}))
            return CallToolResult(content=[TextContent(text=text)])

        self.server: Server[Any] = Server("tools", on_list_tools=list_tools, on_call_tool=call_tool)


def text_of(answer: MessageMcpResponse) -> str:
    assert isinstance(answer.result, dict), answer
    return str(answer.result["content"][0]["text"])


def error_of(answer: MessageMcpResponse) -> McpError:
    assert isinstance(answer.error, McpError), answer
    return answer.error


@contextmanager
def refused(code: int, message: str | None = None) -> Iterator[None]:
    """Expect an error of the request around MCP's own."""
    with pytest.raises(RequestFailed) as raised:
        yield
    assert raised.value.code == code
    assert message in (None, raised.value.message)


async def hang(context: Any) -> str:
    await asyncio.Event().wait()
    raise AssertionError


class TestOfThePackage:
    async def test_a_server_of_tools(self) -> None:
        server = MCPServer("adder")

        @server.tool()
        async def add(a: int, b: int, context: Context) -> str:
            await context.report_progress(1, 2, "half")
            return str(a + b)

        async with agent() as asking:
            lent = asking.hub.lend(HostMcpServer(server, name="adder"))
            assert lent.name == "adder"
            listed = await asking.ask(lent, "tools/list")
            assert isinstance(listed.result, dict)
            assert [tool["name"] for tool in listed.result["tools"]] == ["add"]
            meta = {**ENVELOPE, "progressToken": "half-way"}
            assert text_of(await asking.call(lent, "add", meta, a=1, b=2)) == "3"
            [progress] = asking.notified
            assert (progress.server_id, progress.request_id) == (lent.server_id, "r2")
            assert progress.method == "notifications/progress"
            assert progress.params == {"progressToken": "half-way", "progress": 1, "total": 2, "message": "half"}

    async def test_by_the_handshake_of_older_versions(self) -> None:
        async def hello(context: Any) -> str:
            return "hello"

        async with agent() as asking:
            lent = asking.hub.lend(HostMcpServer(Tools(hello).server))
            assert error_of(await asking.call(lent, "hello", meta=None)).code == -32602  # initialize comes first
            initialized = await asking.ask(lent, "initialize", HANDSHAKE, meta=None)
            assert isinstance(initialized.result, dict)
            assert initialized.result["protocolVersion"] == "2025-06-18"
            assert text_of(await asking.call(lent, "hello", meta=None)) == "hello"

    async def test_an_error_of_the_server_is_mcps_own(self) -> None:
        async with agent() as asking:
            error = error_of(await asking.ask(asking.hub.lend(HostMcpServer(Tools(hang).server)), "no/such"))
            assert (error.code, error.message, error.data) == (-32601, "Method not found", "no/such")

    async def test_a_tool_that_raises_tells_no_traceback(self) -> None:
        async def fail(context: Any) -> str:
            raise LookupError("nothing there")

        async with agent() as asking:
            error = error_of(await asking.call(asking.hub.lend(HostMcpServer(Tools(fail).server)), "fail"))
            assert (error.code, error.message) == (-32603, "Internal server error")

    async def test_what_the_agent_withdraws_is_cancelled(self) -> None:
        begun, ended = asyncio.Event(), asyncio.Event()

        async def wait(context: Any) -> str:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            raise AssertionError

        async with agent() as asking:
            lent = asking.hub.lend(HostMcpServer(Tools(wait).server))
            asked = asyncio.create_task(asking.call(lent, "wait"))
            await begun.wait()
            asked.cancel()
            await ended.wait()
            with pytest.raises(asyncio.CancelledError):
                await asked
            assert error_of(await asking.ask(lent, "no/such")).code == -32601

    async def test_the_end_of_its_session_ends_what_is_open(self) -> None:
        begun = asyncio.Event()

        async def wait(context: Any) -> str:
            begun.set()
            return await hang(context)

        async with agent() as asking:
            lent = asking.hub.lend(HostMcpServer(Tools(wait).server))
            with asking.hub.lent([lent]) as belong_to:
                belong_to("s-1")
            asked = asyncio.create_task(asking.call(lent, "wait"))
            await begun.wait()
            asking.hub.session_closed("s-1")
            with refused(-33001, "the MCP server was taken back with its session"):
                await asked
            with refused(-33001):
                await asking.call(lent, "wait")

    async def test_two_sessions_share_a_server_and_no_request(self) -> None:
        lives: list[str] = []

        @asynccontextmanager
        async def lifespan(server: Any) -> AsyncIterator[None]:
            lives.append("begins")
            yield
            lives.append("ends")

        async def hello(context: Any) -> str:
            return "hello"

        server = Tools(hello).server
        server.lifespan = lifespan
        async with agent() as asking:
            one, two = (asking.hub.lend(HostMcpServer(server)) for _ in range(2))
            assert one.server_id != two.server_id
            assert lives == []  # a server that nobody calls does not run
            for lent in (one, two, one):
                assert text_of(await asking.call(lent, "hello")) == "hello"
            assert lives == ["begins", "begins"]
        assert lives == ["begins", "begins", "ends", "ends"]

    async def test_a_server_that_cannot_run_fails_its_requests_and_is_tried_again(self) -> None:
        fails = [True, False]

        @asynccontextmanager
        async def lifespan(server: Any) -> AsyncIterator[None]:
            if fails.pop(0):
                raise OSError("no database")
            yield

        async def hello(context: Any) -> str:
            return "hello"

        server = Tools(hello).server
        server.lifespan = lifespan
        async with agent() as asking:
            lent = asking.hub.lend(HostMcpServer(server, name="db"))
            with refused(-33002, "the MCP server failed to handle tools/call"):
                await asking.call(lent, "hello")
            assert [note.message for note in asking.diagnostics] == [
                "the MCP server db failed: OSError: no database",
                "the MCP server db failed: EOFError: the MCP server has ended",
            ]
            assert text_of(await asking.call(lent, "hello")) == "hello"

    async def test_what_belongs_to_no_request_has_no_way_to_the_agent(self) -> None:
        async def change(context: Any) -> str:
            await context.session.send_tool_list_changed()
            return "changed"

        async with agent() as asking:
            lent = asking.hub.lend(HostMcpServer(Tools(change).server))
            await asking.ask(lent, "initialize", HANDSHAKE, meta=None)
            assert text_of(await asking.call(lent, "change", meta=None)) == "changed"
            assert asking.notified == []

    async def test_the_agent_cannot_be_asked(self) -> None:
        async def ask(context: Any) -> str:
            try:
                await context.session.list_roots()
            except Exception as error:
                return str(error)
            raise AssertionError

        async with agent() as asking:
            lent = asking.hub.lend(HostMcpServer(Tools(ask).server))
            capable = {**HANDSHAKE, "capabilities": {"roots": {}}}
            await asking.ask(lent, "initialize", capable, meta=None)
            assert text_of(await asking.call(lent, "ask", meta=None))


class TestOfAFunction:
    @pytest.mark.parametrize("params", [{"a": 1}, None])
    async def test_it_is_called_with_method_and_parameters(self, params: Any) -> None:
        called: list[Any] = []

        def function(method: str, given: Any) -> str:
            called.append((method, given))
            return "done"

        async with agent() as asking:
            lent = asking.hub.lend(HostMcpServer(function))
            assert (await asking.ask(lent, "x/y", params, meta=None)).result == "done"
            assert called == [("x/y", params)]

    async def test_a_coroutine_function_may_return_nothing(self) -> None:
        async def function(method: str, params: Any) -> None:
            await asyncio.sleep(0)

        async with agent() as asking:
            answer = await asking.ask(asking.hub.lend(HostMcpServer(function)), "ping")
            assert answer == MessageMcpResponse(result=None)

    async def test_it_may_answer_with_an_error(self) -> None:
        def function(method: str, params: Any) -> None:
            raise RequestFailed("not today", code=-32001, data={"until": "Monday"})

        async with agent() as asking:
            answer = await asking.ask(asking.hub.lend(HostMcpServer(function)), "ping")
            assert answer.error == McpError(-32001, "not today", {"until": "Monday"})

    async def test_the_end_of_its_session_ends_what_is_open(self) -> None:
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def function(method: str, params: Any) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

        async with agent() as asking:
            lent = asking.hub.lend(HostMcpServer(function))
            with asking.hub.lent([lent]) as belong_to:
                belong_to("s-1")
            asked = asyncio.create_task(asking.ask(lent, "wait"))
            await begun.wait()
            asking.hub.session_closed("s-1")
            with refused(-33001, "the MCP server was taken back with its session"):
                await asyncio.wait_for(asked, 5)
            assert cancelled.is_set()

    async def test_a_fault_is_reported_here_and_not_told(self) -> None:
        def function(method: str, params: Any) -> None:
            raise ValueError("/home/user/secret")

        async with agent() as asking:
            with refused(-33002, "the MCP server failed to handle ping"):
                await asking.ask(asking.hub.lend(HostMcpServer(function)), "ping")
            [note] = asking.diagnostics
            assert "/home/user/secret" in note.message


class TestBounds:
    async def test_a_server_that_is_not_there(self) -> None:
        async with agent() as asking:
            with refused(-33001, "there is no MCP server mcp-9"):
                await asking.ask(McpServerAcp("x", "mcp-9"), "ping")

    async def test_a_request_id_that_is_open(self) -> None:
        async with agent() as asking:
            gate = asyncio.Event()

            async def function(method: str, params: Any) -> None:
                await gate.wait()

            lent = asking.hub.lend(HostMcpServer(function))
            request = MessageMcpRequest(lent.server_id, "same", "ping")
            first = asyncio.create_task(asking.hub.message(request))
            await asyncio.sleep(0)
            with refused(-32602):
                await asking.hub.message(request)
            gate.set()
            assert (await first).result is None
            assert (await asking.hub.message(request)).result is None

    async def test_many_open_requests(self) -> None:
        async with agent() as asking:
            gate = asyncio.Event()

            async def function(method: str, params: Any) -> str:
                await gate.wait()
                return "ok"

            lent = asking.hub.lend(HostMcpServer(function))
            waiting = [asyncio.create_task(asking.ask(lent, "ping")) for _ in range(MAX_OPEN)]
            await asyncio.sleep(0)
            with refused(-33000):
                await asking.ask(lent, "ping")
            gate.set()
            assert {answer.result for answer in await asyncio.gather(*waiting)} == {"ok"}

    async def test_what_could_not_be_lent_is_taken_back(self) -> None:
        async with agent() as asking:
            lent = asking.hub.lend(HostMcpServer(lambda method, params: None))
            with pytest.raises(ZeroDivisionError), asking.hub.lent([lent]):
                raise ZeroDivisionError
            with refused(-33001):
                await asking.ask(lent, "ping")

    async def test_new_ones_take_the_place_of_those_before(self) -> None:
        async with agent() as asking:
            one, two = (asking.hub.lend(HostMcpServer(lambda method, params: method)) for _ in range(2))
            for lent in (one, two):
                with asking.hub.lent([lent]) as belong_to:
                    belong_to("s-1")
            assert (await asking.ask(two, "ping")).result == "ping"
            with refused(-33001):
                await asking.ask(one, "ping")

    async def test_a_server_that_does_not_read_what_is_asked_and_withdrawn(self) -> None:
        gate = asyncio.Event()

        @asynccontextmanager
        async def lifespan(server: Any) -> AsyncIterator[None]:
            await gate.wait()
            yield

        async def hello(context: Any) -> str:
            return "hello"

        server = Tools(hello).server
        server.lifespan = lifespan
        async with agent() as asking:
            lent = asking.hub.lend(HostMcpServer(server))
            for _ in range(2):
                waiting = [asyncio.create_task(asking.call(lent, "hello")) for _ in range(MAX_OPEN // 2)]
                await asyncio.sleep(0)
                for task in waiting:
                    task.cancel()
                assert {type(end) for end in await asyncio.gather(*waiting, return_exceptions=True)} == {
                    asyncio.CancelledError
                }
            with refused(-33002):
                await asking.call(lent, "hello")
            gate.set()


class TestHostMcpServer:
    def test_the_package_is_loaded_when_a_server_of_it_is_called(self) -> None:
        code = "import sys, acp_host; acp_host.HostMcpServer(print); print('mcp' in sys.modules)"
        loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert loaded.strip() == "False"

    @pytest.mark.parametrize(
        "server", [None, 7, MCPServer, "python server.py", Tool(name="t", input_schema={"type": "object"})]
    )
    def test_what_is_no_server(self, server: Any) -> None:
        with pytest.raises(InvalidInput, match="a server of the package mcp or a function"):
            HostMcpServer(server)

    def test_a_server_of_an_older_version_of_the_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        server = Server("old")
        monkeypatch.setattr("acp_host.services.mcp.find_spec", lambda name: None)
        with pytest.raises(InvalidInput, match=r"version 2\.0"):
            HostMcpServer(server)
        HostMcpServer(lambda method, params: None)

    @pytest.mark.parametrize("name", ["", None])
    def test_it_has_a_name(self, name: Any) -> None:
        with pytest.raises(InvalidInput, match="name"):
            HostMcpServer(lambda method, params: None, name=name)
