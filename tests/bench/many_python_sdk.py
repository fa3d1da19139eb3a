"""The official Python SDK with many connections, sessions or requests; see ``many_host.py``."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import acp
import psutil

AGENT = [sys.executable, "-I", "-S", str(Path(__file__).with_name("quiet_agent.py"))]


class Client:
    """Takes updates; the agent of the benchmark asks for nothing else."""

    def on_connect(self, connection: Any) -> None:
        """Called by the SDK."""

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        """Do nothing with it."""


def weight() -> int:
    gc.collect()
    return psutil.Process().memory_info().rss


async def connect(stack: AsyncExitStack, *arguments: str) -> Any:
    client: Any = Client()
    connection, _ = await stack.enter_async_context(acp.spawn_agent_process(client, *AGENT, *arguments))
    await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
    return connection


async def new_session(connection: Any) -> str:
    return str((await connection.new_session(cwd="/", mcp_servers=[])).session_id)


async def connections(count: int) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        await new_session(await connect(stack))
        empty, began = weight(), time.perf_counter()
        connected = [await connect(stack) for _ in range(count)]
        seconds, held = time.perf_counter() - began, weight()
        for connection in connected:
            await new_session(connection)
        whole = weight()
    return {"connection": (held - empty) / count, "session": (whole - held) / count, "seconds": seconds}


async def sessions(count: int) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        connection = await connect(stack)
        await new_session(connection)
        empty, began, processor = weight(), time.perf_counter(), time.process_time()
        for _ in range(count):
            await new_session(connection)
        seconds, cpu = time.perf_counter() - began, time.process_time() - processor
        held = weight()
    return {"session": (held - empty) / count, "seconds": seconds, "cpu": cpu}


async def requests(count: int, rate: int) -> dict[str, Any]:
    spent = []
    async with AsyncExitStack() as stack:
        connection = await connect(stack, str(rate))
        quiet, busy = await new_session(connection), await new_session(connection)
        turn = asyncio.create_task(connection.prompt(session_id=busy, prompt=[acp.text_block("go")])) if rate else None
        await asyncio.sleep(0.5)
        began = time.process_time()
        for _ in range(count):
            started = time.perf_counter()
            await connection.set_session_mode(session_id=quiet, mode_id="code")
            spent.append((time.perf_counter() - started) * 1e3)
        cpu = time.process_time() - began
        if turn is not None:
            await connection.cancel(session_id=busy)
            await turn
    return {"milliseconds": spent, "cpu": cpu}


async def start(began: float) -> dict[str, Any]:
    called = time.perf_counter()
    async with AsyncExitStack() as stack:
        await new_session(await connect(stack))
        from_connect, now = time.perf_counter() - called, time.time()
    return {"from_program": now - began, "from_connect": from_connect}


if __name__ == "__main__":
    measure: Any = {"connections": connections, "sessions": sessions, "requests": requests, "start": start}[sys.argv[1]]
    print(json.dumps(asyncio.run(measure(*map(json.loads, sys.argv[2:])))))
