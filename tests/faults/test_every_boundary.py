"""A remote agent over a connection that is spoilt at every boundary: nothing is lost in silence, nothing sent twice.

The conversation has three turns, each with a question to the user. It is held once for each piece that crosses the
wire, spoilt at that piece; with and without a host that makes a lost connection again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

import acp_host
from acp_host import AcpError, OutcomeUnknown, PermissionPolicy, ReconnectPolicy, RemoteOptions
from acp_host.testing import AgentTurn, ReferenceAgent, serve_http, serve_websocket
from tests.faults.proxy import Fault, How, proxy_to

DEADLINE = 30.0
"""Seconds within which everything has to be over, whatever happens, also on a machine that is busy."""
PROMPTS = ("First", "Second", "Third")
PIECES = {"WebSocket": 32, "HTTP": 48}
"""More than a conversation has; a fault beyond the last piece is a conversation without one."""
CUTS = (How.CUT_BEFORE, How.HALF_CLOSE)
ALL_CUTS = (*CUTS, How.CUT_INSIDE, How.CUT_AFTER)
AGAIN = ReconnectPolicy(first_delay=0.01, jitter=0.0, calls_wait=10.0)
SERVERS: dict[str, Callable[..., Any]] = {"WebSocket": serve_websocket, "HTTP": serve_http}


class CountingAgent(ReferenceAgent):
    """Counts the prompts that reach it, and asks for permission in each turn."""

    def __init__(self) -> None:
        super().__init__(script=self._answer, protocol_versions=(1, 2))
        self.prompts: Counter[str] = Counter()

    async def _answer(self, turn: AgentTurn) -> None:
        self.prompts[turn.text] += 1
        async with turn.tool_call("Look", kind="execute") as call:
            allowed = await turn.permitted(call)
        await turn.say(f"{turn.text}: {'seen' if allowed else 'not seen'}.")


@define
class Told:
    """What an application learned, and what was true.

    Attributes:
        where: what was spoilt, for messages.
        struck: whether the fault has happened.
        texts: what each prompt was answered with.
        errors: what each prompt failed with; under ``""`` what the connection, or the session, did.
        prompts: how often each prompt reached the agent.
    """

    where: str
    struck: bool = False
    texts: dict[str, str] = field(factory=dict)
    errors: dict[str, AcpError] = field(factory=dict)
    prompts: Counter[str] = field(factory=Counter)


async def converse(url: str, folder: Path, told: Told, **options: Any) -> None:
    """Hold the conversation as an application does, and keep what it is told."""
    try:
        async with acp_host.connect(url, permissions=PermissionPolicy.allow_once(), **options) as host:
            session = await host.new_session(folder)
            for prompt in PROMPTS:
                try:
                    told.texts[prompt] = (await session.prompt(prompt)).text
                except AcpError as error:
                    told.errors[prompt] = error
    except AcpError as error:
        told.errors[""] = error


async def spoilt(fault: Fault | None, server: str, folder: Path, **options: Any) -> Told:
    told = Told(f"{server}, {fault}")
    agent = CountingAgent()
    async with SERVERS[server](agent.serve) as place, proxy_to(place.url, fault) as proxy:
        async with asyncio.timeout(DEADLINE):
            await converse(proxy.url, folder, told, remote=RemoteOptions(bearer=place.token), **options)
        told.struck = proxy.struck.is_set()
    told.prompts = agent.prompts
    return told


async def spoilt_everywhere(how: How, server: str, folder: Path, **options: Any) -> list[Told]:
    faults = [Fault(at, how) for at in range(PIECES[server])]
    return await asyncio.gather(*(spoilt(fault, server, folder, **options) for fault in faults))


def check(told: Told) -> None:
    """Check what holds in any case."""
    for prompt in PROMPTS:
        assert told.prompts[prompt] <= 1, f"{told.where}: a prompt was sent twice"
        assert told.texts.get(prompt, f"{prompt}: seen.") == f"{prompt}: seen.", f"{told.where}: text was lost"
        error = told.errors.get(prompt, told.errors.get(""))
        assert prompt in told.texts or error is not None, f"{told.where}: nobody was told"
        if isinstance(error, OutcomeUnknown) and prompt in told.errors:
            assert error.interruption.started is not True or told.prompts[prompt], f"{told.where}: it had not begun"
            assert not (error.interruption.safe_to_resend and told.prompts[prompt]), f"{told.where}: it had begun"
        elif prompt in told.errors:
            assert not told.prompts[prompt], f"{told.where}: it is said that it did not reach the agent"


@pytest.mark.parametrize("server", SERVERS)
async def test_without_a_fault(server: str, tmp_path: Path) -> None:
    told = await spoilt(None, server, tmp_path)
    assert told.texts == {prompt: f"{prompt}: seen." for prompt in PROMPTS}
    assert told.errors == {}
    assert told.prompts == Counter(PROMPTS)
    last = await spoilt(Fault(PIECES[server] - 1, How.CUT_BEFORE), server, tmp_path)
    assert not last.struck, "PIECES is too small"


@pytest.mark.parametrize("how", CUTS, ids=lambda how: how.value)
@pytest.mark.parametrize("server", SERVERS)
async def test_a_connection_that_is_lost_anywhere_and_not_made_again(server: str, how: How, tmp_path: Path) -> None:
    for told in await spoilt_everywhere(how, server, tmp_path, reconnect=False):
        check(told)
        assert told.struck or told.errors == {}, told.where


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    ("version", "how"),
    [(1, how) for how in ALL_CUTS] + [(2, how) for how in CUTS],
    ids=lambda value: f"v{value}" if isinstance(value, int) else value.value,
)
async def test_a_connection_that_is_lost_anywhere_and_made_again(
    version: int, server: str, how: How, tmp_path: Path
) -> None:
    """What was in flight is lost at most: the conversation goes on."""
    options = {"reconnect": AGAIN, "protocol_versions": (version,)}
    for told in await spoilt_everywhere(how, server, tmp_path, **options):
        check(told)
        assert told.struck or told.errors == {}, told.where
        assert "" in told.errors or len(told.errors) <= 1, f"{told.where}: {told.errors}"


@pytest.mark.parametrize("server", SERVERS)
async def test_a_connection_that_is_slow_anywhere(server: str, tmp_path: Path) -> None:
    for told in await spoilt_everywhere(How.DELAY, server, tmp_path):
        assert (told.errors, told.prompts) == ({}, Counter(PROMPTS)), told.where
        check(told)
