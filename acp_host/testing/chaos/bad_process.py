"""Agents that behave badly as processes: ``python bad_process.py BEHAVIOUR [ARGUMENT…]``; the standard library alone.

A behaviour is a function here. Most hold a proper conversation with :func:`serve` and do something bad at one point.
They use POSIX signals and processes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

assert sys.platform != "win32"

READ = 65536
JOURNAL = "ACP_HOST_CHAOS_JOURNAL"
"""As in ``journal.py``, whose form the journal has."""
BEGAN = time.monotonic()


def note(what: str, **members: Any) -> None:
    """Write an event into the journal, where there is one."""
    if JOURNAL in os.environ:
        with open(os.environ[JOURNAL], "a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, "t": round(time.monotonic() - BEGAN, 3), **members}) + "\n")


def again(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start this program with another behaviour."""
    return subprocess.Popen([sys.executable, "-S", "-E", __file__, *arguments], **options)


def write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def send(**message: Any) -> None:
    write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def say(text: str) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": "session-1", "update": update})


def end(prompt: Any) -> None:
    send(id=prompt["id"], result={"stopReason": "end_turn"})
    note("ended", session="session-1")
    note("over")


def messages() -> Iterator[Any]:
    rest = b""
    while data := os.read(0, READ):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield take(line)
    note("gone")


def take(line: bytes) -> Any:
    message = json.loads(line)
    what = "response" if "method" not in message else "request" if "id" in message else "notification"
    number = json.dumps(message["id"]) if "id" in message else None
    session = (message.get("params") or {}).get("sessionId")
    note(what, id=number, method=message.get("method"), session=session)
    return message


def words(prompt: Any) -> str:
    text: str = prompt["params"]["prompt"][0]["text"]
    return text


def echo(prompt: Any) -> None:
    say(words(prompt))


def serve(on_prompt: Callable[[Any], None] = echo) -> None:
    """Hold a conversation: answer whatever comes, and each prompt after ``on_prompt`` has seen it."""
    for message in messages():
        method, result = message.get("method"), {}
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}}
        elif method == "session/new":
            result = {"sessionId": "session-1"}
        elif method == "session/prompt":
            on_prompt(message)
            end(message)
            continue
        if "id" in message and method is not None:
            send(id=message["id"], result=result)


def for_ever() -> None:
    while True:
        signal.pause()


def launcher(*behaviour: str) -> None:
    """The agent is a child that has our pipes; we end when it does."""
    again(*behaviour).wait()


def quick_launcher(*behaviour: str) -> None:
    """The agent is a child that has our pipes; we end at once."""
    again(*behaviour)


def ignores_the_end() -> None:
    """Answers, but neither the end of its input nor SIGTERM makes it go."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve()
    for_ever()


def with_children(how: str, count: str) -> None:
    """Starts children for its tools and forgets them."""

    def on_prompt(prompt: Any) -> None:
        for _ in range(int(count)):
            started = again("child", how, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            assert started.stdout is not None
            started.stdout.readline()
        echo(prompt)

    serve(on_prompt)


def child(how: str) -> None:
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


def stderr_flood(size: str) -> None:
    """Megabytes on stderr before every answer."""

    def flood(prompt: Any) -> None:
        for number in range(int(size) // 100):
            write(2, b"%099d\n" % number)
        echo(prompt)

    serve(flood)


def silent(*words: str) -> None:
    """Reads all and answers nothing."""
    write(2, " ".join(words).encode() + b"\n")
    while os.read(0, READ):
        pass


def deaf() -> None:
    """Answers the handshake, opens a session and reads nothing after it."""
    for message in messages():
        if message["method"] == "initialize":
            send(id=message["id"], result={"protocolVersion": 1})
        else:
            send(id=message["id"], result={"sessionId": "session-1"})
            note("over")
            for_ever()


def slow(seconds: str, *words: str) -> None:
    """Does much before it speaks, and tells about it on stderr."""
    for word in words:
        write(2, word.encode() + b"\n")
        time.sleep(float(seconds) / len(words))
    serve()


def fails(status: str, *words: str) -> None:
    """Is no agent today."""
    write(2, " ".join(words).encode() + b"\n")
    note("closed")
    sys.exit(int(status))


def usage(status: str) -> None:
    """Another kind of program: explains itself on stdout."""
    write(1, b"usage: tool [-h] FILE\n\ntool: error: unknown argument --acp\n")
    note("closed")
    sys.exit(int(status))


def server() -> None:
    """Another kind of program: listens somewhere else, for ever."""
    write(1, b"Serving HTTP on 127.0.0.1 port 8000 ...\n")
    note("over")
    while os.read(0, READ):
        pass
    for_ever()


def falls(number: str) -> None:
    """Dies of a signal in the middle of a turn."""

    def on_prompt(prompt: Any) -> None:
        say("half an ans")
        write(2, b"thread 'main' panicked\n")
        note("closed")
        os.kill(os.getpid(), int(number))

    serve(on_prompt)


def answers_and_falls() -> None:
    """Dies directly after the end of a turn."""

    def on_prompt(prompt: Any) -> None:
        say("the answer")
        note("closed")
        send(id=prompt["id"], result={"stopReason": "end_turn"})
        os.kill(os.getpid(), signal.SIGKILL)

    serve(on_prompt)


def short_of_breath(limit: str) -> None:
    """Reads lines up to a limit, and dies of a longer one."""
    rest = b""
    while data := os.read(0, 4096):
        rest += data
        if len(rest) > int(limit):
            write(2, b"LimitOverrunError: Separator is not found, and chunk exceed the limit\n")
            note("closed")
            sys.exit(1)
        *lines, rest = rest.split(b"\n")
        for line in lines:
            message = take(line)
            new = message["method"] == "session/new"
            send(id=message["id"], result={"sessionId": "session-1"} if new else {"protocolVersion": 1})


def closes_stdin(when: str, ending: str) -> None:
    """Closes its stdin, at the start or in a turn, and lives on."""

    def close(prompt: Any) -> None:
        os.close(0)
        if ending == "answers":
            for number, pause in enumerate((0.1, 0.1, 0.8)):
                time.sleep(pause)
                say(f"{number} ")
            end(prompt)
        for_ever()

    if when == "start":
        close(None)
    serve(close)


def echo_stdin() -> None:
    """Says what else than messages of the host came in on its stdin, and whether that is a terminal."""
    lines = []
    for line in sys.stdin.buffer:
        message = json.loads(line)
        lines.append(message)
        if message.get("method") == "session/prompt":
            login = "LOGIN_SHELL_WAS_HERE" in os.environ
            say(json.dumps({"lines": len(lines), "tty": os.isatty(0), "login": login}))
        result = {"protocolVersion": 1, "sessionId": "session-1", "stopReason": "end_turn"}
        if "method" in message and "id" in message:
            send(id=message["id"], result=result)


def long_line(size: str) -> None:
    serve(lambda prompt: say("x" * int(size)))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
