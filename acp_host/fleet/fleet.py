"""A fleet under way: :class:`Fleet`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from types import TracebackType
from typing import Any

from acp_host.automation.owned_task import OwnedTask
from acp_host.errors import InvalidState
from acp_host.fleet.conductor import Conductor, FleetPlan
from acp_host.fleet.progress import Progress
from acp_host.fleet.result import FleetReport, FleetSummary, JobResult
from acp_host.fleet.spending import Spent

__all__ = ["Fleet"]


class Fleet:
    """A fleet under way; made by :func:`acp_host.fleet.run`. It begins when it is awaited or entered.

    Await it for its :class:`~acp_host.fleet.result.FleetReport`; enter and iterate it for the result of each job, as
    they come::

        async with acp_host.fleet.run(jobs, agent=["some-agent", "--acp"]) as fleet:
            async for result in fleet:
                print(result.job.id, result.outcome.kind)
        print(fleet.summary.outcomes)

    Leaving the ``async with`` block early, or cancelling a task while it awaits or iterates the fleet, cancels the
    turns that run, ends the agents, keeps in the journal what came of them until then, and waits for all that.
    """

    def __init__(self, plan: FleetPlan, progress: Progress) -> None:
        self._plan = plan
        self._results: list[JobResult] = []
        self._arrived = asyncio.Event()
        self._taken = 0
        self._progress = progress
        self._conductor = Conductor(plan, self._receive)
        self._task = OwnedTask(self._run, "acp_host fleet", lambda: self.cancel("the caller wants no more of it"))
        self._began = time.monotonic()
        self._duration: float | None = None

    # --- for applications -------------------------------------------------------------------------------------------

    @property
    def results(self) -> tuple[JobResult, ...]:
        """The results that are there, in the order in which they came."""
        return tuple(self._results)

    @property
    def summary(self) -> FleetSummary:
        """What came of the jobs so far; at the end, of all."""
        return FleetSummary.of(
            self._results,
            jobs=len(self._plan.jobs),
            budget=self._plan.budget,
            stopped=self._conductor.stopped,
            duration=time.monotonic() - self._began if self._duration is None else self._duration,
        )

    @property
    def spent_so_far(self) -> Spent:
        """What was spent so far, by attempts that are under way, too."""
        return self._conductor.spent

    @property
    def report(self) -> FleetReport:
        """All results, in the order of the jobs.

        Raises:
            InvalidState: the fleet is not over.
        """
        by_id = {result.job.id: result for result in self._results}
        if len(by_id) < len(self._plan.jobs):
            raise InvalidState("the fleet is not over: there is a summary of what came of it so far")
        return FleetReport(results=tuple([by_id[job.id] for job in self._plan.jobs]), summary=self.summary)

    def cancel(self, reason: str = "the application asked for it") -> None:
        """Start no more jobs and cancel the turns that run. Await the fleet, or iterate it, for its end.

        Args:
            reason: for people; goes into the outcomes and the summary.
        """
        self._conductor.stop(reason)

    def __await__(self) -> Generator[Any, None, FleetReport]:
        return self._finish().__await__()

    async def __aenter__(self) -> Fleet:
        self._task.begin()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._task.give_up()

    def __aiter__(self) -> Fleet:
        if not self._task.begun:
            raise InvalidState("a fleet is entered before it is iterated: async with acp_host.fleet.run(…) as fleet")
        return self

    async def __anext__(self) -> JobResult:
        """Return the next result.

        Raises:
            JournalFailed: the journal cannot be written any more, so that the fleet was stopped.
        """
        while self._taken == len(self._results):
            if not self._task.begun or self._task.done:
                await self._finish()
                raise StopAsyncIteration
            self._arrived.clear()
            await self._task.or_give_up(self._arrived.wait())
        self._taken += 1
        return self._results[self._taken - 1]

    # --- its life ---------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        self._began = time.monotonic()
        try:
            with self._progress:
                await self._conductor.conduct()
        finally:
            self._duration = time.monotonic() - self._began
            self._arrived.set()

    def _receive(self, result: JobResult) -> None:
        self._results.append(result)
        self._arrived.set()
        self._progress.show(lambda: self.summary)

    async def _finish(self) -> FleetReport:
        await self._task.finish()
        return self.report
