"""An agent that streams at a set rate and answers reminders at once.

``python paced_agent.py RATE``: updates in a second; 0 for none. A turn lasts until it is cancelled. Standard library
only. One thread streams and another answers; an answer waits for nothing but the lines that are being written.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

from stream import SESSION_ID, Turns, line

PAUSE = 0.001


class Agent:
    """Answers on the thread that reads; a thread of its own streams while a turn runs."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.lines = b"".join(turn for turn, _ in zip(Turns(50, 1000), range(50), strict=False)).splitlines(True)
        self.writing = threading.Lock()
        self.cancelled = threading.Event()
        self.prompt: Any = None
        self.reminders = 0

    def send(self, data: bytes) -> None:
        with self.writing:
            while data:
                data = data[os.write(sys.stdout.fileno(), data) :]

    def serve(self) -> None:
        for received in sys.stdin.buffer:
            request = json.loads(received)
            method = request.get("method")
            if method == "session/prompt":
                self.prompt = request["id"]
                threading.Thread(target=self.stream, daemon=True).start()
            elif method == "session/cancel":
                self.cancelled.set()
            elif "id" in request:
                self.send(line({"id": request["id"], **self.answer(method)}))

    def answer(self, method: str) -> dict[str, Any]:
        match method:
            case "initialize":
                capabilities = {"reminders": {"inject": True, "emit": False}}
                return {"result": {"protocolVersion": 1, "agentCapabilities": capabilities}}
            case "session/new":
                return {"result": {"sessionId": SESSION_ID}}
            case "session/inject_reminder":
                self.reminders += 1
                return {"result": {"reminderId": f"agent-{self.reminders}"}}
            case _:
                return {"error": {"code": -32601, "message": f"there is no {method}"}}

    def stream(self) -> None:
        """Send what is due by the clock, every millisecond, until the turn is cancelled."""
        started, sent = time.perf_counter(), 0
        while not self.cancelled.wait(PAUSE):
            due = int((time.perf_counter() - started) * self.rate)
            self.send(b"".join(self.lines[number % len(self.lines)] for number in range(sent, due)))
            sent = due
        self.send(line({"id": self.prompt, "result": {"stopReason": "cancelled"}}))


if __name__ == "__main__":
    Agent(int(sys.argv[1])).serve()
