"""The agent of ``stream_agent.py`` behind Streamable HTTP: the same stream, one event a message, built beforehand.

``python http_agent.py TURNS LENGTH`` prints its port, and ends with its stdin. HTTP/1.1, written down to the bytes, so
that it costs the host nothing but the reading.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from itertools import islice

from stream import SESSION_ID, Turns, line

INITIALIZED = {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "bench", "version": "1"}}
HEAD = b"HTTP/1.1 200 OK\r\nAcp-Connection-Id: bench\r\nContent-Type: "


def events(lines: bytes) -> bytes:
    """Return lines as events, in one chunk of a body."""
    data = b"".join(b"data: %b\n\n" % message for message in lines.splitlines())
    return b"%x\r\n%b\r\n" % (len(data), data)


class Server:
    """Answers requests; what it sends for a session goes to the event stream of that."""

    def __init__(self, turns: int, length: int) -> None:
        self.turns = iter([events(turn) for turn in islice(Turns(turns, length), turns)])
        self.streams: dict[str, asyncio.Future[asyncio.StreamWriter]] = {}

    def stream(self, session_id: str) -> asyncio.Future[asyncio.StreamWriter]:
        """Return the event stream of a session, or of the connection, once it is open."""
        return self.streams.setdefault(session_id, asyncio.get_running_loop().create_future())

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):  # the host has gone
            while True:
                await self.answer((await reader.readuntil(b"\r\n\r\n")).decode(), reader, writer)

    async def answer(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        verb, *fields = head.split("\r\n")
        headers = {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}
        if verb.startswith("GET"):
            writer.write(HEAD + b"text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            self.stream(headers.get("acp-session-id", "")).set_result(writer)
            return
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        message = json.loads(body) if body else {}
        if message.get("method") == "initialize":
            answer = line({"id": message["id"], "result": INITIALIZED})
            writer.write(HEAD + b"application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(answer), answer))
            return
        writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
        if message.get("method") == "session/new":
            (await self.stream("")).write(events(line({"id": message["id"], "result": {"sessionId": SESSION_ID}})))
        elif message.get("method") == "session/prompt":
            answer = line({"id": message["id"], "result": {"stopReason": "end_turn"}})
            (await self.stream(SESSION_ID)).write(next(self.turns) + events(answer))


async def main(turns: int, length: int) -> None:
    server = await asyncio.start_server(Server(turns, length).connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:3])))
