"""One attempt of a run: an agent, a session, the reminders, and the turn of one prompt: :class:`Attempt`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from attrs import define

from acp_host.automation.budget import BudgetWatch
from acp_host.automation.events import (
    AgentReady,
    PromptSent,
    ReminderSettled,
    RequestDecided,
    RunEvent,
    SessionOpened,
    SomethingNoticed,
    StderrLine,
    Updated,
)
from acp_host.automation.hiding import Hide, hiding, secrets_given
from acp_host.automation.journal import RunJournal
from acp_host.automation.plan import RunPlan
from acp_host.automation.result import RunReminder
from acp_host.automation.stop import Stop
from acp_host.errors import AcpError, InvalidInput
from acp_host.host.connection import HostConnection
from acp_host.host.outcome import TurnResult
from acp_host.host.reopening import ReopenPolicy, ReopenStep
from acp_host.host.session import Session
from acp_host.host.turn import Turn
from acp_host.reminders import ReminderReceipt
from acp_host.services.audit import AuditRecord, AuditTrail

__all__ = ["Attempt"]

_MOST_LISTED = 1_000
"""Sessions of an agent that are looked at, to find the one that was used last."""
_GOES_ON = ReopenPolicy(steps=(ReopenStep.RESUME, ReopenStep.LOAD))


@define
class Attempt:
    """One attempt, and what is known of it afterwards, however it has ended.

    Attributes:
        plan: what to do.
        number: counts the attempts of a run, from 1.
        emit: takes its events.
        stop: ends it early.
        budget: watches what it spends.
        opened: called with the session once it is open.
        before_prompt: called with it before the prompt can be on its way.
        host: the connection; ``None`` where there never was one.
        session: the session; ``None`` where none was opened.
        turn: the turn; ``None`` where the prompt was never given to the session.
        result: what the agent made of the prompt; ``None`` where it gave no answer.
        error: what ended the attempt otherwise; ``None`` where nothing did.
        timed_out: the start took too long.
        reminders: what became of the reminders.
        decided: what was decided about the agent's requests.
    """

    plan: RunPlan
    number: int
    emit: Callable[[RunEvent], None]
    stop: Stop
    budget: BudgetWatch
    opened: Callable[[Session], Awaitable[None]]
    before_prompt: Callable[[Session], Awaitable[None]]
    host: HostConnection | None = None
    session: Session | None = None
    turn: Turn | None = None
    result: TurnResult | None = None
    error: AcpError | None = None
    timed_out: bool = False
    reminders: tuple[RunReminder, ...] = ()
    decided: tuple[AuditRecord, ...] = ()

    @property
    def prompt_sent(self) -> bool:
        """Whether the prompt was written to the agent."""
        return self.turn is not None and self.turn.sent_at is not None

    @property
    def went_idle(self) -> bool:
        """Whether the turn was cancelled since nothing was heard of it."""
        turn = self.turn
        return turn is not None and turn.cancel_requested and not self.stop.requested

    async def make(self) -> None:
        """Make the attempt; what became of it is in the attributes.

        Raises:
            CancelledError: the caller was cancelled; the turn and the agent have ended by then.
        """
        async with AsyncExitStack() as stack:
            try:
                session = await self._start(stack)
                if session is not None:
                    self.result = await self._prompt(session)
            except AcpError as error:
                self.error = error
            if self.session is not None:
                self._tell_asides(self.session)

    async def _start(self, stack: AsyncExitStack) -> Session | None:
        """Return the session, open and reminded; ``None``: the run is stopped, or it took too long."""
        loop, scope = asyncio.get_running_loop(), asyncio.timeout(self.plan.timeouts.start)
        try:
            async with scope:
                with self.stop.acts_by(lambda: scope.reschedule(loop.time())):
                    host: HostConnection = await stack.enter_async_context(self._connect(stack))
                    self.host = host
                    self._ready(host, stack)
                    session = await self._open(host)
                    await self._remind(session)
                    return session
        except TimeoutError:
            if not scope.expired():
                raise
            self.timed_out = not self.stop.requested
            return None

    def _connect(self, stack: AsyncExitStack) -> Any:
        audit = self.plan.connection.get("audit") or AuditTrail()
        stack.callback(audit.on_record(self._decided))
        hide = hiding(secrets_given(None, self.plan.environment))  # it may speak before there is a connection
        on_stderr = partial(self._stderr, hide)
        here = {} if self.plan.target.remote else {"on_stderr": on_stderr}  # elsewhere, there is none to hear of
        return self.plan.connect(self.number, audit=audit, **here)

    def _ready(self, host: HostConnection, stack: AsyncExitStack) -> None:
        for diagnostic in host.diagnostics:
            self.emit(SomethingNoticed(diagnostic=diagnostic))
        stack.callback(host.diagnostics.connect(lambda diagnostic: self.emit(SomethingNoticed(diagnostic=diagnostic))))
        self.emit(AgentReady(host=host))

    async def _open(self, host: HostConnection) -> Session:
        wanted, how = await self._wanted(host), "new"
        if wanted is None:
            session = await host.new_session(self.plan.cwd)
        else:
            reopened = await host.open_session(wanted, self.plan.cwd, policy=_GOES_ON)
            session, how = reopened.session, str(reopened.step)
        self.session = session
        self.emit(SessionOpened(session=session, how=how))
        await self.opened(session)
        return session

    async def _wanted(self, host: HostConnection) -> str | None:
        """Return the session to go on with; ``None`` for a new one."""
        plan = self.plan
        if not plan.continue_last:
            return plan.session
        known = None if plan.journal is None else await plan.in_journal(RunJournal.last_session, *plan.place)
        if known is None and host.agreement.supports("session/list"):
            known = await _newest(host, plan.cwd)
        if known is None:
            raise InvalidInput(f"there is no session to go on with: none of this agent is known in {plan.cwd}")
        return known

    async def _remind(self, session: Session) -> None:
        for reminder in self.plan.reminders:
            receipt = await session.remind(reminder, policy=self.plan.reminder_policy)
            told = _told(receipt)
            self.reminders += (told,)
            self.emit(ReminderSettled(reminder=told))

    async def _prompt(self, session: Session) -> TurnResult | None:
        """Return what the agent makes of the prompt; ``None``: the run is stopped, and the prompt was not sent."""
        self._tell_asides(session)
        await self.before_prompt(session)
        if self.stop.requested:
            return None
        self.budget.turn_begins(session.state.snapshot())
        turn = self.turn = session.prompt(self.plan.prompt, idle_timeout=self.plan.timeouts.idle)
        self.emit(PromptSent(turn=turn.number))
        with self.stop.acts_by(lambda: turn.cancel(self.stop.detail)):
            async for update in turn:
                self.emit(Updated(update=update, session=session))
                self.budget.told(update, session)
            result = await turn
        self.budget.turn_ended(result, session.state.snapshot())
        return result

    def _tell_asides(self, session: Session) -> None:
        """Tell the updates outside of the turn that have come so far."""
        for update in session.take_updates_between_turns():
            self.emit(Updated(update=update, session=session, aside=True))

    def _decided(self, record: AuditRecord) -> None:
        self.decided += (record,)
        self.emit(RequestDecided(record=record))

    def _stderr(self, hide: Hide, line: str) -> None:
        self.emit(StderrLine(line=hide(line)))
        also = self.plan.connection.get("on_stderr")
        if also is not None:
            also(line)


async def _newest(host: HostConnection, cwd: str) -> str | None:
    """Return the session of a directory that the agent says was used last; ``None`` where it knows none."""
    listed = [info async for info in host.iter_sessions(cwd=cwd, limit=_MOST_LISTED)]
    newest = max(listed, key=lambda info: info.updated_at or "", default=None)
    return None if newest is None else newest.session_id


def _told(receipt: ReminderReceipt) -> RunReminder:
    detail = "" if receipt.error is None else receipt.error.message
    return RunReminder(rung=str(receipt.rung), status=str(receipt.status), detail=detail)
