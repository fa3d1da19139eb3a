"""An agent that answers each prompt with the next turn of the fixed stream, as fast as the pipe takes it.

``python stream_agent.py TURNS LENGTH [NOTICES]``: how many turns there will be, how many updates each has, and how many
notices come in one burst before the last turn. Standard library only: every contender of the benchmark is fed by it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from stream import SESSION_ID, Turns, line, update_line

SLICE = 1 << 20
"""Bytes for one ``os.write``; the pipe takes what fits and the rest waits for the reader."""


def burst(count: int) -> bytes:
    """Return notices; each comes twice, and one in ten is about something that was said before."""
    severities = ("info", "warning", "error", "_tip")
    return b"".join(
        update_line(
            {
                "sessionUpdate": "notice",
                "severity": severities[number // 2 % 4],
                "title": f"Limit {number // 2 if number % 10 else 0} is near",
                "description": "Requests will be slower until the hour is over.",
            }
        )
        for number in range(count)
    )


def send(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sys.stdout.fileno(), view[:SLICE]) :]


def main(turns: int, length: int, notices: int = 0) -> None:
    stream, noise, prompts = iter(Turns(turns, length)), burst(notices), 0
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
            prompts += 1
            if prompts == turns:
                send(noise)
            send(next(stream))
        if method in results:
            send(line({"id": request["id"], "result": results[method]}))
        else:
            send(line({"id": request["id"], "error": {"code": -32601, "message": f"there is no {method}"}}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
