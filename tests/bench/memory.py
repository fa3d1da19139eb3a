"""What a session keeps in memory, as ``tracemalloc`` counts it.

``python memory.py MESSAGES TURNS LENGTH``. Sessions are folded without an agent, from bytes, so that nothing else holds
on to what they keep:

* so many messages of 40 chunks of 30 characters (ASCII, so one byte each), in turns of ten;
* so many turns of the stream that is also used for the speed, with all its tool calls;
* one message of 40,000 chunks, while it is being written;
* one turn of the stream, while it runs.

Text is what the entries show: the parts of messages, and the text that tool calls have put out.
"""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from idle import let_idle
from stream import Turns, update_line

from acp_host import HostProtocol
from acp_host.state import events
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.entries import MessageEntry, ToolCallEntry
from acp_host.state.session_state import SessionState
from acp_host.translate.v1 import translate
from acp_host.wire.content import TextContent
from acp_host.wire.updates import SessionNotification

GO = (TextContent("go"),)
PIECE = "the parser reads one line more"


def message(number: int, chunks: int) -> bytes:
    chunk = {"sessionUpdate": "agent_message_chunk", "messageId": f"msg_{number:016x}"}
    return b"".join(update_line({**chunk, "content": {"type": "text", "text": PIECE}}) for _ in range(chunks))


def messages(count: int) -> Iterator[bytes]:
    for first in range(0, count, 10):
        yield b"".join(message(number, 40) for number in range(first, first + 10))


class Folded:
    """A session that turns are folded into, and how much memory it holds."""

    def __init__(self, *, ends: bool = True) -> None:
        self.ends = ends
        self.held = 0
        self.clock = ManualClock()
        self.scheduler = ManualScheduler(self.clock)
        self.state = SessionState("bench", self.scheduler)
        self.protocol = HostProtocol()

    def fold(self, turns: Iterable[bytes]) -> Folded:
        gc.collect()
        tracemalloc.start()
        for number, turn in enumerate(turns):
            self.fold_turn(number, turn)
            del turn  # or the last one would count
        gc.collect()
        self.held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return self

    def fold_turn(self, number: int, turn: bytes) -> None:
        """Read a turn, and give the state the time that it takes for itself."""
        self.state.apply(events.TurnStarted(number, GO, GO))
        self.protocol.receive_data(turn)
        for notification in self.protocol.events():
            assert isinstance(notification, SessionNotification), notification
            event = translate(notification.update)
            assert event is not None
            self.state.apply(event)
        if self.ends:
            self.state.apply(events.TurnEnded(number, "completed", "end_turn"))
        let_idle(self.clock, self.scheduler)

    def report(self) -> dict[str, Any]:
        transcript = self.state.snapshot().transcript
        return {"held": self.held, "entries": len(transcript), "text": sum(map(text_of, transcript))}


def text_of(entry: Any) -> int:
    """Return how much text an entry shows, in bytes of UTF-8."""
    if isinstance(entry, MessageEntry):
        return len(entry.text.encode())
    if isinstance(entry, ToolCallEntry):
        content: Any = entry.content  # the stream has no other content than text
        return sum(len(item.content.text.encode()) for item in content)
    return 0


def main(count: int, turns: int, length: int) -> None:
    Folded().fold([message(0, 1)])  # what is loaded and made on first use
    report = {
        "messages": Folded().fold(messages(count)).report(),
        "stream": Folded().fold(islice(Turns(turns, length), turns)).report(),
        "growing": Folded(ends=False).fold([message(0, 40_000)]).report(),
        "running": Folded(ends=False).fold(islice(Turns(1, 10 * length), 1)).report(),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
