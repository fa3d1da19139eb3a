"""The agent of ``stream_agent.py`` behind a WebSocket: the same stream, one frame a message, built beforehand.

``python websocket_agent.py TURNS LENGTH`` prints its port, and ends with its stdin.
"""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import islice

from stream import SESSION_ID, Turns, line
from websockets.asyncio.server import ServerConnection, serve
from websockets.frames import Frame, Opcode

RESULTS = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "bench", "version": "1"}},
    "session/new": {"sessionId": SESSION_ID},
    "session/prompt": {"stopReason": "end_turn"},
}


def frames(lines: bytes) -> bytes:
    """Return lines as the bytes of text frames."""
    return b"".join(Frame(Opcode.TEXT, message).serialize(mask=False) for message in lines.splitlines())


async def main(turns: int, length: int) -> None:
    stream = iter([frames(turn) for turn in islice(Turns(turns, length), turns)])

    async def handle(connection: ServerConnection) -> None:
        async for received in connection:
            request = json.loads(received)
            if request.get("method") == "session/prompt":
                connection.transport.write(next(stream))
            if "id" in request:
                connection.transport.write(frames(line({"id": request["id"], "result": RESULTS[request["method"]]})))

    async with serve(handle, "127.0.0.1", 0, compression=None) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:3])))
