"""acp_host as an application uses it: prompts, all that comes folded into the session's state, one observer of that.

``python session.py TURNS LENGTH [iterated] [websocket]``; with ``iterated``, every turn is iterated over, too; with
``websocket``, the agent is behind a WebSocket. Prints the time that all turns took.
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
def agent(turns: int, length: int, *, websocket: bool) -> Iterator[list[str] | str]:
    """Return the command of the agent, or its URL."""
    program = "websocket_agent.py" if websocket else "stream_agent.py"
    command = [sys.executable, str(HERE / program), str(turns), str(length)]
    if not websocket:
        yield command
        return
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        yield f"ws://127.0.0.1:{int(server.stdout.readline())}/acp"
        server.stdin.close()


async def main(turns: int, length: int, *, iterated: bool, websocket: bool) -> None:
    with agent(turns, length, websocket=websocket) as target:
        await measure(target, turns, length, iterated=iterated)


async def measure(target: list[str] | str, turns: int, length: int, *, iterated: bool) -> None:
    async with acp_host.connect(target) as host:
        session = await host.new_session(cwd="/")
        session.state.changed.connect(lambda changes: None)
        started, processor = time.perf_counter(), time.process_time()
        result = await (read if iterated else fold)(host, session, turns)
        seconds, cpu = time.perf_counter() - started, time.process_time() - processor
    assert result == (turns * length if iterated else said(turns, length)), "something is missing"
    print(json.dumps({"updates": turns * length, "seconds": seconds, "cpu": cpu}))


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:3]), iterated="iterated" in sys.argv, websocket="websocket" in sys.argv))
