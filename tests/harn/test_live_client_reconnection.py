"""A host that is attached to a shared session, and whose connection is lost and made again."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import acp_host
from acp_host import harn
from acp_host.errors import InvalidState
from acp_host.testing import ScriptedAgent
from tests.harn.commands import HARN
from tests.harn.test_live_client_commands import attached, client
from tests.host.cuts import QUICK, Way
from tests.host.scripts import DONE

LEADING = attached(client("me", "controller"), me="me")
OBSERVING = attached(client("other", "controller"), client("me", "observer"), me="me")


def attaches(*answers: Any) -> Way:
    """Lead to an agent that is lost once the host is attached, and then answers its requests to attach so."""

    def make(number: int) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake({**HARN, "sessionCapabilities": {"resume": {}}})
            if number == 0:
                await agent.open_session("s-1")
                await agent.expect("session/attach")
                agent.reply(LEADING)
                await agent.expect("_x/lose")
                await agent.close()
                return
            await agent.expect("session/resume")
            agent.reply({})
            for answer in answers:
                await agent.expect("session/attach")
                if answer is None:
                    agent.reply_error(-32602, "another client controls the session")
                else:
                    agent.reply(answer)
            await agent.expect("session/prompt")
            agent.reply(DONE)
            await agent.stall()

        return ScriptedAgent(script)

    return Way(make)


def asked_to_attach(way: Way) -> list[tuple[str, str, bool]]:
    messages = [json.loads(message) for message in way.made[-1].sent]
    params = [message["params"] for message in messages if message.get("method") == "session/attach"]
    return [(each["clientId"], each["mode"], each["takeover"]) for each in params]


async def test_it_is_attached_again_by_its_id_before_anything_is_said() -> None:
    way = attaches(LEADING)
    async with asyncio.timeout(40), acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session("/")
        await harn.of(session).live.attach("me", mode="controller")
        lost, waits = asyncio.create_task(session.ext_request("_x/lose", {})), session.prompt
        with pytest.raises(acp_host.OutcomeUnknown):
            await lost
        await waits("go on")
        assert asked_to_attach(way) == [("me", "controller", False)]


async def test_another_client_that_took_over_meanwhile_keeps_control() -> None:
    way = attaches(None, OBSERVING)
    async with asyncio.timeout(40), acp_host.connect(way, reconnect=QUICK) as host:
        session = await host.new_session("/")
        await harn.of(session).live.attach("me", mode="controller")
        with pytest.raises(acp_host.OutcomeUnknown):
            await session.ext_request("_x/lose", {})
        with pytest.raises(InvalidState, match="'other' does"):
            await session.prompt("go on")
        assert asked_to_attach(way) == [("me", "controller", False), ("me", "observer", False)]
