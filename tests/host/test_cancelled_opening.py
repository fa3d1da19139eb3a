"""A session whose opener was cancelled is not left open at the agent."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import acp_host
from acp_host.testing import ScriptedAgent


async def test_a_session_that_nobody_waits_for_is_closed(tmp_path: Path) -> None:
    closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    asked = asyncio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(agentCapabilities={"sessionCapabilities": {"close": {}}})
        new = await agent.expect("session/new")
        asked.set()
        await agent.expect("$/cancel_request")
        agent.reply({"sessionId": "late"}, to=new)
        close = await agent.expect("session/close")
        closed.set_result(close["params"]["sessionId"])
        agent.reply({}, to=close)
        await agent.stall()

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        opening = asyncio.create_task(host.new_session(tmp_path))
        await asked.wait()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert await asyncio.wait_for(closed, 5) == "late"
        assert host.sessions == ()
