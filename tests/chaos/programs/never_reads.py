"""Shakes hands, takes a prompt, and then asks for things on and on without reading a single answer."""

import json
import sys

ANSWERS = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": {"sessionId": "session-1"},
}

for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "session/prompt":
        break
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": ANSWERS[message["method"]]}), flush=True)

question = {"jsonrpc": "2.0", "method": "nobody/serves", "params": {}}
for number in range(10**9):
    print(json.dumps({**question, "id": number}), flush=True)
