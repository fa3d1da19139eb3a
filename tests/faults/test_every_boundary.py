"""A remote agent over a connection that is spoilt at every boundary: nothing is lost in silence, nothing sent twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from attrs import define, field

import acp_host
from acp_host import AcpError, PermissionPolicy, RemoteOptions
from acp_host.testing import AgentTurn, ReferenceAgent
from acp_host.testing.serving import ServedAgent, serve_websocket
from tests.faults.proxy import Fault, How, proxy_to

DEADLINE = 5.0
"""Seconds within which everything has to be over, whatever happens."""
PROMPTS = ("First", "Second", "Third")
PIECES = 48
"""More than a conversation over WebSocket has; a fault beyond the last piece is a conversation without one."""


class CountingAgent(ReferenceAgent):
    """Counts the prompts that reach it, and asks for permission in each turn."""

    def __init__(self) -> None:
        super().__init__(script=self._answer)
        self.prompts: Counter[str] = Counter()

    async def _answer(self, turn: AgentTurn) -> None:
        self.prompts[turn.text] += 1
        async with turn.tool_call("Look", kind="execute") as call:
            allowed = await turn.permitted(call)
        await turn.say(f"{turn.text}: {'seen' if allowed else 'not seen'}.")


@define
class Told:
    """What an application learned."""

    texts: dict[str, str] = field(factory=dict)
    errors: dict[str, AcpError] = field(factory=dict)


async def converse(url: str, remote: RemoteOptions, folder: Path, told: Told) -> None:
    """Hold the conversation as an application does, and keep what it is told."""
    try:
        async with acp_host.connect(url, remote=remote, permissions=PermissionPolicy.allow_once()) as host:
            session = await host.new_session(folder)
            for prompt in PROMPTS:
                try:
                    told.texts[prompt] = (await session.prompt(prompt)).text
                except AcpError as error:
                    told.errors[prompt] = error
    except AcpError as error:
        told.errors["connection"] = error


@asynccontextmanager
async def served() -> AsyncIterator[tuple[CountingAgent, ServedAgent]]:
    agent = CountingAgent()
    async with serve_websocket(agent.serve) as place:
        yield agent, place


async def run(fault: Fault | None, folder: Path) -> tuple[CountingAgent, Told, int]:
    told = Told()
    async with served() as (agent, place), proxy_to(place.url, fault) as proxy:
        async with asyncio.timeout(DEADLINE):
            await converse(proxy.url, RemoteOptions(bearer=place.token), folder, told)
    return agent, told, len(proxy.pieces)


async def test_without_a_fault(tmp_path: Path) -> None:
    agent, told, pieces = await run(None, tmp_path)
    assert told.texts == {prompt: f"{prompt}: seen." for prompt in PROMPTS}
    assert told.errors == {}
    assert agent.prompts == Counter(PROMPTS)
    assert 20 < pieces < PIECES


@pytest.mark.parametrize(
    "how", [How.CUT_BEFORE, How.CUT_INSIDE, How.CUT_AFTER, How.HALF_CLOSE], ids=lambda how: how.value
)
async def test_a_connection_that_is_lost_anywhere(how: How, tmp_path: Path) -> None:
    """Cut it at each piece: every call ends, each prompt reaches the agent once at most, and who asked is told."""
    for at in range(PIECES):
        agent, told, pieces = await run(Fault(at, how), tmp_path)
        where = f"{how.value} piece {at}"
        assert max(agent.prompts.values(), default=0) <= 1, f"{where}: a prompt was sent twice"
        assert all(text == f"{prompt}: seen." for prompt, text in told.texts.items()), f"{where}: text was lost"
        if "connection" not in told.errors:
            assert told.texts.keys() | told.errors.keys() == set(PROMPTS), f"{where}: nobody was told"
        assert told.errors.keys() or pieces <= at or len(told.texts) == len(PROMPTS), where


async def test_a_connection_that_is_slow_anywhere(tmp_path: Path) -> None:
    for at in range(0, PIECES, 3):
        agent, told, _ = await run(Fault(at, How.DELAY), tmp_path)
        assert (told.errors, agent.prompts) == ({}, Counter(PROMPTS)), f"at piece {at}"
