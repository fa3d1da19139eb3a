"""ProcessTree by itself, without an event loop, and the job object's sequence of calls."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from acp_host.transports import _job
from acp_host.transports.process_tree import MARK, ProcessTree, wait_until_gone

PROGRAM = Path(__file__).parent / "programs" / "misbehave.py"
posix = pytest.mark.skipif(sys.platform == "win32", reason="the programs use POSIX signals")

Launch = Callable[..., tuple[ProcessTree, "subprocess.Popen[bytes]"]]


@pytest.fixture
def launch(tag: str) -> Iterator[Launch]:
    launched = []

    def start(*arguments: str, mark: bool = True) -> tuple[ProcessTree, subprocess.Popen[bytes]]:
        tree = ProcessTree()
        env = {**os.environ, "ACP_HOST_TEST_RUN": tag}
        process = subprocess.Popen(
            [sys.executable, "-S", "-E", str(PROGRAM), *arguments],
            env=tree.mark(env) if mark else env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **tree.spawn_options,
        )
        launched.append((tree, process))
        tree.attach(process.pid)
        assert process.stdout is not None
        process.stdout.readline()
        return tree, process

    yield start
    for tree, process in launched:
        tree.kill()
        tree.release()
        with process:
            process.kill()


@posix
@pytest.mark.parametrize("mark", [True, False], ids=["marked", "unmarked"])
@pytest.mark.parametrize("how", ["group", "session"])
async def test_all_descendants_are_found_and_ended(launch: Launch, how: str, mark: bool) -> None:
    tree, process = launch("leaves_behind", how, mark=mark)
    pids = tree.snapshot()
    assert len(pids) == 2
    assert process.pid in pids
    assert tree.alive()
    tree.kill()
    process.wait()
    assert await wait_until_gone(tree, 10)
    assert tree.snapshot() == frozenset()


@posix
async def test_one_seen_before_is_found_after_its_parents_end(launch: Launch) -> None:
    """Without a mark, only the look taken in time can tell to whom a process in another session belongs."""
    tree, process = launch("leaves_behind", "session", mark=False)
    [left] = tree.snapshot() - {process.pid}
    process.kill()
    process.wait()
    assert tree.snapshot() == {left}
    tree.kill()
    assert await wait_until_gone(tree, 10)


@posix
async def test_one_of_the_group_is_found_though_never_seen_before(launch: Launch) -> None:
    tree, process = launch("leaves_behind", "group", mark=False)
    process.kill()
    process.wait()
    assert len(tree.snapshot()) == 1
    tree.kill()
    assert await wait_until_gone(tree, 10)


@posix
def test_one_of_the_group_is_signalled_once(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, process = launch("deaf")
    monkeypatch.setattr(psutil.Process, "send_signal", lambda self, number: pytest.fail("signalled alone too"))
    tree.terminate()
    assert process.wait() == -signal.SIGTERM


@posix
async def test_a_daemon_is_found_by_its_mark(launch: Launch) -> None:
    tree, process = launch("leaves_behind", "daemon")
    process.kill()
    process.wait()
    assert len(tree.snapshot()) == 1
    tree.kill()
    assert await wait_until_gone(tree, 10)


@posix
def test_terminate_asks(launch: Launch) -> None:
    tree, process = launch("deaf")
    assert tree.terminate() is True
    process.wait()
    assert tree.terminate() is False
    assert not tree.alive()


@posix
async def test_waiting_is_bounded(launch: Launch) -> None:
    tree, _ = launch("stubborn")
    tree.terminate()
    assert not await wait_until_gone(tree, 0.02)
    assert not await wait_until_gone(tree, 0)


@posix
def test_a_zombie_is_not_alive(launch: Launch) -> None:
    tree, process = launch("fail", "0")
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE
    assert not tree.alive()
    assert tree.snapshot() == frozenset()


@posix
def test_a_released_tree_touches_nothing(launch: Launch) -> None:
    tree, process = launch("deaf")
    tree.release()
    assert not tree.alive()
    tree.kill()
    assert tree.terminate() is False
    assert process.poll() is None


@posix
def test_an_id_given_to_another_process_is_not_signalled(launch: Launch) -> None:
    """The launched process has ended, and its id leads a stranger's session by now."""
    _, stranger = launch("deaf")
    tree = ProcessTree()
    assert tree.snapshot() == frozenset()
    group: Any = tree._group
    group.attach(stranger.pid, None)
    assert tree.snapshot() == frozenset()
    tree.kill()
    assert stranger.poll() is None


@posix
def test_attaching_what_has_ended_already() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        tree = ProcessTree()
        tree.attach(process.pid)
        assert not tree.alive()


def test_marks_nest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MARK, raising=False)
    outer = ProcessTree().mark({"A": "1"})
    assert outer["A"] == "1"
    monkeypatch.setenv(MARK, outer[MARK])
    inner = ProcessTree().mark({})[MARK]
    assert inner.startswith(outer[MARK] + ":")
    assert len(inner) == 2 * len(outer[MARK]) + 1


# Windows


class Kernel32:
    """Plays the library: remembers the calls, and refuses one if asked to."""

    def __init__(self, refuses: str = "") -> None:
        self.calls: list[str] = []
        self.limits = 0
        self.refuses = refuses

    def __getattr__(self, name: str) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            self.calls.append(name)
            if name == "SetInformationJobObject":
                self.limits = arguments[2]._obj.BasicLimitInformation.LimitFlags
            if name == "QueryInformationJobObject":
                listed = arguments[2]._obj
                listed.NumberOfProcessIdsInList = 2
                listed.ProcessIdList[0], listed.ProcessIdList[1] = 7, 8
            return 0 if name == self.refuses else 42

        return call


class Leader:
    resumed = False

    def resume(self) -> None:
        self.resumed = True


def test_the_life_of_a_job() -> None:
    api, leader = Kernel32(), Leader()
    group = _job.JobGroup(_job.Job(api))
    assert api.limits == 0x2000, "what is in it ends with its last handle"
    assert group.spawn_options["creationflags"] & 0x204 == 0x204
    group.attach(7, leader)
    assert leader.resumed
    assert api.calls == [
        "CreateJobObjectW",
        "SetInformationJobObject",
        "OpenProcess",
        "AssignProcessToJobObject",
        "CloseHandle",
    ]
    assert group.pids() == {7, 8}
    api.calls.clear()
    assert group.kill(set(), True)
    group.release()
    group.release()
    assert api.calls == ["TerminateJobObject", "CloseHandle"]
    assert group.pids() == set()


@pytest.mark.parametrize("refused", ["OpenProcess", "AssignProcessToJobObject"])
def test_a_process_that_no_job_takes_runs_all_the_same(refused: str) -> None:
    leader = Leader()
    group = _job.JobGroup(_job.Job(Kernel32(refused)))
    group.attach(7, leader)
    assert leader.resumed
    assert group.pids() == set()


@pytest.mark.parametrize("refused", ["CreateJobObjectW", "SetInformationJobObject"])
def test_a_job_that_cannot_be_made(refused: str) -> None:
    api = Kernel32(refused)
    with pytest.raises(OSError, match="job object"):
        _job.Job(api)
    assert ("CloseHandle" in api.calls) == (refused == "SetInformationJobObject")


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the sizes are those of 64-bit Windows")
def test_structures_have_the_size_of_the_system_headers() -> None:
    assert ctypes.sizeof(_job._BasicLimits) == 64
    assert ctypes.sizeof(_job._ExtendedLimits) == 144
    assert _job._ProcessIds.ProcessIdList.offset == 8
