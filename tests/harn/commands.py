"""A session of a scripted Harn agent, for the tests of the commands."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from acp_host import Session
from acp_host.testing import ScriptedAgent
from tests.host.scripts import in_session

__all__ = ["HARN", "Script", "answering", "harn_session"]

HARN: dict[str, Any] = {"_meta": {"harn": {}}}
"""The least that makes an agent Harn."""

Script = Callable[[ScriptedAgent], Awaitable[Any]]


@asynccontextmanager
async def harn_session(script: Script, capabilities: Any = HARN, **options: Any) -> AsyncIterator[Session]:
    """Yield a session of a Harn agent that follows the script."""
    async with in_session(script, capabilities, **options) as session:
        yield session


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
