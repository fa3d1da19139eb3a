"""Every method that the official SDKs know, by agents that are built on them and have all of it.

Which methods those are is asked of the SDKs. What was exercised is read from a recording of the conversation, so a
method that a newer SDK adds fails here until it is.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from acp.meta import AGENT_METHODS, CLIENT_METHODS

import acp_host
from acp_host import HostConnection, HostMcpServer
from acp_host.host.services import ElicitationHandlers
from acp_host.recording.format import RecordedDirection, read_recording
from acp_host.state.snapshot import SessionSnapshot
from acp_host.wire.elicitation import ElicitationAcceptAction
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.updates import AgentMessageChunk

HERE = Path(__file__).parent
PYTHON_SDK_AGENT = [sys.executable, str(HERE / "python_sdk_whole_agent.py")]
TYPESCRIPT_SDK_AGENT = ["node", str(HERE / "ts_sdk_whole_agent.mjs")]
TYPESCRIPT_SDK_V2_AGENT = ["node", str(HERE / "ts_sdk_v2_agent.mjs"), "v2"]

TEXT = {"uri": "file:///a.py", "version": 1}
START = {"line": 0, "character": 0}
NOTIFIED = {
    "document/didOpen": TEXT | {"languageId": "python", "text": "x"},
    "document/didChange": TEXT | {"contentChanges": [{"text": "y"}]},
    "document/didFocus": TEXT | {"position": START, "visibleRange": {"start": START, "end": START}},
    "document/didSave": {"uri": "file:///a.py"},
    "document/didClose": {"uri": "file:///a.py"},
    "nes/accept": {"id": "1"},
    "nes/reject": {"id": "2"},
}
"""What has no method of its own in this library: drafts about suggestions of the next edit. Any method can be sent."""

OTHER_DRAFT = {"mcp/connect", "mcp/disconnect", "mcp/message"}
"""MCP over ACP in the Python SDK: an earlier draft, with connections, which the schema has given up."""


async def answer(request: RequestPermissionRequest) -> str:
    if "Wait" in (getattr(request, "title", None), request.tool_call.title):
        await asyncio.Event().wait()
    return request.options[0].option_id


def listen(host: HostConnection) -> list[Any]:
    """Return a list that gets the pages which are done."""
    completed: list[Any] = []
    host.on_notification("elicitation/complete", lambda notification: completed.append(notification.elicitation_id))
    return completed


async def drive(host: HostConnection, folder: Path) -> list[Any]:
    """Do all that a host can, and return what the agent says of what it did."""
    completed = listen(host)
    await host.authenticate("login")
    await host.set_provider("p", api_type="openai", base_url="http://127.0.0.1:1")
    (provider,) = (await host.list_providers()).providers
    assert provider.current.base_url == "http://127.0.0.1:1"
    await host.disable_provider("p")
    server = HostMcpServer(lambda method, params: {"hello": "from a server of the host"}, name="greeter")
    session = await host.new_session(folder, mcp_servers=[server])
    await session.set_mode("code")
    await session.set_config_option("model", "large")
    said: list[Any] = json.loads((await session.prompt("everything")).text)
    assert completed == ["e"]
    async for _update in (turn := session.prompt("wait")):
        turn.cancel()
    assert (await turn).stop_reason == "cancelled"
    assert session.id in {info.session_id for info in (await host.list_sessions()).sessions}
    fork = await host.fork_session(session.id, folder)
    await host.delete_session(fork.id)
    nes = (await host.request("nes/start", {"workspaceUri": "file:///"}))["sessionId"]
    for method, params in NOTIFIED.items():
        await host.notify(method, {"sessionId": nes} | params)
    suggest = TEXT | {"sessionId": nes, "position": START, "triggerKind": "manual"}
    assert (await host.request("nes/suggest", suggest))["suggestions"] == []
    await host.request("nes/close", {"sessionId": nes})
    assert set(json.loads((await session.prompt("what was told?")).text)) >= set(NOTIFIED)
    await session.close()
    loaded = await host.load_session(session.id, folder)
    await loaded.close()
    await host.resume_session(session.id, folder)
    await host.logout()
    return said


async def what_only_the_newer_draft_has(host: HostConnection, folder: Path) -> None:
    assert (await host.auth_status()).state == "authenticated"
    session = await host.new_session(folder)
    await session.set_title("A title")
    assert (await session.status()).status == "open"
    await host.archive_session(session.id)
    await host.unarchive_session(session.id)
    await host.send_mcp_message("s", "r", "notifications/progress", {"progress": 1})
    with pytest.raises(TimeoutError):
        await host.request("_slow", timeout=0.2)
    another = await host.new_session(folder)
    assert "mcp/message" in json.loads((await another.prompt("what was told?")).text)


def exercised(recording: Path) -> dict[RecordedDirection, dict[str, set[Any]]]:
    """Return, for each direction, what came of each method: `result`, an error's code, `told` for a notification."""
    asked: dict[tuple[RecordedDirection, Any], str] = {}
    found: dict[RecordedDirection, dict[str, set[Any]]] = {way: {} for way in RecordedDirection}
    other = {RecordedDirection.IN: RecordedDirection.OUT, RecordedDirection.OUT: RecordedDirection.IN}
    for line in read_recording(recording):
        message = line.message
        if not isinstance(message, Mapping):
            continue
        if "method" in message:
            asked[line.direction, message.get("id")] = message["method"]
            outcomes = found[line.direction].setdefault(message["method"], set())
            if "id" not in message:
                outcomes.add("told")
        elif message.get("id") is not None:
            way = other[line.direction]
            outcome = "result" if "result" in message else message["error"]["code"]
            found[way][asked[way, message["id"]]].add(outcome)
    return found


def connect(command: list[str], recording: Path, **options: Any) -> acp_host.connect:
    elicitation = ElicitationHandlers(
        form=lambda _: ElicitationAcceptAction({"name": "Ada"}), url=lambda _: ElicitationAcceptAction()
    )
    return acp_host.connect(
        command, permissions=answer, elicitation=elicitation, unstable=True, record=recording, **options
    )


def unexercised(known: set[str], found: Mapping[str, set[Any]]) -> set[str]:
    return {method for method in known if not found.get(method, set()) & {"result", "told"}}


async def test_python_sdk(folder: Path, tmp_path: Path) -> None:
    recording = tmp_path / "talk.jsonl"
    async with connect(PYTHON_SDK_AGENT, recording, files=True, terminals=True) as host:
        said = await drive(host, folder)
    *did, connect_code, message_code, disconnect_code = said
    assert did == ["written by the agent\n", "yes", "SIGTERM", "Ada", "accept"]
    assert (connect_code, message_code, disconnect_code) == (-32601, -32602, -32601)
    found = exercised(recording)
    by_agent = unexercised(set(CLIENT_METHODS.values()), found[RecordedDirection.IN])
    by_host = unexercised(set(AGENT_METHODS.values()), found[RecordedDirection.OUT])
    assert (by_agent, by_host) == (OTHER_DRAFT, {"mcp/message"})


@pytest.fixture
def known_to_typescript(node_modules: Path) -> dict[str, dict[str, list[str]]]:
    """The methods of each version, by who has them: the agent, the host, or both."""
    assert node_modules
    listed = subprocess.run([*TYPESCRIPT_SDK_AGENT, "methods"], capture_output=True, check=True)
    return json.loads(listed.stdout)


async def test_typescript_sdk(known_to_typescript: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    recording = tmp_path / "talk.jsonl"
    async with connect(TYPESCRIPT_SDK_AGENT, recording, files=True, terminals=True) as host:
        said = await drive(host, folder)
        await what_only_the_newer_draft_has(host, folder)
        faults = [str(diagnostic) for diagnostic in host.diagnostics]
    assert said == ["written by the agent\n", "yes", "SIGTERM", "Ada", "accept", "from a server of the host", -32800]
    assert faults == []
    known, found = known_to_typescript["1"], exercised(recording)
    assert unexercised({*known["host"], *known["both"]}, found[RecordedDirection.IN]) == set()
    assert unexercised({*known["agent"], *known["both"]}, found[RecordedDirection.OUT]) == set()


async def test_typescript_sdk_in_version_2(known_to_typescript: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    recording = tmp_path / "talk.jsonl"
    async with connect(TYPESCRIPT_SDK_V2_AGENT, recording, protocol_versions=(2, 1)) as host:
        assert host.agreement.protocol_version == 2
        completed = listen(host)
        await host.authenticate("login")
        assert (await host.auth_status()).state == "authenticated"
        await host.set_provider("p", api_type="openai", base_url="http://127.0.0.1:1")
        await host.list_providers()
        await host.disable_provider("p")
        server = HostMcpServer(lambda method, params: {"hello": "from a server of the host"}, name="greeter")
        session = await host.new_session(folder, mcp_servers=[server])
        await session.set_option("model", "large")
        await session.set_title("A title")
        await session.status()
        deeds = ("ask", "form", "visit https://example.org/", "mcp", "withdraw")
        said = [(await session.prompt(deed)).text for deed in deeds]
        for prompt, cancel in (("call", session.cancel_tool_call), ("background", session.cancel_terminal)):
            turn = session.prompt(prompt)
            async for snapshot in session.state.watch():
                if can_be_cancelled(snapshot, prompt):
                    break
            await cancel("long" if prompt == "call" else "back")
            await turn
        async for update in (turn := session.prompt("wait")):
            if isinstance(update, AgentMessageChunk):
                turn.cancel()
        assert (await turn).stop_reason == "cancelled"
        await host.send_mcp_message("s", "r", "notifications/progress", {"progress": 1})
        with pytest.raises(TimeoutError):
            await host.request("_slow", timeout=0.2)
        fork = await host.fork_session(session.id, folder)
        await host.archive_session(fork.id)
        await host.unarchive_session(fork.id)
        await host.delete_session(fork.id)
        await host.list_sessions()
        await session.close()
        await host.resume_session(session.id, folder)
        await host.logout()
        faults = [str(diagnostic) for diagnostic in host.diagnostics]
    assert [json.loads(text) for text in said] == [
        {"outcome": "selected", "optionId": "yes"},
        {"action": "accept", "content": {"name": "Ada"}},
        {"action": "accept"},
        {"result": {"hello": "from a server of the host"}},
        -32800,
    ]
    assert (completed, faults) == (["e"], [])
    known, found = known_to_typescript["2"], exercised(recording)
    assert unexercised({*known["host"], *known["both"]}, found[RecordedDirection.IN]) == set()
    assert unexercised({*known["agent"], *known["both"]}, found[RecordedDirection.OUT]) == set()


def can_be_cancelled(snapshot: SessionSnapshot, prompt: str) -> bool:
    """Tell whether the tool call, or the work in the background, is there to be cancelled."""
    if prompt == "call":
        return any(getattr(entry, "cancellable", False) for entry in snapshot.transcript)
    return bool(snapshot.turn.background)
