"""Streamable HTTP to a server of the official TypeScript SDK, spoilt at every boundary of its several streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import acp_host
from acp_host import AcpError
from tests.faults.proxy import Fault, How, proxy_to

SERVER = Path(__file__).parents[1] / "interop" / "ts_sdk_http_server.mjs"
DEADLINE = 10.0
"""Seconds within which everything has to be over, whatever happens."""
WORDS = ("one two three four five", "and once more")
PIECES = 26
"""More than a conversation has."""


@asynccontextmanager
async def served(node_modules: Path) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        "node", str(SERVER), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}/acp"
    finally:
        process.stdin.close()
        await process.wait()


async def converse(url: str, folder: Path, prompts: list[str]) -> dict[str, str | AcpError]:
    """Hold the conversation as an application does; return what became of each prompt, and of the connection."""
    told: dict[str, str | AcpError] = {}
    try:
        async with asyncio.timeout(DEADLINE), acp_host.connect(url) as host:
            session = await host.new_session(folder)
            for prompt in prompts:
                try:
                    told[prompt] = (await session.prompt(prompt)).text
                except AcpError as error:
                    told[prompt] = error
    except AcpError as error:
        told["connection"] = error
    return told


async def said(url: str, folder: Path) -> str:
    """Return all that the agent was told, in all of its sessions."""
    async with acp_host.connect(url) as host:
        last = int((await host.new_session(folder)).id.removeprefix("session-"))
        ids = [f"session-{number}" for number in range(1, last)]
        sessions = await asyncio.gather(*(host.load_session(id, folder) for id in ids))
    return " ".join(entry.text for session in sessions for entry in session.state.snapshot().transcript)


async def spoilt(url: str, folder: Path, fault: Fault) -> tuple[str, dict[str, str | AcpError]]:
    """Hold a conversation with one fault; return where that was, and what became of its prompts."""
    prompts = [f"<{fault.at}> {words}" for words in WORDS]
    async with proxy_to(url, fault) as proxy:
        told = await converse(proxy.url, folder, prompts)
    lost = told.get("connection")
    outcomes = {prompt: told.get(prompt, lost) for prompt in prompts}
    where = f"{fault.how.value} piece {fault.at} of {len(proxy.pieces)}"
    assert None not in outcomes.values(), f"{where}: nobody was told"
    return where, outcomes


@pytest.mark.parametrize(
    ("how", "everything"),
    [(How.CUT_BEFORE, True), (How.CUT_BEFORE, False), (How.CUT_INSIDE, False), (How.CUT_AFTER, False)],
    ids=lambda value: value.value if isinstance(value, How) else "all connections" if value else "one",
)
async def test_a_connection_that_is_lost_anywhere(
    how: How, everything: bool, tmp_path: Path, node_modules: Path
) -> None:
    async with served(node_modules) as url:
        faults = [Fault(at, how, all=everything) for at in range(PIECES)]
        for where, outcomes in await asyncio.gather(*(spoilt(url, tmp_path, fault) for fault in faults)):
            for prompt, outcome in outcomes.items():
                assert isinstance(outcome, AcpError) or outcome == prompt, f"{where}: text was lost: {outcome!r}"
        heard = await said(url, tmp_path)
        times = [heard.count(f"<{at}> {words}") for at in range(PIECES) for words in WORDS]
        assert max(times) == 1, "a prompt was sent twice"
        assert times[-1] == 1, "nothing was wrong with the last conversation"


async def test_streams_that_overtake_each_other(tmp_path: Path, node_modules: Path) -> None:
    """Hold up each piece while the other streams go on; the text of a turn is whole when its end is told."""
    async with served(node_modules) as url:
        faults = [Fault(at, How.DELAY) for at in range(PIECES)]
        for where, outcomes in await asyncio.gather(*(spoilt(url, tmp_path, fault) for fault in faults)):
            assert outcomes == {prompt: prompt for prompt in outcomes}, where
