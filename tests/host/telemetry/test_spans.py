"""Spans of connections, sessions, turns, tool calls and requests, as an SDK of OpenTelemetry gets them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

import acp_host
from acp_host import PermissionPolicy
from acp_host.errors import OutcomeUnknown, StartFailed
from acp_host.testing import AgentTurn, ReferenceAgent, ScriptedAgent
from acp_host.testing.harn import HarnAgent
from tests.host.cuts import QUICK, Way, unreachable
from tests.host.scripts import DONE, in_session, until
from tests.host.telemetry.telling import Told

BOTH = pytest.mark.parametrize("version", [1, 2])


def agent_of(version: int, **options: Any) -> ReferenceAgent:
    return ReferenceAgent(protocol_versions=(version,), **options)


def parent(span: Any) -> int | None:
    return None if span.parent is None else span.parent.span_id


@BOTH
async def test_a_conversation(version: int, tmp_path: Path) -> None:
    told = Told()
    options: dict[str, Any] = {"protocol_versions": (version,), "telemetry": told.telemetry, "files": True}
    agent = agent_of(version)
    async with acp_host.connect(agent.transport(), permissions=PermissionPolicy.allow_once(), **options) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("/say Hello")
        await session.prompt("/tool x")
        assert told.open == []
    start, first, second = told.span("acp.connect"), *told.spans("invoke_agent")
    assert start.attributes is not None
    assert start.attributes["acp.protocol.version"] == version
    assert start.attributes["gen_ai.agent.name"] == host.agreement.agent_info.name
    assert start.attributes["gen_ai.agent.version"] == host.agreement.agent_info.version
    assert parent(told.span("initialize")) == start.context.span_id
    assert dict(told.span("session/new").attributes or {})["gen_ai.conversation.id"] == session.id
    assert (first.name, first.kind, first.parent) == (
        f"invoke_agent {start.attributes['gen_ai.agent.name']}",
        SpanKind.CLIENT,
        None,
    )
    attributes = dict(first.attributes or {})
    assert attributes["gen_ai.operation.name"] == "invoke_agent"
    assert attributes["gen_ai.conversation.id"] == session.id
    assert attributes["gen_ai.response.finish_reasons"] == ("end_turn",)
    assert attributes["acp.turn.outcome"] == "completed"
    assert attributes["gen_ai.usage.input_tokens"] >= 1
    assert first.status.status_code is StatusCode.UNSET
    call = told.span("execute_tool")
    assert parent(call) == second.context.span_id
    assert dict(call.attributes or {})["acp.tool.status"] == "completed"


@BOTH
async def test_what_the_agent_asks_belongs_to_the_turn_and_the_call(version: int, tmp_path: Path) -> None:
    told = Told()
    (tmp_path / "notes.md").write_text("old")

    async def script(turn: AgentTurn) -> None:
        async with turn.tool_call("edit a file", kind="edit") as call:
            await turn.permitted(call)

    async with acp_host.connect(
        agent_of(version, script=script).transport(),
        protocol_versions=(version,),
        telemetry=told.telemetry,
    ) as host:
        await (await host.new_session(tmp_path)).prompt("go")
    turn, call, asked = told.span("invoke_agent"), told.span("execute_tool"), told.span("session/request_permission")
    assert parent(asked) == call.context.span_id
    assert parent(call) == turn.context.span_id
    assert asked.kind is SpanKind.SERVER
    attributes = dict(asked.attributes or {})
    assert (attributes["acp.decision"], attributes["acp.decided_by"]) == ("rejected", "policy")


async def test_a_turn_belongs_to_the_span_in_which_it_was_asked_for_whenever_it_is_sent(tmp_path: Path) -> None:
    told = Told()
    tracer = told.provider.get_tracer("application")
    async with acp_host.connect(ReferenceAgent().transport(), telemetry=told.telemetry) as host:
        session = await host.new_session(tmp_path)
        with tracer.start_as_current_span("first job"):
            first = session.prompt("/say one")
        with tracer.start_as_current_span("second job"):
            second = session.prompt("/say two")
        third = session.prompt("/say three")
        await asyncio.gather(first.wait(), second.wait(), third.wait())
    spans = told.spans("invoke_agent")
    assert [parent(span) for span in spans] == [
        told.span("first job").context.span_id,
        told.span("second job").context.span_id,
        None,
    ]


async def test_handlers_run_within_the_span_of_their_request(tmp_path: Path) -> None:
    told = Told()
    tracer = told.provider.get_tracer("application")

    async def allow(request: Any) -> str:
        with tracer.start_as_current_span("deciding"):
            return "reject_once"

    async def script(turn: AgentTurn) -> None:
        async with turn.tool_call("edit a file", kind="edit") as call:
            await turn.permitted(call)

    agent = ReferenceAgent(script=script)
    async with acp_host.connect(agent.transport(), telemetry=told.telemetry, permissions=allow) as host:
        await (await host.new_session(tmp_path)).prompt("go")
    assert parent(told.span("deciding")) == told.span("session/request_permission").context.span_id


@BOTH
async def test_a_cancelled_turn_is_no_error(version: int, tmp_path: Path) -> None:
    told = Told()
    started = asyncio.Event()

    async def script(turn: AgentTurn) -> None:
        async with turn.tool_call("a long one", kind="execute"):
            started.set()
            await asyncio.Event().wait()

    agent = agent_of(version, script=script)
    async with acp_host.connect(agent.transport(), protocol_versions=(version,), telemetry=told.telemetry) as host:
        session = await host.new_session(tmp_path)
        turn, waiting = session.prompt("go"), session.prompt("never sent")
        await started.wait()
        session.cancel()
        assert (await turn).stop_reason == "cancelled"
        await waiting
    span = told.span("invoke_agent")
    assert dict(span.attributes or {})["acp.turn.outcome"] == "cancelled"
    assert span.status.status_code is StatusCode.UNSET
    assert told.open == []
    call = told.span("execute_tool")
    assert call.end_time is not None
    assert span.end_time is not None
    assert call.end_time <= span.end_time


@BOTH
async def test_a_turn_that_is_cut_off_ends_with_an_error_and_the_reconnection_is_told(
    version: int, tmp_path: Path
) -> None:
    told = Told()

    async def script(turn: AgentTurn) -> None:
        async with turn.tool_call("a long one", kind="execute"):
            await until(lambda: "execute_tool execute" in told.open)
            way.made[-1].cut()
            await asyncio.Event().wait()

    agents = [agent_of(version, script=script), agent_of(version)]
    way = Way(lambda number: agents[min(number, 1)], [None, unreachable(), None])
    async with acp_host.connect(way, protocol_versions=(version,), reconnect=QUICK, telemetry=told.telemetry) as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(OutcomeUnknown):
            await session.prompt("go")
        await until(lambda: host.health.snapshot().status == "connected" and len(way.made) == 3)
        await until(lambda: told.spans("acp.reconnect"))
    turn = told.span("invoke_agent")
    attributes = dict(turn.attributes or {})
    assert turn.status.status_code is StatusCode.ERROR
    assert (attributes["acp.turn.outcome"], attributes["error.type"]) == ("failed", "OutcomeUnknown")
    assert dict(told.span("execute_tool").attributes or {})["acp.tool.status"] == "unfinished"
    reconnect = told.span("acp.reconnect")
    assert dict(reconnect.attributes or {})["acp.reconnect.outcome"] == "restored"
    assert [event.name for event in reconnect.events] == ["acp.reconnect.attempt"] * 2
    assert parent(told.spans("initialize")[-1]) == parent(told.span("session/resume")) == reconnect.context.span_id
    assert told.open == []


async def test_nothing_is_open_where_the_host_closes_in_the_middle(tmp_path: Path) -> None:
    told = Told()
    started = asyncio.Event()

    async def script(turn: AgentTurn) -> None:
        async with turn.tool_call("a long one", kind="execute"):
            started.set()
            await asyncio.Event().wait()

    async with acp_host.connect(ReferenceAgent(script=script).transport(), telemetry=told.telemetry) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("go")
        await started.wait()
    with pytest.raises(acp_host.AcpError):
        await turn
    assert told.open == []
    assert told.span("invoke_agent").status.status_code is StatusCode.ERROR
    assert told.metrics()["acp.connections.active"] == [({}, 0)]
    assert told.metrics()["acp.sessions.active"] == [({}, 0)]


async def test_the_end_of_a_connection_that_nobody_closes(tmp_path: Path) -> None:
    told = Told()

    async def script(turn: AgentTurn) -> None:
        way.cut()
        await asyncio.Event().wait()

    way = Way(lambda _: ReferenceAgent(script=script))
    host = await acp_host.connect(way, reconnect=False, telemetry=told.telemetry)
    session = await host.new_session(tmp_path)
    with pytest.raises(OutcomeUnknown):
        await session.prompt("go")
    await host.wait_closed()
    await until(lambda: told.open == [])
    lost = {"error.type": "ConnectionLost", "acp.error.where": "connection"}
    assert any(lost.items() <= attributes.items() for attributes, _ in told.metrics()["acp.errors"])
    await host.close()


async def test_a_start_that_fails() -> None:
    told = Told()
    with pytest.raises(StartFailed):
        await acp_host.connect(["/nonexistent/agent"], telemetry=told.telemetry)
    span = told.span("acp.connect")
    assert span.status.status_code is StatusCode.ERROR
    assert dict(span.attributes or {})["error.type"] == "StartFailed"
    assert told.open == []


async def test_work_that_the_agent_begins_by_itself_is_a_trace_of_its_own() -> None:
    told = Told()

    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(version=2)
        await agent.open_session("s-1")
        for state in ({"state": "running"}, {"state": "idle", "stopReason": "end_turn"}):
            agent.notify("session/update", {"sessionId": "s-1", "update": {"sessionUpdate": "state_update", **state}})

    agent = ScriptedAgent(whole)
    tracer = told.provider.get_tracer("application")
    with tracer.start_as_current_span("main"):
        async with acp_host.connect(agent.transport(), protocol_versions=(2,), telemetry=told.telemetry) as host:
            await host.new_session()
            await agent.finished()
            await until(lambda: told.spans("invoke_agent"))
    span = told.span("invoke_agent")
    assert dict(span.attributes or {})["acp.turn.origin"] == "agent"
    assert span.parent is None


async def test_a_harn_agent(tmp_path: Path) -> None:
    told = Told()
    async with acp_host.connect(HarnAgent().transport(), telemetry=told.telemetry) as host:
        session = await host.new_session(tmp_path)
        result = await session.prompt("Hello")
        receipt = await session.remind("The tests have changed")
    assert dict(told.span("acp.connect").attributes or {})["acp.agent.is_harn"] is True
    assert dict(told.span("invoke_agent").attributes or {})["acp.turn.outcome"] == result.outcome.kind
    assert dict(told.span("acp.reminder").attributes or {})["acp.reminder.rung"] == receipt.rung
    assert told.open == []


async def test_history_that_is_told_again_makes_no_spans(tmp_path: Path) -> None:
    told = Told()
    agent = ReferenceAgent()
    async with acp_host.connect(agent.transport()) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("/tool x")
    async with acp_host.connect(agent.transport(), telemetry=told.telemetry) as host:
        await host.load_session(session.id, tmp_path)
    assert told.spans("session/load")
    assert not told.spans("execute_tool")
    assert not told.spans("invoke_agent")


async def test_ids_of_calls_that_are_used_again_in_the_next_turn() -> None:
    told = Told()

    async def script(agent: ScriptedAgent) -> None:
        for _ in range(2):
            await agent.expect("session/prompt")
            for update in (
                {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "x", "kind": "read"},
                {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"},
                {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "late"},
            ):
                agent.notify("session/update", {"sessionId": "s-1", "update": update})
            agent.reply(DONE)

    async with in_session(script, telemetry=told.telemetry) as session:
        await session.prompt("one")
        await session.prompt("two")
    assert len(told.spans("execute_tool read")) == 2


async def test_a_request_that_is_sent_while_a_turn_runs_belongs_to_it(tmp_path: Path) -> None:
    told = Told()
    started, reminded = asyncio.Event(), asyncio.Event()

    async def script(turn: AgentTurn) -> None:
        started.set()
        await reminded.wait()

    async with acp_host.connect(ReferenceAgent(script=script).transport(), telemetry=told.telemetry) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("go")
        await started.wait()
        session.remind_soon("The tests have changed")
        await until(lambda: told.spans("session/inject_reminder"))
        reminded.set()
        await turn
    assert parent(told.span("session/inject_reminder")) == told.span("invoke_agent").context.span_id


async def test_a_session_that_is_closed_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    told = Told()
    started = asyncio.Event()

    async def script(turn: AgentTurn) -> None:
        started.set()
        await asyncio.Event().wait()

    async with acp_host.connect(ReferenceAgent(script=script).transport(), telemetry=told.telemetry) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("go")
        await started.wait()
        await session.close()
        await turn.over()
        assert told.open == []
        assert told.metrics()["acp.sessions.active"] == [({}, 0)]
    assert dict(told.span("invoke_agent").attributes or {})["acp.turn.outcome"] == "cancelled"


async def test_a_turn_that_could_not_be_written_at_first_has_one_span(tmp_path: Path) -> None:
    told = Told()
    agent = ReferenceAgent()
    way = Way(lambda _: agent)
    async with acp_host.connect(way, reconnect=QUICK, telemetry=told.telemetry) as host:
        session = await host.new_session(tmp_path)
        way.cut()
        assert (await session.prompt("/say Hello")).text == "Hello"
    assert len(told.spans("invoke_agent")) == 1
    assert told.open == []
