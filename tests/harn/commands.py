"""A session of a scripted Harn agent, for the tests of the commands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from acp_host import Session
from tests.host.scripts import Script, answering, in_session

__all__ = ["HARN", "Script", "answering", "harn_session"]

HARN: dict[str, Any] = {"_meta": {"harn": {}}}
"""The least that makes an agent Harn."""


@asynccontextmanager
async def harn_session(script: Script, capabilities: Any = HARN, **options: Any) -> AsyncIterator[Session]:
    """Yield a session of a Harn agent that follows the script."""
    async with in_session(script, capabilities, **options) as session:
        yield session
