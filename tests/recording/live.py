"""Conversations that are held and recorded, for tests that replay them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import acp_host
from acp_host import HostConnection, Session, Turn
from acp_host.recording import RecordedLine, read_recording
from acp_host.state.json_form import to_json
from acp_host.wire.updates import AgentMessageChunk

Talk = Callable[[HostConnection], Awaitable[list[Session]]]


async def held(talk: Talk, transport: Any, path: Path, **options: Any) -> dict[str, Any]:
    """Hold a conversation, record it, and return the states of its sessions, as JSON has them."""
    async with acp_host.connect(transport, record=path, **options) as host:
        sessions = await talk(host)
        return {session.id: plain(session) for session in sessions}


async def a_turn_that_waits(session: Session) -> Turn:
    """Return a turn of the reference agent in which it has spoken, and does nothing more until it is cancelled."""
    turn = session.prompt("/say on\n/wait")
    async for update in turn:
        if isinstance(update, AgentMessageChunk):
            break
    return turn


def recorded(path: Path) -> list[RecordedLine]:
    """Return the lines of a recording in which nothing is damaged."""
    lines = list(read_recording(path))
    assert [line.problem for line in lines if line.problem] == []
    return lines


def plain(session: Session) -> dict[str, Any]:
    """Return a session's state as JSON has it."""
    state: dict[str, Any] = json.loads(json.dumps(to_json(session.state.snapshot())))
    return state


def structure(value: Any) -> Any:
    """Return all of a JSON value but what its texts say."""
    if isinstance(value, dict):
        return [structure(item) for item in value.values()]
    if isinstance(value, list):
        return [structure(item) for item in value]
    return str if isinstance(value, str) else value
