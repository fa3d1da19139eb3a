"""Ending an agent with all its processes: by itself, by request, by force, and when nobody closes it.

Every test ends with the check of the ``agents`` fixture that no process, zombie, open file or task is left.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from acp_host.errors import ConnectionLost
from acp_host.transports import StopTimeouts, stdio
from tests.chaos.bad_agents import until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs use POSIX signals")

PROGRAM = Path(__file__).parent / "programs" / "misbehave.py"
LONG = StopTimeouts(exit=30, terminate=30, kill=30)


async def test_an_agent_ends_by_itself_and_is_heard_to_the_end(agents: Any) -> None:
    transport, recorder = await agents.start("linger", "300000", timeouts=LONG)
    await recorder.says("ready")
    recorder.on_data = lambda: time.sleep(0.02)  # the agent is gone long before the pipe is empty
    await transport.close()
    assert recorder.data == b"ready\n" + b"x" * 300_000
    assert recorder.ends == [None]
    assert transport.exit_status == 0
    assert agents.notes == []


async def test_what_was_written_before_the_close_arrives(agents: Any) -> None:
    transport, recorder = await agents.start("echo", timeouts=LONG)
    transport.write(b"x" * 1_000_000)
    await transport.close()
    assert len(recorder.data) == 1_000_000


async def test_an_agent_that_ignores_the_end_of_its_input_is_asked_once(agents: Any, tmp_path: Path) -> None:
    path = tmp_path / "signals"
    timeouts = StopTimeouts(exit=0.05, terminate=30)
    transport, recorder = await agents.start("tells_of_sigterm", str(path), timeouts=timeouts)
    await recorder.says("ready")
    await transport.close()
    assert path.read_text() == "SIGTERM\n"
    assert transport.exit_status == 0
    assert agents.says("did not exit within 0.05 s")
    assert not agents.says("killed")


async def test_an_agent_that_ignores_sigterm_is_killed(agents: Any) -> None:
    transport, recorder = await agents.start("stubborn")
    await recorder.says("ready")
    started = time.monotonic()
    await transport.close()
    assert 0.2 <= time.monotonic() - started < 20
    assert transport.exit_status == -signal.SIGKILL
    assert agents.says(f"are killed: {transport.pid}")


async def test_steps_of_zero_are_not_waited_for(agents: Any) -> None:
    timeouts = StopTimeouts(exit=0, terminate=0, kill=5)
    transport, recorder = await agents.start("stubborn", timeouts=timeouts)
    await recorder.says("ready")
    await transport.close()
    assert transport.exit_status == -signal.SIGKILL


async def test_a_stopped_agent_is_ended(agents: Any) -> None:
    transport, recorder = await agents.start("deaf")
    await recorder.says("ready")
    os.kill(transport.pid, signal.SIGSTOP)
    await transport.close()
    assert transport.exit_status == -signal.SIGKILL


async def test_an_agent_is_ended_when_no_file_can_be_opened(agents: Any, no_files: Any) -> None:
    transport, recorder = await agents.start("launcher", "stubborn")
    await recorder.says("ready")
    with no_files():
        await transport.close()
    assert agents.living() == []


# Launchers


async def test_the_agent_behind_a_launcher_is_ended_too(agents: Any) -> None:
    transport, recorder = await agents.start("launcher", "stubborn")
    await recorder.says("ready")
    assert len(agents.living()) == 2
    await transport.close()
    assert agents.living() == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shortens the time that it takes to find out that nobody is left."""
    monkeypatch.setattr(stdio, "_SETTLE", 0.05)
    monkeypatch.setattr(stdio, "_LOOK_AGAIN", 0.05)


@pytest.mark.usefixtures("impatient")
async def test_the_connection_outlives_a_launcher_that_ends_first(agents: Any) -> None:
    transport, recorder = await agents.start("quick_launcher", "echo", timeouts=LONG)
    transport.write(b"hello")
    await recorder.says("hello")
    await until(lambda: transport.exit_status == 0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await recorder.end()
    transport.write(b"again")
    await recorder.says("again")
    await transport.close()
    assert recorder.ends == [None]
    assert agents.notes == [], "the agent had its time to end by itself"


async def test_a_launcher_that_is_killed_leaves_a_connection(agents: Any) -> None:
    transport, recorder = await agents.start("launcher", "echo")
    transport.write(b"hello")
    await recorder.says("hello")
    os.kill(transport.pid, signal.SIGKILL)
    await until(lambda: transport.exit_status == -signal.SIGKILL)
    transport.write(b"again")
    await recorder.says("again")
    [agent] = agents.living()
    agent.kill()
    error = await recorder.end()
    assert isinstance(error, ConnectionLost)
    assert error.exit_status == -signal.SIGKILL


async def test_a_close_reaches_an_agent_whose_launcher_has_ended(agents: Any) -> None:
    transport, recorder = await agents.start("quick_launcher", "stubborn")
    await recorder.says("ready")
    await until(lambda: transport.exit_status == 0)
    await transport.close()
    assert agents.living() == []


@pytest.mark.usefixtures("impatient")
async def test_stdout_held_by_nobody_of_the_tree(agents: Any, tmp_path: Path) -> None:
    """Another process may get hold of the pipe's end. The agent is gone all the same, and that is said."""
    transport, recorder = await agents.start("deaf")
    await recorder.says("ready")
    holder = os.open(f"/proc/{transport.pid}/fd/1", os.O_WRONLY)
    try:
        os.kill(transport.pid, signal.SIGKILL)
        error = await recorder.end()
        assert error is not None
        assert error.exit_status == -signal.SIGKILL
        await transport.close()
    finally:
        os.close(holder)


async def test_stdin_held_by_nobody_of_the_tree(agents: Any) -> None:
    """What is queued for an agent that is gone cannot be written; that must not keep the pipe open."""
    files = len(os.listdir("/proc/self/fd"))
    transport, recorder = await agents.start("deaf")
    await recorder.says("ready")
    holder = os.open(f"/proc/{transport.pid}/fd/0", os.O_RDONLY)
    try:
        transport.write(b"x" * 1_000_000)
        await transport.close()
        assert len(os.listdir("/proc/self/fd")) == files + 1
    finally:
        os.close(holder)


async def test_an_agent_that_is_gone_is_not_looked_for(agents: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process id may belong to somebody else when the application gets round to closing."""
    transport, recorder = await agents.start("fail", "1")
    await recorder.end()
    await asyncio.sleep(0)

    def looks(self: Any) -> frozenset[int]:
        raise AssertionError("looked for members")

    monkeypatch.setattr("acp_host.transports._session.SessionGroup.pids", looks)
    await transport.close()


# What agents leave behind


async def test_one_that_hides_is_known_by_its_parent_before_that_is_gone(agents: Any) -> None:
    transport, recorder = await agents.start("leaves_behind", "hidden", timeouts=StopTimeouts(exit=30, terminate=0.1))
    await recorder.until(lambda: recorder.data.endswith(b"\n"))
    hidden = psutil.Process(int(recorder.data.split()[1]))
    await transport.close()
    assert transport.exit_status == 0
    assert not hidden.is_running() or hidden.status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("how", ["group", "session", "daemon"])
async def test_what_an_agent_leaves_behind_is_ended(agents: Any, how: str) -> None:
    transport, recorder = await agents.start("leaves_behind", how, timeouts=StopTimeouts(exit=30, terminate=0.1))
    await recorder.says("ready")
    assert len(agents.living()) == 2
    started = time.monotonic()
    await transport.close()
    assert time.monotonic() - started < 20, "what is left behind is not the agent and gets no time to save itself"
    assert transport.exit_status == 0
    assert agents.says("left processes behind")


@pytest.mark.parametrize("how", ["group", "session", "daemon"])
async def test_what_a_dead_agent_has_left_behind_is_ended(agents: Any, how: str) -> None:
    transport, recorder = await agents.start("leaves_behind", how)
    await recorder.says("ready")
    os.kill(transport.pid, signal.SIGKILL)
    await recorder.end()
    assert len(agents.living()) == 1
    await transport.close()
    assert agents.living() == []


async def test_a_process_that_forks_while_it_is_ended(agents: Any) -> None:
    transport, recorder = await agents.start("forker")
    await recorder.says("ready")
    await until(lambda: len(agents.living()) > 3)
    await transport.close()
    assert agents.living() == []


async def test_other_agents_are_left_alone(agents: Any) -> None:
    one, first = await agents.start("echo")
    two, second = await agents.start("echo")
    await one.close()
    two.write(b"alive")
    await second.says("alive")
    assert first.ends == [None]


# Closing more than once, and being cancelled


async def test_close_is_idempotent_and_shared(agents: Any) -> None:
    transport, recorder = await agents.start("stubborn")
    await recorder.says("ready")
    await asyncio.gather(*(transport.close() for _ in range(5)))
    await transport.close()
    assert recorder.ends == [None]
    assert len([note for note in agents.notes if "killed" in note.message]) == 1


async def test_a_cancelled_close_goes_on(agents: Any) -> None:
    transport, recorder = await agents.start("stubborn")
    await recorder.says("ready")
    closing = asyncio.create_task(transport.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert await recorder.end() is None
    await transport.close()
    assert agents.living() == []


@pytest.mark.parametrize("behaviour", ["echo", "launcher", "fail"])
async def test_a_start_cancelled_anywhere_leaves_nothing(agents: Any, behaviour: str) -> None:
    arguments = {"echo": (), "launcher": ("echo",), "fail": ("1",)}[behaviour]
    for steps in range(40):
        transport = agents.transport(behaviour, *arguments)
        starting = asyncio.create_task(transport.start(agents.recorder()))
        for _ in range(steps):
            await asyncio.sleep(0)
        if starting.done():
            break
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert agents.living() == []
    else:
        pytest.fail("the start took more steps than were tried")
    assert steps > 3


async def test_a_close_cancelled_anywhere_leaves_nothing(agents: Any) -> None:
    for steps in range(12):
        transport, recorder = await agents.start("echo")
        closing = asyncio.create_task(transport.close())
        for _ in range(steps):
            await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait([closing])
        await transport.close()
        assert recorder.ends == [None]
        assert agents.living() == []


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.12])
async def test_the_closing_task_itself_cancelled_kills_at_once(agents: Any, delay: float) -> None:
    """This is what happens when the loop ends while an agent is being closed."""
    timeouts = StopTimeouts(exit=0.1, terminate=30, kill=5)
    transport, recorder = await agents.start("stubborn", timeouts=timeouts)
    await recorder.says("ready")
    waiting = asyncio.create_task(transport.close())
    await asyncio.sleep(delay)  # into the wait for the exit, or for the answer to SIGTERM
    [closer] = [task for task in asyncio.all_tasks() if task.get_name().startswith("close ")]
    closer.cancel()
    await waiting
    await until(lambda: not any(task.get_name().startswith("watch ") for task in asyncio.all_tasks()))
    assert agents.living() == []
    assert recorder.ends == [None]


# Nobody closes

SCRIPT = """
import asyncio, os, sys
from acp_host.transports import StdioTransport

class Receiver:
    def __init__(self):
        self.ready = asyncio.Event()
    def data_received(self, data):
        self.ready.set()
    def connection_lost(self, error):
        print("lost", error, flush=True)

async def main():
    global transport
    transport = StdioTransport([sys.executable, "-S", "-E", sys.argv[1], "launcher", "stubborn"])
    receiver = Receiver()
    await transport.start(receiver)
    await receiver.ready.wait()
"""


@pytest.mark.parametrize(
    "ending, output",
    [
        ("asyncio.run(main())", "lost None\n"),
        ("loop = asyncio.new_event_loop(); loop.run_until_complete(main()); sys.exit()", ""),
        ("loop = asyncio.new_event_loop(); loop.run_until_complete(main()); del transport; loop.close()", ""),
        (
            "loop = asyncio.new_event_loop(); loop.run_until_complete(main())\n"
            "if os.fork() == 0: sys.exit()\n"
            "os.wait(); os.kill(transport.pid, 0); print('spared')",
            "spared\n",
        ),
    ],
    ids=["run", "exit", "collected", "fork"],
)
def test_an_agent_does_not_outlive_its_host(tag: str, ending: str, output: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::ResourceWarning", "-c", SCRIPT + ending, str(PROGRAM)],
        env={**os.environ, "ACP_HOST_TEST_RUN": tag},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == output
    if ending.startswith("asyncio.run"):
        assert done.stderr == ""


def test_a_process_tree_costs_nothing_before_it_is_used() -> None:
    script = "import sys, acp_host.transports; print('psutil' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "False\n"


LOOP_GOES_AWAY = """
import asyncio, sys
from acp_host.transports import StdioTransport

async def main():
    transport = StdioTransport([sys.executable, "-c", "input()"])
    starting = asyncio.create_task(transport.start(None))
    for _ in range(int(sys.argv[1])):
        await asyncio.sleep(0)
    raise ZeroDivisionError

asyncio.run(main())
"""


def test_a_loop_that_goes_away_during_a_start_is_not_held_up() -> None:
    for steps in range(10):
        line = [sys.executable, "-c", LOOP_GOES_AWAY, str(steps)]
        ran = subprocess.run(line, capture_output=True, text=True, timeout=15)
        assert "ZeroDivisionError" in ran.stderr.splitlines()[-1]
