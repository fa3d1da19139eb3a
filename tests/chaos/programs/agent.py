"""Agents that behave badly as processes: ``python agent.py BEHAVIOUR [ARGUMENT…]``; nothing but the standard library.

A behaviour is a function here. Most hold a proper conversation with :func:`serve` and do something bad at one point.
"""

import json
import os
import signal
import subprocess
import sys
import time

READ = 65536


def again(*arguments, **options):
    """Start this program with another behaviour."""
    return subprocess.Popen([sys.executable, "-S", "-E", __file__, *arguments], **options)


def write(descriptor, data):
    data = memoryview(data)
    while data:
        data = data[os.write(descriptor, data) :]


def send(**message):
    write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def say(text):
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": "session-1", "update": update})


def messages():
    rest = b""
    while data := os.read(0, READ):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield json.loads(line)


def serve(on_prompt=lambda text: say(text)):
    """Hold a conversation: answer whatever comes, and each prompt after ``on_prompt`` has seen its text."""
    for message in messages():
        method, result = message.get("method"), {}
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}}
        elif method == "session/new":
            result = {"sessionId": "session-1"}
        elif method == "session/prompt":
            on_prompt(message["params"]["prompt"][0]["text"])
            result = {"stopReason": "end_turn"}
        if "id" in message and method is not None:
            send(id=message["id"], result=result)


def for_ever():
    while True:
        signal.pause()


def launcher(*behaviour):
    """The agent is a child that has our pipes; we end when it does."""
    again(*behaviour).wait()


def quick_launcher(*behaviour):
    """The agent is a child that has our pipes; we end at once."""
    again(*behaviour)


def ignores_the_end():
    """Answers, but neither the end of its input nor SIGTERM makes it go."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve()
    for_ever()


def with_children(how, count):
    """Starts children for its tools and forgets them."""

    def on_prompt(text):
        for _ in range(int(count)):
            child = again("child", how, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            child.stdout.readline()
        say(text)

    serve(on_prompt)


def child(how):
    """In the group of the agent, in a session of its own, or a full daemon."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if how == "daemon" and os.fork():
        os._exit(0)
    if how != "group":
        os.setsid()
    if how == "daemon" and os.fork():
        os._exit(0)
    write(1, b"ready\n")
    os.close(1)
    for_ever()


def stderr_flood(size):
    """Megabytes on stderr before every answer."""

    def flood(text):
        for number in range(int(size) // 100):
            write(2, b"%099d\n" % number)
        say(text)

    serve(flood)


def silent(*words):
    """Reads all and answers nothing."""
    write(2, " ".join(words).encode() + b"\n")
    while os.read(0, READ):
        pass


def deaf():
    """Answers the handshake and reads nothing after it."""
    for message in messages():
        if message["method"] == "initialize":
            send(id=message["id"], result={"protocolVersion": 1})
        else:
            send(id=message["id"], result={"sessionId": "session-1"})
            for_ever()


def slow(seconds, *words):
    """Does much before it speaks, and tells about it on stderr."""
    for word in words:
        write(2, word.encode() + b"\n")
        time.sleep(float(seconds) / len(words))
    serve()


def fails(status, *words):
    """Is no agent today."""
    write(2, " ".join(words).encode() + b"\n")
    sys.exit(int(status))


def usage(status):
    """Another kind of program: explains itself on stdout."""
    write(1, b"usage: tool [-h] FILE\n\ntool: error: unknown argument --acp\n")
    sys.exit(int(status))


def server():
    """Another kind of program: listens somewhere else, for ever."""
    write(1, b"Serving HTTP on 127.0.0.1 port 8000 ...\n")
    while os.read(0, READ):
        pass
    for_ever()


def falls(number):
    """Dies of a signal in the middle of a turn."""

    def on_prompt(text):
        say("half an ans")
        write(2, b"thread 'main' panicked\n")
        os.kill(os.getpid(), int(number))

    serve(on_prompt)


def answers_and_falls():
    """Dies directly after the end of a turn."""

    def on_prompt(text):
        say("the answer")
        send(id=2, result={"stopReason": "end_turn"})
        os.kill(os.getpid(), signal.SIGKILL)

    serve(on_prompt)


def short_of_breath(limit):
    """Reads lines up to a limit, and dies of a longer one."""
    rest = b""
    while data := os.read(0, 4096):
        rest += data
        if len(rest) > int(limit):
            write(2, b"LimitOverrunError: Separator is not found, and chunk exceed the limit\n")
            sys.exit(1)
        *lines, rest = rest.split(b"\n")
        for line in lines:
            message = json.loads(line)
            new = message["method"] == "session/new"
            send(id=message["id"], result={"sessionId": "session-1"} if new else {"protocolVersion": 1})


def closes_stdin(when, ending):
    """Closes its stdin, at the start or in a turn, and lives on."""

    def close(text):
        os.close(0)
        if ending == "answers":
            for number, pause in enumerate((0.1, 0.1, 0.8)):
                time.sleep(pause)
                say(f"{number} ")
            send(id=2, result={"stopReason": "end_turn"})
        for_ever()

    if when == "start":
        close("")
    serve(close)


def echo_stdin():
    """Says what else than messages of the host came in on its stdin, and whether that is a terminal."""
    lines = []

    def on_prompt(text):
        say(json.dumps({"lines": len(lines), "tty": os.isatty(0), "login": "LOGIN_SHELL_WAS_HERE" in os.environ}))

    for line in sys.stdin.buffer:
        message = json.loads(line)
        lines.append(message)
        if message.get("method") == "session/prompt":
            on_prompt("")
        result = {"protocolVersion": 1, "sessionId": "session-1", "stopReason": "end_turn"}
        if "method" in message and "id" in message:
            send(id=message["id"], result=result)


def long_line(size):
    serve(lambda text: say("x" * int(size)))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
