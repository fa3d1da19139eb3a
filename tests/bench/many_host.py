"""acp_host with many connections, sessions or requests: what each weighs, and how long it takes.

``python many_host.py connections|sessions|requests COUNT [RATE]``, or ``start TIME``. ``many_python_sdk.py`` and
``many_ts_sdk.mjs`` do the same with the SDKs. Bytes are of the process's memory (RSS), or of what Python holds
(``tracemalloc``) if ``traced`` is added.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
import tracemalloc
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psutil

from acp_host import HostConnection, connect

AGENT = [sys.executable, "-I", "-S", str(Path(__file__).with_name("quiet_agent.py"))]


def weight() -> int:
    """Return how many bytes this process holds."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else psutil.Process().memory_info().rss


async def connections(count: int) -> dict[str, Any]:
    """Hold so many connections to agents of their own, then a session on each."""
    async with AsyncExitStack() as stack:

        async def hosts(number: int) -> list[HostConnection]:
            return [await stack.enter_async_context(connect(AGENT)) for _ in range(number)]

        first = await hosts(1)  # what is loaded and made on first use
        await first[0].new_session(cwd="/")
        empty, began = weight(), time.perf_counter()
        connected = await hosts(count)
        seconds, held = time.perf_counter() - began, weight()
        kept = [await host.new_session(cwd="/") for host in connected]
        whole = weight()
        assert len({(session.id, id(session)) for session in kept}) == count
    return {"connection": (held - empty) / count, "session": (whole - held) / count, "seconds": seconds}


async def sessions(count: int) -> dict[str, Any]:
    """Open so many sessions on one connection."""
    async with connect(AGENT) as host:
        await host.new_session(cwd="/")
        empty, began, processor = weight(), time.perf_counter(), time.process_time()
        kept = [await host.new_session(cwd="/") for _ in range(count)]
        seconds, cpu = time.perf_counter() - began, time.process_time() - processor
        held = weight()
        assert len({session.id for session in kept}) == count
    return {"session": (held - empty) / count, "seconds": seconds, "cpu": cpu}


async def requests(count: int, rate: int) -> dict[str, Any]:
    """Send so many requests, one after the other, while another session streams updates at a rate."""
    spent = []
    async with connect([*AGENT, str(rate)]) as host:
        quiet, busy = await host.new_session(cwd="/"), await host.new_session(cwd="/")
        turn = busy.prompt("go") if rate else None
        await asyncio.sleep(0.5)
        began = time.process_time()
        for _ in range(count):
            started = time.perf_counter()
            await quiet.set_mode("code")
            spent.append((time.perf_counter() - started) * 1e3)
        cpu = time.process_time() - began
        if turn is not None:
            turn.cancel()
            await turn
    return {"milliseconds": spent, "cpu": cpu}


async def start(began: float) -> dict[str, Any]:
    """Take the time to the first session: since the program was started, by the clock, and since ``connect``."""
    called = time.perf_counter()
    async with connect(AGENT) as host:
        await host.new_session(cwd="/")
        from_connect, now = time.perf_counter() - called, time.time()
    return {"from_program": now - began, "from_connect": from_connect}


if __name__ == "__main__":
    if sys.argv[-1] == "traced":
        tracemalloc.start()
        del sys.argv[-1]
    measure: Any = {"connections": connections, "sessions": sessions, "requests": requests, "start": start}[sys.argv[1]]
    print(json.dumps(asyncio.run(measure(*map(json.loads, sys.argv[2:])))))
