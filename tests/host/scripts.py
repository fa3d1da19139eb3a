"""What the tests of this directory say for their agents, and how they wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import acp_host
from acp_host import HostConnection, Session
from acp_host.state.entries import MessageEntry
from acp_host.testing import ScriptedAgent

DONE = {"stopReason": "end_turn"}
OPENS = {
    "loadSession": True,
    "sessionCapabilities": {"resume": {}, "close": {}, "fork": {}},
}
"""What an agent says that can open sessions in every way."""

Script = Callable[[ScriptedAgent], Awaitable[Any]]


@asynccontextmanager
async def connected(script: Script, capabilities: Any = OPENS, **options: Any) -> AsyncIterator[HostConnection]:
    """Connect to an agent that shakes hands and then follows the script, to its end."""

    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(capabilities)
        await script(agent)

    agent = ScriptedAgent(whole)
    async with asyncio.timeout(40), acp_host.connect(agent.transport(), **options) as host:
        yield host
        await agent.finished()


@asynccontextmanager
async def in_session(
    script: Script, capabilities: Any = OPENS, *, opening: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[Session]:
    """As :func:`connected`, with a new session ``s-1``; ``opening`` is what else the agent answers about it."""

    async def whole(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1", **opening or {})
        await script(agent)

    async with connected(whole, capabilities, **options) as host:
        yield await host.new_session()


def answering(*exchanges: tuple[str, Any]) -> Script:
    """Return a script that answers requests in order: each with a result, or with the error ``(code, message, data)``.

    The agent keeps what it has received; see ``ScriptedAgent.received``.
    """

    async def script(agent: ScriptedAgent) -> None:
        for method, answer in exchanges:
            await agent.expect(method)
            if isinstance(answer, tuple):
                agent.reply_error(*answer)
            else:
                agent.reply(answer)

    return script


async def until(condition: Callable[[], Any]) -> None:
    """Let the loop go on until something is so."""
    for _ in range(1_000_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not happen")


def trail(host: HostConnection) -> list[tuple[str, str, str]]:
    """Return what the audit trail says: what was wanted, the decision, and who made it."""
    return [(record.action, record.decision, record.decided_by) for record in host.audit.records]


def words(speaker: str, text: str) -> dict[str, Any]:
    """A piece of a message: of the ``user``, or of the ``agent``."""
    return {"sessionUpdate": f"{speaker}_message_chunk", "content": {"type": "text", "text": text}}


def shown(session: Session) -> list[tuple[str, bool]]:
    """Return the text of each message of the transcript, and whether it is history."""
    entries = session.state.snapshot().transcript
    return [(entry.text, entry.replayed) for entry in entries if isinstance(entry, MessageEntry)]
