"""A trace that goes on in agents built on the official SDKs, and from there back into the host."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    "program, version",
    [(["ts_sdk_agent.mjs"], 1), (["ts_sdk_v2_agent.mjs", "v2"], 2), (["ts_sdk_v2_agent.mjs", "router"], 2)],
)
async def test_the_typescript_sdk_takes_requests_that_carry_it(
    folder: Path, node_modules: Path, program: list[str], version: int
) -> None:
    assert node_modules
    told = Told()
    agent = ["node", str(Path(__file__).with_name(program[0])), *program[1:]]
    async with acp_host.connect(agent, protocol_versions=(version,), telemetry=told.telemetry) as host:
        session = await host.new_session(cwd=folder)
        await session.prompt("Hello")
        assert list(host.diagnostics) == []
    turn = told.span("invoke_agent")
    assert dict(turn.attributes or {})["acp.turn.outcome"] == "completed"
    assert told.open == []
