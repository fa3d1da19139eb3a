"""What telemetry does not tell, what it does not load, and whom it does not disturb."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

import acp_host
from acp_host import PermissionPolicy
from acp_host.errors import InvalidInput
from acp_host.host.driver import Driver
from acp_host.host.incoming import IncomingRequests
from acp_host.state.session_state import SessionState
from acp_host.testing import AgentTurn, ReferenceAgent, ScriptedAgent
from tests.host.scripts import DONE, in_session
from tests.host.telemetry.telling import Told

KEY = "sk-abcdefghijklmnop1234"


async def converse(told: Told, folder: Path) -> None:
    (folder / "secret-plans.md").write_text("contents of a file")

    async def script(turn: AgentTurn) -> None:
        await turn.say("words of the agent")
        async with turn.tool_call("read secret-plans.md", kind="read", raw_input={"key": KEY}) as call:
            await turn.permitted(call)
            call.show("what the tool has found")

    async with acp_host.connect(
        ReferenceAgent(script=script).transport(), telemetry=told.telemetry, files=True, env=None
    ) as host:
        session = await host.new_session(folder, meta={"token": "tok-in-meta"})
        await session.prompt(f"words of the user, {KEY}")
        await session.remind("words of the host")


async def test_no_words_no_arguments_no_paths(tmp_path: Path) -> None:
    told = Told()
    await converse(told, tmp_path)
    everything = told.everything()
    for word in ("words of", "secret-plans", "contents of", "has found", KEY, "tok-in-meta", str(tmp_path)):
        assert word not in everything, word


async def test_content_that_is_asked_for_is_without_secrets(tmp_path: Path) -> None:
    told = Told(content=True)
    await converse(told, tmp_path)
    turn, call = dict(told.span("invoke_agent").attributes or {}), dict(told.span("execute_tool").attributes or {})
    assert "words of the user" in str(turn["gen_ai.input.messages"])
    assert "words of the agent" in str(turn["gen_ai.output.messages"])
    assert call["acp.tool.title"] == "read secret-plans.md"
    assert KEY not in told.everything()


async def test_what_an_agent_calls_itself_is_cut_and_spelled_out() -> None:
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


async def test_tool_calls_without_end_are_bounded() -> None:
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


@pytest.mark.parametrize("kind", ["exporter", "tracer"])
async def test_errors_of_exporters_and_providers_disturb_nobody(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    provider = TracerProvider(shutdown_on_exit=False) if kind == "exporter" else BrokenProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(Broken()))
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
    assert len(warnings) == (1 if kind == "tracer" else 0)
    assert all(record.levelno == logging.WARNING for record in warnings)


async def test_without_telemetry_no_part_of_a_connection_is_another_one() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session("/")
        assert type(host._driver) is Driver
        assert type(host._incoming) is IncomingRequests
        assert type(session.state) is SessionState


def test_without_telemetry_opentelemetry_is_not_loaded() -> None:
    code = f"""
import asyncio, sys, acp_host

async def main():
    async with acp_host.connect({ReferenceAgent.command()!r}) as host:
        session = await host.new_session(cwd=".")
        await session.prompt("/tool x")

asyncio.run(main())
print([name for name in sys.modules if name.startswith(("opentelemetry", "acp_host.host.telemetry."))])
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "opentelemetry" not in loaded
    assert "watch" not in loaded


def test_an_argument_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="telemetry"):
        acp_host.connect(["agent"], telemetry="yes")  # type: ignore[arg-type]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"acp-host\[otel\]"):
        acp_host.connect(["agent"], telemetry=True)


def test_settings_can_go_to_another_process() -> None:
    settings = acp_host.Telemetry(baggage=True)
    assert pickle.loads(pickle.dumps(settings)) == settings


async def test_the_global_providers_are_the_usual_ones(tmp_path: Path) -> None:
    async with acp_host.connect(ReferenceAgent().transport(), telemetry=True) as host:
        assert (await (await host.new_session(tmp_path)).prompt("/say Hello")).text == "Hello"
