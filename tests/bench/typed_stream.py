"""acp_host without sessions: transport and protocol core. Updates become typed objects, in order, and are counted.

Prints the time that all turns took.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from acp_host import HostProtocol
from acp_host.protocol.events import ResponseReceived
from acp_host.transports import StdioTransport
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.content import TextContent
from acp_host.wire.prompt import PromptRequest
from acp_host.wire.session import NewSessionRequest
from acp_host.wire.updates import SessionNotification

AGENT = Path(__file__).with_name("stream_agent.py")


class Reader:
    """Feeds the protocol core from a transport; one request at a time."""

    def __init__(self, transport: StdioTransport) -> None:
        self.transport = transport
        self.protocol = HostProtocol()
        self.answer: asyncio.Future[Any]
        self.updates = 0

    def data_received(self, data: bytes) -> None:
        self.protocol.receive_data(data)
        for event in self.protocol.events_in_runs():
            if event.__class__ is ChunkRun:
                self.updates += len(event.notifications())
            elif event.__class__ is SessionNotification:
                self.updates += 1
            else:
                assert isinstance(event, ResponseReceived), event
                self.answer.set_result(event.result)

    def connection_lost(self, error: Exception | None) -> None:
        assert error is None, error

    async def answered(self) -> Any:
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(self.protocol.data_to_send())
        return await self.answer


async def main(turns: int, length: int) -> None:
    transport = StdioTransport([sys.executable, str(AGENT), str(turns), str(length)])
    reader = Reader(transport)
    await transport.start(reader)
    reader.protocol.initialize()
    await reader.answered()
    reader.protocol.request("session/new", NewSessionRequest(cwd="/", mcp_servers=()))
    session = await reader.answered()
    started, processor = time.perf_counter(), time.process_time()
    for _ in range(turns):
        reader.protocol.request("session/prompt", PromptRequest(session.session_id, (TextContent("go"),)))
        await reader.answered()
    seconds, cpu = time.perf_counter() - started, time.process_time() - processor
    await transport.close()
    print(json.dumps({"updates": reader.updates, "seconds": seconds, "cpu": cpu}))


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
