"""The public catalogue of bad agents: this host meets each of them, and is judged as any host would be."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import CancelTimeouts, HostConnection, OutcomeKind, PermissionPolicy, StartTimeouts
from acp_host.testing import serve_http, serve_websocket
from acp_host.testing.chaos import CATALOGUE, BadAgent, Encounter, Ends, find
from acp_host.testing.chaos.journal import What
from tests.chaos.bad_agents import PATIENCE, until
from tests.chaos.test_catalogue import rows

IN_PROCESS = [agent for agent in CATALOGUE if not agent.process]
PROCESSES = [agent for agent in CATALOGUE if agent.process]
SOON: dict[str, Any] = {
    "start_timeouts": StartTimeouts(warm=5),
    "cancel_timeouts": CancelTimeouts(grace=0.05, withdrawn=0.05),
    "permissions": PermissionPolicy.reject(),
    "files": True,
    "terminals": True,
}


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Notices by the thousand are not for the report of a test."""
    caplog.set_level(logging.CRITICAL)


async def converse(host: HostConnection, bad: BadAgent, met: Encounter | None = None) -> None:
    """Hold a conversation of one turn, or two, and see that it ends as the agent's does."""
    session = await (host.load_session("old") if bad.loads else host.new_session())
    turn = session.prompt("hi", idle_timeout=0.2 if bad.tries_patience else None)
    if bad.cancels and met is not None:
        await until(lambda: any(event.what == What.WORKING for event in met.journal.events))
        turn.cancel()
    result = await turn
    assert result.outcome.kind == OutcomeKind.COMPLETED or bad.ends == Ends.EITHER
    if bad.ends == Ends.COMPLETED and not bad.process and bad.name != "answers-and-ends":
        assert (await session.prompt("again")).outcome.kind == OutcomeKind.COMPLETED


async def meet(bad: BadAgent, target: Any, met: Encounter | None = None, **options: Any) -> None:
    if bad.name in ("silent-start", "a-server"):
        options["start_timeouts"] = StartTimeouts(warm=0.5)
    try:
        async with asyncio.timeout(PATIENCE), acp_host.connect(target, **{**SOON, **options}) as host:
            await converse(host, bad, met)
    except acp_host.AcpError:
        assert bad.ends != Ends.COMPLETED
    else:
        assert bad.ends != Ends.FAILED


@pytest.mark.parametrize("bad", IN_PROCESS, ids=str)
async def test_r440_every_agent_of_the_public_catalogue(bad: BadAgent, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    met = bad.meet()
    await meet(bad, met.transport(), met)
    assert [finding for finding in met.findings() if finding.ok is not True] == []


@pytest.mark.parametrize("name", ["characters-in-pieces", "no-directory"])
async def test_r440_agents_whose_commands_are_run(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    met = find(name).meet()
    await meet(find(name), met.transport(), met, permissions=PermissionPolicy("allow_once"))
    findings = met.findings()
    assert [finding for finding in findings if finding.ok is not True] == []
    assert any("character" in finding.rule or "directory" in finding.rule for finding in findings)


@pytest.mark.parametrize("bad", PROCESSES, ids=str)
@pytest.mark.skipif(sys.platform == "win32", reason="the programs use POSIX signals")
async def test_r440_every_bad_process_of_the_public_catalogue(bad: BadAgent) -> None:
    timeouts = acp_host.StopTimeouts(exit=0.3, terminate=0.3, kill=5)
    await meet(bad, bad.command(), stop_timeouts=timeouts)


@pytest.mark.parametrize("name", ["noise-json-string", "id-zero", "late-updates", "unknown-method-1", "answers-twice"])
@pytest.mark.parametrize("serve", [serve_websocket, serve_http])
async def test_r440_agents_of_the_public_catalogue_over_a_network(name: str, serve: Any) -> None:
    bad = find(name)
    async with serve(bad.serve) as served:
        options = {"remote": acp_host.RemoteOptions(bearer=served.token), "files": None, "terminals": None}
        async with acp_host.connect(served.url, **{**SOON, **options}) as host:
            session = await host.new_session("/workspace")
            assert (await session.prompt("hi")).outcome.kind == OutcomeKind.COMPLETED


def test_r440_the_catalogue_is_in_order_and_says_what_is_what() -> None:
    numbers = [agent.number for agent in CATALOGUE]
    assert numbers == sorted(set(numbers))
    assert len({agent.name for agent in CATALOGUE}) == len(numbers) > 200
    known = {row["number"] for row in rows()}
    for agent in CATALOGUE:
        assert agent.row in known, agent
        assert agent.does.endswith("."), agent
        assert agent.rule.endswith("."), agent
        assert find(agent.name) is find(f"C{agent.number:03d}") is agent


def test_r440_an_agent_as_a_program() -> None:
    command = [sys.executable, "-m", "acp_host.testing.chaos"]
    listed = subprocess.run([*command, "list", "noise-"], capture_output=True, text=True, check=True).stdout
    assert listed.count("\n  C0") == 15
    unknown = subprocess.run([*command, "noise"], capture_output=True, text=True, check=False)
    assert (unknown.returncode, "noise-migration-log" in unknown.stderr) == (2, True)
    assert CATALOGUE[0].command() == [*command, "noise-migration-log"]
