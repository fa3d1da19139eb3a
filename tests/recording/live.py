"""Conversations that are held and recorded, for tests that replay them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import acp_host
from acp_host import HostConnection, Session
from acp_host.state.json_form import to_json

Talk = Callable[[HostConnection], Awaitable[list[Session]]]


async def held(talk: Talk, transport: Any, path: Path, **options: Any) -> dict[str, Any]:
    """Hold a conversation, record it, and return the states of its sessions, as JSON has them."""
    async with acp_host.connect(transport, record=path, **options) as host:
        sessions = await talk(host)
        return {session.id: plain(session) for session in sessions}


def plain(session: Session) -> dict[str, Any]:
    """Return a session's state as JSON has it."""
    state: dict[str, Any] = json.loads(json.dumps(to_json(session.state.snapshot())))
    return state
