"""An agent that answers one prompt with a long, fixed stream of updates, as fast as the pipe takes them.

``python stream_agent.py COUNT``. Standard library only, and nothing of acp_host: every contender of the benchmark is
fed by it. The stream is built before the handshake is answered and is the same in every run, so what is timed between
a prompt and its response is the reader alone.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable
from itertools import cycle
from typing import Any

SESSION_ID = "bench-session"
SLICE = 1 << 20
"""Bytes for one ``os.write``; the pipe takes what fits and the rest waits for the reader."""

VOCABULARY = """
the parser reads a line and finds that tests fail because “quoted” strings keep their escapes — so `split()` counts
wrong; fix it, then run the suite again (naïve, but clear)
"""
WORDS = [word + blank for word, blank in zip(VOCABULARY.split(), cycle("     \n"), strict=False)]


def text(rng: random.Random) -> dict[str, Any]:
    """A text block of 30 characters or a little more."""
    words = ""
    while len(words) < 28:
        words += rng.choice(WORDS)
    return {"type": "text", "text": words}


def agent_message_chunk(rng: random.Random) -> dict[str, Any]:
    return {"content": text(rng)}


def agent_thought_chunk(rng: random.Random) -> dict[str, Any]:
    return {"content": text(rng)}


def tool_call(rng: random.Random) -> dict[str, Any]:
    number = rng.randrange(200)
    return {
        "toolCallId": f"call_{number}",
        "title": f"Read src/module_{number}.py",
        "kind": rng.choice(["read", "edit", "search", "execute"]),
        "status": "pending",
        "rawInput": {"path": f"/work/src/module_{number}.py", "limit": 200},
    }


def tool_call_update(rng: random.Random) -> dict[str, Any]:
    number = rng.randrange(200)
    path = f"/work/src/module_{number}.py"
    return {
        "toolCallId": f"call_{number}",
        "status": rng.choice(["in_progress", "completed"]),
        "content": [{"type": "content", "content": text(rng)}],
        "locations": [{"path": path, "line": rng.randrange(1, 400)}],
    }


def plan(rng: random.Random) -> dict[str, Any]:
    statuses = ["completed", "in_progress", "pending", "pending"]
    return {"entries": [{"content": text(rng)["text"], "priority": "medium", "status": status} for status in statuses]}


def usage_update(rng: random.Random) -> dict[str, Any]:
    return {"used": rng.randrange(1_000, 150_000), "size": 200_000, "cost": {"amount": 0.25, "currency": "USD"}}


def available_commands_update(rng: random.Random) -> dict[str, Any]:
    hint = {"hint": "what to look at"}
    return {"availableCommands": [{"name": name, "description": text(rng)["text"], "input": hint} for name in "abc"]}


def session_info_update(rng: random.Random) -> dict[str, Any]:
    return {"title": text(rng)["text"], "updatedAt": "2026-01-01T12:00:00Z"}


MIX: dict[Callable[[random.Random], dict[str, Any]], float] = {
    agent_message_chunk: 60,
    agent_thought_chunk: 15,
    tool_call_update: 10,
    tool_call: 5,
    plan: 4,
    usage_update: 4,
    available_commands_update: 1,
    session_info_update: 1,
}


def line(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def build(count: int) -> bytes:
    """Return ``count`` ``session/update`` notifications as one piece of newline-delimited JSON."""
    rng = random.Random(20_000)
    kinds = rng.choices(list(MIX), weights=list(MIX.values()), k=count)
    return b"".join(
        line(
            {
                "method": "session/update",
                "params": {"sessionId": SESSION_ID, "update": {"sessionUpdate": kind.__name__, **kind(rng)}},
            }
        )
        for kind in kinds
    )


def send(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sys.stdout.fileno(), view[:SLICE]) :]


def main(count: int) -> None:
    stream = build(count)
    results: dict[str, dict[str, Any]] = {
        "initialize": {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "bench", "version": "1"}},
        "session/new": {"sessionId": SESSION_ID},
        "session/prompt": {"stopReason": "end_turn"},
    }
    for received in sys.stdin.buffer:
        request = json.loads(received)
        if "id" not in request:
            continue
        method = request["method"]
        if method == "session/prompt":
            send(stream)
        if method in results:
            send(line({"id": request["id"], "result": results[method]}))
        else:
            send(line({"id": request["id"], "error": {"code": -32601, "message": f"there is no {method}"}}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
