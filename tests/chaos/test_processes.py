"""Agents as processes: launchers, leftovers, floods, early ends, programs that are no agents.

The programs are in ``acp_host/testing/chaos/bad_process.py``. After each test nothing may live that was started in it,
found by a mark in its environment, which is not how the library finds it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import stat
import sys
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

import acp_host
from acp_host import (
    ConnectionLost,
    DiagnosticKind,
    HostConnection,
    OutcomeUnknown,
    StartFailed,
    StartTimeout,
    StartTimeouts,
    StopTimeouts,
)
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos import bad_process
from acp_host.transports import stdio
from tests.chaos.bad_agents import open_session, reported, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs use POSIX signals")

PROGRAM = Path(bad_process.__file__)
MARK = "ACP_HOST_CHAOS"
QUICK = StopTimeouts(exit=0.3, terminate=0.3, kill=5)
PATIENT = StopTimeouts(exit=10, terminate=10, kill=10)


class Agents:
    """Connects to the programs and knows what lives of them."""

    def __init__(self) -> None:
        self.mark = uuid.uuid4().hex

    def command(self, *behaviour: str) -> list[str]:
        return [sys.executable, "-S", "-E", str(PROGRAM), *behaviour]

    @contextlib.asynccontextmanager
    async def connected(self, *behaviour: str, **arguments: Any) -> AsyncIterator[HostConnection]:
        async with self.running(self.command(*behaviour), **arguments) as host:
            yield host

    @contextlib.asynccontextmanager
    async def running(self, command: Sequence[str], **arguments: Any) -> AsyncIterator[HostConnection]:
        arguments = {"stop_timeouts": QUICK, **arguments, "env": {MARK: self.mark, **arguments.get("env", {})}}
        async with acp_host.connect(command, **arguments) as host:
            yield host

    async def failure(self, command: Sequence[str], **arguments: Any) -> StartFailed:
        with pytest.raises(StartFailed) as caught:
            async with self.running(command, **arguments):
                pass
        assert self.living() == [], "nothing is left when connect() raises"
        return caught.value

    def living(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found


@pytest.fixture
async def agents() -> AsyncIterator[Agents]:
    made = Agents()
    yield made
    left = made.living()
    for process in left:
        process.kill()
    assert left == []


def pid_of(host: HostConnection) -> int:
    return host._driver.transport.pid


# Everything is ended


async def test_r80_the_agent_behind_a_launcher_is_ended(agents: Agents) -> None:
    async with agents.connected("launcher", "launcher", "ignores_the_end") as host:
        session = await host.new_session()
        assert (await session.prompt("hello")).text == "hello"
        assert len(agents.living()) == 3
    assert agents.living() == []
    assert any("killed" in note.message for note in reported(host, DiagnosticKind.TRANSPORT))


async def test_r80_a_launcher_that_is_killed_from_outside(agents: Agents) -> None:
    async with agents.connected("launcher", "ignores_the_end") as host:
        session = await host.new_session()
        os.kill(pid_of(host), signal.SIGKILL)
        assert (await session.prompt("hello")).text == "hello", "the agent itself is still there"
    assert agents.living() == []


async def test_r80_a_launcher_that_goes_first(agents: Agents) -> None:
    async with agents.connected("quick_launcher", "serve", stop_timeouts=PATIENT) as host:
        session = await host.new_session()
        assert (await session.prompt("hello")).text == "hello"
    assert agents.living() == []


@pytest.mark.parametrize("how", ["group", "session", "daemon"])
async def test_r81_what_an_agent_leaves_behind_is_ended(agents: Agents, how: str) -> None:
    async with agents.connected("with_children", how, "6") as host:
        await (await host.new_session()).prompt("hello")
        assert len(agents.living()) == 7
    assert agents.living() == []
    assert any("left processes behind" in note.message for note in reported(host, DiagnosticKind.TRANSPORT))


async def test_r82_what_an_agent_that_crashed_leaves_behind_is_ended(agents: Agents) -> None:
    async with agents.connected("with_children", "session", "2") as host:
        await (await host.new_session()).prompt("hello")
        os.kill(pid_of(host), signal.SIGKILL)
        lost = await host.wait_closed()
        assert isinstance(lost, ConnectionLost)
        assert lost.exit_status == -signal.SIGKILL
        assert len(agents.living()) == 2
    assert agents.living() == []


HOST = """
import asyncio, sys, acp_host

async def main():
    async with acp_host.connect(sys.argv[2:], process_records=sys.argv[1]) as host:
        print((await host.new_session()).id, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_r94_what_a_host_leaves_behind_that_was_killed(agents: Agents, tmp_path: Path) -> None:
    records = tmp_path / "records"
    stubborn = agents.command("launcher", "ignores_the_end")
    env = {**os.environ, MARK: agents.mark}
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, str(records), *stubborn, stdout=asyncio.subprocess.PIPE, env=env
    )
    assert host.stdout is not None
    assert await host.stdout.readline() == b"session-1\n"
    async with agents.connected("serve", process_records=records) as second:
        assert len(list(records.iterdir())) == 2
        host.kill()
        await host.wait()
        left = {process.pid for process in agents.living()} - {pid_of(second)}
        assert len(left) == 2, "neither the end of its input nor the end of its host makes this agent go"
        async with agents.connected("serve", process_records=records) as third:
            [note] = reported(third, DiagnosticKind.TRANSPORT)
            assert all(str(pid) in note.message for pid in left)
            await until(lambda: {process.pid for process in agents.living()} == {pid_of(second), pid_of(third)})
        assert len(list(records.iterdir())) == 1
        assert (await (await second.new_session()).prompt("hello")).text == "hello"
    assert list(records.iterdir()) == []


async def test_r94_a_record_is_never_taken_for_another_process(agents: Agents, tmp_path: Path) -> None:
    """The id was given to somebody else meanwhile, the file is damaged, or tells of a host that lives."""
    other = await asyncio.create_subprocess_exec("sleep", "600", env={**os.environ, MARK: agents.mark})
    us, gone = psutil.Process(), {"pid": 2**22 + 1, "created": 1.0}
    entries: dict[str, Any] = {
        "recycled": {"token": "0" * 16, "agent": {"pid": other.pid, "created": 1.0}, "host": gone},
        "damaged": {"token": "1" * 16, "agent": {"pid": other.pid}},
        "short": {"token": "", "agent": {"pid": other.pid, "created": 1.0}, "host": gone},
        "alive": {
            "token": "2" * 16,
            "agent": {"pid": other.pid, "created": psutil.Process(other.pid).create_time()},
            "host": {"pid": us.pid, "created": us.create_time()},
        },
    }
    for name, entry in entries.items():
        (tmp_path / f"{name}.agent.json").write_text(json.dumps(entry))
    (tmp_path / "notes.txt").write_text("not ours")
    async with agents.connected("serve", process_records=tmp_path) as host:
        assert list(host.diagnostics) == []
    assert sorted(os.listdir(tmp_path)) == ["alive.agent.json", "notes.txt"]
    assert other.returncode is None
    other.kill()
    await other.wait()


async def test_r94_records_that_cannot_be_kept_are_no_reason_not_to_start(agents: Agents, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with agents.connected("serve", process_records=tmp_path / "file") as host:
        assert (await (await host.new_session()).prompt("hello")).text == "hello"
        assert "cannot be written down" in reported(host, DiagnosticKind.TRANSPORT)[0].message


# Deadlines of the start


async def test_r83_an_installer_has_more_time_and_is_heard(agents: Agents, tmp_path: Path) -> None:
    npx = tmp_path / "npx"
    words = ["npm warn exec installing some-agent@1", "added 1 package"]
    npx.write_text("#!/bin/sh\nexec {}\n".format(" ".join(map(quoted, agents.command("slow", "0.8", *words)))))
    npx.chmod(npx.stat().st_mode | stat.S_IXUSR)
    heard: list[tuple[str, bool]] = []
    started: list[HostConnection] = []
    timeouts = StartTimeouts(warm=0.3, cold=20)
    async with agents.running(
        [str(npx)], start_timeouts=timeouts, on_stderr=lambda line: heard.append((line, bool(started)))
    ) as host:
        started.append(host)
        assert heard == [(word, False) for word in words], "while it is still installing"
    error = await agents.failure(agents.command("slow", "0.8", *words), start_timeouts=timeouts)
    assert isinstance(error, StartTimeout)
    assert "within 0.3 s" in str(error)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


async def test_r83_a_heavy_start_within_the_limit(agents: Agents) -> None:
    async with agents.connected("slow", "0.6", "loading models", start_timeouts=StartTimeouts(warm=20)) as host:
        assert (await (await host.new_session()).prompt("hello")).text == "hello"


async def test_r84_an_agent_that_never_answers(agents: Agents) -> None:
    command = agents.command("silent", "waiting for a browser login")
    error = await agents.failure(command, start_timeouts=StartTimeouts(warm=1))
    assert isinstance(error, StartTimeout)
    assert error.exit_status is None
    assert "waiting for a browser login" in error.stderr_tail
    assert "did not answer initialize within 1 s" in str(error)


@pytest.mark.parametrize(
    "words",
    [
        "npm error code E403 403 Forbidden - GET https://registry.example/some-agent",
        "npm error network request to https://registry.example failed, reason: connect ETIMEDOUT",
    ],
)
async def test_r85_what_the_launcher_says_is_in_the_error(agents: Agents, words: str) -> None:
    error = await agents.failure(agents.command("launcher", "fails", "1", words))
    assert not isinstance(error, StartTimeout)
    assert words in error.stderr_tail
    assert words in str(error)
    failed = await agents.failure(agents.command("fails", "7", words))
    assert (failed.exit_status, words in str(failed)) == (7, True)


async def test_r86_programs_that_are_no_agents(agents: Agents) -> None:
    usage = await agents.failure(agents.command("usage", "2"))
    assert usage.exit_status == 2
    assert "unknown argument --acp" in str(usage)
    server = await agents.failure(agents.command("server"), start_timeouts=StartTimeouts(warm=1))
    assert isinstance(server, StartTimeout)
    assert "may not be an ACP agent" in str(server)
    assert "Serving HTTP" in str(server)
    for command, status in [(["true"], 0), (["false"], 1), (["sh", "-c", "exit 3"], 3), (["sh", "-c", "kill $$"], -15)]:
        assert (await agents.failure(command)).exit_status == status


async def test_r86_a_program_that_only_repeats_what_it_is_told(agents: Agents) -> None:
    with pytest.raises(acp_host.MethodNotFound, match="initialize"):
        async with agents.running(["cat"]):
            pass
    assert agents.living() == []


@pytest.mark.parametrize(
    "command, says",
    [
        (["no-such-agent", "--acp"], "is not on the PATH"),
        (["/no/such/agent"], "there is no such file"),
        ([str(PROGRAM)], "not marked as executable"),
        ("no-such-agent --acp", "is not on the PATH"),
    ],
)
async def test_r86_commands_that_cannot_be_started(agents: Agents, command: Any, says: str) -> None:
    error = await agents.failure(command)
    assert says in str(error)
    assert error.exit_status is None


# Pipes


async def test_r87_a_flood_on_stderr_neither_blocks_nor_grows(agents: Agents) -> None:
    async with agents.connected("stderr_flood", str(3_000_000)) as host:
        session = await host.new_session()
        for _ in range(2):
            assert (await session.prompt("hello")).text == "hello"
        tail = host._driver.transport.stderr_tail()
        assert len(tail) <= 64 * 1024
        assert tail.endswith("29999\n")


async def test_r87_nobody_asks_the_host_to_keep_more_than_it_wants(agents: Agents) -> None:
    """An agent may ask for less of a command's output than the host would keep, not for more."""
    terminals = acp_host.TerminalService(max_output=10_000)
    command = {"sessionId": "session-1", "command": sys.executable, "args": ["-c", "print('x' * 1_000_000 + 'END')"]}

    async def script(agent: ScriptedAgent) -> None:
        for limit, kept in [(2**53, 10_000), (2**70, 10_000), (None, 10_000), (100, 100)]:
            created = await agent.call("terminal/create", {**command, "outputByteLimit": limit})
            terminal = {"sessionId": "session-1", **created["result"]}
            await agent.call("terminal/wait_for_exit", terminal)
            output = (await agent.call("terminal/output", terminal))["result"]
            assert len(output["output"]) == kept
            assert output["output"].endswith("END\n")
            assert output["truncated"] is True
            await agent.call("terminal/release", terminal)

    async with open_session(script, terminals=terminals):
        pass


async def test_r88_a_message_that_is_too_long_for_the_agent(agents: Agents) -> None:
    async with agents.connected("short_of_breath", str(65_536)) as host:
        session = await host.new_session()
        turn = session.prompt("x" * 3_000_000)
        with pytest.raises(OutcomeUnknown) as caught:
            await turn
        cause = caught.value.cause
        assert isinstance(cause, ConnectionLost)
        assert cause.exit_status == 1
        assert "LimitOverrunError" in cause.stderr_tail
        assert re.search(r"stopped reading in a message of 3000\d{3} bytes", str(cause))
        assert "maybe too long for it" in str(cause)


async def test_r88_long_lines_over_a_pipe(agents: Agents) -> None:
    async with agents.connected("long_line", str(10_000_000), stop_timeouts=PATIENT) as host:
        session = await host.new_session()
        assert len((await session.prompt("hello")).text) == 10_000_000
        assert len((await session.prompt("x" * 5_000_000)).text) == 10_000_000


async def test_r89_an_agent_that_closes_its_stdin_is_heard_to_the_end(
    agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can be told nothing more, but what it still says counts: the end of the turn is not lost."""
    for constant in ("_SETTLE", "_LOOK_AGAIN"):  # several looks at it while it is silent
        monkeypatch.setattr(stdio, constant, 0.05)
    async with agents.connected("closes_stdin", "turn", "answers") as host:
        session = await host.new_session()
        turn = session.prompt("hello")
        await until(lambda: turn.text)
        with pytest.raises(ConnectionLost, match="closed its stdin"):
            async with asyncio.timeout(5):
                while True:
                    await host.notify("_vendor/note", {})
        with pytest.raises(ConnectionLost, match="closed its stdin"):
            await host.request("_vendor/ask", {})
        refused = session.prompt("another")
        result = await turn
        assert (result.stop_reason, result.text) == ("end_turn", "0 1 2 ")
        with pytest.raises(ConnectionLost, match="closed its stdin"):
            await refused


async def test_r89_an_agent_that_closes_its_stdin_and_falls_silent(
    agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "_LAST_WORDS", 0.4)
    async with agents.connected("closes_stdin", "turn", "silent") as host:
        turn = (await host.new_session()).prompt("hello")
        with pytest.raises(OutcomeUnknown, match="closed its stdin and takes no more messages"):
            await turn
        lost = await host.wait_closed()
        assert isinstance(lost, ConnectionLost)
        assert lost.exit_status is None


async def test_r89_an_agent_that_closes_its_stdin_at_once(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "_LAST_WORDS", 0.4)
    error = await agents.failure(agents.command("closes_stdin", "start", "silent"))
    assert "closed its stdin" in str(error)
    assert error.exit_status is None


async def test_r90_nobody_but_the_host_writes_to_the_agent(agents: Agents, tmp_path: Path) -> None:
    """The pipe is private, no shell of the user's is in between, and tools have an input of their own."""
    profile = tmp_path / ".profile"
    profile.write_text("export LOGIN_SHELL_WAS_HERE=1; echo 'Welcome back'\n")
    env = {"HOME": str(tmp_path), "ENV": str(profile), "BASH_ENV": str(profile)}
    async with agents.connected("echo_stdin", env=env) as host:
        said = json.loads((await (await host.new_session()).prompt("hello")).text)
    assert said == {"lines": 3, "tty": False, "login": False}


async def test_r90_commands_have_no_input(agents: Agents) -> None:
    async def script(agent: ScriptedAgent) -> None:
        created = await agent.call("terminal/create", {"sessionId": "session-1", "command": "cat"})
        terminal = {"sessionId": "session-1", **created["result"]}
        assert (await agent.call("terminal/wait_for_exit", terminal))["result"]["exitCode"] == 0
        assert (await agent.call("terminal/output", terminal))["result"]["output"] == ""

    async with open_session(script, terminals=True):
        pass


async def test_r91_an_agent_that_does_not_read(agents: Agents) -> None:
    async with agents.connected("deaf") as host:
        session = await host.new_session()
        turn = session.prompt("x" * 3_000_000)
        with pytest.raises(TimeoutError):
            await host.request("_vendor/ask", {}, timeout=0.05)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await host.notify("_vendor/note", {})
        assert not turn.done
        started = time.monotonic()
    assert time.monotonic() - started < 20
    with pytest.raises(OutcomeUnknown):
        await turn


# Deaths


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
async def test_r92_an_agent_that_dies_of_a_signal(agents: Agents, number: int) -> None:
    async with agents.connected("falls", str(int(number))) as host:
        turn = (await host.new_session()).prompt("hello")
        with pytest.raises(OutcomeUnknown, match=signal.Signals(number).name) as caught:
            await turn
        cause = caught.value.cause
        assert isinstance(cause, ConnectionLost)
        assert cause.exit_status == -number
        assert "panicked" in cause.stderr_tail
        assert turn.text == "half an ans"


async def test_r93_a_turn_that_ends_just_before_the_agent_dies(agents: Agents) -> None:
    """While the host keeps writing: the broken pipe must not get ahead of what is still to be read."""
    for _ in range(10):
        async with agents.connected("answers_and_falls") as host:
            turn = (await host.new_session()).prompt("hello")
            with pytest.raises(acp_host.AcpError):
                while True:
                    await host.notify("_vendor/note", {"padding": "x" * 10_000})
                    await asyncio.sleep(0)
            result = await turn
            assert (result.stop_reason, result.text) == ("end_turn", "the answer")


async def test_r93_calls_to_an_agent_that_has_just_died(agents: Agents) -> None:
    async with agents.connected("serve") as host:
        session = await host.new_session()
        os.kill(pid_of(host), signal.SIGKILL)
        for _ in range(3):
            with pytest.raises(acp_host.AcpError) as caught:
                await host.request("_vendor/ask", {})
            assert isinstance(caught.value, OutcomeUnknown | ConnectionLost | acp_host.ConnectionClosed)
        lost = await host.wait_closed()
        assert isinstance(lost, ConnectionLost)
        assert lost.exit_status == -signal.SIGKILL
        with pytest.raises(acp_host.ConnectionClosed):
            session.prompt("hello")
