"""A trace that goes on in an agent built on the official Python SDK, and from there back into the host."""

from __future__ import annotations

import sys
from pathlib import Path

import acp_host
from acp_host import PermissionPolicy
from tests.host.telemetry.telling import Told

AGENT = [sys.executable, str(Path(__file__).with_name("python_sdk_traced_agent.py"))]


async def test_the_agents_span_stands_between_the_turn_and_what_it_asks(folder: Path) -> None:
    told = Told()
    allow = PermissionPolicy.allow_once()
    async with acp_host.connect(AGENT, telemetry=told.telemetry, permissions=allow) as host:
        session = await host.new_session(cwd=folder)
        text = (await session.prompt("go")).text
        assert list(host.diagnostics) == []
    trace_id, span_id, parent_id = [int(word, 16) for word in text.split()]
    turn, asked = told.span("invoke_agent"), told.span("session/request_permission")
    assert (trace_id, parent_id) == (turn.context.trace_id, turn.context.span_id)
    assert asked.parent is not None
    assert (asked.context.trace_id, asked.parent.span_id) == (trace_id, span_id)
