"""Fleets on a Dask cluster of two worker processes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from distributed import Client, LocalCluster

from acp_host import CancelTimeouts, InvalidInput, InvalidState, StopTimeouts, fleet
from acp_host.cli import main
from acp_host.fleet import Budget, FleetReport, Job, JobResult
from acp_host.fleet.dask_engine import DaskEngine
from acp_host.fleet.engine import EngineLost
from tests.fleet.surroundings import SOURCES_ONLY, command, gone, nothing_left, repository, same, until, until_there

SDK_AGENT = Path(__file__).parents[1] / "interop" / "python_sdk_agent.py"
QUICK = {"cancel_timeouts": CancelTimeouts(grace=0.2, withdrawn=0.2), "stop_timeouts": StopTimeouts(exit=0.2, kill=5)}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


async def run(jobs: list[Job], tmp_path: Path, engine: Any, **options: Any) -> FleetReport:
    given = {"agent": command(), "copies_in": tmp_path / "copies", **options}
    return await fleet.run(jobs, engine=engine, **given)


def kill_worker_of(agent: int) -> None:
    """Kill the worker process that has started an agent, as a machine that is switched off would."""
    worker = psutil.Process(agent).ppid()
    assert worker not in (os.getpid(), 1)
    os.kill(worker, signal.SIGKILL)


def kill_a_worker(cluster: LocalCluster) -> None:
    """Kill one of the worker processes, whatever it does."""
    nannies: list[Any] = list(cluster.workers.values())
    os.kill(nannies[0].pid, signal.SIGKILL)


def forty_jobs(tmp_path: Path) -> list[Job]:
    """Jobs of every kind, in four repositories and a plain directory."""
    places = [repository(tmp_path / f"project-{number}") for number in range(4)]
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/src").mkdir()
    places.append(tmp_path / "plain")
    prompts = [
        "write src/code.txt {n}\ncost 0.25\nsay Done {n}",
        "write README.md {n}\nwrite src/new-{n}.txt x",
        "delete src/code.txt\nsay gone",
        "say nothing to do",
        "write src/a.txt {n}\ndie",
        "write src/b.txt {n}\ngit init -q nothing",
        "write docs/{n}.md no",
        "cost 0.5\nsay costly",
    ]
    jobs = []
    for number in range(40):
        prompt = prompts[number % len(prompts)].format(n=number)
        place = places[number % 4] if prompt.startswith(("delete", "write README")) else places[number % len(places)]
        jobs.append(Job(prompt, str(place), permissions=SOURCES_ONLY if number % 2 else None))
    return jobs


@pytest.mark.timeout(240)
async def test_forty_jobs_have_the_same_results_here_and_there_even_if_a_worker_is_killed_in_the_middle(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    jobs = forty_jobs(tmp_path)
    here = await run(jobs, tmp_path, 4)
    assert len(here.results) == 40
    assert set(here.summary.outcomes) == {"completed", "unknown", "policy_violated"}
    async with fleet.run(
        jobs, agent=command(), copies_in=tmp_path / "copies", engine=cluster, rerun_unknown=True
    ) as running:
        async for _ in running:
            if len(running.results) == 12:
                kill_a_worker(cluster)
    there = running.report
    assert [comparable(result) for result in there.results] == [comparable(result) for result in here.results]
    for one, other in zip(here.results, there.results, strict=True):
        assert other.attempt > 1 or other.spent == one.spent
    assert max(result.attempt for result in there.results) <= 2


def comparable(result: JobResult) -> tuple[Any, ...]:
    """What has to be the same; of what was kept, since not all can be told, the place may be another one."""
    job, outcome, text, files, problem, violations, _, source, kind, commit, kept = same(result)
    return (job, outcome, text, files, problem, violations, source, kind, commit, kept is None)


async def test_a_worker_that_is_killed_changes_nothing_but_time(cluster: LocalCluster, tmp_path: Path) -> None:
    repo = repository(tmp_path / "project")
    child, gate = tmp_path / "child", tmp_path / "gate"
    jobs = [
        Job(f"write src/code.txt {number}\ncost 0.5\nsay {number}", str(repo), id=f"j{number}") for number in range(8)
    ]
    jobs[2:2] = [Job(f"write src/code.txt x\ncost 2\nchild {child}\ngate {gate}\nsay through", str(repo), id="hit")]
    running = fleet.run(
        jobs,
        agent=command(),
        engine=cluster,
        copies_in=tmp_path / "copies",
        journal=tmp_path / "fleet.db",
        rerun_unknown=True,
    )
    async with running:
        agent = int(await asyncio.to_thread(until_there, Path(f"{gate}.at-the-gate")))
        lost_child = int(await asyncio.to_thread(until_there, child))
        await asyncio.to_thread(until, lambda: running.spent_so_far.cost.get("USD", 0) >= 2, 30)
        await asyncio.to_thread(kill_worker_of, agent)
        gate.touch()
        await running
    report = running.report
    assert report.summary.outcomes == {"completed": 9}
    assert [result.text for result in report.results] == ["0", "1", "through", *map(str, range(2, 8))]
    hit = report["hit"]
    assert (hit.attempt, hit.spent.cost) == (2, {"USD": 4})
    assert [file.path for file in hit.files] == ["src/code.txt"]
    assert hit.files[0].text.count("\n+") == 2, "the second attempt has had a fresh working copy"
    for pid in (agent, lost_child):
        assert await asyncio.to_thread(gone, pid)
    assert nothing_left(tmp_path, repo)


async def test_a_prompt_that_was_sent_is_not_sent_again_unasked(
    cluster: LocalCluster, tmp_path: Path, repo: Path
) -> None:
    gate = tmp_path / "gate"
    async with fleet.run(
        [Job(f"gate {gate}", str(repo), id="hit")], agent=command(), engine=cluster, copies_in=tmp_path / "copies"
    ) as running:
        agent = int(await asyncio.to_thread(until_there, Path(f"{gate}.at-the-gate")))
        await asyncio.to_thread(kill_worker_of, agent)
        report = await running
    assert (report["hit"].outcome.kind, report["hit"].attempt) == ("unknown", 1)
    assert "may have been sent" in report["hit"].outcome.detail
    assert nothing_left(tmp_path, repo)
    assert await asyncio.to_thread(gone, agent)


async def test_one_that_was_not_sent_is_made_again_unasked(cluster: LocalCluster, tmp_path: Path, repo: Path) -> None:
    gate = tmp_path / "gate"
    async with fleet.run(
        [Job("say x", str(repo), id="hit")],
        agent=command("--gate", str(gate)),
        engine=cluster,
        copies_in=tmp_path / "copies",
    ) as running:
        agent = int(await asyncio.to_thread(until_there, Path(f"{gate}.at-the-gate")))
        await asyncio.to_thread(kill_worker_of, agent)
        gate.touch()
        report = await running
    assert report["hit"].outcome.kind == "completed"
    assert report["hit"].attempt >= 2, "a busy machine may lose another worker"


async def test_an_attempt_that_is_lost_takes_no_other_results_with_it(
    cluster: LocalCluster, tmp_path: Path, repo: Path
) -> None:
    engine = DaskEngine(cluster)
    async with fleet.run(
        [Job("say x", str(repo), id="hit")],
        agent=command(),
        engine=engine,
        copies_in=tmp_path / "copies",
        rerun_unknown=True,
    ) as running:
        await asyncio.to_thread(until, lambda: engine._client is not None, 30)
        client: Any = engine._client
        for _ in range(5):  # a client of Dask reads results in five requests at a time, and further ones together
            await client._gather_semaphore.acquire()
        await asyncio.to_thread(until, lambda: client._gather_future is not None, 60)
        ((key, order),) = engine._orders.items()
        order.lose("its worker is gone")
        await asyncio.to_thread(until, lambda: key not in engine._orders, 30)
        for _ in range(5):
            client._gather_semaphore.release()
        report = await running
    assert report["hit"].outcome.kind == "completed"
    assert report["hit"].attempt >= 2, "a busy machine may lose another worker"


async def test_cancelling_reaches_the_workers(cluster: LocalCluster, tmp_path: Path, repo: Path) -> None:
    child, gate = tmp_path / "child", tmp_path / "gate"
    jobs = [Job("say begun\nwait", str(repo), id="good"), Job(f"child {child}\ngate {gate}", str(repo), id="deaf")]
    jobs += [Job("wait", str(repo), id=f"more-{number}") for number in range(4)]
    running = fleet.run(jobs, agent=command(), engine=cluster, copies_in=tmp_path / "copies", **QUICK)

    async def use() -> None:
        async with running:
            await running

    task = asyncio.create_task(use())
    agent = int(await asyncio.to_thread(until_there, Path(f"{gate}.at-the-gate")))
    pid = int(await asyncio.to_thread(until_there, child))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert {result.outcome.kind for result in running.results} <= {"cancelled", "not_run"}
    assert len(running.results) == 6
    for each in (agent, pid):
        assert await asyncio.to_thread(gone, each)
    assert nothing_left(tmp_path, repo)


async def test_the_budget_of_the_fleet_holds_there_too(cluster: LocalCluster, tmp_path: Path, repo: Path) -> None:
    jobs = [Job("cost 2\nwait", str(repo), id=f"j{number}") for number in range(8)]
    report = await run(jobs, tmp_path, cluster, budget=Budget(cost=3))
    assert set(report.summary.outcomes) == {"cancelled", "not_run"}
    assert 3 < report.summary.spent.cost["USD"] <= 8
    assert report.summary.stopped is not None
    assert report.summary.stopped.startswith("the budget of cost is exceeded")


async def test_agents_of_the_python_sdk_and_whatever_a_scheduler_is_named_by(
    cluster: LocalCluster, tmp_path: Path, repo: Path
) -> None:
    agent = [sys.executable, str(SDK_AGENT)]
    report = await run([Job("hello", str(repo), id="a")], tmp_path, cluster.scheduler_address, agent=agent)
    assert report["a"].outcome.kind == "completed"
    assert report["a"].text
    with Client(cluster, set_as_default=False) as client:
        assert (await run([Job("say x", str(repo), id="a")], tmp_path, client))["a"].text == "x"


async def test_what_a_worker_cannot_do_is_that_jobs_failure(cluster: LocalCluster, tmp_path: Path, repo: Path) -> None:
    jobs = [Job("say x", str(tmp_path / "nowhere"), id="missing"), Job("say y", str(repo), id="good")]
    report = await run(jobs, tmp_path, cluster)
    assert [result.outcome.kind for result in report.results] == ["failed", "completed"]
    assert "there is no directory" in report["missing"].outcome.detail


async def test_a_scheduler_that_is_not_there_is_said(tmp_path: Path, repo: Path) -> None:
    engine = DaskEngine("tcp://127.0.0.1:9", timeout=0.5)
    with pytest.raises(EngineLost, match="cannot be reached"):
        await run([Job("say x", str(repo))], tmp_path, engine)
    with pytest.raises(InvalidInput, match="takes the address"):
        DaskEngine(7)


async def test_an_engine_is_for_one_fleet_at_a_time(cluster: LocalCluster) -> None:
    async with DaskEngine(cluster) as engine:
        with pytest.raises(InvalidState, match="another fleet"):
            await engine.__aenter__()


def test_the_command_runs_jobs_there(
    cluster: LocalCluster, tmp_path: Path, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--dask", cluster.scheduler_address, "--copies-in", str(tmp_path / "copies")]
    assert main(["fleet", *options, *command(), "--", "write src/code.txt two", "--", str(repo)]) == 0
    assert capsys.readouterr().out == "      1/1  001-project: completed; files changed: 1\n"
