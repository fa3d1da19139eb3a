"""Fleets in this process: what becomes of jobs, limits, cancelling, the originals and what is left."""

from __future__ import annotations

import asyncio
import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from acp_host import CancelTimeouts, InvalidInput, InvalidState, PermissionPolicy, StopTimeouts, fleet
from acp_host.fleet import Budget, Fleet, FleetReport, FleetSummary, GitFailed, Job, JobResult, Retries, Timeouts
from acp_host.services.files import FileService
from acp_host.testing import ReferenceAgent
from tests.fleet.surroundings import (
    SOURCES_ONLY,
    command,
    files_of,
    git,
    gone,
    nothing_left,
    repository,
    same,
    until_there,
)

Run = Callable[..., Fleet]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(*jobs: Job, **options: Any) -> Fleet:
        return fleet.run(jobs, **{"agent": command(), "copies_in": tmp_path / "copies", **options})

    return run


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


async def file_there(path: Path) -> str:
    return await asyncio.to_thread(until_there, path)


async def test_each_job_has_its_result_and_the_original_is_not_touched(run: Run, tmp_path: Path, repo: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/a.txt").write_text("a\n")
    prompts = ["write src/code.txt two\nsay Done\ncost 0.5", "say Nothing to do", "die"]
    jobs = [Job(prompt, str(repo)) for prompt in prompts] + [Job("write a.txt b", str(tmp_path / "plain"), id="plain")]
    before = files_of(repo)
    async with run(*jobs) as fleet:
        came = [result.job.id async for result in fleet]
    assert sorted(came) == ["001-project", "002-project", "003-project", "plain"]
    report = fleet.report
    one = report["001-project"]
    assert (one.outcome.kind, one.text, one.attempt) == ("completed", "Done", 1)
    assert [(file.path, file.kind, file.allowed) for file in one.files] == [("src/code.txt", "modified", None)]
    assert (one.spent.tokens, one.spent.cost) == (50, {"USD": 0.5})
    assert report["002-project"].files == ()
    assert report["003-project"].outcome.kind == "unknown"
    assert report["003-project"].outcome.reason == "outcome_unknown"
    assert report.summary.outcomes == {"completed": 3, "unknown": 1}
    assert (report.summary.jobs, report.summary.attempts, report.summary.changed_files) == (4, 4, 2)
    assert report.summary.stopped is None
    assert files_of(repo) == before
    assert nothing_left(tmp_path, repo)
    assert report["plain"].apply() == ("a.txt",)
    assert (tmp_path / "plain/a.txt").read_text() == "a\nb\n"


async def test_results_have_a_json_form(run: Run, repo: Path) -> None:
    report = await run(Job("write src/code.txt two\nsay Done\ncost 1", str(repo)))
    for result in report.results:
        assert JobResult.from_json(json.loads(json.dumps(result.to_json()))) == result
    plain = json.loads(json.dumps(report.to_json()))
    assert plain["summary"]["outcomes"] == {"completed": 1}
    assert FleetReport.from_json(plain) == report
    assert FleetSummary.from_json(plain["summary"]) == report.summary


async def test_what_the_policy_forbids_is_listed_left_out_and_can_be_taken_back(
    run: Run, tmp_path: Path, repo: Path
) -> None:
    prompt = "write src/code.txt two\nwrite README.md more\nwrite build.log noise"
    (repo / ".gitignore").write_text("*.log\n")
    report = await run(Job(prompt, str(repo), id="one"), permissions=SOURCES_ONLY, keep="failed")
    result = report["one"]
    assert result.outcome.kind == "policy_violated"
    assert [(each.path, each.kind) for each in result.violations] == [
        ("README.md", "modified"),
        ("build.log", "created"),
    ]
    assert [(file.path, file.allowed) for file in result.files] == [("README.md", False), ("src/code.txt", True)]
    assert result.kept is not None
    assert files_of(result.kept)["README.md"] == "read me\nmore\n"
    assert result.revert_forbidden() == ("README.md",)
    assert files_of(result.kept)["README.md"] == "read me\n"
    assert files_of(result.kept)["src/code.txt"] == "one\ntwo\n"
    assert result.apply() == ("src/code.txt",)
    assert files_of(repo)["README.md"] == "read me\n"
    assert files_of(repo)["src/code.txt"] == "one\ntwo\n"
    with pytest.raises(GitFailed):  # they are made already
        result.apply(forbidden=True)


async def test_a_job_below_the_top_is_judged_there(run: Run, repo: Path) -> None:
    (repo / "part/src").mkdir(parents=True)
    (repo / "part/src/a.txt").write_text("a\n")
    prompt = "write src/a.txt b\nwrite other.txt x"
    report = await run(Job(prompt, str(repo / "part"), id="part", permissions=SOURCES_ONLY))
    result = report["part"]
    assert [(file.path, file.allowed) for file in result.files] == [
        ("part/other.txt", False),
        ("part/src/a.txt", True),
    ]
    assert [each.path for each in result.violations] == ["other.txt"]


async def test_changes_can_go_to_a_branch_or_elsewhere(run: Run, tmp_path: Path, repo: Path) -> None:
    url = f"file://{repo}"
    report = await run(
        Job("write src/code.txt two\ngit checkout -q -b mine", str(repo), id="a"), Job("write b x", url, id="b")
    )
    assert report["a"].apply(branch="agents/a") == ("src/code.txt",)
    assert git("log", "-1", "--format=%s|%an", "agents/a", cwd=repo).startswith("write src/code.txt two|")
    with pytest.raises(InvalidState, match="name a directory"):
        report["b"].apply()
    assert report["b"].apply(str(repo)) == ("b",)
    assert (repo / "b").read_text() == "x\n"
    with pytest.raises(InvalidState, match="was not kept"):
        report["a"].revert_forbidden()


async def test_no_more_than_the_limit_at_once(run: Run, tmp_path: Path, repo: Path) -> None:
    jobs = [Job(f"gate {tmp_path}/gate-{number}", str(repo), id=f"j{number}") for number in range(3)]
    async with run(*jobs, engine=2) as fleet:
        await asyncio.gather(*(file_there(tmp_path / f"gate-{number}.at-the-gate") for number in range(2)))
        assert not (tmp_path / "gate-2.at-the-gate").exists()
        (tmp_path / "gate-0").touch()
        await file_there(tmp_path / "gate-2.at-the-gate")
        for number in (1, 2):
            (tmp_path / f"gate-{number}").touch()
        assert [result.outcome.kind async for result in fleet] == ["completed"] * 3


async def test_a_fleet_that_has_spent_its_budget_is_stopped(run: Run, tmp_path: Path, repo: Path) -> None:
    jobs = [
        Job("cost 3\nwrite src/code.txt two", str(repo), id="a"),
        Job("cost 2.5\nwait", str(repo), id="b"),
        Job("cost 1", str(repo), id="c"),
    ]
    report = await run(*jobs, engine=1, budget=Budget(cost=5, currency="USD"))
    assert [result.outcome.kind for result in report.results] == ["completed", "cancelled", "not_run"]
    assert report.summary.stopped == "the budget of cost is exceeded: 5.5 USD of 5 USD"
    assert report["b"].outcome.detail == report.summary.stopped
    assert report.summary.spent.cost == {"USD": 5.5}
    assert nothing_left(tmp_path, repo)


@pytest.mark.parametrize(
    "budget, unreported",
    [
        (Budget(cost=5, currency="EUR"), ("cost",)),
        (Budget(cost=5, currency="usd"), ()),
        (Budget(cost=5, tokens=1_000), ()),
        (None, ()),
    ],
)
async def test_a_limit_that_cannot_be_held_is_named(
    run: Run, repo: Path, budget: Budget | None, unreported: tuple[str, ...]
) -> None:
    report = await run(Job("cost 3", str(repo), id="a"), Job("cost 1", str(repo), id="b"), budget=budget)
    assert report.summary.completed
    assert report.summary.unreported == unreported
    assert report.summary.to_json()["unreported"] == list(unreported)


async def test_limits_that_some_agents_report_nothing_of_are_named(run: Run, repo: Path) -> None:
    jobs = Job("cost 1", str(repo), id="a"), Job("say x", str(repo), id="b")
    report = await run(*jobs, budget=Budget(cost=5, tokens=1_000))
    assert report.summary.unreported == ("tokens", "cost")


async def test_a_fleet_stops_at_a_limit_whose_currency_is_written_otherwise(run: Run, repo: Path) -> None:
    report = await run(Job("cost 3\nwait", str(repo), id="a"), engine=1, budget=Budget(cost=2, currency="usd"))
    assert report.summary.stopped == "the budget of cost is exceeded: 3 usd of 2 usd"


async def test_a_job_has_a_budget_and_timeouts_of_its_own(run: Run, repo: Path) -> None:
    jobs = [
        Job("cost 2\nwait", str(repo), id="a", budget=Budget(cost=1)),
        Job("say x\nwait", str(repo), id="b", timeouts=Timeouts(idle=0.5)),
        Job("cost 2", str(repo), id="c"),
    ]
    report = await run(*jobs, job_budget=Budget(cost=3))
    reasons = [(result.outcome.kind, result.outcome.reason) for result in report.results]
    assert reasons == [("incomplete", "budget_exceeded"), ("incomplete", "idle_timeout"), ("completed", None)]


async def test_conversations_are_recorded_and_models_reminded(run: Run, tmp_path: Path, repo: Path) -> None:
    one = Job("/reminders", str(repo), id="one", remind="Second")
    options = {"agent": ReferenceAgent.command(), "record": tmp_path / "talks", "remind": "First"}
    report = await run(one, Job("/say x", str(repo), id="two", record=str(tmp_path / "own.jsonl")), **options)
    assert "First" in report["one"].text
    assert "Second" in report["one"].text
    assert report["one"].recording == str(tmp_path / "talks/one.jsonl")
    assert '"session/prompt"' in (tmp_path / "talks/one.jsonl").read_text()
    assert '"session/prompt"' in (tmp_path / "own.jsonl").read_text()


async def test_an_agent_works_in_its_copy_through_the_host_too(run: Run, repo: Path) -> None:
    permissions = PermissionPolicy.allow_once()
    prompt = "/edit src/code.txt\n/run git status --short"
    files = functools.partial(FileService, create_parents=False)
    options: dict[str, Any] = {"agent": ReferenceAgent.command(), "files": files, "terminals": True}
    report = await run(Job(prompt, str(repo), id="one"), permissions=permissions, **options)
    assert [file.path for file in report["one"].files] == ["src/code.txt"]
    assert files_of(repo)["src/code.txt"] == "one\n"


async def test_cancelling_ends_turns_agents_and_their_children(run: Run, tmp_path: Path, repo: Path) -> None:
    child = tmp_path / "child"
    jobs = [
        Job(f"child {child}\nwrite src/code.txt half\nsay half\ngate {tmp_path}/never", str(repo), id="deaf"),
        Job(f"say begun\nchild {tmp_path}/good\nwait", str(repo), id="good"),
        Job("say x", str(repo), id="later"),
    ]
    quick = {
        "cancel_timeouts": CancelTimeouts(grace=0.2, withdrawn=0.2),
        "stop_timeouts": StopTimeouts(exit=0.2, terminate=0.2, kill=5),
    }
    running = run(*jobs, engine=2, **quick)
    async with running:
        await file_there(tmp_path / "never.at-the-gate")
        await file_there(tmp_path / "good")
        task = asyncio.create_task(anext_of(running))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    kinds = {result.job.id: result.outcome.kind for result in running.results}
    assert kinds == {"deaf": "cancelled", "good": "cancelled", "later": "not_run"}
    assert await asyncio.to_thread(gone, int(child.read_text()))
    assert await asyncio.to_thread(gone, int((tmp_path / "never.at-the-gate").read_text()))
    assert running.report["good"].text == "begun"
    assert [file.path for file in running.report["deaf"].files] == ["src/code.txt"]
    assert nothing_left(tmp_path, repo)


async def anext_of(running: Fleet) -> JobResult:
    while True:
        await anext(running)


async def test_a_working_copy_that_cannot_be_made_is_that_jobs_failure(run: Run, tmp_path: Path, repo: Path) -> None:
    (repo / "README.md").write_text("changed")
    jobs = [Job("say x", str(repo), id="dirty"), Job("say y", f"file://{tmp_path}/nothing.git", id="missing")]
    report = await run(*jobs, Job("say z", str(repository(tmp_path / "clean")), id="good"), uncommitted="refuse")
    assert [result.outcome.kind for result in report.results] == ["failed", "failed", "completed"]
    assert "has changes that are not committed" in report["dirty"].outcome.detail
    assert "git clone failed" in report["missing"].outcome.detail


async def test_an_agent_that_does_not_start_fails_its_jobs_only(run: Run, tmp_path: Path, repo: Path) -> None:
    report = await run(Job("say x", str(repo), id="a"), agent=[str(tmp_path / "no-such-agent")])
    assert (report["a"].outcome.kind, report["a"].outcome.reason) == ("failed", "agent_failed")
    assert nothing_left(tmp_path, repo)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners to compare on Windows")
async def test_a_directory_of_somebody_else_gets_no_working_copies(
    run: Run, tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "copies").mkdir()
    if os.geteuid() == 0:
        os.chown(tmp_path / "copies", 4242, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 4242)
    report = await run(Job("say x", str(repo), id="a"))
    assert report["a"].outcome.kind == "failed"
    assert "belongs to another user" in report["a"].outcome.detail


async def test_working_copies_are_kept_on_request(run: Run, repo: Path) -> None:
    report = await run(Job("write src/code.txt two", str(repo), id="a"), keep="always", copies="clone")
    kept = report["a"].kept
    assert kept is not None
    assert files_of(kept)["src/code.txt"] == "one\ntwo\n"


async def test_one_whose_changes_cannot_be_told_is_kept_unasked(run: Run, repo: Path) -> None:
    report = await run(Job("write src/code.txt two\ngit init -q inner", str(repo), id="a"))
    result = report["a"]
    assert result.files_problem is not None
    assert result.kept is not None
    assert files_of(result.kept)["src/code.txt"] == "one\ntwo\n"
    with pytest.raises(InvalidState, match="not all changes"):
        result.apply()


@pytest.mark.parametrize(
    "options, problem",
    [
        ({"agent": []}, "command"),
        ({"engine": 0}, "LocalEngine"),
        ({"engine": object()}, "DaskEngine takes"),
        ({"budget": Budget(turns=3)}, "budget of a fleet"),
        ({"permissions": lambda request: None}, "takes a PermissionPolicy"),
        ({"attempts": 0}, "attempts"),
        ({"retries": Retries(after_prompt=True)}, "rerun_unknown"),
        ({"copies": "shadow"}, "worktree, clone, copy"),
        ({"uncommitted": "maybe"}, "include, ignore, refuse"),
        ({"keep": "some"}, "never, failed, always"),
        ({"rerun": "finished"}, "rerun"),
        ({"files": FileService()}, "a service of its own"),
    ],
)
def test_wrong_arguments_are_refused_at_once(repo: Path, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        fleet.run([Job("p", str(repo))], **{"agent": command(), **options})


def test_a_directory_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no directory"):
        fleet.run([Job("p", str(tmp_path / "nowhere"))], agent=command())


async def test_it_is_entered_before_it_is_iterated(run: Run, repo: Path) -> None:
    before = psutil.Process().children()
    running = run(Job("say x", str(repo)))
    with pytest.raises(InvalidState, match="async with"):
        aiter(running)
    with pytest.raises(InvalidState, match="not over"):
        _ = running.report
    assert psutil.Process().children() == before


async def test_without_jobs_there_is_nothing_to_do(run: Run) -> None:
    report = await run()
    assert (report.summary.completed, list(report.results)) == (True, [])


async def test_the_same_again_is_the_same(run: Run, repo: Path) -> None:
    job = Job("write src/code.txt two\nwrite new.txt x\ncost 1", str(repo), id="a")
    one, two = await run(job), await run(job)
    assert same(one["a"]) == same(two["a"])


async def test_a_clone_that_hangs_is_ended_with_what_it_has_started(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/writing; mv {tmp_path}/writing {tmp_path}/pid\nexec sleep 600\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    async with run(Job("say x", "ssh://somewhere.invalid/project.git", id="a")) as running:
        pid = int(await file_there(tmp_path / "pid"))
        running.cancel("enough")
        [result] = [each async for each in running]
    assert (result.outcome.kind, result.outcome.detail) == ("not_run", "enough")
    assert await asyncio.to_thread(gone, pid)
