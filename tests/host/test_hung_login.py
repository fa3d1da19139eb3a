"""A login takes as long as a person does; it ends with whoever waits for it, and with the connection."""

from __future__ import annotations

import asyncio

import pytest

import acp_host
from acp_host.errors import AcpError
from acp_host.testing import ScriptedAgent
from tests.host.scripts import until

METHODS = [{"id": "browser", "name": "A browser"}]


async def test_one_that_is_given_up_is_withdrawn_and_the_next_can_begin() -> None:
    begun = asyncio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(authMethods=METHODS)
        await agent.expect("authenticate")
        begun.set()
        await agent.expect("$/cancel_request")
        await agent.expect("authenticate")
        agent.reply({})

    agent = ScriptedAgent(script)
    async with asyncio.timeout(40), acp_host.connect(agent.transport()) as host:
        login = asyncio.create_task(host.authentication.log_in("browser"))
        await begun.wait()
        assert host.authentication.snapshot().logging_in
        login.cancel()
        with pytest.raises(asyncio.CancelledError):
            await login
        assert not host.authentication.snapshot().logging_in
        await host.authentication.log_in("browser")
        assert host.authentication.snapshot().state == "authenticated"
        await agent.finished()


@pytest.mark.parametrize("by", ["agent", "host"])
@pytest.mark.parametrize("asked", [True, False], ids=["for a call", "by itself"])
async def test_it_ends_with_the_connection(by: str, asked: bool) -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(authMethods=METHODS)
        if asked:
            await agent.expect("session/new")
            agent.reply_error(-32000, "Authentication required")
        await agent.expect("authenticate")
        begun.set()
        await over.wait()
        await agent.close()

    agent = ScriptedAgent(script)
    async with asyncio.timeout(40), acp_host.connect(agent.transport(), authenticate=lambda _: "browser") as host:
        login = asyncio.create_task(host.new_session() if asked else host.authentication.log_in("browser"))
        waits = asyncio.create_task(host.authentication.log_in("browser"))  # two at once: one after the other
        await begun.wait()
        if by == "agent":
            over.set()
        else:
            await host.close()
        for task in (login, waits):
            with pytest.raises(AcpError):
                await task
        await until(lambda: not host.authentication.snapshot().logging_in)
        over.set()
