"""What telemetry does not tell, what it does not load, and whom it does not disturb."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import acp_host
from acp_host.errors import InvalidInput
from acp_host.host.driver import Driver
from acp_host.host.incoming import IncomingRequests
from acp_host.state.session_state import SessionState
from acp_host.testing import AgentTurn, ReferenceAgent
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
        acp_host.connect(["agent"], telemetry="yes")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"acp-host\[otel\]"):
        acp_host.connect(["agent"], telemetry=True)


def test_settings_can_go_to_another_process() -> None:
    settings = acp_host.Telemetry(baggage=True)
    assert pickle.loads(pickle.dumps(settings)) == settings


async def test_the_global_providers_are_the_usual_ones(tmp_path: Path) -> None:
    async with acp_host.connect(ReferenceAgent().transport(), telemetry=True) as host:
        assert (await (await host.new_session(tmp_path)).prompt("/say Hello")).text == "Hello"
