"""acp_host with a page served to so many viewers, each of which follows the session over a WebSocket of its own.

``python viewers.py TURNS LENGTH VIEWERS``: prints the time that all turns took, and how many deltas a viewer got. The
viewers are another program (``python viewers.py look URL VIEWERS``), so that only what they cost the host is measured.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from websockets.asyncio.client import connect

import acp_host
from acp_host.ui.feed import Feed
from acp_host.ui.page_access import PageAccess
from acp_host.ui.serve import ServedFeed, serve_feed

HERE = Path(__file__).parent
TOKEN = "the-token-of-the-benchmark"


async def look(url: str, viewers: int) -> None:
    """Follow the session that is there, so many times; print how many messages came on average."""
    counts = await asyncio.gather(*(follow(url, number) for number in range(viewers)))
    print(sum(counts) / viewers)


async def follow(url: str, number: int) -> int:
    """Read what comes until the connection ends; tell when the first state is there."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    count, follows = 0, False
    async with connect(url, additional_headers=headers, compression=None, max_size=None, proxy=None) as socket:
        async for message in socket:
            assert isinstance(message, str)
            if count == 0:
                session = json.loads(message)["sessions"][0]["id"]
                await socket.send(json.dumps({"id": 1, "command": "resume", "session": session}))
            elif not follows and message.startswith('{"type":"snapshot"'):
                follows = True
                print(f"viewer {number} follows", flush=True)
            count += 1
    return count


async def start_looking(served: ServedFeed, viewers: int) -> asyncio.subprocess.Process:
    """Start a program that looks, and wait until all of its viewers have the state."""
    url = f"ws://127.0.0.1:{served.port}/feed"
    command = [sys.executable, __file__, "look", url, str(viewers)]
    program = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert program.stdout
    for _ in range(viewers):
        assert b"follows" in await program.stdout.readline()
    return program


async def main(turns: int, length: int, viewers: int) -> None:
    command = [sys.executable, str(HERE / "stream_agent.py"), str(turns), str(length)]
    async with acp_host.connect(command) as host, Feed(host) as feed:
        session = await host.new_session(cwd="/")
        async with serve_feed(feed, access=PageAccess(token=TOKEN)) as served:
            program = await start_looking(served, viewers) if viewers else None
            started, processor = time.perf_counter(), time.process_time()
            for _ in range(turns):
                await session.prompt("go")
            seconds, cpu = time.perf_counter() - started, time.process_time() - processor
            assert len(feed.viewers) == viewers, "a viewer has got lost"
        messages = 0.0 if program is None else float((await program.communicate())[0])
    print(json.dumps({"updates": turns * length, "seconds": seconds, "cpu": cpu, "messages": messages}))


if __name__ == "__main__":
    if sys.argv[1] == "look":
        asyncio.run(look(sys.argv[2], int(sys.argv[3])))
    else:
        asyncio.run(main(*map(int, sys.argv[1:4])))
