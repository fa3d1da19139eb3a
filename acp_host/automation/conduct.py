"""Conducts a run from its first attempt to its result: :func:`conduct`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from acp_host.automation.attempt import Attempt
from acp_host.automation.budget import BudgetWatch
from acp_host.automation.changed_files import ChangeTracker
from acp_host.automation.events import AttemptFailed, LimitReached, RunEvent, RunFinished, RunStarted
from acp_host.automation.making_results import attempt_of, result_of
from acp_host.automation.plan import RunPlan
from acp_host.automation.result import RunAttempt, RunReason, RunResult
from acp_host.automation.retrying import may_be_retried
from acp_host.automation.stop import Stop

__all__ = ["conduct"]


async def conduct(plan: RunPlan, emit: Callable[[RunEvent], None], stop: Stop) -> RunResult:
    """Do what the plan says, and return what came of it.

    Args:
        plan: what to do.
        emit: takes the events of the run.
        stop: ends it early.

    Raises:
        InvalidInput: an argument turns out to be wrong.
    """
    return await _Conductor(plan, emit, stop).conduct()


class _Conductor:
    def __init__(self, plan: RunPlan, emit: Callable[[RunEvent], None], stop: Stop) -> None:
        self._plan = plan
        self._emit = emit
        self._stop = stop
        self._budget = BudgetWatch(plan.budget, lambda what: self._limit(RunReason.BUDGET_EXCEEDED, what))
        self._tried: list[RunAttempt] = []

    async def conduct(self) -> RunResult:
        plan, began, clock = self._plan, time.time(), time.monotonic()
        self._emit(RunStarted(agent=plan.target.shown, cwd=plan.cwd))
        total = plan.timeouts.total
        timer = None
        if total is not None:
            timer = asyncio.get_running_loop().call_later(total, self._total_over)
        tracker = ChangeTracker(plan.cwd) if plan.track_changes else None
        try:
            if tracker is not None:
                await tracker.begin()
            last = await self._attempts()
            changes = None if tracker is None else await tracker.end()
        finally:
            if timer is not None:
                timer.cancel()
            if tracker is not None:
                tracker.close()
        result = result_of(
            last,
            attempts=tuple(self._tried),
            budget=self._budget,
            changes=changes,
            started_at=began,
            duration=time.monotonic() - clock,
        )
        self._emit(RunFinished(result=result))
        return result

    async def _attempts(self) -> Attempt:
        number = 0
        while True:
            number += 1
            attempt = await self._attempt(number)
            if number >= self._plan.retries.attempts or self._stop.requested:
                return attempt
            if not may_be_retried(attempt, after_prompt=self._plan.retries.after_prompt):
                return attempt
            delay = self._plan.retries.delay_before(number + 1)
            self._emit(AttemptFailed(number=number, error=str(attempt.error or "it took too long"), delay=delay))
            if not await self._wait(delay):
                return attempt

    async def _attempt(self, number: int) -> Attempt:
        clock = time.monotonic()
        attempt = Attempt(
            plan=self._plan,
            number=number,
            emit=self._emit,
            stop=self._stop,
            budget=self._budget,
            before_prompt=lambda session_id: None,
        )
        await attempt.make()
        self._tried.append(attempt_of(attempt, time.monotonic() - clock))
        return attempt

    async def _wait(self, seconds: float) -> bool:
        """Wait before another attempt; tell whether there is to be one."""
        woken = asyncio.Event()
        with self._stop.acts_by(woken.set):
            try:
                async with asyncio.timeout(seconds):
                    await woken.wait()
            except TimeoutError:
                return True
        return False

    def _total_over(self) -> None:
        self._limit(RunReason.TOTAL_TIMEOUT, f"the run took more than {self._plan.timeouts.total:g} s")

    def _limit(self, reason: RunReason, detail: str) -> None:
        if self._stop.request(reason, detail):
            self._emit(LimitReached(reason=reason, detail=detail))
