"""The stream that all contenders of the benchmark read: what an agent says, in the order in which agents say it.

It is the same in every run, and uses nothing of acp_host. An agent's turn is a sequence of steps, one for each answer
of its model, and a step is made of runs, not of updates drawn one by one:

* in two of three steps, a thought in 10 to 20 chunks;
* a message in 20 to 60 chunks of about 30 characters, each with the message's id, as most agents give one;
* 3 or 4 tool calls; each is announced as pending, followed by 1 to 4 updates (places, then what came out of it), and
  mostly by the usage so far and by the plan with one more entry done;
* now and then the commands or the session's title.

Over a turn this makes 60 % message chunks, 15 % thought chunks, 10 % updates of tool calls, 5 % tool calls, 4 % plans,
4 % usage and 2 % others, of 290 bytes on average. Each turn begins anew and is cut where its count is reached.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import count, cycle, islice
from typing import Any

SESSION_ID = "5f0c2d6e-7f0b-4c52-9d0e-3a61c0a7be11"

Update = dict[str, Any]

VOCABULARY = """
the parser reads a line and finds that tests fail because “quoted” strings keep their escapes — so `split()` counts
wrong; fix it, then run the suite again (naïve, but clear)
"""
WORDS = [word + blank for word, blank in zip(VOCABULARY.split(), cycle("     \n"), strict=False)]
PLAN = ("completed", "in_progress", "pending", "pending", "pending")

ROUND = b"@@@@"
"""Stands in every id for the number of times that the turns that were built have been sent."""
BUILT_TURNS = 50


class Writer:
    """Invents updates; the same ones in every run."""

    def __init__(self, seed: int = 20_000) -> None:
        self.rng = random.Random(seed)
        self.numbers = count()
        self.pieces = [self.piece() for _ in range(997)]

    def piece(self) -> str:
        """Return 28 characters or a few more."""
        words = ""
        while len(words) < 28:
            words += self.rng.choice(WORDS)
        return words

    def text(self) -> str:
        return self.rng.choice(self.pieces)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{ROUND.decode()}{next(self.numbers):012x}"

    def turn(self, length: int) -> list[Update]:
        return list(islice(self.steps(), length))

    def steps(self) -> Iterator[Update]:
        while True:
            if self.rng.random() < 2 / 3:
                yield from self.chunks("agent_thought_chunk", self.rng.randint(10, 20))
            yield from self.chunks("agent_message_chunk", self.rng.randint(20, 60))
            for _ in range(self.rng.choice((3, 3, 4))):
                yield from self.tool_call()
                if self.rng.random() < 0.8:
                    yield self.usage()
                if self.rng.random() < 0.8:
                    yield self.plan()
            for _ in range(self.rng.choice((1, 1, 2))):
                yield self.rng.choice((self.commands, self.session_info))()

    def chunks(self, kind: str, number: int) -> Iterator[Update]:
        message_id = self.new_id("msg")
        for _ in range(number):
            yield {"sessionUpdate": kind, "messageId": message_id, "content": {"type": "text", "text": self.text()}}

    def tool_call(self) -> Iterator[Update]:
        call_id, number = self.new_id("call"), self.rng.randrange(200)
        path = f"/work/src/module_{number}.py"
        yield {
            "sessionUpdate": "tool_call",
            "toolCallId": call_id,
            "title": f"Read src/module_{number}.py",
            "kind": self.rng.choice(("read", "edit", "search", "execute")),
            "status": "pending",
            "rawInput": {"path": path, "limit": 200},
        }
        update = {
            "sessionUpdate": "tool_call_update",
            "toolCallId": call_id,
            "status": "in_progress",
            "locations": [{"path": path, "line": self.rng.randrange(1, 400)}],
        }
        output: list[Update] = []
        for _ in range(self.rng.choices((0, 1, 2, 3), weights=(45, 25, 15, 15))[0]):
            yield update | ({"content": list(output)} if output else {})
            output.append({"type": "content", "content": {"type": "text", "text": self.text()}})
        output.append({"type": "content", "content": {"type": "text", "text": self.text()}})
        yield update | {"status": "completed" if self.rng.random() < 0.9 else "failed", "content": output}

    def usage(self) -> Update:
        used, cost = self.rng.randrange(1_000, 150_000), {"amount": 0.25, "currency": "USD"}
        return {"sessionUpdate": "usage_update", "used": used, "size": 200_000, "cost": cost}

    def plan(self) -> Update:
        entries = [{"content": self.text(), "priority": "medium", "status": status} for status in PLAN]
        return {"sessionUpdate": "plan", "entries": entries}

    def commands(self) -> Update:
        commands = [
            {"name": name, "description": self.text(), "input": {"hint": "what to look at"}}
            for name in ("init", "review", "compact")
        ]
        return {"sessionUpdate": "available_commands_update", "availableCommands": commands}

    def session_info(self) -> Update:
        return {"sessionUpdate": "session_info_update", "title": self.text(), "updatedAt": "2026-01-01T12:00:00Z"}


def line(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def update_line(update: Update) -> bytes:
    return line({"method": "session/update", "params": {"sessionId": SESSION_ID, "update": update}})


class Turns:
    """The turns of the stream as newline-delimited JSON, one after the other.

    The first 50 are built at once, so that nothing but the reader is timed later; after them they come again, with
    other ids.

    Args:
        turns: how many will be wanted.
        length: updates in each.
    """

    def __init__(self, turns: int, length: int) -> None:
        writer = Writer()
        self._built = [b"".join(map(update_line, writer.turn(length))) for _ in range(min(turns, BUILT_TURNS))]

    def __iter__(self) -> Iterator[bytes]:
        for number in count():
            for turn in self._built:
                yield turn.replace(ROUND, b"%04d" % number)
