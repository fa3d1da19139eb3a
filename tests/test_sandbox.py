"""Launchers that put an agent into a sandbox: what they put in front of its command, and what it can do inside.

bubblewrap is run where it works. What is tried inside it is tried without it too, to show that it would succeed.
sandbox-exec exists on macOS only; its profile is read here, and nothing runs it.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

import acp_host
from acp_host import sandbox
from acp_host.errors import InvalidInput, NotSupported, StartFailed
from acp_host.sandbox import PRIVATE, Bubblewrap, SandboxExec, sandbox_here
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.transports import Launch, Launcher, memory_pair
from tests.sandboxes import BOTH, keep_checkout

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no sandbox on Windows")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a project, keys, and what an agent keeps for itself."""
    home = tmp_path / "home"
    for name in ("project/.git/hooks", "project/src", ".ssh", ".agent"):
        (home / name).mkdir(parents=True)
    (home / ".ssh/id").write_text("key")
    (home / ".netrc").write_text("password")
    (home / "letter").write_text("letter")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    return home


def launch(*argv: str, cwd: str | Path | None = None) -> Launch:
    return Launch.of(argv or ["agent", "--acp"], cwd, {"A": "b"}, True)


def mounts(launched: Launch) -> list[tuple[str, ...]]:
    """The mounts of a bubblewrap command, in order."""
    words = list(launched.argv)
    found = []
    for at, word in enumerate(words[: words.index("--")]):
        if word.startswith(("--bind", "--ro-bind")):
            found.append((word, words[at + 2]))
        elif word in ("--tmpfs", "--dev", "--proc"):
            found.append((word, words[at + 1]))
    return found


# What bubblewrap is told


def test_the_command_stands_behind_the_options_unchanged(home: Path) -> None:
    command = launch("agent", "--", "--bind", "a b", "$HOME", cwd=home / "project")
    launched = Bubblewrap(writable=[home / "project"])(command)
    assert launched.argv[0] == "bwrap"
    assert launched.argv[-8:] == ("--chdir", str(home / "project"), "--", "agent", "--", "--bind", "a b", "$HOME")
    assert evolve(launched, argv=command.argv) == command, "directory and environment stay what they are"


@pytest.mark.parametrize("option", ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop"])
def test_it_is_always_closed_off(home: Path, option: str) -> None:
    assert option in Bubblewrap(writable=[])(launch()).argv


def test_the_network_is_shared_only_if_wanted(home: Path) -> None:
    assert "--share-net" in Bubblewrap(writable=[])(launch()).argv
    assert "--share-net" not in Bubblewrap(writable=[], network=False)(launch()).argv


def test_without_a_directory_it_starts_in_the_current_one(home: Path) -> None:
    argv = Bubblewrap(writable=[])(launch()).argv
    assert argv[argv.index("--chdir") + 1] == str(home)


def test_the_more_general_path_is_mounted_first(home: Path) -> None:
    made = Bubblewrap(writable=["~", "~/.ssh/agent"], read_only=["project/.git/hooks"])
    (home / ".ssh/agent").mkdir()
    (first, second, third, *rest) = mounts(made(launch()))
    assert [first, second, third] == [("--ro-bind", "/"), ("--dev", "/dev"), ("--proc", "/proc")]
    depths = [path.count("/") for _, path in rest]
    assert depths == sorted(depths)
    assert [mount for mount in rest if str(home) in mount[1]] == [
        ("--bind", f"{home}"),
        ("--ro-bind", f"{home}/.netrc"),
        ("--tmpfs", f"{home}/.ssh"),
        ("--bind", f"{home}/project"),
        ("--bind", f"{home}/project/.git"),
        ("--bind", f"{home}/.ssh/agent"),
        ("--ro-bind", f"{home}/project/.git/hooks"),
    ]


def test_a_directory_that_is_writable_and_hidden_is_writable(home: Path) -> None:
    assert ("--bind", f"{home}/.ssh") in mounts(Bubblewrap(writable=["~/.ssh"])(launch()))


def test_what_does_not_exist_need_not_be_hidden(home: Path) -> None:
    assert not any(path.endswith(".aws") for _, path in mounts(Bubblewrap(writable=[])(launch())))


def test_links_are_resolved(home: Path) -> None:
    (home / "alias").symlink_to("project")
    assert Bubblewrap(writable=["alias"]).writable == (str(home / "project"),)


@pytest.mark.parametrize("kind", [Bubblewrap, SandboxExec])
def test_a_sandbox_around_everything_is_none(kind: type[Bubblewrap]) -> None:
    with pytest.raises(InvalidInput, match="root of the file system"):
        kind(writable=["/"])
    with pytest.raises(InvalidInput, match="lists of paths"):
        kind(writable="/home")


# What sandbox-exec is told


def profile(made: SandboxExec) -> tuple[str, dict[str, str]]:
    """The profile and its parameters."""
    argv = made(launch()).argv
    assert argv[:2] == ("/usr/bin/sandbox-exec", "-p")
    assert argv[-2:] == ("agent", "--acp")
    return argv[2], dict(part.split("=", 1) for part in argv[4:-2:2])


def rules_for(made: SandboxExec, path: str) -> list[str]:
    text, parameters = profile(made)
    [name] = [name for name, value in parameters.items() if value == path]
    return [line.replace(f' (subpath (param "{name}"))', "") for line in text.splitlines() if f'"{name}"' in line]


def test_the_profile_forbids_to_write_and_then_allows(home: Path) -> None:
    made = SandboxExec(writable=["project"], read_only=["project/.git/hooks"])
    text, parameters = profile(made)
    assert text.startswith("(version 1)\n(allow default)\n(deny file-write*)\n")
    assert rules_for(made, f"{home}/project") == ["(allow file-read* file-write* network*)"]
    assert rules_for(made, f"{home}/project/.git/hooks") == ["(allow file-read*)", "(deny file-write*)"]
    assert rules_for(made, f"{home}/.ssh") == ["(deny file-read* file-write*)"]
    used = re.findall(r'\(param "(\w+)"\)', text)
    assert list(dict.fromkeys(used)) == list(parameters), "the last rule that fits wins, so the most special comes last"
    depths = [path.count("/") for path in parameters.values()]
    assert depths == sorted(depths)


@pytest.mark.parametrize("name", ['a")) (allow default) ((', "a\\", "a=b", "a\nb", "ä b", "(param)"])
def test_no_path_becomes_a_part_of_the_profile(home: Path, name: str) -> None:
    (home / name).mkdir()
    made = SandboxExec(writable=[home / name])
    text, parameters = profile(made)
    assert text == profile(SandboxExec(writable=[home / "project"]))[0]
    assert str(home / name) in parameters.values()


def test_the_profile_without_a_network(home: Path) -> None:
    with_network, _ = profile(SandboxExec(writable=[]))
    without, _ = profile(SandboxExec(writable=[], network=False))
    assert "(deny network*)" in without
    assert set(with_network.splitlines()) - set(without.splitlines()) == {
        '(allow network* (local ip "*:*"))',
        '(allow network* (remote ip "*:*"))',
        '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
    }


def test_parentheses_are_balanced(home: Path) -> None:
    text, _ = profile(SandboxExec(writable=["project"], read_only=["project/src"]))
    assert text.count("(") == text.count(")")


@pytest.mark.parametrize("platform, kind", [("linux", Bubblewrap), ("darwin", SandboxExec)])
def test_the_sandbox_of_this_system(monkeypatch: pytest.MonkeyPatch, platform: str, kind: type) -> None:
    monkeypatch.setattr(sandbox.sys, "platform", platform)
    made = sandbox_here(writable=["/srv/project"], network=False)
    assert made == kind(writable=["/srv/project"], network=False, hidden=PRIVATE)


def test_windows_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.sys, "platform", "win32")
    with pytest.raises(NotSupported):
        sandbox_here(writable=["C:\\work"])


# What can be done inside


ATTEMPTS = """
import ctypes, json, os, socket, subprocess, sys, tempfile

home, service, project = sys.argv[1], sys.argv[2], sys.argv[3]
done = {}

def attempt(name):
    def run(function):
        try:
            done[name] = bool(function())
        except BaseException as error:
            done[name] = False
    return run

def write(path):
    with open(path, "a") as file:
        file.write("agent")
    return True

def rename(old, new):
    os.rename(old, new)
    return True

@attempt("write inside")
def _(): return write(project + "/src/file")

@attempt("write to its own directory")
def _(): return write(home + "/.agent/state")

@attempt("write a temporary file")
def _():
    with tempfile.NamedTemporaryFile(dir="/var/tmp"):
        return True

@attempt("run a program")
def _(): return subprocess.run(["true"]).returncode == 0

@attempt("read a file outside")
def _(): return open(home + "/letter").read() == "letter"

@attempt("! write outside")
def _(): return write(home + "/letter")

@attempt("! write by a link")
def _():
    os.symlink(home + "/letter", project + "/src/link")
    return write(project + "/src/link")

@attempt("! write by a hard link")
def _():
    os.link(home + "/letter", project + "/src/hard")
    return write(project + "/src/hard")

@attempt("! write by /proc")
def _(): return write("/proc/%d/root%s/letter" % (os.getppid(), home))

@attempt("! remove a file outside")
def _(): return os.unlink(home + "/letter.txt") is None

@attempt("! read a hidden directory")
def _(): return os.listdir(home + "/.ssh")

@attempt("! read a hidden file")
def _(): return open(home + "/.netrc").read()

@attempt("! write a hook")
def _(): return write(project + "/.git/hooks/post-commit")

@attempt("! move hooks away")
def _(): return rename(project + "/.git/hooks", project + "/.git/unhooked")

@attempt("! move what holds the hooks away")
def _(): return rename(project + "/.git", project + "/.tig")

@attempt("! reach a service by its socket")
def _():
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(service)
    return True

@attempt("! see a process outside")
def _(): return os.path.exists("/proc/" + sys.argv[4]) and os.kill(int(sys.argv[4]), 0) is None

@attempt("! mount something writable")
def _():
    libc = ctypes.CDLL(None)
    MS_BIND, MS_REMOUNT = 4096, 32
    return libc.mount(b"none", os.fsencode(home), None, MS_REMOUNT | MS_BIND, None) == 0 and write(home + "/letter")

print(json.dumps(done))
"""


@pytest.fixture
def service() -> Iterator[str]:
    """A socket where services of the system have theirs."""
    path = f"/var/tmp/acp-host-service-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        yield path
    os.unlink(path)


@pytest.mark.skipif(sys.platform != "linux", reason="the attempts are those of Linux")
@pytest.mark.parametrize("kind", BOTH)
def test_an_agent_does_nothing_but_its_work(
    home: Path, service: str, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    project = home / "project"
    (home / "letter.txt").write_text("letter")
    monkeypatch.setattr(sandbox, "_SCRATCH", ("/var/tmp", "/run"))  # the home of this test is in /tmp
    outside = subprocess.Popen(["sleep", "60"])
    command = [sys.executable, "-c", ATTEMPTS, str(home), service, str(project), str(outside.pid)]
    launched = launch(*command, cwd=project)
    if kind == "bubblewrap":
        launched = Bubblewrap(writable=[project, "~/.agent"], read_only=[project / ".git/hooks"])(launched)
    try:
        ran = subprocess.run(launched.argv, cwd=launched.cwd, capture_output=True, text=True, timeout=60, check=False)
    finally:
        outside.kill()
        outside.wait()
    assert (ran.returncode, ran.stderr) == (0, "")
    done: dict[str, bool] = json.loads(ran.stdout)
    wrong = {name for name, succeeded in done.items() if succeeded == name.startswith("!")}
    if kind == "bubblewrap":
        assert wrong == set()
        assert (home / "letter").read_text() == "letter"
        assert list((project / ".git/hooks").iterdir()) == []
    else:
        # Only what needs rights that a test may not have can fail here.
        assert {name for name in done if name.startswith("!")} - wrong <= {"! mount something writable"}


# Launchers in connect()


async def converse(launcher: Launcher | None, cwd: Path) -> str:
    agent = ReferenceAgent.command()
    async with acp_host.connect(agent, cwd=cwd, launcher=launcher) as host:
        session = await host.new_session(cwd)
        return (await session.prompt("/say Hello")).text


async def test_a_launcher_sees_and_replaces_what_is_launched(tmp_path: Path) -> None:
    seen: list[Launch] = []

    def launcher(launch: Launch) -> Launch:
        seen.append(launch)
        return evolve(launch, argv=ReferenceAgent.command(), env={**launch.env, "ADDED": "yes"})

    async with acp_host.connect(["no-such-agent"], cwd=tmp_path, env={"GIVEN": "1"}, launcher=launcher) as host:
        assert (await (await host.new_session(tmp_path)).prompt("/say Hello")).text == "Hello"
    assert [(launch.argv, launch.cwd, dict(launch.env)) for launch in seen] == [
        (("no-such-agent",), str(tmp_path), {"GIVEN": "1"})
    ]


@pytest.mark.parametrize(
    "launcher, says",
    [
        (lambda launch: 1 / 0, "ZeroDivisionError"),
        (lambda launch: None, "NoneType"),
        (lambda launch: evolve(launch, argv=()), "must begin with a program"),
        (lambda launch: evolve(launch, argv=("a\0b",)), "without NUL"),
        (Bubblewrap(writable=[], program="no-such-bwrap"), "no-such-bwrap is not on the PATH"),
    ],
)
async def test_nothing_is_started_where_a_launcher_fails(
    monkeypatch: pytest.MonkeyPatch, launcher: Launcher, says: str, tmp_path: Path
) -> None:
    keep_checkout(monkeypatch)
    with pytest.raises(StartFailed, match=says):
        await converse(launcher, tmp_path)


def test_a_program_that_the_sandbox_would_take_away_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sandbox, "_SCRATCH", (str(tmp_path),))
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/agent"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for name, path in ((str(program), os.defpath), ("agent", str(program.parent))):
        command = Launch.of([name], str(tmp_path), {"PATH": path}, inherit_env=False)
        with pytest.raises(InvalidInput, match="add the directory with all that it needs to read_only"):
            Bubblewrap(writable=[])(command)
        assert Bubblewrap(writable=[], read_only=[tmp_path / "bin"])(command).argv[-1] == name


async def test_a_launcher_is_for_commands() -> None:
    with pytest.raises(InvalidInput, match="launcher"):
        acp_host.connect(memory_pair()[0], launcher=Bubblewrap(writable=[]))
    with pytest.raises(InvalidInput, match="launcher"):
        acp_host.connect(["agent"], launcher="bwrap")


@pytest.mark.parametrize("kind", BOTH)
async def test_a_conversation_with_an_agent_in_a_sandbox(
    home: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    keep_checkout(monkeypatch)
    launcher = Bubblewrap(writable=["project"]) if kind == "bubblewrap" else None
    assert await converse(launcher, home / "project") == "Hello"


@pytest.mark.skipif(sys.platform == "darwin", reason="the program is bubblewrap, or a stand-in")
async def test_the_words_of_a_sandbox_that_cannot_be_made_are_in_the_error(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_checkout(monkeypatch)
    launcher = Bubblewrap(writable=["project"])
    (home / "project").rename(home / "gone")
    with pytest.raises(StartFailed, match=r"bwrap|bubblewrap"):
        await converse(launcher, home)


# Commands of terminal/*


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("line", [False, True], ids=["program", "command line"])
@pytest.mark.parametrize("pty", [False, True], ids=["pipe", "pty"])
async def test_a_command_in_a_sandbox(
    home: Path, monkeypatch: pytest.MonkeyPatch, kind: str, line: bool, pty: bool
) -> None:
    monkeypatch.setattr(sandbox, "_SCRATCH", ("/var/tmp", "/run"))  # the home of this test is in /tmp
    launched: list[Launch] = []

    def launcher(launch: Launch) -> Launch:
        launched.append(launch)
        return Bubblewrap(writable=["project"])(launch) if kind == "bubblewrap" else launch

    words = f"echo inside > made; echo outside > {home}/made; cat {home}/.netrc; exit 7"
    asked = {"command": words} if line else {"command": "sh", "args": ["-c", words]}

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session()
        created = await agent.call("terminal/create", {"sessionId": "session-1", **asked})
        terminal = {"sessionId": "session-1", **created["result"]}
        assert (await agent.call("terminal/wait_for_exit", terminal))["result"]["exitCode"] == 7
        output = (await agent.call("terminal/output", terminal))["result"]["output"]
        assert ("password" in output) == (kind == "no sandbox")

    agent = ScriptedAgent(script)
    terminals = acp_host.TerminalService(launcher=launcher, pty=pty)
    async with acp_host.connect(agent.transport(), terminals=terminals) as host:
        session = await host.new_session(home / "project")
        await agent.finished()
        [terminal] = terminals.terminals(session.id)
        assert words in terminal.command_line, "what the agent wants is shown, not what it is wrapped in"
    assert len(launched) == 1
    assert (home / "made").exists() == (kind == "no sandbox")
    assert (home / "project/made").read_text() == "inside\n"


async def test_where_the_launcher_of_commands_fails_none_is_run(home: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session()
        answer = await agent.call("terminal/create", {"sessionId": "session-1", "command": "true"})
        assert answer["error"]["code"] == -32602
        assert "no-such-bwrap" in answer["error"]["message"]

    agent = ScriptedAgent(script)
    terminals = acp_host.TerminalService(launcher=Bubblewrap(writable=[], program="no-such-bwrap"))
    async with acp_host.connect(agent.transport(), terminals=terminals) as host:
        await host.new_session(home / "project")
        await agent.finished()


def test_commands_are_run_by_one_or_the_other() -> None:
    class Runner:
        async def start(self, command: object, events: object) -> None:
            raise AssertionError("never called")

    with pytest.raises(InvalidInput, match="launcher"):
        acp_host.TerminalService(launcher=lambda launch: launch, runner=Runner())
    with pytest.raises(InvalidInput, match="launcher"):
        acp_host.TerminalService(launcher="bwrap")
