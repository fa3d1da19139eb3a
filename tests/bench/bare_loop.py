"""The least that any reader must do: split lines and call ``orjson.loads``. Prints the time from prompt to response."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson

AGENT = Path(__file__).with_name("stream_agent.py")


def main(count: int) -> None:
    command = [sys.executable, str(AGENT), str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        requests, answers = agent.stdin, agent.stdout
        assert requests is not None
        assert answers is not None

        def call(method: str, params: dict[str, Any]) -> int:
            """Send a request and read until it is answered; return how many other messages came before."""
            request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            requests.write(orjson.dumps(request) + b"\n")
            requests.flush()
            messages, rest = 0, b""
            while True:
                *lines, rest = (rest + os.read(answers.fileno(), 1 << 16)).split(b"\n")
                for line in lines:
                    if "id" in orjson.loads(line):
                        return messages
                    messages += 1

        call("initialize", {"protocolVersion": 1})
        call("session/new", {"cwd": "/", "mcpServers": []})
        started = time.perf_counter()
        updates = call("session/prompt", {"sessionId": "bench-session", "prompt": [{"type": "text", "text": "go"}]})
        seconds = time.perf_counter() - started
        requests.close()
    print(json.dumps({"updates": updates, "seconds": seconds}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
