"""``connect(record=…)`` and the transport behind it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.errors import InvalidInput, InvalidState, StartFailed
from acp_host.recording import RecordedLine, Recorder, Recording, RecordingTransport
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.transports import StdioTransport, memory_pair
from tests.recording.live import recorded

DIES = """
import sys
await agent.handshake()
await agent.open_session()
await agent.expect("session/prompt")
print("the token: abcdefgh12345678", file=sys.stderr)
sys.exit(3)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talk.jsonl"


def methods(lines: list[RecordedLine], direction: str) -> list[str]:
    return [line.message["method"] for line in lines if line.direction == direction and "method" in line.message]


@pytest.mark.parametrize("kind", ["process", "memory"])
async def test_a_conversation_is_recorded_in_both_directions(path, kind, tmp_path):
    target = ReferenceAgent.command() if kind == "process" else ReferenceAgent().transport()
    async with acp_host.connect(target, record=path) as host:
        session = await host.new_session(tmp_path)
        result = await session.prompt("Hello")
    lines = recorded(path)
    assert methods(lines, "out") == ["initialize", "session/new", "session/prompt"]
    assert set(methods(lines, "in")) == {"session/update"}
    chunks = [line.message["params"]["update"] for line in lines if line.direction == "in" and "params" in line.message]
    said = [chunk["content"]["text"] for chunk in chunks if chunk["sessionUpdate"] == "agent_message_chunk"]
    assert "".join(said) == result.text
    assert [line.event for line in lines if line.direction == "meta"] == ["start", "connection", "end"]
    assert lines[-1].details == {"exit_status": 0}


async def test_secrets_of_the_environment_are_in_no_line(path, tmp_path):
    command = [*ReferenceAgent.command(), "--api-key", "hunter22"]
    with pytest.raises(StartFailed):
        await acp_host.connect(command, record=path, env={"SOME_TOKEN": "correct-horse"})
    async with acp_host.connect(ReferenceAgent.command(), record=path, env={"SOME_TOKEN": "correct-horse"}) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("It is correct-horse.")
    text = path.read_text()
    assert "It is [redacted]." in text
    assert "correct-horse" not in text
    assert "hunter22" not in text


async def test_how_an_agent_ended_is_recorded_without_secrets(path, tmp_path):
    async with acp_host.connect(ScriptedAgent.command(DIES), record=path) as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(acp_host.AcpError):
            await session.prompt("Hello")
    end = recorded(path)[-1]
    assert (end.event, end.details["exit_status"]) == ("end", 3)
    assert "exited with status 3" in (end.note or "")
    assert end.details["stderr"].strip() == "the token: [redacted]"


async def test_an_agent_that_is_started_anew_goes_on_in_the_same_recording(path):
    async with acp_host.connect(ReferenceAgent.command(), record=path) as host:
        await host.restart({"SOME_TOKEN": "correct-horse"})
    lines = recorded(path)
    events = [line.event for line in lines if line.direction == "meta"]
    assert events == ["start", "connection", "end", "connection", "end"]
    assert [line.begins_connection for line in lines].count(True) == 2
    assert methods(lines, "out") == ["initialize", "initialize"]
    assert [line.time for line in lines] == sorted(line.time for line in lines)


async def test_a_recording_that_cannot_be_written_is_said_before_anything_starts(tmp_path):
    mark = tmp_path / "started"
    with pytest.raises(InvalidInput, match="cannot be written"):
        await acp_host.connect(["touch", os.fspath(mark)], record=tmp_path / "no" / "talk.jsonl")
    assert not mark.exists()
    with pytest.raises(InvalidInput, match="record="):
        acp_host.connect(["agent"], record=5)


async def test_a_start_that_fails_lets_go_of_the_recording(path):
    for _ in range(2):
        with pytest.raises(StartFailed):
            await acp_host.connect(["/no/such/program"], record=path)
    assert [line.event for line in recorded(path)] == ["start", "connection", "end"] * 2


async def test_a_start_that_is_cancelled_lets_go_of_the_recording(path):
    for delay in (0, 0.001, 0.01, 0.1):
        task = asyncio.ensure_future(_connected(path))
        await asyncio.sleep(delay)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with acp_host.connect(ReferenceAgent().transport(), record=path):
        pass


async def _connected(path: Path) -> None:
    async with acp_host.connect(ReferenceAgent.command(), record=path):
        await asyncio.Event().wait()


async def test_it_is_for_the_rest_the_other_transport(path):
    inner = StdioTransport(["true"], cwd=path.parent)
    tap = RecordingTransport(inner, Recorder(Recording(path)))
    assert (tap.description, tap.launch, tap.exit_status) == (inner.description, inner.launch, None)
    await tap.close()
    assert not path.exists()
    assert isinstance(tap.again({}), RecordingTransport)
    left, _ = memory_pair()
    assert RecordingTransport(left, Recorder(Recording(path))).again({}) is None


async def test_a_second_start_is_refused(path):
    class Receiver:
        def data_received(self, data: bytes) -> None: ...

        def connection_lost(self, error: Any) -> None: ...

    left, right = memory_pair()
    tap = RecordingTransport(left, Recorder(Recording(path)))
    await tap.start(Receiver())
    with pytest.raises(InvalidState):
        await tap.start(Receiver())
    await right.start(Receiver())
    tap.write(b'{"a":1}\n')
    await tap.close()
    await tap.close()
    with pytest.raises(acp_host.ConnectionClosed):
        tap.write(b'{"b":1}\n')
    assert [json.dumps(line.message) for line in recorded(path) if line.direction == "out"] == ['{"a": 1}']
