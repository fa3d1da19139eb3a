"""What is kept of what an agent sends is bounded, and an extension is answered from the first message on."""

from __future__ import annotations

from typing import Any

import acp_host
from acp_host.diagnostics import MAX_DATA, Diagnostic, DiagnosticKind
from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.host.session_table import SessionTable
from acp_host.testing import ScriptedAgent
from acp_host.wire.content import TextContent
from acp_host.wire.updates import AgentMessageChunk, SessionNotification, UnknownSessionUpdate


async def test_a_diagnostic_keeps_an_excerpt_of_what_is_not_plain() -> None:
    log = DiagnosticLog()
    log.add(Diagnostic(DiagnosticKind.UNEXPECTED, "odd", data={"text": "x" * 100_000}))
    [kept] = log
    assert isinstance(kept.data, str)
    assert len(kept.data) <= MAX_DATA


async def test_a_diagnostic_of_something_very_deep_does_no_harm() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    log = DiagnosticLog()
    log.add(Diagnostic(DiagnosticKind.UNEXPECTED, "deep", data=deep))
    [kept] = log
    assert "nested too deeply" in kept.data
    while deep:  # taken apart step by step: its own end would recurse, too
        deep = deep[0]


def early(size: int) -> SessionNotification:
    return SessionNotification("unknown", AgentMessageChunk(TextContent("x" * size)))


async def test_updates_for_sessions_to_come_are_bounded_in_bytes() -> None:
    dropped: list[Diagnostic] = []
    table = SessionTable(dropped.append, lambda session_id, notice: None)
    with table.creating():
        for _ in range(7):
            table.receive(early(1024 * 1024))
        assert len(dropped) == 4


async def test_an_early_update_that_cannot_be_measured_is_dropped() -> None:
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    dropped: list[Diagnostic] = []
    table = SessionTable(dropped.append, lambda session_id, notice: None)
    with table.creating():
        table.receive(SessionNotification("unknown", UnknownSessionUpdate("odd", {"deep": deep})))
        table.receive(early(10))
        assert len(dropped) == 1


async def test_an_extension_is_answered_before_the_handshake_is_over() -> None:
    async def script(agent: ScriptedAgent) -> None:
        initialize = await agent.expect("initialize")
        agent.send({"jsonrpc": "2.0", "id": "q", "method": "_example/ask", "params": {"n": 20}})
        answer = await agent.receive()
        assert answer == {"jsonrpc": "2.0", "id": "q", "result": {"n": 21}}
        agent.reply({"protocolVersion": 1}, to=initialize)
        await agent.stall()

    agent = ScriptedAgent(script)
    handlers = {"_example/ask": lambda params: {"n": params["n"] + 1}}
    async with acp_host.connect(agent.transport(), handlers=handlers) as host:
        assert host.agreement.protocol_version == 1
