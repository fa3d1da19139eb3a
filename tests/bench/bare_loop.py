"""The least that any reader must do: split lines and call ``orjson.loads``. Prints the time that all turns took."""

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


def main(turns: int, length: int) -> None:
    command = [sys.executable, str(AGENT), str(turns), str(length)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        requests, answers = agent.stdin, agent.stdout
        assert requests is not None
        assert answers is not None

        def call(method: str, params: dict[str, Any]) -> tuple[int, Any]:
            """Send a request and read until it is answered; return how many messages came before, and the result."""
            request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            requests.write(orjson.dumps(request) + b"\n")
            requests.flush()
            messages, rest = 0, b""
            while True:
                *lines, rest = (rest + os.read(answers.fileno(), 1 << 16)).split(b"\n")
                for line in lines:
                    message = orjson.loads(line)
                    if "id" in message:
                        return messages, message["result"]
                    messages += 1

        call("initialize", {"protocolVersion": 1})
        _, session = call("session/new", {"cwd": "/", "mcpServers": []})
        prompt = {"sessionId": session["sessionId"], "prompt": [{"type": "text", "text": "go"}]}
        started, processor = time.perf_counter(), time.process_time()
        updates = sum(call("session/prompt", prompt)[0] for _ in range(turns))
        seconds, cpu = time.perf_counter() - started, time.process_time() - processor
        requests.close()
    print(json.dumps({"updates": updates, "seconds": seconds, "cpu": cpu}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
