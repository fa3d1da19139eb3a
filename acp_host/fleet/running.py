"""The way in: :func:`run`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from acp_host.automation.limits import Budget, Retries, Timeouts
from acp_host.automation.target import resolve_target
from acp_host.errors import InvalidInput
from acp_host.fleet.assignment import SERVICES, FleetSettings, Keep
from acp_host.fleet.conductor import FleetPlan
from acp_host.fleet.engine import Engine, LocalEngine
from acp_host.fleet.fleet import Fleet
from acp_host.fleet.job import Job, numbered
from acp_host.fleet.outcomes import JobOutcomeKind
from acp_host.fleet.progress import progress_bar
from acp_host.fleet.working_copies import CopyKind, Uncommitted, is_url
from acp_host.given_files import absolute
from acp_host.host.agent_target import AgentTarget
from acp_host.services.permissions import PermissionPolicy
from acp_host.transports import Transport

__all__ = ["run"]


def run(
    jobs: Iterable[Job],
    *,
    agent: Sequence[str] | str | AgentTarget,
    engine: Any = None,
    permissions: PermissionPolicy | None = None,
    remind: str | Iterable[str] = (),
    timeouts: Timeouts | float | None = None,
    job_budget: Budget | None = None,
    budget: Budget | None = None,
    retries: Retries | int = 0,
    attempts: int = 3,
    journal: str | os.PathLike[str] | None = None,
    rerun: Collection[str] = (),
    rerun_unknown: bool = False,
    record: str | os.PathLike[str] | None = None,
    copies: CopyKind | str | None = None,
    copies_in: str | os.PathLike[str] | None = None,
    uncommitted: Uncommitted | str = Uncommitted.INCLUDE,
    keep: Keep | str = Keep.NEVER,
    progress: bool | None = False,
    **connection: Any,
) -> Fleet:
    """Run many jobs, each with an agent of its own in a working copy of its own. ::

        jobs = [Job("Fix the failing test", directory) for directory in directories]
        report = await acp_host.fleet.run(jobs, agent=["some-agent", "--acp"], journal="fleet.db")
        for result in report.results:
            print(result.job.id, result.outcome.kind, result.patch.decode())

    The originals are not touched: :meth:`JobResult.apply` does that. Nothing that becomes of one job is raised, or ends
    another: it is in its result. The fleet begins when it is awaited or entered, see
    :class:`~acp_host.fleet.fleet.Fleet`.

    Args:
        jobs: what to do.
        agent: its command, its URL, or what :func:`acp_host.known` returns; the same for all.
        engine: where the jobs are run: ``None`` for this process; a number for so many at a time in it; the address of
            a Dask scheduler, a ``distributed.Client`` or a Dask cluster; or an :class:`~acp_host.fleet.engine.Engine`.
            To workers of Dask everything is sent that is given here, ``env`` included.
        permissions: what the agents may do; ``None`` rejects all that they ask permission for. A job's own comes first;
            so it is with all that a :class:`~acp_host.fleet.job.Job` can say for itself.
        remind: reminders that are given to each model before the prompt and before the job's own.
        timeouts: how long each attempt may take; a number is that of seconds in all.
        job_budget: what each job may spend, all its attempts together.
        budget: what the fleet may spend, what the journal knows of included; more than that, and it is stopped.
        retries: whether an agent that fails *before* it has the prompt is started again in the same working copy; a
            number is that of further starts after the first.
        attempts: how many attempts at a job are made at most, if those who make them are lost.
        journal: a file in which all that is done is written down; with the same file, a fleet goes on where an earlier
            one has ended, however that was. ``None``: it is forgotten.
        rerun: jobs of the journal that ended in one of these ways are run again, e.g. ``["failed", "cancelled"]``.
        rerun_unknown: run again those whose prompt was sent, or may have been, and of which nobody knows what came of
            it. What they do may be done twice.
        record: a directory in which each conversation is recorded, as ``JOB.jsonl``.
        copies: how working copies are made, see :mod:`acp_host.fleet.working_copies`; ``None``: by what there is.
        copies_in: the directory for them, on the machine that runs the job; ``None``: one in that for temporary files.
        uncommitted: what becomes of changes that are not committed: ``include``, ``ignore`` or ``refuse``.
        keep: which working copies are kept: ``never``, ``failed`` or ``always``.
        progress: show a bar on stderr, if that is a terminal; ``None``: if rich is installed.
        **connection: everything else that :func:`acp_host.connect` takes, e.g. ``files=True``; for workers of Dask,
            what can be pickled. In place of a file or terminal service, a function that makes one for each agent.

    Raises:
        InvalidInput: an argument is wrong, or a progress bar is wanted without rich.
        NotSupported: Dask is needed and not installed.
    """
    listed = numbered(jobs)
    if isinstance(agent, Transport):
        raise InvalidInput("run(agent=…) takes a command or a URL: a transport is for one connection")
    resolve_target(agent)
    _check_budget(budget)
    _check_services(connection)
    chosen = engine_of(engine)
    if chosen.is_here:
        _check_directories(listed)
    if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
        raise InvalidInput(f"run(attempts=…) takes a number of attempts, 1 or more, not {attempts!r}")
    given = Retries.of(retries)
    if given.after_prompt:
        raise InvalidInput("Retries(after_prompt=True) is not for fleets: rerun_unknown=True uses a fresh working copy")
    again = {_word(JobOutcomeKind, "rerun", word) for word in _words(rerun)}
    settings = FleetSettings(
        agent=agent if isinstance(agent, str | AgentTarget) else tuple(os.fspath(word) for word in agent),
        permissions=_checked_policy(permissions),
        timeouts=timeouts if isinstance(timeouts, Timeouts) else Timeouts(total=timeouts),
        remind=_words(remind),
        retries=given,
        record=None if record is None else absolute(record),
        copies=None if copies is None else _word(CopyKind, "copies", copies),
        copies_in=None if copies_in is None else absolute(copies_in),
        uncommitted=_word(Uncommitted, "uncommitted", uncommitted),
        keep=_word(Keep, "keep", keep),
        connection=connection,
    )
    plan = FleetPlan(
        jobs=tuple(listed),
        engine=chosen,
        settings=settings,
        journal=None if journal is None else absolute(journal),
        budget=budget,
        job_budget=job_budget,
        attempts=attempts,
        rerun=again | ({JobOutcomeKind.UNKNOWN} if rerun_unknown else set()),
    )
    return Fleet(plan, progress_bar(len(listed), progress))


def engine_of(engine: Any) -> Engine:
    """Return the engine that an argument stands for.

    Raises:
        InvalidInput: it is none.
        NotSupported: Dask is needed and not installed.
    """
    if engine is None:
        return LocalEngine()
    if isinstance(engine, int):
        return LocalEngine(limit=engine)
    if hasattr(engine, "attempt") and hasattr(engine, "is_here"):
        given: Engine = engine
        return given
    from acp_host.fleet.dask_engine import DaskEngine

    return DaskEngine(engine)


def _check_budget(budget: Budget | None) -> None:
    if budget is not None and budget.turns is not None:
        raise InvalidInput("the budget of a fleet is one of tokens and cost; job_budget can be one of turns")


def _check_services(connection: Mapping[str, Any]) -> None:
    for name in SERVICES & connection.keys():
        if not isinstance(connection[name], bool) and not callable(connection[name]):
            raise InvalidInput(
                f"run({name}=…) takes True, or a function that makes a service: sessions of several agents may have"
                " the same id, so that each agent needs a service of its own"
            )


def _check_directories(jobs: Iterable[Job]) -> None:
    for job in jobs:
        if not is_url(job.cwd) and not os.path.isdir(job.cwd):
            raise InvalidInput(f"job {job.id}: there is no directory {job.cwd}")


def _checked_policy(permissions: Any) -> PermissionPolicy | None:
    if permissions is not None and not isinstance(permissions, PermissionPolicy):
        raise InvalidInput("run(permissions=…) takes a PermissionPolicy: there is nobody who could be asked")
    return permissions


def _words(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _word(kind: Any, name: str, given: Any) -> Any:
    try:
        return kind(given)
    except ValueError:
        raise InvalidInput(f"run({name}=…) takes {', '.join(kind)}, not {given!r}") from None
