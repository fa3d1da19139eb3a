"""Chunks of version 2 are read in runs like those of version 1, each run with the id of its message."""

from __future__ import annotations

import json

from acp_host.protocol.host_protocol import HostProtocol
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.v2.updates import AgentMessageChunk


def line(message_id: str, words: str) -> bytes:
    update = {
        "sessionUpdate": "agent_message_chunk",
        "messageId": message_id,
        "content": {"type": "text", "text": words},
    }
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
    return json.dumps(message).encode() + b"\n"


def test_a_run_has_the_class_and_the_id_of_its_chunks() -> None:
    protocol = HostProtocol(protocol_versions=(2,))
    protocol.initialize()
    answer = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {"session": {}}}
    protocol.receive_data(json.dumps({"jsonrpc": "2.0", "id": 0, "result": answer}).encode() + b"\n")
    assert len(list(protocol.events())) == 1
    words = [("m", "a"), ("m", "b"), ("m", "c"), ("m", "d"), ("n", "e"), ("n", "f")]
    protocol.receive_data(b"".join(line(*pair) for pair in words))
    *first, one, other = protocol.events_in_runs()
    assert len(first) == 2
    assert one == ChunkRun("s", AgentMessageChunk, "m", ["c", "d"])
    assert other == ChunkRun("s", AgentMessageChunk, "n", ["e", "f"])
    assert all(isinstance(chunk, AgentMessageChunk) for chunk in one.updates())
