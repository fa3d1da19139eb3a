"""Registries, downloads and runners of agents that do harm, and what is remembered of agents that do."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import stat
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import InvalidInput, KnownAgents, StartFailed
from acp_host.automation.known_agents import LastSeen, Locations
from acp_host.automation.known_agents.archives import unpack
from acp_host.automation.known_agents.own_entries import OwnEntry, add_own
from acp_host.automation.known_agents.registries import kept_registries, refresh_registry
from acp_host.cli import main
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.automation.known_agents.conftest import Files, locations, server
from tests.automation.known_agents.manifests import by_program, by_runner, registry
from tests.automation.known_agents.test_archives import FILE, LINK, make_tar, make_zip
from tests.cli.test_run import UNSAFE

__all__ = ["locations", "server"]

posix = pytest.mark.skipif(sys.platform == "win32", reason="programs that are scripts of a POSIX shell")


def put(folder: Path, name: str, script: str) -> dict[str, str]:
    """Put a program into a folder, and return an environment in which it is found."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


async def keep(locations: Locations, server: Files, *manifests: Any) -> None:
    server.bodies["/r.json"] = registry(*manifests)
    await refresh_registry(locations.registries, f"{server.url}/r.json")


async def test_r430_what_does_not_fit_is_left_out_and_told(locations: Locations, server: Files) -> None:
    bad: list[Any] = [None, 3, [], {}, {"id": "../x"}, {**by_runner("a"), "distribution": {"npx": 3}}]
    await keep(locations, server, *bad, by_runner("good"), {**by_runner("odd"), "name": 3, "authors": "me", "new": {}})
    agents = KnownAgents.load(locations, environment={})
    assert list(agents) == ["good", "odd"]
    assert len(agents.diagnostics) == len(bad) + 1
    assert {each.path for each in agents.diagnostics} >= {f"$.agents[{number}]" for number in range(len(bad))}


@pytest.mark.parametrize("package", ["--call=touch pwned", "https://evil.example/x.tgz", "../x", "x;touch pwned"])
async def test_r431_a_package_is_no_option_address_or_path(locations: Locations, server: Files, package: str) -> None:
    await keep(locations, server, by_runner("good"), by_runner("evil", package=package))
    assert list(KnownAgents.load(locations, environment={})) == ["good"]


@posix
async def test_r431_no_shell_reads_a_manifest(
    locations: Locations, server: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    args = ["; touch pwned", "$(touch pwned)", "`touch pwned`", "| touch pwned", "a b", "*", "%PATH%", ""]
    await keep(locations, server, by_runner("acme", args=args, env={"A": "$(touch pwned)"}))
    write = f'[ "$A" = "\\$(touch pwned)" ] && printf "%s\\n" "$@" > argv\nexec {" ".join(ReferenceAgent.command())}'
    monkeypatch.setenv("PATH", put(tmp_path / "bin", "npx", write)["PATH"])
    async with acp_host.connect(KnownAgents.load(locations).find("acme").target()):
        pass
    assert (tmp_path / "argv").read_text().splitlines()[3:] == args
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("make, kind", [(make_zip, ".zip"), (make_tar, ".tar.gz")])
@pytest.mark.parametrize(
    "entries",
    [
        [("../pwned", FILE | 0o644, b"x")],
        [("a", LINK | 0o777, b".."), ("a/pwned", FILE | 0o644, b"x")],
        [("bin/agent", LINK | 0o777, b"../../pwned")],
    ],
)
def test_r432_an_archive_stays_in_its_folder(make: Any, kind: str, entries: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    make(tmp_path / "archive", *entries)
    with pytest.raises(InvalidInput, match="archive"):
        unpack(tmp_path / "archive", kind, tmp_path / "in" / "out")
    assert not (tmp_path / "pwned").exists()
    assert not (tmp_path / "in" / "pwned").exists()


async def test_r433_escape_codes_of_a_registry_are_spelled_out(
    locations: Locations, server: Files, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Locations, "for_user", lambda: locations)
    loud = "\x1b[31m\x1b]0;title\x07\u202e\x9b2J\r"
    manifest = by_runner("evil", args=[loud])
    manifest |= dict.fromkeys(("name", "version", "description", "website", "license"), loud)
    await keep(locations, server, manifest, {"id": loud})
    await _run_in_thread(["agents"], ["agents", "show", "evil"], ["agents", "--json"])
    out, err = capsys.readouterr()
    assert "evil" in out
    assert not UNSAFE.search(out + err)


async def _run_in_thread(*lines: list[str]) -> None:
    import asyncio

    for line in lines:
        assert await asyncio.to_thread(main, line) == 0


@pytest.mark.parametrize("fault", ["checksum", "cut", "gone"])
async def test_r434_what_is_not_what_was_listed_is_not_kept(
    locations: Locations, server: Files, tmp_path: Path, fault: str
) -> None:
    make_tar(tmp_path / "a", ("bin/agent", FILE | 0o755, b"#!/bin/sh\n" + bytes(100_000)))
    whole = (tmp_path / "a").read_bytes()
    if fault != "gone":
        server.bodies["/a.tgz"] = whole[:-50] if fault == "cut" else whole + b"x"
    checksum = hashlib.sha256(whole).hexdigest()
    await keep(locations, server, by_program(archive=f"{server.url}/a.tgz", sha256=checksum))
    agents = KnownAgents.load(locations, environment={})
    with pytest.raises(acp_host.AcpError):
        await agents.download("prog")
    assert list((locations.programs / "prog").iterdir()) == []
    with pytest.raises(InvalidInput, match="has to be downloaded first"):
        KnownAgents.load(locations, environment={})["prog"].target({})


@pytest.mark.parametrize("path", ["/endless", "/loop", "/plain", "/not", "/silent"])
async def test_r435_a_server_of_registries_is_not_trusted(
    locations: Locations, server: Files, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from acp_host.automation.known_agents import registries

    server.bodies |= {"/endless": bytes(9 * 2**20), "/not": b"<html>"}
    server.redirects |= {"/loop": "/loop", "/plain": "http://agents.example/r.json"}
    server.silent.add("/silent")
    await keep(locations, server, by_runner())
    if path == "/silent":
        monkeypatch.setattr(registries, "_SECONDS", 0.1)
    with pytest.raises(acp_host.AcpError):
        await refresh_registry(locations.registries, f"{server.url}{path}")
    (kept,) = kept_registries(locations.registries)
    assert [manifest.id for manifest in kept.manifests] == ["acme"]


@posix
async def test_r436_a_registry_takes_no_name_from_anybody(locations: Locations, server: Files, tmp_path: Path) -> None:
    add_own(locations.own, "mine", OwnEntry(command=("my-agent",)))
    await keep(locations, server, by_runner("older"))
    server.bodies["/evil"] = registry(*(by_runner(name, package="evil@1") for name in ("mine", "opencode", "older")))
    await refresh_registry(locations.registries, f"{server.url}/evil")
    agents = KnownAgents.load(locations, environment=put(tmp_path / "bin", "opencode", ""))
    assert agents["mine"].way.command == ("my-agent",)
    assert agents["opencode"].way.command == ("opencode", "acp")
    assert "evil@1" not in agents["older"].way.command


def npm_package(port_url: str) -> dict[str, bytes]:
    """Return what a registry of npm has about one package, whose program is the reference agent."""
    argv = json.dumps(ReferenceAgent.command())
    program = f"""#!/usr/bin/env node
const [file, ...args] = {argv};
const agent = require('child_process').spawn(file, args, {{ stdio: 'inherit' }});
agent.on('exit', (code) => process.exit(code));
"""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        described = json.dumps({"name": "@acme/agent", "version": "1.2.3", "bin": {"agent": "agent.js"}})
        for name, text in (("package/package.json", described), ("package/agent.js", program)):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(text), stat.S_IMODE(0o755)
            tar.addfile(info, io.BytesIO(text.encode()))
    data = packed.getvalue()
    integrity = f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}"
    version = {**json.loads(described), "dist": {"tarball": f"{port_url}/agent.tgz", "integrity": integrity}}
    document = {"name": "@acme/agent", "dist-tags": {"latest": "1.2.3"}, "versions": {"1.2.3": version}}
    return {"/@acme%2fagent": json.dumps(document).encode(), "/agent.tgz": data}


@posix
async def test_r437_a_package_is_not_downloaded_without_being_asked_for(
    locations: Locations, server: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With npm's own npx, and a registry of packages on this machine."""
    if shutil.which("npx") is None:
        pytest.skip("npx is not installed")
    server.bodies |= npm_package(server.url)
    for name, value in {"registry": server.url, "cache": str(tmp_path / "npm"), "update_notifier": "false"}.items():
        monkeypatch.setenv(f"npm_config_{name}", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    await keep(locations, server, by_runner())
    acme = KnownAgents.load(locations).find("acme")
    with pytest.raises(StartFailed, match="missing packages"):
        await acp_host.connect(acme.target())
    assert "/agent.tgz" not in server.asked
    async with acp_host.connect(acme.target(installing=True)) as host:
        assert host.agreement.agent_info is not None
    server.asked.clear()
    async with acp_host.connect(acme.target()) as host:
        assert host.agreement.agent_info is not None
    assert "/agent.tgz" not in server.asked


@posix
async def test_r438_files_that_others_can_write_or_that_are_damaged(locations: Locations, server: Files) -> None:
    await keep(locations, server, by_runner())
    for path in (*locations.registries.iterdir(), locations.seen):
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"half": ')
        path.chmod(0o600)
    agents = KnownAgents.load(locations, environment={})
    assert list(agents) == []
    assert "is not used" in agents.diagnostics[0].message
    add_own(locations.own, "mine", OwnEntry(command=("x",)))
    locations.own.chmod(0o666)
    with pytest.raises(InvalidInput, match="others can write it"):
        KnownAgents.load(locations, environment={})


async def loud(agent: ScriptedAgent) -> None:
    """Say too much at the handshake, and what nobody should keep."""
    capabilities = {"_meta": {f"{number}{'x' * 1000}\x1b[31m": True for number in range(5_000)}}
    info = {"name": "Bearer abcdef1234567890" + "x" * 100_000, "version": "token=hunter22222"}
    methods = [{"id": f"{number}\x1b", "name": "n"} for number in range(5_000)]
    await agent.handshake(capabilities, agentInfo=info, authMethods=methods)
    await agent.stall()


async def test_r439_what_is_remembered_of_an_agent_is_small_and_no_secret(
    locations: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Locations, "for_user", lambda: locations)

    add_own(locations.own, "loud", OwnEntry(command=tuple(ScriptedAgent.command(loud))))
    await _run_in_thread(["inspect", "--json", "loud"])
    text = locations.seen.read_text()
    assert len(text) < 100_000
    assert "hunter2" not in text
    assert "abcdef1234567890" not in text
    assert not UNSAFE.search(text)
    (seen,) = LastSeen(locations.seen).read().values()
    assert (len(seen.capabilities), len(seen.auth_methods)) == (100, 100)
