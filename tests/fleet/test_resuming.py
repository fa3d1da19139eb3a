"""Going on with a fleet whose program has ended, in whatever way."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_host import InvalidInput, InvalidState, fleet
from acp_host.fleet import Budget, FleetReport, Job, Journal
from acp_host.fleet.journal import Stage
from tests.fleet.surroundings import command, git, gone, repository, same, until, until_there

CALLER = """
import asyncio, sys
from acp_host import fleet
from tests.fleet.test_resuming import jobs_in, options_in
from pathlib import Path
folder = Path(sys.argv[1])
asyncio.run(fleet.run(jobs_in(folder), **options_in(folder))._finish())
"""


def jobs_in(folder: Path) -> list[Job]:
    """One job that is done before the end, one that has its prompt, one whose agent is not ready, one that waits."""
    repo = str(folder / "project")
    return [
        Job("write src/code.txt two\ncost 1", repo, id="done"),
        Job(f"cost 2\nchild {folder}/child\ngate {folder}/second", repo, id="sent"),
        Job("say later", repo, id="waiting"),
    ]


def options_in(folder: Path, **more: object) -> dict[str, object]:
    return {
        "agent": command(),
        "journal": folder / "fleet.db",
        "copies_in": folder / "copies",
        "engine": 1,
        **more,
    }


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The folder of a fleet whose program was killed in the middle."""
    repository(tmp_path / "project")
    caller = subprocess.Popen([sys.executable, "-c", CALLER, str(tmp_path)], cwd=os.getcwd())
    until_there(tmp_path / "second.at-the-gate")
    until_there(tmp_path / "child")
    until(lambda: any(known.spent.tokens == 200 for known in Journal.read(tmp_path / "fleet.db")), 30)
    caller.kill()
    caller.wait()
    return tmp_path


async def run(folder: Path, **more: object) -> FleetReport:
    return await fleet.run(jobs_in(folder), **options_in(folder, **more))


async def test_what_is_done_is_not_done_again_and_what_is_in_doubt_is_said(killed: Path) -> None:
    stages = {
        known.job.id: [attempt.stage for attempt in known.attempts] for known in Journal.read(killed / "fleet.db")
    }
    assert stages == {"done": [Stage.ENDED], "sent": [Stage.SENT], "waiting": []}
    report = await run(killed)
    assert [result.outcome.kind for result in report.results] == ["completed", "unknown", "completed"]
    assert (report["done"].from_journal, report["waiting"].from_journal) == (True, False)
    assert [file.path for file in report["done"].files] == ["src/code.txt"]
    assert report["sent"].spent.cost == {"USD": 2}
    assert (report["sent"].attempt, report["waiting"].attempt) == (1, 1)
    for pid in ((killed / "child").read_text(), (killed / "second.at-the-gate").read_text()):
        assert await asyncio.to_thread(gone, int(pid)), "what a killed program has left is ended"
    assert [path for path in (killed / "copies").rglob("*") if not path.name.startswith("agents-")] == []
    assert git("worktree", "list", cwd=killed / "project").count("\n") == 1
    again = await run(killed)
    assert [same(result) for result in again.results] == [same(result) for result in report.results]
    assert all(result.from_journal for result in again.results)


async def test_what_is_in_doubt_is_run_again_on_request_only(killed: Path) -> None:
    (killed / "second").touch()
    report = await run(killed, rerun_unknown=True)
    assert [result.outcome.kind for result in report.results] == ["completed"] * 3
    assert report["sent"].attempt == 2
    assert report["sent"].spent.cost == {"USD": 4}, "attempts are added up"
    assert [known.in_doubt for known in Journal.read(killed / "fleet.db")] == [False] * 3


async def test_the_budget_counts_what_was_spent_before(killed: Path) -> None:
    report = await run(killed, budget=Budget(cost=2.5))
    assert [result.outcome.kind for result in report.results] == ["completed", "unknown", "not_run"]
    assert report.summary.stopped is not None
    (killed / "second").touch()
    report = await run(killed, job_budget=Budget(cost=2), rerun_unknown=True)
    assert [result.outcome.kind for result in report.results] == ["completed", "failed", "completed"]
    assert report["sent"].outcome.reason == "budget_exceeded"


async def test_an_attempt_that_had_no_prompt_is_made_again_unasked(tmp_path: Path) -> None:
    repository(tmp_path / "project")
    job = Job("say x", str(tmp_path / "project"), id="one")
    with Journal(tmp_path / "fleet.db") as journal:
        journal.take([job])
        journal.begin("one", 1)
    report = await fleet.run([job], agent=command(), journal=tmp_path / "fleet.db", copies_in=tmp_path / "copies")
    assert (report["one"].outcome.kind, report["one"].attempt) == ("completed", 2)


async def test_others_can_be_run_again_by_how_they_ended(tmp_path: Path) -> None:
    repository(tmp_path / "project")
    jobs = [Job("die", str(tmp_path / "project"), id="a"), Job("say x", str(tmp_path / "project"), id="b")]
    options = {"journal": tmp_path / "fleet.db", "copies_in": tmp_path / "copies"}
    no_agent = [str(tmp_path / "no-such-agent")]
    first = await fleet.run(jobs, agent=no_agent, **options)
    assert [result.outcome.kind for result in first.results] == ["failed", "failed"]
    second = await fleet.run(jobs, agent=command(), rerun=["failed"], **options)
    assert [(result.outcome.kind, result.attempt) for result in second.results] == [("unknown", 2), ("completed", 2)]


async def test_a_fleet_that_was_stopped_goes_on(tmp_path: Path) -> None:
    repo = str(repository(tmp_path / "project"))
    jobs = [Job(f"gate {tmp_path}/g", repo, id="a"), Job("say x", repo, id="b")]
    async with fleet.run(jobs, **options_in(tmp_path)) as running:
        await asyncio.to_thread(until_there, tmp_path / "g.at-the-gate")
        running.cancel("enough")
        (tmp_path / "g").touch()
    assert running.summary.stopped == "enough"
    assert [result.outcome.kind for result in running.report.results] == ["cancelled", "not_run"]
    report = await fleet.run(jobs, **options_in(tmp_path))
    assert [(result.outcome.kind, result.from_journal) for result in report.results] == [
        ("cancelled", True),
        ("completed", False),
    ]


async def test_two_at_once_or_other_jobs_are_refused(tmp_path: Path) -> None:
    repo = str(repository(tmp_path / "project"))
    async with fleet.run([Job("wait", repo, id="a")], **options_in(tmp_path)) as running:
        await asyncio.to_thread(until, (tmp_path / "fleet.db").exists, 30)
        with pytest.raises(InvalidState, match="another run"):
            await fleet.run([Job("wait", repo, id="a")], **options_in(tmp_path))
        running.cancel()
        await running
    with pytest.raises(InvalidInput, match="another job a"):
        await fleet.run([Job("say y", repo, id="a")], **options_in(tmp_path))
