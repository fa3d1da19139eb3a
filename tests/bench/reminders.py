"""How long it takes until ``session.remind()`` is acknowledged, while a turn streams at a set rate.

``python reminders.py RATE TIMES``. The turn is iterated over and the state has an observer. Prints the times, in
milliseconds, and how many updates came in a second.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from pathlib import Path

import acp_host

AGENT = Path(__file__).with_name("paced_agent.py")


async def main(rate: int, times: int) -> None:
    rng, spent, updates = random.Random(1), [], 0
    async with acp_host.connect([sys.executable, str(AGENT), str(rate)]) as host:
        session = await host.new_session(cwd="/")
        session.state.changed.connect(lambda changes: None)
        turn = session.prompt("go")

        async def read() -> None:
            nonlocal updates
            async for _update in turn:
                updates += 1

        reading = asyncio.create_task(read())
        await asyncio.sleep(0.5)
        before, began = updates, time.perf_counter()
        for number in range(times):
            await asyncio.sleep(rng.uniform(0.002, 0.012))
            started = time.perf_counter()
            receipt = await session.remind(f"{number} tests failed", dedupe_key="tests")
            spent.append((time.perf_counter() - started) * 1e3)
            assert receipt.rung == acp_host.Rung.INJECT_REMINDER, receipt
        came = (updates - before) / (time.perf_counter() - began)
        turn.cancel()
        await reading
    print(json.dumps({"milliseconds": spent, "rate": came}))


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
