"""acp_host as a host that iterates over the turn. Prints the time from prompt to response."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import acp_host

AGENT = Path(__file__).with_name("stream_agent.py")


async def main(count: int) -> None:
    async with acp_host.connect([sys.executable, str(AGENT), str(count)]) as host:
        session = await host.new_session(cwd="/")
        updates = 0
        started = time.perf_counter()
        async for _update in (turn := session.prompt("go")):
            updates += 1
        await turn
        seconds = time.perf_counter() - started
    print(json.dumps({"updates": updates, "seconds": seconds}))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
