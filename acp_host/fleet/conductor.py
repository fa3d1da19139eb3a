"""Conducts a fleet: which job is begun when, again or never, and what the journal is told: :class:`Conductor`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from attrs import evolve, frozen

from acp_host.automation.limits import Budget
from acp_host.automation.result import RunOutcome, RunReason
from acp_host.automation.stop import Stop
from acp_host.fleet.assignment import Assignment, FleetSettings, Keep
from acp_host.fleet.engine import AttemptLost, Engine, EngineLost
from acp_host.fleet.job import Job
from acp_host.fleet.journal import Journal, JournaledJob, JournalFailed, Stage
from acp_host.fleet.outcomes import JobOutcomeKind
from acp_host.fleet.places import Place
from acp_host.fleet.result import JobResult
from acp_host.fleet.spending import Ledger, Spent, exceeded, left_of
from acp_host.redaction import redact_text

__all__ = ["Conductor", "FleetPlan"]

_T = TypeVar("_T")


@frozen(kw_only=True)
class FleetPlan:
    """The arguments of :func:`acp_host.fleet.run`, as it documents them, checked."""

    jobs: tuple[Job, ...]
    engine: Engine
    settings: FleetSettings
    journal: str | None
    budget: Budget | None
    job_budget: Budget | None
    attempts: int
    rerun: Collection[str]


class Conductor:
    """Conducts one fleet.

    Args:
        plan: what to do.
        receive: takes the result of each job, once, when it is known.

    Attributes:
        stopped: why the fleet ends before its end; ``None``: it does not.
    """

    def __init__(self, plan: FleetPlan, receive: Callable[[JobResult], None]) -> None:
        self.stopped: str | None = None
        self._plan = plan
        self._receive = receive
        self._name = secrets.token_hex(4)
        self._stops: set[Stop] = set()
        self._ledger = Ledger()
        self._left = len(plan.jobs)

    def stop(self, reason: str) -> None:
        """Begin no more attempts, and end those under way; nothing, where all results are there."""
        if self.stopped is None and self._left:
            self.stopped = reason
            for stop in tuple(self._stops):
                stop.request(None, reason)

    async def conduct(self) -> None:
        """Do all jobs, but those that the journal says were done.

        Raises:
            InvalidInput: the journal is of other jobs.
            InvalidState: another run writes to it.
            JournalFailed: it cannot be written.
        """
        plan = self._plan
        with ThreadPoolExecutor(1, thread_name_prefix="acp_host journal") as thread:
            self._thread = thread
            self._journal = await self._write(lambda: Journal(plan.journal))
            try:
                known = await self._write(lambda: self._journal.take(plan.jobs))
                await self._conduct(known)
            finally:
                await self._write(self._journal.close)

    async def _conduct(self, known: list[JournaledJob]) -> None:
        for job in known:
            for attempt in job.attempts:
                self._ledger.note(job.job.id, attempt.number, attempt.spent)
        await self._clean_up(known)
        self._hold()
        waiting = []
        for job in known:
            settled = await self._settled(job)
            if settled is None:
                waiting.append(job)
            else:
                self._tell(settled)
        if waiting:
            async with self._plan.engine as engine:
                await self._run_all(waiting, asyncio.Semaphore(engine.limit or len(waiting)))

    async def _run_all(self, jobs: list[JournaledJob], slots: asyncio.Semaphore) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                for job in jobs:
                    tasks.create_task(self._job(job, slots), name=f"acp_host job {job.job.id}")
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _settled(self, known: JournaledJob) -> JobResult | None:
        """Return the result of a job that is not to be run; ``None``: it is."""
        result = known.result
        if result is None and known.in_doubt:
            result = self._unknown(known, "the program that ran the job ended before it was known what came of it")
            if result.outcome.kind not in self._plan.rerun:
                await self._write(lambda: self._journal.end(result, Stage.LOST))
                return result
        if result is None or result.outcome.kind in self._plan.rerun:
            return None
        return evolve(result, from_journal=True)

    async def _job(self, known: JournaledJob, slots: asyncio.Semaphore) -> None:
        async with slots:
            result = await self._run(known)
        if result.outcome.kind != JobOutcomeKind.NOT_RUN:
            await self._write(lambda: self._journal.end(result, _stage(result)))
        self._tell(result)

    def _tell(self, result: JobResult) -> None:
        self._left -= 1
        self._receive(result)

    async def _run(self, known: JournaledJob) -> JobResult:
        """Make attempts at a job until its result is known."""
        job, before, lost = known.job, len(known.attempts), ""
        for number in range(before + 1, before + 1 + self._plan.attempts):
            if self.stopped is not None:
                return self._result(job, number - 1, JobOutcomeKind.NOT_RUN, self.stopped)
            budget = job.budget or self._plan.job_budget
            left = None if budget is None else left_of(budget, self._ledger.of(job.id))
            if budget is not None and left is None:
                detail = "earlier attempts have spent the whole budget"
                over = self._result(job, number - 1, JobOutcomeKind.FAILED, detail)
                return evolve(over, outcome=evolve(over.outcome, reason=RunReason.BUDGET_EXCEEDED))
            assignment = Assignment(fleet=self._name, job=job, number=number, budget=left, settings=self._plan.settings)
            made = await self._attempt(assignment)
            if isinstance(made, JobResult):
                return made
            lost = made
        attempts = self._plan.attempts
        detail = (
            f"its only attempt was lost: {lost}"
            if attempts == 1
            else f"{attempts} attempts were lost; the last: {lost}"
        )
        return self._result(job, number, JobOutcomeKind.FAILED, detail)

    async def _attempt(self, assignment: Assignment) -> JobResult | str:
        """Make one attempt; a text: it was lost, for this reason, and another one may be made."""
        job, number = assignment.job, assignment.number
        await self._write(lambda: self._journal.begin(job.id, number))
        caller, stop = _Journaling(self, job, number), Stop()
        self._stops.add(stop)
        if self.stopped is not None:
            stop.request(None, self.stopped)
        try:
            result = await self._plan.engine.attempt(assignment, caller, stop)
        except AttemptLost as error:
            if caller.place is not None:
                await self._clear(caller.place, job)
            return await self._lost(caller, job, number, str(error))
        except EngineLost as error:
            self.stop(str(error))
            return await self._lost(caller, job, number, str(error))
        except JournalFailed:
            raise
        except Exception as error:  # whatever it is, it is about this job
            detail = redact_text(f"{type(error).__name__}: {error}")
            kind = JobOutcomeKind.UNKNOWN if caller.sent else JobOutcomeKind.FAILED
            return self._result(job, number, kind, detail)
        finally:
            self._stops.discard(stop)
        self.note_spent(job, number, result.spent)
        if result.outcome.kind == JobOutcomeKind.NOT_RUN:
            await self._write(lambda: self._journal.lost(job.id, number))
        return evolve(result, spent=self._ledger.of(job.id))

    async def _lost(self, caller: _Journaling, job: Job, number: int, why: str) -> JobResult | str:
        again = JobOutcomeKind.UNKNOWN in self._plan.rerun
        if caller.sent and (not again or self.stopped is not None):
            detail = f"the prompt may have been sent: {why}"
            return evolve(self._result(job, number, JobOutcomeKind.UNKNOWN, detail), host=caller.host)
        await self._write(lambda: self._journal.lost(job.id, number))
        if self.stopped is not None:
            return self._result(job, number, JobOutcomeKind.NOT_RUN, self.stopped)
        return why

    def _result(self, job: Job, number: int, kind: JobOutcomeKind, detail: str) -> JobResult:
        reason = RunReason.OUTCOME_UNKNOWN if kind is JobOutcomeKind.UNKNOWN else None
        outcome = RunOutcome(kind=kind, reason=reason, detail=detail)
        return JobResult(job=job, outcome=outcome, attempt=number, spent=self._ledger.of(job.id))

    def _unknown(self, known: JournaledJob, detail: str) -> JobResult:
        return self._result(known.job, known.attempts[-1].number, JobOutcomeKind.UNKNOWN, detail)

    # --- what is spent ----------------------------------------------------------------------------------------------

    @property
    def spent(self) -> Spent:
        """What was spent so far, all together."""
        return self._ledger.total

    def note_spent(self, job: Job, number: int, spent: Spent) -> None:
        """Take what an attempt has spent so far; a fleet that has spent more than it may is stopped."""
        now = self._ledger.note(job.id, number, spent)
        if now is not None:
            self._thread.submit(self._journal.spent, job.id, number, now)
            self._hold()

    def _hold(self) -> None:
        if self._plan.budget is not None:
            reason = exceeded(self._plan.budget, self.spent)
            if reason is not None:
                self.stop(reason)

    # --- what is left -----------------------------------------------------------------------------------------------

    async def _clean_up(self, known: list[JournaledJob]) -> None:
        """Remove what a run that was killed has left on this machine."""
        for job in known:
            for attempt in job.attempts:
                if attempt.place is not None and attempt.stage in (Stage.BEGUN, Stage.SENT):
                    await self._clear(attempt.place, job.job)

    async def _clear(self, place: Place, job: Job) -> None:
        keep = self._plan.settings.keep is not Keep.NEVER
        await asyncio.to_thread(place.clear, job.cwd, keep=keep)

    # --- the journal ------------------------------------------------------------------------------------------------

    async def write(self, work: Callable[[Journal], _T]) -> _T:
        """Do something with the journal, and return when it is on the disk."""
        return await self._write(lambda: work(self._journal))

    async def _write(self, work: Callable[[], _T]) -> _T:
        # Done even where the caller is cancelled: what was begun is written.
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, work))


class _Journaling:
    """The caller of one attempt: writes down how far it is.

    Attributes:
        sent: the prompt may have been sent.
        place: where it is made; ``None`` as long as nobody has said.
    """

    def __init__(self, conductor: Conductor, job: Job, number: int) -> None:
        self._conductor = conductor
        self._job = job
        self._number = number
        self.sent = False
        self.place: Place | None = None

    @property
    def host(self) -> str | None:
        return None if self.place is None else self.place.host

    async def placed(self, place: Place) -> None:
        self.place = place
        await self._conductor.write(lambda journal: journal.place(self._job.id, self._number, place))

    async def may_send(self) -> bool:
        if self._conductor.stopped is not None:
            return False
        await self._conductor.write(lambda journal: journal.sent(self._job.id, self._number))
        self.sent = True
        return True

    def spent(self, spent: Spent) -> None:
        self._conductor.note_spent(self._job, self._number, spent)


def _stage(result: JobResult) -> Stage:
    return Stage.LOST if result.outcome.kind == JobOutcomeKind.UNKNOWN else Stage.ENDED
