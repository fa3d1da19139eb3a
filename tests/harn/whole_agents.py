"""Sessions of the Harn-like agent, and turns of it that are under way: :func:`talking`, :func:`running`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import acp_host
from acp_host import HostConnection, Session, Turn
from acp_host.testing import HarnAgent, HarnTurn
from tests.host.scripts import until

__all__ = ["connected", "running", "talking", "waits"]


@asynccontextmanager
async def connected(agent: HarnAgent, **options: Any) -> AsyncIterator[tuple[HostConnection, Session]]:
    """Yield a connection to the agent and a session."""
    async with asyncio.timeout(40), acp_host.connect(agent.transport(), **options) as host:
        yield host, await host.new_session()


@asynccontextmanager
async def talking(agent: HarnAgent, **options: Any) -> AsyncIterator[Session]:
    """Yield a session of the agent."""
    async with connected(agent, **options) as (_, session):
        yield session


async def running(session: Session, agent: HarnAgent) -> Turn:
    """Return a turn whose model was asked."""
    turn = session.prompt("go")
    await until(lambda: (prompt := agent.sessions[session.id].prompt) is not None and prompt.turn.seen)
    return turn


async def waits(turn: HarnTurn) -> None:
    """Do nothing until the turn is cancelled."""
    await asyncio.Event().wait()
