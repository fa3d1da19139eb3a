"""What ``make bench-guard`` counts the instructions of: the stream of the benchmark, without a process or a clock.

``python guarded_stream.py typed|folded|session``. 2,000 messages are counted; others come before, so that what is
loaded and made on first use is there. The garbage collector is off: when it comes is a matter of what else is in
memory. What is to be counted is called through libffi, whose ``ffi_call`` callgrind knows by name: it counts from there
on and until that returns, and nothing of the start of the interpreter.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable
from itertools import islice

import orjson
from memory import Folded
from stream import SESSION_ID, Turns, line

import acp_host
from acp_host import HostProtocol
from acp_host.transports import Receiver, Transport
from acp_host.wire.updates import SessionNotification

BEFORE, COUNTED, LENGTH = 1, 2, 1_000
"""Turns that come before, turns that are counted, and messages in a turn."""
PIECE = 1 << 16
RESULTS = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": {"sessionId": SESSION_ID},
    "session/prompt": {"stopReason": "end_turn"},
}


class Stream(Transport):
    """An agent that streams a turn for each prompt, in pieces as a pipe delivers them, one in a turn of the loop."""

    description = "the stream"

    def __init__(self, turns: list[bytes]) -> None:
        self.turns = iter(turns)
        self.receiver: Receiver

    async def start(self, receiver: Receiver) -> None:
        self.receiver = receiver

    def write(self, data: bytes) -> None:
        request = orjson.loads(data)
        turn = next(self.turns) if request["method"] == "session/prompt" else b""
        self.deliver(turn + line({"id": request["id"], "result": RESULTS[request["method"]]}))

    def deliver(self, data: bytes) -> None:
        if data:
            asyncio.get_running_loop().call_soon(self.receiver.data_received, data[:PIECE])
            asyncio.get_running_loop().call_soon(self.deliver, data[PIECE:])

    async def drain(self) -> None:
        """Hold nobody back."""

    async def close(self) -> None:
        self.receiver.connection_lost(None)


def counted(function: Callable[[], object]) -> None:
    """Call a function so that callgrind counts what it does."""
    ctypes.PYFUNCTYPE(None)(function)()


def typed(turns: list[bytes]) -> None:
    """Read turns into typed objects."""
    protocol = HostProtocol()

    def read(*turns: bytes) -> None:
        for turn in turns:
            protocol.receive_data(turn)
            assert sum(event.__class__ is SessionNotification for event in protocol.events()) == LENGTH

    read(*turns[:BEFORE])
    counted(lambda: read(*turns[BEFORE:]))


def folded(turns: list[bytes]) -> None:
    """Read turns into the state of a session, and look at it after each."""
    session = Folded()

    def fold(first: int, end: int) -> None:
        for number in range(first, end):
            session.fold_turn(number, turns[number])
            assert session.state.snapshot().transcript

    fold(0, BEFORE)
    counted(lambda: fold(BEFORE, len(turns)))


def session(turns: list[bytes]) -> None:
    """Read turns by a session that has an observer, and await them."""
    loop = asyncio.new_event_loop()

    async def prompt(session: acp_host.Session, times: int) -> None:
        for _ in range(times):
            await session.prompt("go")

    async def opened() -> tuple[acp_host.connect, acp_host.Session]:
        connection = acp_host.connect(Stream(turns))
        session = await (await connection.__aenter__()).new_session(cwd="/")
        session.state.changed.connect(lambda changes: None)
        await prompt(session, BEFORE)
        return connection, session

    connection, session = loop.run_until_complete(opened())
    counted(lambda: loop.run_until_complete(prompt(session, COUNTED)))
    loop.run_until_complete(connection.__aexit__(None, None, None))
    loop.close()


def main(what: str) -> None:
    turns = list(islice(Turns(BEFORE + COUNTED, LENGTH), BEFORE + COUNTED))
    gc.collect()
    gc.disable()
    {"typed": typed, "folded": folded, "session": session}[what](turns)


if __name__ == "__main__":
    main(sys.argv[1])
