"""``acp-host agents``, and names of agents wherever a command or a URL is taken."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_host.automation.known_agents import LastSeen, Locations
from acp_host.automation.known_agents.machine import platform_key
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.automation.known_agents.conftest import Files, server
from tests.automation.known_agents.manifests import by_program, by_runner, registry
from tests.automation.known_agents.test_archives import FILE, make_tar
from tests.cli import agents
from tests.cli.agents import HOSTILE
from tests.cli.conftest import Command
from tests.cli.test_run import UNSAFE

__all__ = ["server"]

if sys.platform in ("win32", "darwin"):
    pytest.skip("where the user's files are cannot be set there by a variable", allow_module_level=True)

AGENT = ReferenceAgent.command()


def put_program(folder: Path, name: str, *argv: str) -> None:
    """Put a program into a folder that starts an agent; with further words it starts another one."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f'#!/bin/sh\n[ "$*" = "{" ".join(argv)}" ] || exit 9\nexec {" ".join(AGENT)}\n')
    (folder / name).chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole ``PATH``, but for what every system has."""
    folder = tmp_path / "bin"
    monkeypatch.setenv("PATH", f"{folder}:/bin")
    return folder


def keep(command: Command, path: Path, *manifests: dict[str, Any]) -> None:
    path.write_bytes(registry(*manifests))
    assert command("agents", "refresh", str(path)).code == 0


def listed(command: Command) -> dict[str, Any]:
    ran = command("agents", "--json")
    assert (ran.code, ran.err) == (0, "")
    document = json.loads(ran.out)
    assert document["version"] == 1
    return {agent["name"]: agent for agent in document["agents"]}


def test_an_agent_of_the_users_own(command: Command) -> None:
    added = command("agents", "add", "--title", "Mine", "--env-from", "KEY=PATH", "mine", *AGENT)
    assert (added.code, added.out) == (0, "")
    assert listed(command)["mine"]["ways"][0]["envFrom"] == {"KEY": "PATH"}
    ran = command("run", "mine", "--", "/say Hello")
    assert (ran.code, ran.out) == (0, "Hello\n")
    shown = command("agents", "show", "mine")
    assert "sets KEY to that of PATH here" in shown.out
    assert command("agents", "add", "mine", "other").code == 2
    assert command("agents", "remove", "mine").code == 0
    assert "mine" not in listed(command)
    assert command("agents", "remove", "mine").code == 2


def test_what_it_was_last_seen_to_support(command: Command) -> None:
    command("agents", "add", "mine", *AGENT)
    assert listed(command)["mine"]["lastSeen"] is None
    assert command("inspect", *AGENT).code == 0  # by its command: it is known all the same
    seen = listed(command)["mine"]["lastSeen"]
    assert (seen["protocolVersion"], seen["name"]) == (1, "acp-host-reference-agent")
    assert "loadSession" in seen["capabilities"]
    shown = command("agents", "show", "mine").out
    assert "loadSession" in shown
    assert seen["at"][:10] in command("agents").out
    command("agents", "add", "--replace", "mine", *ScriptedAgent.command(agents.wants_login))
    assert command("run", "mine", "--", "x").code == 6
    assert listed(command)["mine"]["lastSeen"]["authMethods"] == ["key", "term", "new"]


def test_agents_that_are_not_known_leave_no_trace(command: Command, home: Path) -> None:
    assert command("inspect", *AGENT).code == 0
    assert list(home.iterdir()) == []


def test_what_is_seen_cannot_be_written_and_nothing_is_said(command: Command) -> None:
    command("agents", "add", "mine", *AGENT)
    seen = Locations.for_user().seen
    seen.parent.parent.mkdir(exist_ok=True)
    seen.parent.write_text("a file where a folder should be")
    ran = command("run", "mine", "--", "/say Hello")
    assert (ran.code, ran.out) == (0, "Hello\n")
    assert "cannot be written" not in ran.err


@pytest.mark.parametrize("name", ["opencode", "agent:opencode"])
def test_a_well_known_agent_that_is_installed(command: Command, programs: Path, name: str) -> None:
    put_program(programs, "opencode", "acp")
    ran = command("run", name, "--", "/say Hello")
    assert (ran.code, ran.out) == (0, "Hello\n")
    ran = command("inspect", "--json", name)
    assert ran.code == 0
    assert listed(command)["opencode"]["lastSeen"] is not None
    assert command("run", "--agent-arg=--more", name, "--", "x").code == 1  # the argument got there, and is not liked


def test_a_name_and_a_command(
    command: Command, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's own, then what is well known and installed, then a program on the PATH, then a registry."""
    monkeypatch.chdir(tmp_path)
    put_program(programs, "acme")
    put_program(programs, "npx", "--no", "--", "@acme/agent@1.2.3", "--acp")
    keep(command, tmp_path / "r.json", by_runner())

    def started(*words: str) -> str:
        found = command("inspect", *words)
        assert found.code == 0, found.err
        return next(line for line in found.out.splitlines() if "command" in line)

    assert "│ acme " in started("acme")  # the program, since only a registry has the name
    assert "acme: npx --no" in started("agent:acme")
    assert "agent:acme" in command("agents", "show", "acme").out
    assert "│ bin/acme " in started("bin/acme")  # a path is never a name
    command("agents", "add", "acme", *AGENT, "--delay", "0")
    assert "--delay 0" in started("acme")
    (programs / "acme").unlink()
    command("agents", "remove", "acme")
    assert "acme: npx --no" in started("acme")
    assert "acme: npx --no" in started("--", "acme")


def test_a_name_with_further_words_is_a_command(command: Command) -> None:
    command("agents", "add", "mine", *AGENT)
    ran = command("run", "mine", "more", "--", "x")
    assert ran.code == 1
    assert "mine is not on the PATH" in ran.err


def test_a_name_that_nobody_has(command: Command) -> None:
    command("agents", "add", "mine", *AGENT)
    ran = command("run", "agent:mime", "--", "x")
    assert (ran.code, ran.out) == (2, "")
    assert "no agent is known by the name 'mime'; is it mine?" in ran.err
    assert command("agents", "show", "nobody").code == 2


def test_a_package_that_was_never_downloaded(command: Command, programs: Path, tmp_path: Path) -> None:
    put_program(programs, "npx", "--yes", "--", "@acme/agent@1.2.3", "--acp")  # as if it were not there with --no
    keep(command, tmp_path / "r.json", by_runner())
    ran = command("run", "acme", "--", "/say Hello")
    assert ran.code == 1
    assert "If acme was never downloaded: --install allows that." in ran.err
    ran = command("run", "--install", "acme", "--", "/say Hello")
    assert (ran.code, ran.out) == (0, "Hello\n")
    assert listed(command)["acme"]["lastSeen"]["name"] == "acp-host-reference-agent"


@pytest.fixture
def downloadable(command: Command, server: Files, tmp_path: Path) -> Files:
    """A registry with an agent that has to be downloaded."""
    script = f'#!/bin/sh\n[ "$QUIET" = 1 ] || exit 9\nexec {" ".join(AGENT)}\n'.encode()
    make_tar(tmp_path / "a.tgz", ("agent-1/bin/agent", FILE | 0o755, script))
    server.bodies["/a.tgz"] = (tmp_path / "a.tgz").read_bytes()
    server.bodies["/r.json"] = registry(by_program(archive=f"{server.url}/a.tgz", env={"QUIET": "1"}))
    assert command("agents", "refresh", f"{server.url}/r.json").code == 0
    server.asked.clear()
    return server


def test_a_program_is_downloaded_when_asked_for_and_not_before(command: Command, downloadable: Files) -> None:
    assert command("agents").code == 0
    assert command("agents", "show", "prog").code == 0
    assert listed(command)["prog"]["ways"][0]["readiness"] == "not installed"
    ran = command("run", "prog", "--", "/say Hello")
    assert ran.code == 2
    assert "prog has to be downloaded first; --install allows that" in ran.err
    assert downloadable.asked == []
    ran = command("run", "--install", "prog", "--", "/say Hello")
    assert (ran.code, ran.out) == (0, "Hello\n")
    assert "downloading prog from http://127.0.0.1" in ran.err
    assert "has no checksum" in ran.err
    ran = command("run", "prog", "--", "/say Hello again")
    assert (ran.code, ran.out) == (0, "Hello again\n")
    assert downloadable.asked == ["/a.tgz"]


def test_installing(command: Command, downloadable: Files) -> None:
    ran = command("agents", "install", "prog")
    assert (ran.code, ran.out) == (0, "")
    assert "prog is there, and speaks version 1 of ACP" in ran.err
    agent = listed(command)["prog"]
    assert agent["ways"][0]["readiness"] == "ready"
    assert agent["lastSeen"]["protocolVersion"] == 1
    downloadable.bodies.clear()
    assert command("inspect", "prog").code == 0


def test_recording_an_agent_by_name(process: Command, downloadable: Files, tmp_path: Path) -> None:
    ran = process("record", "--output", "talk.jsonl", "prog")
    assert ran.code == 2
    assert "--install" in ran.err
    ran = process("record", "--install", "--output", "talk.jsonl", "prog")  # its host says nothing and is gone
    assert ran.code == 0
    assert (tmp_path / "talk.jsonl").exists()
    process("agents", "add", "lab", "ws://127.0.0.1:9/acp")
    ran = process("record", "lab")
    assert ran.code == 2
    assert "lab: ws://127.0.0.1:9/acp" in ran.err


def test_an_agent_elsewhere_by_name(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    command("agents", "add", "--bearer-env", "LAB_TOKEN", "lab", "ws://127.0.0.1:9/acp")
    ran = command("inspect", "lab")
    assert ran.code == 2
    assert "lab: the environment variable LAB_TOKEN is not set" in ran.err
    monkeypatch.setenv("LAB_TOKEN", "hunter22222")
    ran = command("inspect", "lab")
    assert ran.code == 1
    assert "127.0.0.1:9" in ran.err
    assert "hunter2" not in ran.err + ran.out + command("agents", "--json").out
    ran = command("run", "lab", "--", "x")  # the options are checked as for any URL
    assert "needs --cwd" in ran.err
    ran = command("run", "--agent-arg", "x", "--cwd", "/w", "lab", "--", "x")
    assert "lab is at a URL" in ran.err
    assert "are for an agent at a URL" in command("inspect", "--header", "A:b", *AGENT).err


@pytest.mark.parametrize("name", ["chat", "serve"])
def test_other_commands_take_names(command: Command, name: str) -> None:
    ran = command(name, "agent:nobody")
    assert (ran.code, ran.out) == (2, "")
    assert "no agent is known by the name 'nobody'" in ran.err


def test_a_refresh_of_all(command: Command, server: Files) -> None:
    for path in ("/a", "/b"):
        server.bodies[path] = registry(by_runner(path[1:]))
        assert command("agents", "refresh", f"{server.url}{path}").code == 0
    server.bodies["/a"] = registry(by_runner("newer"), {"id": "BAD"})
    del server.bodies["/b"]
    ran = command("agents", "refresh")
    assert ran.code == 1
    assert "/b was not downloaded: the server answered 404" in ran.err
    assert "an agent is left out: its id is 'BAD'" in ran.err
    assert set(listed(command)) >= {"newer", "b"}
    assert command("agents", "forget", f"{server.url}/b").code == 0
    assert "b" not in listed(command)
    assert command("agents", "forget", f"{server.url}/b").code == 2


def test_nothing_that_a_manifest_or_an_agent_says_steers_the_terminal(command: Command, tmp_path: Path) -> None:
    hostile = by_runner("evil", args=[HOSTILE], env={"A": HOSTILE})
    hostile |= dict.fromkeys(("name", "description", "version", "website", "license"), HOSTILE)
    elsewhere = by_program("other")
    target = elsewhere["distribution"]["binary"].pop(platform_key())
    elsewhere["distribution"]["binary"]["darwin-aarch64"] = {**target, "args": [HOSTILE]}
    path = tmp_path / "r.json"
    path.write_bytes(registry(hostile, elsewhere, {"id": HOSTILE}, {**by_runner("bad"), "distribution": {HOSTILE: {}}}))
    command("agents", "add", "--title", HOSTILE, "mine", *ScriptedAgent.command(agents.hostile))
    ran = [command("agents", "refresh", str(path)), command("inspect", "mine"), command("agents")]
    ran += [command("agents", "--json"), command("agents", "show", "evil"), command("agents", "show", "mine")]
    ran += [command("agents", "show", HOSTILE), command("inspect", "evil"), command("agents", "forget", HOSTILE)]
    for each in ran:
        assert not UNSAFE.search(each.out + each.err)
    assert LastSeen(Locations.for_user().seen).read()


def test_a_file_of_agents_that_cannot_be_used(command: Command, programs: Path) -> None:
    put_program(programs, "opencode", "acp")
    own = Locations.for_user().own
    own.parent.mkdir(parents=True)
    own.write_text("[agents")
    for arguments in (["agents"], ["run", "opencode", "--", "x"], ["agents", "add", "a", "b"]):
        ran = command(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert "agents.toml cannot be used" in ran.err
    assert command("inspect", *AGENT).code == 0  # a command needs no names


@pytest.mark.parametrize(
    "arguments, problem",
    [
        (["add", "mine"], "no agent: give its command or its URL"),
        (["add", "a/b", "x"], "cannot be the name"),
        (["add", "--env-from", "KEY=sk-1234567890abcdef", "a", "x"], "never values"),
        (["add", "--bearer-env", "X", "a", "x"], "bearer_env is for a url"),
        (["add", "a", "wss://me:hunter22222@x/acp"], "password"),
        (["refresh", "/no/such/place"], "is no file"),
        (["refresh", "http://agents.example/r.json"], "not https"),
        (["install", "nobody"], "no agent is known"),
    ],
)
def test_wrong_command_lines(command: Command, arguments: list[str], problem: str) -> None:
    ran = command("agents", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert problem in ran.err
    assert "hunter2" not in ran.err
    assert "sk-1234567890abcdef" not in ran.err


def test_a_path_of_the_users_own_means_the_same_anywhere(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command("agents", "add", "mine", "./agent", "x")
    assert listed(command)["mine"]["ways"][0]["command"] == [str(tmp_path / "agent"), "x"]
