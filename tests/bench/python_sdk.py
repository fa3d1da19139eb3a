"""The official Python SDK as a host, with a handler that only counts. Prints the time that all turns took."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import acp

AGENT = Path(__file__).with_name("stream_agent.py")


class CountingClient:
    """Takes updates; the agent of the benchmark asks for nothing else."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.updates = 0
        self.complete = asyncio.Event()

    def on_connect(self, connection: Any) -> None:
        """Called by the SDK."""

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates += 1
        if self.updates == self.expected:
            self.complete.set()


async def main(turns: int, length: int) -> None:
    client: Any = CountingClient(turns * length)
    agent = acp.spawn_agent_process(client, sys.executable, str(AGENT), str(turns), str(length))
    async with agent as (connection, _process):
        await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        session = await connection.new_session(cwd="/", mcp_servers=[])
        started, processor = time.perf_counter(), time.process_time()
        for _ in range(turns):
            await connection.prompt(session_id=session.session_id, prompt=[acp.text_block("go")])
        await client.complete.wait()
        seconds, cpu = time.perf_counter() - started, time.process_time() - processor
    print(json.dumps({"updates": client.updates, "seconds": seconds, "cpu": cpu}))


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
