"""What ``snapshot()`` costs after one change in a long session: median and worst, in milliseconds of processor time.

``python snapshots.py ENTRIES TIMES``. The session is folded without an agent, in turns of 100 entries that are over and
packed but for the last; then one thing is changed at a time, and the snapshot after it is timed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from statistics import median

from idle import let_idle

from acp_host.state import events
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.entries import Speaker
from acp_host.state.session_state import SessionState
from acp_host.wire.content import TextContent
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate

TURN = 100
GO = (TextContent("go"),)


def chunk(speaker: Speaker, number: int) -> events.MessageChunk:
    return events.MessageChunk(speaker, TextContent(f"the parser keeps the quotes {number:>3}"))


def call(number: int) -> events.ToolCallReported:
    return events.ToolCallReported(ToolCall(f"call-{number}", title="Read a file"), announced=True)


def call_update(number: int, status: str) -> events.ToolCallReported:
    return events.ToolCallReported(ToolCallUpdate(f"call-{number}", status=status), announced=False)


def fold(state: SessionState, clock: ManualClock, scheduler: ManualScheduler, entries: int) -> None:
    """Fill a session; the last turn is still running."""
    for turn in range(entries // TURN):
        state.apply(events.TurnStarted(turn, GO, GO))
        for number in range(TURN // 3):
            state.apply(chunk(Speaker.THOUGHT, number))
            state.apply(chunk(Speaker.ASSISTANT, number))
            state.apply(call(turn * TURN + number))
            state.apply(call_update(turn * TURN + number, "completed"))
        if turn < entries // TURN - 1:
            state.apply(events.TurnEnded(turn, "completed", "end_turn"))
        let_idle(clock, scheduler)


def main(entries: int, times: int) -> None:
    clock = ManualClock()
    scheduler = ManualScheduler(clock)
    state = SessionState("bench", scheduler)
    fold(state, clock, scheduler, entries)
    last = entries // TURN * TURN - TURN
    changes: dict[str, Callable[[int], events.SessionEvent]] = {
        "a chunk of the last message": lambda number: chunk(Speaker.ASSISTANT, number),
        "an update of a tool call of this turn": lambda number: call_update(last, f"status {number}"),
        "a new tool call": lambda number: call(entries + number),
        "usage": lambda number: events.UsageReported(number, 200_000),
        "a tool call of the first turn": lambda number: call_update(0, f"status {number}"),
    }
    report: dict[str, tuple[float, float]] = {}
    for name, change in changes.items():
        spent = []
        for number in range(times):
            state.apply(change(number))
            started = time.process_time()
            state.snapshot()
            spent.append(time.process_time() - started)
            scheduler.flush()
        report[name] = median(spent) * 1e3, max(spent) * 1e3
    print(json.dumps(report))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
