"""acp_host as an application uses it: prompts that are iterated over, everything folded into the session's state.

``python session.py TURNS LENGTH [observed]``; with ``observed``, one observer is connected to the state. Prints the
time that all turns took.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import acp_host

AGENT = Path(__file__).with_name("stream_agent.py")


async def read(host: acp_host.HostConnection, session: acp_host.Session, turns: int) -> int:
    """Prompt so many times and iterate over each turn; return how many updates came."""
    updates = 0
    for _ in range(turns):
        async for _update in (turn := session.prompt("go")):
            updates += 1
        await turn
    assert not host.diagnostics, tuple(host.diagnostics)[:3]  # what is not folded is quick
    return updates


async def main(turns: int, length: int, *, observed: bool) -> None:
    async with acp_host.connect([sys.executable, str(AGENT), str(turns), str(length)]) as host:
        session = await host.new_session(cwd="/")
        if observed:
            session.state.changed.connect(lambda changes: None)
        started, processor = time.perf_counter(), time.process_time()
        updates = await read(host, session, turns)
        seconds, cpu = time.perf_counter() - started, time.process_time() - processor
    print(json.dumps({"updates": updates, "seconds": seconds, "cpu": cpu}))


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:3]), observed="observed" in sys.argv))
