"""acp_host as an application uses it: prompts, all that comes folded into the session's state, one observer of that.

``python session.py TURNS LENGTH [iterated|observed] [websocket|http]``; with ``iterated``, every turn is iterated over,
too; with ``observed``, there are ten observers; with ``websocket`` and ``http``, the agent is elsewhere.
Prints the time that all turns took.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stream import Writer

import acp_host

HERE = Path(__file__).parent
OBSERVERS = 10
REMOTE = {"websocket": ("websocket_agent.py", "ws"), "http": ("http_agent.py", "http")}


async def read(host: acp_host.HostConnection, session: acp_host.Session, turns: int) -> int:
    """Prompt so many times and iterate over each turn; return how many updates came."""
    updates = 0
    for _ in range(turns):
        async for _update in (turn := session.prompt("go")):
            updates += 1
        await turn
    assert not host.diagnostics, tuple(host.diagnostics)[:3]  # what is not folded is quick
    return updates


async def fold(host: acp_host.HostConnection, session: acp_host.Session, turns: int) -> list[str]:
    """Prompt so many times and await each turn; return what the agent said in them."""
    texts = [(await session.prompt("go")).text for _ in range(turns)]
    assert not host.diagnostics, tuple(host.diagnostics)[:3]
    return texts


def said(turns: int, length: int) -> list[str]:
    """Return what the agent says in each turn."""
    writer = Writer()
    return [
        "".join(update["content"]["text"] for update in turn if update["sessionUpdate"] == "agent_message_chunk")
        for turn in (writer.turn(length) for _ in range(turns))
    ]


@contextmanager
def agent(turns: int, length: int, how: set[str]) -> Iterator[list[str] | str]:
    """Return the command of the agent, or its URL."""
    program, scheme = next((REMOTE[name] for name in REMOTE if name in how), ("stream_agent.py", ""))
    command = [sys.executable, str(HERE / program), str(turns), str(length)]
    if not scheme:
        yield command
        return
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        yield f"{scheme}://127.0.0.1:{int(server.stdout.readline())}/acp"
        server.stdin.close()


async def main(turns: int, length: int, how: set[str]) -> None:
    with agent(turns, length, how) as target:
        await measure(target, turns, length, how)


async def measure(target: list[str] | str, turns: int, length: int, how: set[str]) -> None:
    iterated = "iterated" in how
    async with acp_host.connect(target) as host:
        session = await host.new_session(cwd="/")
        for _ in range(OBSERVERS if "observed" in how else 1):
            session.state.changed.connect(lambda changes: None)
        started, processor = time.perf_counter(), time.process_time()
        result = await (read if iterated else fold)(host, session, turns)
        seconds, cpu = time.perf_counter() - started, time.process_time() - processor
    assert result == (turns * length if iterated else said(turns, length)), "something is missing"
    print(json.dumps({"updates": turns * length, "seconds": seconds, "cpu": cpu}))


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:3]), set(sys.argv[3:])))
