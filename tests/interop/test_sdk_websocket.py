"""WebSocket with the official SDKs: this host with their servers, the reference agent with their clients."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp
import pytest
from acp import schema
from acp.ws.client import MemoryAcpCookieStore, create_websocket_stream

import acp_host
from acp_host import PermissionPolicy, RemoteOptions
from acp_host.errors import ConnectionLost
from acp_host.testing import ReferenceAgent, serve_websocket

HERE = Path(__file__).parent
PYTHON_SERVER = (sys.executable, str(HERE / "python_sdk_http_server.py"), "http1")
TS_SERVER = ("node", str(HERE / "ts_sdk_http_server.mjs"))


@asynccontextmanager
async def served(*command: str) -> AsyncIterator[str]:
    """Run the server of an SDK; it prints its port, and ends when its stdin does."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=HERE
    )
    assert process.stdin
    assert process.stdout
    try:
        yield f"ws://127.0.0.1:{int(await process.stdout.readline())}/acp"
    finally:
        process.stdin.close()
        await process.wait()


# --- this host with their servers -----------------------------------------------------------------------------------


async def test_typescript_server(node_modules: Path) -> None:
    policy = PermissionPolicy.allow_once()
    async with served(*TS_SERVER) as url, acp_host.connect(url, permissions=policy) as host:
        assert host.agreement.agent_name == "typescript-sdk-agent"
        assert host.connection_id
        session = await host.new_session("/workspace")
        words = " ".join(f"word{number}" for number in range(300))
        assert (await session.prompt(words)).text == words
        assert (await session.prompt("ask")).text == '{"outcome":"selected","optionId":"yes"}'
        [record] = host.audit.records
        assert record.peer == url

        turn = session.prompt("wait")
        async for _ in turn:
            turn.cancel()
        assert (await turn).stop_reason == "cancelled"

        other = await host.new_session("/other")
        results = await asyncio.gather(session.prompt("one two"), other.prompt("three four"))
        assert [result.text for result in results] == ["one two", "three four"]
        assert list(host.diagnostics) == []

        async with acp_host.connect(url) as second:
            assert second.connection_id != host.connection_id
            loaded = await second.load_session(other.id, "/other")
            assert [entry.text for entry in loaded.state.snapshot().transcript] == ["three four"]


async def test_typescript_server_says_why_it_closes(node_modules: Path) -> None:
    """It wants ``initialize`` first, and closes with 1002 otherwise."""
    from acp_host.transports.websocket import WebSocketTransport
    from tests.transports.conftest import Recorder

    async with served(*TS_SERVER) as url:
        transport, recorder = WebSocketTransport(url), Recorder()
        await transport.start(recorder)
        transport.write(b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}\n')
        error = await recorder.end()
        assert isinstance(error, ConnectionLost)
        assert error.close_code == 1002
        assert "First message must be initialize" in str(error)
        await transport.close()


async def test_python_server(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("buy milk\n")
    policy = PermissionPolicy.allow_once()
    async with (
        served(*PYTHON_SERVER) as url,
        acp_host.connect(url, permissions=policy, files=True, terminals=True, allow_remote_services=True) as host,
    ):
        assert host.connection_id
        session = await host.new_session(tmp_path)
        assert (await session.prompt("edit")).text == "Written."
        assert (tmp_path / "notes.txt").read_text() == "BUY MILK\n"
        assert (await session.prompt("run echo $((6 * 7)); exit 3")).text == "Exit code 3: 42\n"
        assert {record.peer for record in host.audit.records} == {url}
        assert "fs/write_text_file" in {record.action for record in host.audit.records}
        assert list(host.diagnostics) == []


# --- the reference agent with their clients -------------------------------------------------------------------------


async def test_typescript_client(node_modules: Path) -> None:
    async with serve_websocket(ReferenceAgent(unstable=False).serve) as reference:
        process = await asyncio.create_subprocess_exec(
            "node", str(HERE / "ts_sdk_ws_client.mjs"), reference.url, reference.token, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate()
    assert process.returncode == 0
    told = json.loads(out)
    assert told["agreed"]["protocolVersion"] == 1
    assert told["shown"]["stopReason"] == "end_turn"
    assert {"agent_message_chunk", "tool_call", "tool_call_update"} <= set(told["shown"]["updates"])
    assert told["again"] is not None


async def test_python_client() -> None:
    class Client(acp.Client):
        def __init__(self) -> None:
            self.texts: list[str] = []

        async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
            if isinstance(update, schema.AgentMessageChunk) and isinstance(update.content, schema.TextContentBlock):
                self.texts.append(update.content.text)

        async def request_permission(self, options: Any, session_id: str, tool_call: Any, **kwargs: Any) -> Any:
            chosen = next(option for option in options if option.kind == "allow_once")
            return schema.RequestPermissionResponse(
                outcome=schema.AllowedOutcome(option_id=chosen.option_id, outcome="selected")
            )

    cookies = MemoryAcpCookieStore()
    async with serve_websocket(ReferenceAgent(unstable=False).serve) as reference:
        headers = {"Authorization": f"Bearer {reference.token}"}
        client = Client()
        stream = await create_websocket_stream(reference.url, headers=headers, cookie_store=cookies)
        connection = acp.connect_to_agent(client, stream)
        await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        session = await connection.new_session(cwd="/project", mcp_servers=[])
        block = acp.text_block("/say Hello over a WebSocket")
        response = await connection.prompt(session_id=session.session_id, prompt=[block])
        assert response.stop_reason == "end_turn"
        assert "".join(client.texts) == "Hello over a WebSocket"
        await connection.close()


async def test_the_clients_of_the_sdks_are_kept_out_without_the_token(node_modules: Path) -> None:
    async with serve_websocket(ReferenceAgent().serve) as reference:
        with pytest.raises(Exception, match="401"):
            await create_websocket_stream(reference.url)
        process = await asyncio.create_subprocess_exec(
            "node",
            str(HERE / "ts_sdk_ws_client.mjs"),
            reference.url,
            "wrong",
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate()
        assert (process.returncode, out) != (0, b"")
        assert out == b""
        async with acp_host.connect(reference.url, remote=RemoteOptions(bearer=reference.token)) as host:
            assert not host.closed
