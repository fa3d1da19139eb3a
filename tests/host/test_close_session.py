"""A session can be closed where it is held."""

from __future__ import annotations

from pathlib import Path

import pytest

import acp_host
from acp_host.testing import ReferenceAgent


async def test_a_session_that_was_closed_takes_no_prompt(tmp_path: Path) -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session(tmp_path)
        await session.close()
        assert session not in host.sessions
        with pytest.raises(acp_host.InvalidState, match="was closed"):
            session.prompt("too late")


async def test_an_agent_that_cannot_close_sessions(tmp_path: Path) -> None:
    async with acp_host.connect(ReferenceAgent(without=["close"]).transport()) as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(acp_host.NotSupported, match="close"):
            await session.close()
