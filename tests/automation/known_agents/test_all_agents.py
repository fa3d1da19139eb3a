from __future__ import annotations

import asyncio
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import acp_host
from acp_host.automation.known_agents import KnownAgents, LastSeen, Locations, Readiness, SeenAgent, WayKind
from acp_host.automation.known_agents.machine import platform_key
from acp_host.automation.known_agents.manifest import PLATFORMS
from acp_host.automation.known_agents.on_path import WELL_KNOWN
from acp_host.automation.known_agents.own_entries import OwnEntry, add_own
from acp_host.automation.known_agents.registries import refresh_registry
from acp_host.errors import InvalidInput
from acp_host.testing import ReferenceAgent
from tests.automation.known_agents.conftest import Files
from tests.automation.known_agents.manifests import by_program, by_runner, registry
from tests.automation.known_agents.test_archives import FILE, make_tar


def install(folder: Path, *programs: str) -> dict[str, str]:
    """Put programs into a folder, and return an environment whose ``PATH`` it is."""
    folder.mkdir(exist_ok=True)
    for name in programs:
        program = folder / (f"{name}.exe" if os.name == "nt" else name)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    return {"PATH": str(folder), "PATHEXT": ".EXE"}


async def keep(locations: Locations, path: Path, *manifests: dict[str, object]) -> None:
    await asyncio.to_thread(path.write_bytes, registry(*manifests))
    await refresh_registry(locations.registries, str(path))


def load(locations: Locations, environment: dict[str, str]) -> KnownAgents:
    return KnownAgents.load(locations, environment=environment)


def test_nothing_is_known_where_nothing_is(locations: Locations) -> None:
    agents = load(locations, {"PATH": ""})
    assert (dict(agents), agents.registries, agents.diagnostics) == ({}, (), ())
    assert not locations.own.parent.exists()


def test_well_known_programs_are_found_and_not_started(locations: Locations, tmp_path: Path) -> None:
    agents = load(locations, install(tmp_path / "bin", "opencode", "vibe-acp", "something"))
    assert list(agents) == ["mistral-vibe", "opencode"]
    way = agents["opencode"].way
    assert (way.kind, way.command, way.readiness) == (WayKind.PATH, ("opencode", "acp"), Readiness.READY)
    assert agents["opencode"].target({}).command == ("opencode", "acp")


def test_the_table_of_well_known_programs() -> None:
    for agent in WELL_KNOWN:
        assert agent.command
        assert agent.title
        assert agent.name == agent.name.lower()
    assert len({agent.command[0] for agent in WELL_KNOWN}) == len(WELL_KNOWN)


async def test_packages_are_started_without_a_download(locations: Locations, tmp_path: Path) -> None:
    uvx = by_runner("py", "uvx", "py-agent==1.0", env={"QUIET": "1"})
    await keep(locations, tmp_path / "r.json", by_runner(), uvx)
    agents = load(locations, install(tmp_path / "bin", "npx", "uvx"))
    acme, py = agents["acme"], agents["py"]
    assert (acme.way.readiness, acme.version) == (Readiness.UNKNOWN, "1.2.3")
    assert acme.target({}).command == ("npx", "--no", "--", "@acme/agent@1.2.3", "--acp")
    assert acme.target({}, installing=True).command == ("npx", "--yes", "--", "@acme/agent@1.2.3", "--acp")
    assert py.target({}).command == ("uvx", "--offline", "py-agent==1.0", "--acp")
    assert py.target({}, installing=True).command == ("uvx", "py-agent==1.0", "--acp")
    assert py.target({}).env == {"QUIET": "1"}
    without = load(locations, {"PATH": ""})["acme"]
    assert without.way.readiness is Readiness.UNAVAILABLE
    with pytest.raises(InvalidInput, match="acme: npx is not on the PATH"):
        without.target({})


async def test_a_program_has_to_be_downloaded_first(locations: Locations, tmp_path: Path, server: Files) -> None:
    make_tar(tmp_path / "a", ("bin/agent", FILE | 0o755, b"#!/bin/sh\n"))
    server.bodies["/a.tgz"] = (tmp_path / "a").read_bytes()
    await keep(locations, tmp_path / "r.json", by_program(archive=f"{server.url}/a.tgz", args=["acp"]))
    agents = load(locations, {})
    assert agents["prog"].way.readiness is Readiness.NOT_INSTALLED
    with pytest.raises(InvalidInput, match="has to be downloaded first"):
        agents["prog"].target({})
    assert server.asked == []
    downloaded = await agents.download("prog")
    assert downloaded.target({}).command == (*agents["prog"].way.command[:1], "acp")
    assert load(locations, {})["prog"] == downloaded
    assert os.path.isfile(downloaded.way.command[0])  # noqa: ASYNC240 - a look at a small disk


async def test_a_program_for_other_machines(locations: Locations, tmp_path: Path) -> None:
    other = next(name for name in sorted(PLATFORMS) if name != platform_key())
    manifest = by_program()
    manifest["distribution"]["binary"] = {other: {"archive": "https://x.example/a", "cmd": "a"}}
    await keep(locations, tmp_path / "r.json", manifest)
    with pytest.raises(InvalidInput, match=f"no build for {platform_key()}, only for {other}"):
        load(locations, {})["prog"].target({})


async def test_what_is_ready_goes_first(locations: Locations, tmp_path: Path) -> None:
    manifest = by_runner("opencode")
    manifest["distribution"]["binary"] = by_program()["distribution"]["binary"]
    await keep(locations, tmp_path / "r.json", manifest)
    agent = load(locations, install(tmp_path / "bin", "opencode", "npx"))["opencode"]
    assert [way.kind for way in agent.ways] == [WayKind.PATH, WayKind.NPX, WayKind.BINARY]
    assert agent.title == "The opencode agent"
    assert agent.version == ""  # of the program that is installed, nobody knows


async def test_an_entry_of_the_users_own_is_all_that_counts(locations: Locations, tmp_path: Path) -> None:
    await keep(locations, tmp_path / "r.json", by_runner("opencode"))
    add_own(locations.own, "opencode", OwnEntry(command=("mine",)))
    environment = install(tmp_path / "bin", "opencode", "npx")
    assert [way.command for way in load(locations, environment)["opencode"].ways] == [("mine",)]
    locations.own.write_text('[agents.opencode]\ncommand = "not a list"\n')
    with pytest.raises(InvalidInput, match="cannot be used: command is a list"):
        load(locations, environment)["opencode"].target({})


async def test_of_two_registries_the_one_that_was_there_first_counts(locations: Locations, tmp_path: Path) -> None:
    await keep(locations, tmp_path / "z.json", by_runner())
    await keep(locations, tmp_path / "a.json", by_runner(package="evil@1"), by_runner("new"))
    await keep(locations, tmp_path / "z.json", by_runner(package="@acme/agent@2"))
    agents = load(locations, {})
    assert agents["acme"].way.command[3] == "@acme/agent@2"
    assert "another registry has it" in agents.diagnostics[0].message
    assert "new" in agents


def test_variables_are_taken_when_it_is_started(locations: Locations) -> None:
    add_own(locations.own, "work", OwnEntry(command=("x",), env_from={"KEY": "WORK_KEY"}))
    add_own(locations.own, "lab", OwnEntry(url="wss://agents.example/acp", bearer_env="TOKEN"))
    agents = load(locations, {})
    assert agents["work"].target({"WORK_KEY": "s3cret"}).env == {"KEY": "s3cret"}
    lab = agents["lab"].target({"TOKEN": "s3cret"})
    assert lab.url == "wss://agents.example/acp"
    assert lab.remote is not None
    assert lab.remote.bearer == "s3cret"
    assert "s3cret" not in repr(lab) + repr(agents["work"].target({"WORK_KEY": "s3cret"}))
    for name, variable in (("work", "WORK_KEY"), ("lab", "TOKEN")):
        with pytest.raises(InvalidInput, match=f"{name}: the environment variable {variable} is not set"):
            agents[name].target({})


def test_what_an_agent_was_seen_to_support(locations: Locations) -> None:
    seen = SeenAgent(at=datetime(2026, 11, 30, tzinfo=UTC), protocol_version=1, name="x", version="9")
    add_own(locations.own, "work", OwnEntry(command=("x", "--acp")))
    LastSeen(locations.seen).remember("x --acp", seen)
    agent = load(locations, {})["work"]
    assert (agent.seen, agent.version) == (seen, "9")


def test_a_name_that_nobody_has(locations: Locations) -> None:
    add_own(locations.own, "opencode", OwnEntry(command=("x",)))
    with pytest.raises(InvalidInput, match="is it opencode"):
        load(locations, {}).find("opncode")
    with pytest.raises(InvalidInput, match="agents lists"):
        load(locations, {}).find("\x1b[31m")


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Locations:
    """The user's files are in a folder of the test."""
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    return Locations.for_user()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the variables say nothing there")
async def test_connecting_by_name(at_home: Locations, tmp_path: Path) -> None:
    command = ReferenceAgent.command()
    code = "import os, sys; os.environ['ACP_TEST_KEY'] == 'k' or sys.exit(9); os.execv(sys.argv[1], sys.argv[1:])"
    add_own(
        at_home.own, "me", OwnEntry(command=(sys.executable, "-c", code, *command), env_from={"ACP_TEST_KEY": "MINE"})
    )
    with pytest.raises(InvalidInput, match="MINE is not set"):
        acp_host.known("me")
    os.environ["MINE"] = "k"
    try:
        target = acp_host.known("me")
    finally:
        del os.environ["MINE"]
    async with acp_host.connect(target, env={"OTHER": "1"}) as host:
        assert host.agreement.agent_info is not None
    result = await acp_host.run_prompt(target, "/say Hello", cwd=tmp_path)
    assert result.text == "Hello"
    with pytest.raises(InvalidInput, match="no agent is known"):
        acp_host.known("you")
