"""What agents do to the telemetry of a connection, and what telemetry does to the connection."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.trace import StatusCode

import acp_host
from acp_host import PermissionPolicy
from acp_host.errors import OutcomeUnknown
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.host.scripts import DONE, in_session
from tests.host.telemetry.telling import HOSTILE, Told

KEY = "sk-abcdefghijklmnop1234"
ELSEWHERE = "00-" + "7" * 32 + "-" + "8" * 16 + "-01"


def asking(*metas: Any) -> Any:
    """Return a script that asks for a permission with each of these as ``_meta``, in one turn."""

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for meta in metas:
            asked = {
                "sessionId": "s-1",
                "toolCall": {"toolCallId": "c"},
                "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
                "_meta": meta,
            }
            await agent.call("session/request_permission", asked)
        agent.reply(DONE, to=prompt)

    return script


async def test_r450_trace_contexts_that_are_none() -> None:
    told = Told()
    metas = [{"traceparent": value, "tracestate": value, "baggage": value} for value in HOSTILE]
    async with in_session(asking(*metas, None), telemetry=told.telemetry) as session:
        assert (await session.prompt("go")).stop_reason == "end_turn"
    turn, spans = told.span("invoke_agent").context, told.spans("session/request_permission")
    assert len(spans) == len(HOSTILE) + 1
    for span in spans:
        assert span.parent is not None
        assert span.parent.span_id == turn.span_id
        assert not span.links


async def test_r451_a_trace_of_somebody_else() -> None:
    told = Told()
    meta = {"traceparent": ELSEWHERE, "tracestate": "evil=1", "baggage": "evil=1"}
    async with in_session(asking(meta), telemetry=told.telemetry) as session:
        await session.prompt("go")
    span = told.span("session/request_permission")
    assert span.context.trace_id == told.span("invoke_agent").context.trace_id
    assert [link.context.trace_id for link in span.links] == [int("7" * 32, 16)]
    assert "evil" not in told.everything()


async def test_r452_words_without_end() -> None:
    told = Told()

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(20):
            call = {"toolCallId": f"c{number}", "title": "t", "kind": f"kind-{number}", "status": f"status-{number}"}
            agent.notify("session/update", {"sessionId": "s-1", "update": {"sessionUpdate": "tool_call", **call}})
        agent.reply({"stopReason": "because I say so"}, to=prompt)

    async with in_session(script, telemetry=told.telemetry) as session:
        await session.prompt("go")
    assert told.values("acp.tool_calls", "acp.tool.kind", "acp.tool.status") == {("other", "unfinished"): 20}
    assert told.values("acp.turns", "acp.turn.outcome", "acp.turn.stop_reason") == {("incomplete", "other"): 1}


async def test_r453_tool_calls_without_end() -> None:
    told = Told()

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(1_200):
            agent.update({"sessionUpdate": "tool_call", "toolCallId": f"c{number}", "title": "t"}, "s-1")
        agent.reply(DONE, to=prompt)

    most = 0
    async with in_session(script, telemetry=told.telemetry) as session:

        def look(_: Any) -> None:
            nonlocal most
            most = max(most, len(told.open))

        session.on_update(look)
        await session.prompt("go")
    assert most <= 1_001
    assert told.open == []


class Broken(SpanExporter):
    def export(self, spans: Any) -> Any:
        raise RuntimeError("the collector is away")


class BrokenProvider(TracerProvider):
    def get_tracer(self, *args: Any, **kwargs: Any) -> Any:
        class BrokenTracer:
            def start_span(self, *args: Any, **kwargs: Any) -> Any:
                raise RuntimeError("no span today")

        return BrokenTracer()


class BrokenProcessor(SpanProcessor):
    def on_end(self, span: Any) -> None:
        raise RuntimeError("no span ends today")


@pytest.mark.parametrize("kind", ["exporter", "processor", "tracer"])
async def test_r454_exporters_and_providers_that_fail(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    provider = BrokenProvider(shutdown_on_exit=False) if kind == "tracer" else TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BrokenProcessor() if kind == "processor" else SimpleSpanProcessor(Broken()))
    telemetry = acp_host.Telemetry(tracer_provider=provider, meter_provider=NoOpMeterProvider())
    async with acp_host.connect(
        ReferenceAgent().transport(),
        telemetry=telemetry,
        files=True,
        permissions=PermissionPolicy.allow_once(),
    ) as host:
        session = await host.new_session(tmp_path)
        assert (await session.prompt("/say Hello")).text == "Hello"
        assert (await session.prompt("Look around")).outcome.kind == "completed"
        assert list(host.diagnostics) == []
    warnings = [record for record in caplog.records if record.name == "acp_host.telemetry"]
    assert len(warnings) == (0 if kind == "exporter" else 1)  # which the SDK logs by itself
    assert all(record.levelno == logging.WARNING for record in warnings)


async def test_r455_an_agent_that_dies_in_the_middle(tmp_path: Path) -> None:
    told = Told()

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        agent.update({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "kind": "execute"}, "s-1")
        agent.request("elicitation/create", {"sessionId": "s-1", "mode": "form", "message": "?", "requestedSchema": {}})
        await agent.close()

    async with acp_host.connect(ScriptedAgent(script).transport(), telemetry=told.telemetry) as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(OutcomeUnknown):
            await session.prompt("go")
        await host.wait_closed()
    turn = told.span("invoke_agent")
    assert turn.status.status_code is StatusCode.ERROR
    assert dict(turn.attributes or {})["error.type"] == "OutcomeUnknown"
    assert dict(told.span("execute_tool").attributes or {})["acp.tool.status"] == "unfinished"
    assert told.open == []


async def test_r456_names_that_are_long_and_not_clean() -> None:
    told = Told()

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect("initialize")
        info = {"name": f"\x1b[31m {KEY} " + "x" * 10_000, "version": "1\n2"}
        agent.reply({"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info}, to=request)

    async with acp_host.connect(ScriptedAgent(script).transport(), telemetry=told.telemetry):
        pass
    attributes = dict(told.span("acp.connect").attributes or {})
    name = str(attributes["gen_ai.agent.name"])
    assert len(name) < 400
    assert name.isprintable()
    assert KEY not in name
    assert str(attributes["gen_ai.agent.version"]).isprintable()


async def test_r504_halves_of_characters_and_numbers_beyond_reach() -> None:
    told = Told(content=True)
    call = {"toolCallId": "c", "title": "\ud83d read", "rawInput": {"\ud83d": 10**30}, "rawOutput": "\ude42"}

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for half in ("so \ud83d", "\ude42"):
            agent.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": half}}, "s-1")
        agent.update({"sessionUpdate": "tool_call", **call}, "s-1")
        agent.reply(DONE, to=prompt)

    async with in_session(script, telemetry=told.telemetry) as session:
        await session.prompt("half \ud83d")
    turn, used = dict(told.span("invoke_agent").attributes or {}), dict(told.span("execute_tool").attributes or {})
    assert "so 🙂" in str(turn["gen_ai.output.messages"])
    assert "half \\\\ud83d" in ascii(turn["gen_ai.input.messages"])
    assert used["acp.tool.title"] == "\\ud83d read"
    assert str(10**30) in str(used["gen_ai.tool.call.arguments"])
    for value in (*turn.values(), *used.values()):
        str(value).encode()  # as every exporter has to
    assert told.open == []
