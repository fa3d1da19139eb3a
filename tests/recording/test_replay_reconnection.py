"""A connection that was lost and made again is folded into the states that its host had."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import AcpError, PermissionPolicy, ReconnectPolicy, RemoteOptions
from acp_host.replay import fold_recording
from acp_host.replay.comparing import comparable
from acp_host.state.entries import ConnectionEntry
from acp_host.testing import AgentTurn, ReferenceAgent, serve_http, serve_websocket
from tests.faults.proxy import Fault, How, proxy_to
from tests.recording.live import plain

AGAIN = ReconnectPolicy(first_delay=0.01, jitter=0.0, calls_wait=10.0)
SERVERS: dict[str, Any] = {"WebSocket": serve_websocket, "HTTP": serve_http}
BOUNDARIES = {"WebSocket": range(6, 16), "HTTP": range(10, 24, 2)}
"""Pieces in the midst of the conversation: the connection is up again before its end."""


async def answer(turn: AgentTurn) -> None:
    async with turn.tool_call("Look", kind="execute") as call:
        await turn.permitted(call)
    await turn.say(f"{turn.text}: seen.")


async def talk(server: str, version: int, fault: Fault, folder: Path, path: Path) -> dict[str, Any]:
    """Hold a conversation that is cut at one place, and return the state that its session has in the end."""
    agent = ReferenceAgent(script=answer, protocol_versions=(1, 2))
    async with SERVERS[server](agent.serve) as place, proxy_to(place.url, fault) as proxy:
        options: dict[str, Any] = {
            "permissions": PermissionPolicy.allow_once(),
            "protocol_versions": (version,),
            "reconnect": AGAIN,
            "record": path,
            "remote": RemoteOptions(bearer=place.token),
        }
        async with acp_host.connect(proxy.url, **options) as host:
            session = await host.new_session(folder)
            for prompt in ("First", "Second", "Third", "Fourth"):
                with contextlib.suppress(AcpError):  # one is cut off
                    await session.prompt(prompt)
            return plain(session)


@pytest.mark.parametrize("how", [How.CUT_BEFORE, How.CUT_AFTER], ids=lambda how: how.value)
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("server", SERVERS)
async def test_live_and_folded_are_the_same(server: str, version: int, how: How, tmp_path: Path) -> None:
    faults = [Fault(at, how) for at in BOUNDARIES[server]]
    paths = [tmp_path / f"{fault.at}.jsonl" for fault in faults]
    held = await asyncio.gather(
        *(talk(server, version, fault, tmp_path, path) for fault, path in zip(faults, paths, strict=True))
    )

    marked = 0
    for live, path in zip(held, paths, strict=True):
        folded = await asyncio.to_thread(fold_recording, path)
        [(_, state)] = folded.to_json()["sessions"].items()
        assert comparable(state) == comparable(live), path.name
        [snapshot] = folded.sessions.values()
        marked += any(isinstance(entry, ConnectionEntry) for entry in snapshot.transcript)
    assert marked, "a turn was cut off somewhere"
