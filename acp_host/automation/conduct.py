"""Conducts a run from its first attempt to its result: :func:`conduct`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attrs import evolve

from acp_host.automation.attempt import Attempt
from acp_host.automation.budget import BudgetWatch
from acp_host.automation.changed_files import ChangeTracker, tracked
from acp_host.automation.events import AttemptFailed, LimitReached, RunEvent, RunFinished, RunStarted, SomethingNoticed
from acp_host.automation.hiding import hiding, secrets_given
from acp_host.automation.journal import RunJournal
from acp_host.automation.making_results import attempt_of, result_of
from acp_host.automation.plan import RunPlan
from acp_host.automation.result import RunAttempt, RunReason, RunResult
from acp_host.automation.retrying import may_be_retried
from acp_host.automation.stop import Stop
from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, InvalidInput
from acp_host.host.session import Session

__all__ = ["conduct"]


async def conduct(plan: RunPlan, emit: Callable[[RunEvent], None], stop: Stop) -> RunResult:
    """Do what the plan says, and return what came of it.

    Args:
        plan: what to do.
        emit: takes the events of the run.
        stop: ends it early.

    Raises:
        InvalidInput: an argument turns out to be wrong, or the journal cannot be used.
        InvalidState: another process is at this run.
    """
    return await _Conductor(plan, emit, stop).conduct()


class _Conductor:
    def __init__(self, plan: RunPlan, emit: Callable[[RunEvent], None], stop: Stop) -> None:
        self._plan = plan
        self._emit = emit
        self._stop = stop
        self._budget = BudgetWatch(plan.budget, lambda what: self._limit(RunReason.BUDGET_EXCEEDED, what))
        self._tried: list[RunAttempt] = []
        self._error: AcpError | None = None
        self._tracker: ChangeTracker | None = None

    async def conduct(self) -> RunResult:
        self._emit(RunStarted(agent=self._plan.target.shown, cwd=self._plan.cwd, key=self._plan.key))
        result = await self._once() if self._plan.key is not None else await self._run()
        self._emit(RunFinished(result=result, error=self._error))
        return result

    async def _once(self) -> RunResult:
        """Do the run unless the journal knows what it has come to, and write that down."""
        plan, key = self._plan, self._plan.key
        assert key is not None
        known = await plan.in_journal(RunJournal.begin, key, plan.digest, rerun_unknown=plan.rerun_unknown)
        if known is not None:
            return known
        try:
            result = evolve(await self._run(), key=key)
        except BaseException:
            await asyncio.shield(plan.in_journal(RunJournal.leave, key))
            raise
        try:
            await plan.in_journal(RunJournal.finish, key, result)
        except InvalidInput as error:  # the disk is full, say: what the agent has done must not be lost over it
            self._emit(SomethingNoticed(diagnostic=Diagnostic(DiagnosticKind.RECORDING, str(error))))
        return result

    async def _run(self) -> RunResult:
        plan, began, clock = self._plan, time.time(), time.monotonic()
        with self._total_timeout():
            async with tracked(plan.cwd if plan.track_changes else None, plan.own_files) as self._tracker:
                last = await self._attempts()
                self._error = last.error
                if isinstance(last.error, InvalidInput) and not last.prompt_sent:
                    raise last.error
                changes = await self._tracker.end() if self._tracker is not None and last.prompt_sent else None
        return result_of(
            last,
            attempts=tuple(self._tried),
            budget=self._budget,
            changes=changes,
            started_at=began,
            duration=time.monotonic() - clock,
        )

    @contextmanager
    def _total_timeout(self) -> Iterator[None]:
        total = self._plan.timeouts.total
        if total is None:
            yield
            return
        timer = asyncio.get_running_loop().call_later(total, self._total_over)
        try:
            yield
        finally:
            timer.cancel()

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
            hide = hiding(secrets_given(attempt.host, self._plan.environment))
            error = hide(str(attempt.error or "it took too long"))
            self._emit(AttemptFailed(number=number, error=error, delay=delay))
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
            opened=self._opened,
            before_prompt=self._before_prompt,
        )
        await attempt.make()
        self._tried.append(attempt_of(attempt, time.monotonic() - clock))
        return attempt

    async def _opened(self, session: Session) -> None:
        plan = self._plan
        if plan.journal is None:
            return
        try:
            await plan.in_journal(RunJournal.remember_session, *plan.place, session.id)
        except InvalidInput as error:
            if plan.key is not None:
                raise
            self._emit(SomethingNoticed(diagnostic=Diagnostic(DiagnosticKind.RECORDING, str(error))))

    async def _before_prompt(self, session: Session) -> None:
        if self._tracker is not None:
            await self._tracker.ready()
        if self._plan.before_prompt is not None:
            await self._plan.before_prompt()
        if self._plan.key is not None and not self._stop.requested:
            await self._plan.in_journal(RunJournal.sent, self._plan.key, session.id)

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
