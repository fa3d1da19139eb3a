"""What an update costs in a session of many turns, and how long the garbage collector stops everything meanwhile.

``python growth.py TURNS LENGTH (gc|no-gc)``. The session is iterated over and has one observer. Everything is
processor time of the host, which does not depend on what else the machine does. Another, short session goes before, so
that imports and first calls do not count. With ``no-gc`` the collector is off (``gc.freeze()``, ``gc.disable()``).
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

from session import read

import acp_host

AGENT = Path(__file__).with_name("stream_agent.py")


class Pauses:
    """Times every run of the garbage collector, in seconds of processor time."""

    def __init__(self) -> None:
        self.all: list[float] = []
        self._began = 0.0

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._began = time.process_time()
        else:
            self.all.append(time.process_time() - self._began)


async def hold(turns: int, length: int, pauses: Pauses) -> dict[str, Any]:
    async with acp_host.connect([sys.executable, str(AGENT), str(turns), str(length)]) as host:
        session = await host.new_session(cwd="/")
        session.state.changed.connect(lambda changes: None)
        pauses.all.clear()
        started = time.process_time()
        updates = await read(host, session, turns)
        cpu = time.process_time() - started
        pauses.all.append(0.0)
        return {
            "updates": updates,
            "cpu": cpu,
            "longest_pause": max(pauses.all),
            "all_pauses": sum(pauses.all),
            "entries": session.state.entries_so_far,
        }


async def main(turns: int, length: int, *, collect: bool) -> None:
    pauses = Pauses()
    await hold(2, length, pauses)
    gc.collect()
    if collect:
        gc.callbacks.append(pauses)
    else:
        gc.freeze()
        gc.disable()
    print(json.dumps(await hold(turns, length, pauses)))


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:3]), collect="gc" in sys.argv))
