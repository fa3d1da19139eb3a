"""Streamable HTTP with the official SDKs: our client with their servers, and our server with their clients."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import acp
import httpx
import pytest
from acp import schema
from acp.http import create_http_stream

import acp_host
from acp_host import PermissionPolicy, RemoteOptions
from acp_host.state.entries import MessageEntry
from acp_host.testing import AgentTurn, ReferenceAgent, serve_http
from tests.certificates import make_certificate, trusting

HERE = Path(__file__).parent
SERVERS = {
    "typescript": ["node", str(HERE / "ts_sdk_http_server.mjs")],
    "python": [sys.executable, str(HERE / "python_sdk_http_server.py")],
}
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (HERE.parent / "npm" / "node_modules" / "@agentclientprotocol").exists(),
    reason="the npm peers are not installed",
)
BOTH = [pytest.param("typescript", marks=needs_node), "python"]
PATIENCE = 15.0


@contextlib.asynccontextmanager
async def running(sdk: str, protocol: str, folder: Path) -> AsyncIterator[tuple[str, RemoteOptions]]:
    """Start a server of an SDK; return its URL, and how to reach it."""
    certificate, _ = make_certificate(folder)
    process = await asyncio.create_subprocess_exec(
        *SERVERS[sdk], protocol, str(folder), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            port = int(await process.stdout.readline())
            is_secure = protocol == "h2"
            options = RemoteOptions(tls=trusting(certificate) if is_secure else None)
            yield f"{'https' if is_secure else 'http'}://127.0.0.1:{port}/acp", options
    finally:
        process.stdin.close()
        await process.wait()


@pytest.mark.parametrize("protocol", ["http1", "h2"])
@pytest.mark.parametrize("sdk", BOTH)
async def test_our_client_with_their_server(sdk: str, protocol: str, tmp_path: Path) -> None:
    async with running(sdk, protocol, tmp_path) as (url, options):
        async with acp_host.connect(url, remote=options) as host:
            assert host.agreement.agent_info is not None
            assert host.agreement.agent_info.name == f"{sdk}-sdk-agent"
            session = await host.new_session(cwd="/")
            result = await session.prompt("Hello to the world")
            assert (result.text, result.stop_reason) == ("Hello to the world", "end_turn")
            async for _ in (turn := session.prompt("wait")):
                turn.cancel()
            assert (await turn).stop_reason == "cancelled"
            assert (await session.prompt("and on")).text == "and on"
        assert list(host.diagnostics) == []


@pytest.mark.parametrize("sdk", BOTH)
async def test_many_sessions_at_once_with_their_server(sdk: str, tmp_path: Path) -> None:
    """More than the hundred streams that a connection of HTTP/2 mostly has; Node.js does not even say how many."""
    async with running(sdk, "h2", tmp_path) as (url, options):
        async with acp_host.connect(url, remote=options) as host:
            sessions = await asyncio.gather(*[host.new_session(cwd="/") for _ in range(120)])
            results = await asyncio.gather(
                *[session.prompt(f"number {number}") for number, session in enumerate(sessions)]
            )
            assert [result.text for result in results] == [f"number {number}" for number in range(120)]
        assert list(host.diagnostics) == []


@needs_node
@pytest.mark.parametrize("protocol", ["http1", "h2"])
async def test_permission_and_history_with_the_typescript_server(protocol: str, tmp_path: Path) -> None:
    async with running("typescript", protocol, tmp_path) as (url, options):
        async with acp_host.connect(url, remote=options, permissions=PermissionPolicy.allow_once()) as host:
            session = await host.new_session(cwd="/")
            assert json.loads((await session.prompt("ask")).text) == {"outcome": "selected", "optionId": "yes"}
            for number in range(30):
                await session.prompt(f"line {number}. ")
        async with acp_host.connect(url, remote=options) as host:
            loaded = await host.load_session(session.id, cwd="/")
            said = [entry.text for entry in loaded.state.snapshot().transcript if isinstance(entry, MessageEntry)]
            assert said == ["".join(f"line {number}. " for number in range(30))]
            assert (await loaded.prompt("and on")).text == "and on"
        assert list(host.diagnostics) == []


async def script(turn: AgentTurn) -> str | None:
    if turn.text == "ask":
        async with turn.tool_call("Something") as call:
            await turn.say("yes" if await turn.permitted(call) else "no")
    elif turn.text == "wait":
        await turn.say("Waiting.")
        await asyncio.Event().wait()
    else:
        await turn.say(turn.text)
    return None


@needs_node
async def test_their_typescript_client_with_our_server() -> None:
    async with serve_http(ReferenceAgent(script=script).serve) as served:
        process = await asyncio.create_subprocess_exec(
            "node", str(HERE / "ts_sdk_http_client.mjs"), served.url, served.token, stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(PATIENCE):
            output, _ = await process.communicate()
    told = json.loads(output)
    assert told["name"] == "acp-host-reference-agent"
    assert told["stops"] == ["end_turn", "end_turn", "cancelled"]
    assert told["live"] == ["Hello", "yes", "Waiting."]
    assert told["loaded"] == ["Hello", "Hello", "ask", "yes", "wait", "Waiting.", "Again"]


class PythonClient(acp.Client):
    """A client of the Python SDK that says yes."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.waiting = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        if isinstance(update, schema.AgentMessageChunk) and isinstance(update.content, schema.TextContentBlock):
            self.heard.append(update.content.text)
            if update.content.text == "Waiting.":
                self.waiting.set()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **kwargs: Any
    ) -> schema.RequestPermissionResponse:
        chosen = next(option.option_id for option in options if option.kind == "allow_once")
        return schema.RequestPermissionResponse(outcome=schema.AllowedOutcome(outcome="selected", option_id=chosen))


@pytest.mark.parametrize("protocol", ["http1", "h2"])
async def test_their_python_client_with_our_server(protocol: str, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    is_secure = protocol == "h2"
    client = PythonClient()
    async with (
        serve_http(ReferenceAgent(script=script).serve, certificate=certificate if is_secure else None) as served,
        httpx.AsyncClient(http2=True, timeout=None, verify=trusting(certificate[0])) as http,
        asyncio.timeout(PATIENCE),
    ):
        stream = create_http_stream(served.url, client=http, headers={"Authorization": f"Bearer {served.token}"})
        agent = acp.connect_to_agent(client, stream)
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        session_id = (await agent.new_session(cwd="/project")).session_id
        text = [acp.text_block("Hello")]
        assert (await agent.prompt(session_id=session_id, prompt=text)).stop_reason == "end_turn"
        waiting = asyncio.create_task(agent.prompt(session_id=session_id, prompt=[acp.text_block("wait")]))
        await client.waiting.wait()
        await agent.cancel(session_id=session_id)
        assert (await waiting).stop_reason == "cancelled"
        assert client.heard == ["Hello", "Waiting."]
        await agent.close()


@pytest.mark.parametrize("protocol", ["http1", "h2"])
async def test_our_client_with_our_server(protocol: str, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    is_secure = protocol == "h2"
    async with serve_http(ReferenceAgent().serve, certificate=certificate if is_secure else None) as served:
        options = RemoteOptions(bearer=served.token, tls=trusting(certificate[0]) if is_secure else None)
        async with acp_host.connect(served.url, remote=options) as host:
            sessions = await asyncio.gather(*[host.new_session(cwd="/") for _ in range(120)])
            turns = [session.prompt(f"/flood 50\n/say {number}") for number, session in enumerate(sessions)]
            results = await asyncio.gather(*turns)
            assert all(result.text.endswith(f"{number}") for number, result in enumerate(results))
        assert list(host.diagnostics) == []
