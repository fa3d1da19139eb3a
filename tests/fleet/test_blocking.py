"""Fleets without ``await``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from acp_host import fleet
from acp_host.fleet import Job, Journal, blocking
from tests.fleet.surroundings import command, gone, repository, until_there


def our_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if "acp_host" in thread.name}


def test_results_come_one_by_one_and_all_together(tmp_path: Path) -> None:
    before = our_threads()
    jobs = [Job(f"say {number}", str(repository(tmp_path / str(number)))) for number in range(3)]
    with blocking.run(jobs, agent=command(), copies_in=tmp_path / "copies") as running:
        assert sorted(result.text for result in running) == ["0", "1", "2"]
        assert running.wait().summary.completed
    assert [result.text for result in running.report.results] == ["0", "1", "2"]
    report = fleet.blocking.run(jobs, agent=command(), copies_in=tmp_path / "copies").wait()
    assert report.summary.outcomes == {"completed": 3}
    assert our_threads() <= before


def test_it_can_be_cancelled_from_elsewhere_and_left(tmp_path: Path) -> None:
    repo = str(repository(tmp_path / "project"))
    running = blocking.run([Job("wait", repo, id="a")], agent=command(), copies_in=tmp_path / "copies")
    timer = threading.Timer(0.5, running.cancel)
    timer.start()
    assert running.wait()["a"].outcome.kind in ("cancelled", "not_run")
    timer.join()
    with blocking.run([Job("wait", repo, id="a")], agent=command(), copies_in=tmp_path / "copies") as running:
        pass
    assert {result.outcome.kind for result in running.results} <= {"cancelled", "not_run"}


INTERRUPTED = """
import sys
from acp_host.fleet import Job, blocking
from tests.fleet.surroundings import command
folder, repo = sys.argv[1:]
jobs = [Job(f"say half\\nchild {folder}/child\\nwait", repo, id="a")]
with blocking.run(jobs, agent=command(), journal=f"{folder}/fleet.db", copies_in=f"{folder}/copies") as fleet:
    for result in fleet:
        pass
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process on Windows")
def test_ctrl_c_ends_agents_and_keeps_what_is_known(tmp_path: Path) -> None:
    repo = repository(tmp_path / "project")
    caller = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path), str(repo)],
        stderr=subprocess.PIPE,
        cwd=os.getcwd(),
        text=True,
    )
    child = int(until_there(tmp_path / "child"))
    caller.send_signal(signal.SIGINT)
    _, errors = caller.communicate(timeout=45)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert gone(child)
    (known,) = Journal.read(tmp_path / "fleet.db")
    assert known.result is not None
    assert (known.result.outcome.kind, known.result.text) == ("cancelled", "half")
    assert [path.name.partition("-")[0] for path in (tmp_path / "copies").iterdir()] == ["agents"]
