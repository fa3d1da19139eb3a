"""Fleets: jobs, workers and programs that die, agents that make a mess of their working copies.

Workers of a real cluster are killed in ``tests/fleet/test_dask.py``; here the engine says that one is lost.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_host import CancelTimeouts, StopTimeouts, fleet
from acp_host.automation.stop import Stop
from acp_host.fleet import Budget, FleetReport, Job, JobResult, Journal, dask_worker, patches
from acp_host.fleet.assignment import Assignment, FleetSettings
from acp_host.fleet.attempt import Caller
from acp_host.fleet.engine import AttemptLost, LocalEngine
from acp_host.fleet.git import GitFailed
from acp_host.fleet.places import Place
from tests.fleet.surroundings import SOURCES_ONLY, command, files_of, git, gone, nothing_left, repository, until_there

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the programs and scripts are for POSIX"),
    pytest.mark.timeout(60),  # each starts several processes
]

QUICK = {"cancel_timeouts": CancelTimeouts(grace=0.2, withdrawn=0.2), "stop_timeouts": StopTimeouts(exit=0.2, kill=5)}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


async def run(tmp_path: Path, *jobs: Job, **options: Any) -> FleetReport:
    return await fleet.run(jobs, **{"agent": command(), "copies_in": tmp_path / "copies", **QUICK, **options})


async def test_r410_a_job_that_dies_takes_no_other_with_it(tmp_path: Path, repo: Path) -> None:
    bad = ["die", "write src/code.txt half\ndie"]
    jobs = [Job(prompt, str(repo)) for pair in zip(bad, ["say one", "say two"], strict=True) for prompt in pair]
    report = await run(tmp_path, *jobs)
    assert [result.outcome.kind for result in report.results] == ["unknown", "completed"] * 2
    assert [file.path for file in report.results[2].files] == ["src/code.txt"], "what it did until then is known"
    assert nothing_left(tmp_path, repo)


KILLED = """
import asyncio, sys
from acp_host import fleet
from acp_host.fleet import Job
from tests.fleet.surroundings import command
folder = sys.argv[1]
jobs = [Job(f"child {folder}/child\\ngate {folder}/gate", f"{folder}/project", id="a")]
asyncio.run(fleet.run(jobs, agent=command(), journal=f"{folder}/fleet.db", copies_in=f"{folder}/copies")._finish())
"""


async def test_r411_a_program_that_is_killed_is_gone_on_with(tmp_path: Path, repo: Path) -> None:
    caller = await asyncio.to_thread(subprocess.Popen, [sys.executable, "-c", KILLED, str(tmp_path)], cwd=os.getcwd())
    agent = int(await asyncio.to_thread(until_there, tmp_path / "gate.at-the-gate"))
    caller.kill()
    await asyncio.to_thread(caller.wait)
    (known,) = Journal.read(tmp_path / "fleet.db")
    assert known.in_doubt
    job = Job(f"child {tmp_path}/child\ngate {tmp_path}/gate", str(repo), id="a")
    report = await run(tmp_path, job, journal=tmp_path / "fleet.db")
    assert report["a"].outcome.kind == "unknown"
    assert await asyncio.to_thread(gone, agent)
    assert await asyncio.to_thread(gone, int((tmp_path / "child").read_text()))
    assert nothing_left(tmp_path, repo)


class LosesTheFirst(LocalEngine):
    """An engine whose worker is gone in the first attempt, before or after it was allowed to send the prompt."""

    when = "placed"

    async def attempt(self, assignment: Assignment, caller: Caller, stop: Stop) -> JobResult:
        if assignment.number > 1:
            return await super().attempt(assignment, caller, stop)
        await caller.placed(Place(host="elsewhere", directory=str(assignment.directory), maker={}))
        if self.when == "sent":
            assert await caller.may_send()
        raise AttemptLost("the machine was switched off")


class LosesAll(LocalEngine):
    """An engine whose workers are gone before they say a word."""

    async def attempt(self, assignment: Assignment, caller: Caller, stop: Stop) -> JobResult:
        raise AttemptLost("nobody was there")


async def test_r412_a_prompt_that_a_lost_worker_may_have_sent_is_not_sent_again_unasked(
    tmp_path: Path, repo: Path
) -> None:
    engine = LosesTheFirst()
    LosesTheFirst.when = "sent"
    job = Job("write src/code.txt two", str(repo), id="a")
    report = await run(tmp_path, job, engine=engine)
    assert (report["a"].outcome.kind, report["a"].attempt, report["a"].host) == ("unknown", 1, "elsewhere")
    report = await run(tmp_path, job, engine=engine, rerun_unknown=True)
    assert (report["a"].outcome.kind, report["a"].attempt) == ("completed", 2)
    assert b"+two" in report["a"].patch


async def test_r413_an_attempt_that_was_lost_before_the_prompt_is_made_again(tmp_path: Path, repo: Path) -> None:
    LosesTheFirst.when = "placed"
    job = Job("say x", str(repo), id="a")
    report = await run(tmp_path, job, engine=LosesTheFirst())
    assert (report["a"].outcome.kind, report["a"].attempt) == ("completed", 2)
    report = await run(tmp_path, job, engine=LosesTheFirst(), attempts=1)
    assert (report["a"].outcome.kind, report["a"].attempt) == ("failed", 1)
    assert report["a"].outcome.detail == "its only attempt was lost: the machine was switched off"
    report = await run(tmp_path, job, engine=LosesAll(), attempts=2)
    assert (report["a"].outcome.kind, report["a"].attempt) == ("failed", 2)
    assert report["a"].outcome.detail == "2 attempts were lost; the last: nobody was there"


async def test_r414_changes_that_the_agent_hides_from_git_are_found(tmp_path: Path, repo: Path) -> None:
    prompt = "git update-index --skip-worktree src/code.txt\nwrite src/code.txt two\ngit checkout -q -b mine"
    report = await run(tmp_path, Job(prompt, str(repo), id="a"))
    assert [file.path for file in report["a"].files] == ["src/code.txt"]
    assert "src/code.txt" in git("ls-files", cwd=repo)
    assert git("status", "--porcelain", cwd=repo) == ""


async def test_r415_no_program_is_run_that_the_agent_has_put_into_a_repository(tmp_path: Path, repo: Path) -> None:
    proof = tmp_path / "was-run"
    script = f"config core.fsmonitor {proof}.sh"
    (tmp_path / "was-run.sh").write_text(f"#!/bin/sh\ntouch {proof}\n")
    (tmp_path / "was-run.sh").chmod(0o700)
    prompt = f"delete .git\ngit init -q\ngit {script}\nwrite .gitattributes * filter=evil\nwrite src/code.txt two"
    report = await run(tmp_path, Job(prompt, str(repo), id="a"), keep="always")
    assert [file.path for file in report["a"].files] == [".gitattributes", "src/code.txt"]
    assert not proof.exists()
    kept = report["a"].kept
    assert kept is not None
    git("status", cwd=Path(kept))
    assert proof.exists(), "it would have been"


async def test_r416_what_is_made_in_the_original_stays_in_it(tmp_path: Path, repo: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    report = await run(tmp_path, Job("write way/evil.txt x", str(repo), id="a"))
    (repo / "way").symlink_to(outside, target_is_directory=True)
    with pytest.raises(GitFailed):
        report["a"].apply()
    assert list(outside.iterdir()) == []


async def test_r417_of_an_agent_that_does_not_want_to_end_nothing_is_left(tmp_path: Path, repo: Path) -> None:
    job = Job(f"child {tmp_path}/child\ngate {tmp_path}/never", str(repo), id="a")
    async with fleet.run([job], agent=command(), copies_in=tmp_path / "copies", **QUICK) as running:
        agent = int(await asyncio.to_thread(until_there, tmp_path / "never.at-the-gate"))
    assert running.report["a"].outcome.kind == "cancelled"
    assert await asyncio.to_thread(gone, agent)
    assert await asyncio.to_thread(gone, int((tmp_path / "child").read_text()))
    assert nothing_left(tmp_path, repo)


async def test_r418_agents_that_spend_too_much_stop_the_fleet(tmp_path: Path, repo: Path) -> None:
    jobs = [Job("cost 3\nwait", str(repo), id=f"j{number}") for number in range(6)]
    report = await run(tmp_path, *jobs, engine=2, budget=Budget(cost=5))
    assert report.summary.outcomes == {"cancelled": 2, "not_run": 4}
    assert report.summary.spent.cost == {"USD": 6}


async def test_r419_a_working_copy_that_resists_is_removed(tmp_path: Path, repo: Path) -> None:
    script = tmp_path / "resist.sh"
    script.write_text("mkdir -p deep/er && chmod 0 deep/er && chmod 500 deep src && ln -s / way-out\n")
    git("config", "alias.resist", f"!sh {script}", cwd=repo)
    report = await run(tmp_path, Job("git resist", str(repo), id="a"))
    assert report["a"].outcome.kind == "completed"
    assert nothing_left(tmp_path, repo)


async def test_r420_changes_outside_of_the_policy_are_listed_and_do_not_get_into_the_original(
    tmp_path: Path, repo: Path
) -> None:
    prompt = "write src/code.txt two\nwrite README.md evil\nwrite .github/workflows/x.yml evil"
    report = await run(tmp_path, Job(prompt, str(repo), id="a"), permissions=SOURCES_ONLY)
    result = report["a"]
    assert result.outcome.kind == "policy_violated"
    assert [each.path for each in result.violations] == [".github/workflows/x.yml", "README.md"]
    before = files_of(repo)
    assert result.apply() == ("src/code.txt",)
    assert files_of(repo) == {**before, "src/code.txt": "one\ntwo\n"}


async def test_r421_a_worker_that_hears_nothing_of_its_caller_ends_the_agent(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_worker, "LEASE", 2.0)
    settings = FleetSettings(agent=tuple(command()), copies_in=str(tmp_path / "copies"), connection=QUICK)
    job = Job(f"child {tmp_path}/child\ngate {tmp_path}/never", str(repo), id="a")
    assignment = Assignment(fleet="f", job=job, number=1, budget=None, settings=settings)

    begun = tmp_path / "never.at-the-gate"

    def answer(**said: Any) -> None:
        if said["what"] in ("placed", "may_send"):
            asyncio.get_running_loop().call_soon(dask_worker.answer, said["token"], True)

    async def is_there_until_the_agent_works() -> None:
        while not await asyncio.to_thread(begun.exists):
            dask_worker.renew(tuple(dask_worker._orders))
            await asyncio.sleep(0.2)

    caller = asyncio.create_task(is_there_until_the_agent_works())
    result = await dask_worker._work(assignment, answer)
    await caller
    assert result is not None
    assert (result.outcome.kind, result.outcome.detail) == ("cancelled", "the caller is gone")
    assert await asyncio.to_thread(gone, int(begun.read_text()))
    assert await asyncio.to_thread(gone, int((tmp_path / "child").read_text()))
    assert nothing_left(tmp_path, repo)


async def test_r422_more_changes_than_can_be_told_are_kept(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patches, "MAX_FILES", 2)
    report = await run(tmp_path, Job("\n".join(f"write {name} x" for name in "abc"), str(repo), id="a"))
    result = report["a"]
    assert result.files_problem == "more than 2 files have changed"
    assert result.kept is not None
    assert {"a", "b", "c"} <= files_of(result.kept).keys()


ENDS_AFTER = """
import os, sys
from acp_host.fleet import Job, Journal
path, steps = sys.argv[1], int(sys.argv[2])
journal = Journal(path)
journal.take([Job("say x", "/a", id="a")])
for step in (lambda: journal.begin("a", 1), lambda: journal.sent("a", 1))[:steps]:
    step()
os._exit(1)  # nothing is cleaned up, as if it was killed
"""


def test_r423_a_journal_says_what_was_done_whenever_its_writer_has_ended(tmp_path: Path) -> None:
    for steps in range(3):
        path = tmp_path / f"{steps}.db"
        subprocess.run([sys.executable, "-c", ENDS_AFTER, str(path), str(steps)], check=False)
        (known,) = Journal.read(path)
        assert len(known.attempts) == min(steps, 1)
        assert known.in_doubt == (steps == 2)
