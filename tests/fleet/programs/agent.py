"""An agent that does what the lines of its prompt say, and needs nothing but the standard library, to start quickly.

====================  ================================================================================================
``say TEXT``          says it
``write PATH TEXT``   writes a line into a file of the session's directory, by itself
``delete PATH``       removes one
``git WORDS``         runs git there
``cost AMOUNT``       reports what the session has cost so far, in USD or the unit that follows, and as many tokens
``gate PATH``         makes the file PATH.at-the-gate, and goes on when PATH is there; hears nothing meanwhile
``child PATH``        starts a child that hears nothing, and writes its process id into a file
``wait``              goes on when the turn is cancelled, and ends it so
``die``               ends without a word
====================  ================================================================================================

With ``--gate PATH``, it goes through such a gate before it answers the first message.
"""

import json
import os
import subprocess
import sys
import time

READ = 65536


def send(**message):
    data = memoryview(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    while data:
        data = data[os.write(1, data) :]


def update(**update):
    send(method="session/update", params={"sessionId": "session-1", "update": update})


def messages():
    rest = b""
    while data := os.read(0, READ):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield json.loads(line)


def gate(path):
    with open(f"{path}.at-the-gate", "w") as file:
        file.write(str(os.getpid()))
    while not os.path.exists(path):
        time.sleep(0.02)


def child(path):
    sleeper = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)"]
    with open(path, "w") as file:
        file.write(str(subprocess.Popen(sleeper, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).pid))


def work(line, cwd, inbox):
    word, _, rest = line.partition(" ")
    first, _, text = rest.partition(" ")
    if word == "say":
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": rest})
    elif word == "write":
        os.makedirs(os.path.dirname(os.path.join(cwd, first)), exist_ok=True)
        with open(os.path.join(cwd, first), "a", newline="") as file:
            file.write(f"{text}\n")
    elif word == "delete":
        os.unlink(os.path.join(cwd, first))
    elif word == "git":
        subprocess.run(["git", *rest.split()], cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    elif word == "cost":
        cost = {"amount": float(first), "currency": text or "USD"}
        update(sessionUpdate="usage_update", used=int(float(first) * 100), size=10_000, cost=cost)
    elif word == "gate":
        gate(first)
    elif word == "child":
        child(first)
    elif word == "wait":
        while next(inbox)["method"] != "session/cancel":
            pass
        return "cancelled"
    elif word == "die":
        os._exit(3)
    return None


def main(arguments):
    if arguments[:1] == ["--gate"]:
        gate(arguments[1])
    inbox, cwd = messages(), "."
    for message in inbox:
        method, result = message.get("method"), {}
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}}
        elif method == "session/new":
            cwd, result = message["params"]["cwd"], {"sessionId": "session-1"}
        elif method == "session/prompt":
            stop = None
            for line in message["params"]["prompt"][-1]["text"].splitlines():
                stop = stop or work(line, cwd, inbox)
            result = {"stopReason": stop or "end_turn"}
        if "id" in message:
            send(id=message["id"], result=result)


if __name__ == "__main__":
    main(sys.argv[1:])
