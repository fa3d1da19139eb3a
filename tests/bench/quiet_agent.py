"""An agent that answers at once and says nothing by itself; a turn streams chunks at a set rate until it is cancelled.

``python quiet_agent.py [RATE]``: updates in a second. Standard library only, and little of that, since hundreds are
started at once.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

PAUSE = 0.001
MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}


class Agent:
    """Answers on the thread that reads; a thread of its own streams while a turn runs."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.writing = threading.Lock()
        self.cancelled = threading.Event()
        self.sessions = 0

    def send(self, *messages: dict[str, Any]) -> None:
        data = b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)
        with self.writing:
            while data:
                data = data[os.write(sys.stdout.fileno(), data) :]

    def serve(self) -> None:
        for received in sys.stdin.buffer:
            request = json.loads(received)
            method = request.get("method")
            if method == "session/prompt":
                threading.Thread(target=self.stream, args=(request,), daemon=True).start()
            elif method == "session/cancel":
                self.cancelled.set()
            elif "id" in request:
                self.send({"id": request["id"], **self.answer(method)})

    def answer(self, method: str) -> dict[str, Any]:
        match method:
            case "initialize":
                return {"result": {"protocolVersion": 1, "agentCapabilities": {}}}
            case "session/new":
                self.sessions += 1
                return {"result": {"sessionId": f"session-{self.sessions}", "modes": MODES}}
            case "session/set_mode":
                return {"result": {}}
            case _:
                return {"error": {"code": -32601, "message": f"there is no {method}"}}

    def stream(self, prompt: dict[str, Any]) -> None:
        """Send what is due by the clock, every millisecond, until the turn is cancelled."""
        content = {"type": "text", "text": "the parser reads one line more"}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        message = {"method": "session/update", "params": {"sessionId": prompt["params"]["sessionId"], "update": update}}
        started, sent = time.perf_counter(), 0
        while not self.cancelled.wait(PAUSE):
            due = int((time.perf_counter() - started) * self.rate)
            self.send(*[message] * (due - sent))
            sent = due
        self.send({"id": prompt["id"], "result": {"stopReason": "cancelled"}})


if __name__ == "__main__":
    Agent(int(sys.argv[1]) if len(sys.argv) > 1 else 0).serve()
