"""Reminders on asyncio: :class:`SessionReminders`, between a session's delivery and its connection.

It carries out what the delivery wants and tells it what happens. What any of it means is decided in
:mod:`acp_host.reminders`; what is shown is in the panel.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Iterable
from typing import Any

from attrs import define, field, frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import (
    AcpError,
    ConnectionClosed,
    ConnectionLost,
    LocalError,
    MalformedResponse,
    RequestFailed,
)
from acp_host.host.driver import Driver
from acp_host.reminders import SHIPPED, Delivery, Learned, Reminder, ReminderPolicy, ReminderReceipt, Step, WireRung
from acp_host.reminders.commands import (
    Command,
    SendRequest,
    Settled,
    StartTimer,
    StopTimer,
    Suppressed,
    WithdrawRequest,
)
from acp_host.reminders.hands import LeadingReminder
from acp_host.state.clock import Clock, Scheduler, Timer
from acp_host.state.reminder_entry import ReminderEntry
from acp_host.state.reminders import RemindersPanel
from acp_host.state.revocation import Revocation, RevokeResult
from acp_host.translate.marked_text import MarkedReminder, MarkedTextReader
from acp_host.translate.reminders import PendingInjections, translate_pending, translate_reminder
from acp_host.wire._model import evolve
from acp_host.wire.ids import RequestId
from acp_host.wire.plans import Plan, PlanUpdate
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    SessionUpdate,
    UserMessageChunk,
)
from acp_host.wire.v2.messages import UserMessage

__all__ = ["ReminderContext", "ReminderSettings", "SessionReminders", "ShownReminder"]

_logger = logging.getLogger("acp_host.reminders")

_PENDING_INJECTIONS = "session/pending_injections"
_SIGNS_OF_WORK = (AgentMessageChunk, AgentThoughtChunk, ToolCall, ToolCallUpdate, Plan, PlanUpdate)
"""What an agent sends first of all once it has taken a prompt; an echo of the prompt is not among it."""

ShownReminder = MarkedReminder | LeadingReminder
"""A reminder in the transcript; has ``id`` and ``body``."""


@define
class ReminderSettings:
    """What the sessions of a connection share about reminders.

    Attributes:
        host: the name of the host program, for markers.
        sidebar: whether a person sees the panel.
        learned: what the connection has taught about the agent.
        rungs: the rungs that send something, by name.
    """

    host: str
    sidebar: bool = False
    learned: Learned = field(factory=Learned)
    rungs: dict[str, WireRung] = field(factory=lambda: dict(SHIPPED))


@frozen(kw_only=True)
class ReminderContext:
    """What a session's reminders need of its connection.

    Attributes:
        driver: sends the requests.
        settings: what the sessions share.
        report: takes diagnostics.
    """

    driver: Driver
    settings: ReminderSettings
    report: Callable[[Diagnostic], None]


class SessionReminders:
    """The reminders of one session; outlives its connection.

    Attributes:
        panel: what became of them; reactive.
        others_asked: called when the agent is asked for its list; returns what takes what is on it beside reminders.
        accepted_by_answer: a prompt is accepted when it is answered, and by nothing else.
        is_listening: whether every update must be shown to :meth:`receive`, and not only those that may be about
            reminders by their kind.

    Args:
        session_id: the agent's id of the session.
        context: what it needs of the connection.
        scheduler: decides when observers are called, and runs timers.
        clock: says when something happened.
        report_observer: called with an observer and what it raised.
    """

    def __init__(
        self,
        session_id: str,
        context: ReminderContext,
        scheduler: Scheduler,
        clock: Clock,
        report_observer: Callable[[Callable[..., Any], BaseException], None],
    ) -> None:
        self.is_listening = False
        self.accepted_by_answer = context.driver.protocol.agreement.protocol_version >= 2
        self.others_asked: Callable[[], Callable[[PendingInjections], None]] = lambda: lambda _: None
        self.panel = RemindersPanel(scheduler, clock, report_observer)
        self.panel.commands = self
        self._session_id = session_id
        self._context = context
        self._scheduler = scheduler
        self._delivery = Delivery(
            session_id,
            self.panel,
            context.driver.agreement,
            context.settings.learned,
            host=context.settings.host,
            sidebar=context.settings.sidebar,
            rungs=context.settings.rungs,
            report=self._report,
        )
        self._user_text = MarkedTextReader()
        self._shown: set[str] = set()
        self._requests: dict[int, RequestId] = {}
        self._timers: dict[int, Timer] = {}
        self._waiters: dict[str, asyncio.Future[ReminderReceipt]] = {}
        self._warned = False

    # --- for applications -------------------------------------------------------------------------------------------

    def plan(self, reminder: Reminder, policy: ReminderPolicy | None) -> list[Step]:
        """Return the ladder for a reminder as it is now; sends nothing."""
        return self._delivery.plan(reminder, policy or ReminderPolicy())

    async def remind(self, reminder: Reminder, policy: ReminderPolicy | None) -> ReminderReceipt:
        """Send a reminder down the ladder and wait until it has come to rest; see :meth:`Session.remind`."""
        entry_id = self._start(reminder, policy)
        waiter = self._waiter(entry_id)
        self._run()
        try:
            return await asyncio.shield(waiter)
        except asyncio.CancelledError:
            self._delivery.caller_cancelled(entry_id)
            self._run()
            raise

    def remind_soon(self, reminder: Reminder, policy: ReminderPolicy | None) -> ReminderEntry:
        """Send a reminder down the ladder and return its entry at once."""
        entry_id = self._start(reminder, policy)
        self._run()
        entry = self.panel.get(entry_id)
        assert entry is not None, "an entry is kept at least until the next one is made"
        return entry

    async def revoke(self, reminder_id: str) -> RevokeResult:
        """Take a reminder back (``session/revoke_reminder`` where the agent has it).

        A reminder that is being sent comes to rest first. What is queued, in the sidebar or suppressed is taken back
        without asking anyone.

        Args:
            reminder_id: its local id, its agent's id or an alias.

        Raises:
            InvalidInput: there is no such reminder.
            RequestFailed: the agent refused for a reason that is none of the results.
            OutcomeUnknown: the connection ended before the answer.
        """
        revoker = self._delivery.revoker
        entry_id = revoker.entry(reminder_id).id
        if self._delivery.is_waiting(entry_id):
            await asyncio.wait([self._waiter(entry_id)])
        wish = revoker.start(entry_id)
        if isinstance(wish, RevokeResult):
            return wish
        try:
            answer = await self._context.driver.call(wish.method, wish.params)
        except AcpError as error:
            return revoker.failed(entry_id, error)
        finally:
            self._run()
        return revoker.answered(entry_id, answer)

    async def clear(self, *, tag: str | None = None, key: str | None = None) -> list[Revocation]:
        """Take back every active reminder that fits; return what became of each, in the panel's order.

        Args:
            tag: one of their tags; ``None`` for any.
            key: their dedupe key; ``None`` for any.

        Raises:
            AcpError: as :meth:`revoke`, after all of them were asked for.
        """
        ids = [entry.id for entry in self.panel.find(tag=tag, key=key) if entry.active]
        results = await asyncio.gather(*(self.revoke(entry_id) for entry_id in ids), return_exceptions=True)
        revocations = []
        for entry_id, result in zip(ids, results, strict=True):
            if isinstance(result, BaseException):
                raise result
            revocations.append(Revocation(entry_id, result))
        return revocations

    def dismiss(self, reminder_id: str) -> bool:
        """Put a reminder in the sidebar away; return whether it was there. Nothing is sent."""
        entry = self.panel.get(reminder_id)
        return entry is not None and self._delivery.dismiss(entry.id)

    async def reconcile(self) -> PendingInjections:
        """Ask the agent what it still holds (``session/pending_injections``), and settle by it what was uncertain.

        Raises:
            RequestFailed: the agent refused, or does not have the method.
            OutcomeUnknown: the connection ended before the answer.
        """
        await self._context.driver.ready(_PENDING_INJECTIONS)
        asked, others = self._delivery.held_by_agent(), self.others_asked()
        answer = await self._context.driver.call(_PENDING_INJECTIONS, {"sessionId": self._session_id})
        return self._take_list(asked, others, answer)

    def _start(self, reminder: Reminder, policy: ReminderPolicy | None) -> str:
        if self._context.driver.is_over:
            raise ConnectionClosed("the reminder was not sent: the connection has ended")
        return self._delivery.remind(reminder, policy or ReminderPolicy())

    def _waiter(self, entry_id: str) -> asyncio.Future[ReminderReceipt]:
        waiter = self._waiters.get(entry_id)
        if waiter is None:
            waiter = self._waiters[entry_id] = asyncio.get_running_loop().create_future()
        return waiter

    # --- for the session --------------------------------------------------------------------------------------------

    def receive(
        self, update: SessionUpdate, *, replayed: bool, reports_replayed: bool
    ) -> list[SessionUpdate | ShownReminder] | None:
        """Take an update that may be about reminders.

        Args:
            update: any update.
            replayed: what it says belongs to the session's history.
            reports_replayed: what it reports of reminders does, too.

        Returns:
            What stands for the update in the transcript, in order; ``None`` where that is the update itself.
        """
        if self._delivery.is_leading and not self.accepted_by_answer and isinstance(update, _SIGNS_OF_WORK):
            self._delivery.prompt_accepted()
        report = translate_reminder(update, replayed=reports_replayed)
        if report is not None:
            if report.event is not None:
                self._delivery.receive(report.event)
            else:
                self._report(
                    Diagnostic(DiagnosticKind.MALFORMED, f"a reminder was ignored: {report.problem}", data=update)
                )
        shown: list[SessionUpdate | ShownReminder] | None = None
        if isinstance(update, UserMessageChunk):
            found = self._user_text.feed(update)
            shown = None if found == [update] else self._tell_apart(found, replayed)
        elif isinstance(update, UserMessage):
            shown = self._split_message(update, replayed)
        elif self._user_text.is_holding:
            shown = [*self._tell_apart(self._user_text.flush(), replayed), update]
        self._run()
        return shown

    def _split_message(self, update: UserMessage, replayed: bool) -> list[Any] | None:
        """Tell the reminders in a whole message of the user from the user's own words."""
        before = self._tell_apart(self._user_text.flush(), replayed)
        pieces = [UserMessageChunk(block, update.message_id) for block in update.content or ()]
        found = [part for piece in pieces for part in self._user_text.feed(piece)] + self._user_text.flush()
        if found == pieces:
            return [*before, update] if before else None
        own = tuple([part.content for part in found if not isinstance(part, MarkedReminder)])
        reminders = [part for part in found if isinstance(part, MarkedReminder)]
        shown: list[Any] = [*before, *self._tell_apart(reminders, replayed)]
        return [*shown, evolve(update, content=own)] if own else shown

    def prompt_accepted(self) -> None:
        """Learn that the agent has taken the prompt that was written last."""
        self._delivery.prompt_accepted()
        self._run()

    def replay_begins(self) -> None:
        """Learn that the history of the session is being asked for."""
        self._delivery.replay_started()

    def lead_prompt(self) -> tuple[LeadingReminder, ...]:
        """Return the reminders that lead the prompt that is written next; the turn begins."""
        leading = self._delivery.lead_prompt()
        self._shown = {reminder.id for reminder in leading}
        self._delivery.turn_started()
        self._run()
        return leading

    def turn_over(self, end: Any) -> None:
        """Take the end of the turn.

        Args:
            end: the result of the prompt, the error that it ended with, or ``None`` if nobody knows.
        """
        if isinstance(end, RequestFailed | LocalError):
            self._delivery.prompt_refused()
        elif end is None or (isinstance(end, AcpError) and not (isinstance(end, MalformedResponse) and end.has_result)):
            self._delivery.prompt_lost()
        else:
            self._delivery.prompt_accepted()
        self._delivery.turn_ended()
        self._run()

    def connection_lost(self, *, may_return: bool = False) -> None:
        """Take the end of the connection; ``may_return``: it is being made again, and what is to be sent waits."""
        self._delivery.connection_lost(ConnectionLost("the connection has ended"), may_return=may_return)
        self._run()

    def reattach(self, context: ReminderContext) -> None:
        """Go on with a new connection to the same session; :meth:`reopened` follows."""
        self._context = context
        self.accepted_by_answer = context.driver.protocol.agreement.protocol_version >= 2
        settings = context.settings
        self._delivery.reconnected(
            context.driver.agreement,
            settings.learned,
            host=settings.host,
            sidebar=settings.sidebar,
            rungs=settings.rungs,
        )
        self._run()

    def reopened(self) -> None:
        """Learn that the agent has opened the session again: what is uncertain can be settled now."""
        agreement = self._context.driver.agreement
        if not agreement.supports("session.remind.pending.list"):
            self._delivery.reconnection_settled()
            self._run()
            return
        done = functools.partial(self._relisted, self._delivery.held_by_agent(), self.others_asked())
        self._context.driver.send(_PENDING_INJECTIONS, {"sessionId": self._session_id}, done)

    def _relisted(self, asked: frozenset[str], others: Callable[[PendingInjections], None], answer: Any) -> None:
        if isinstance(answer, AcpError):
            text = f"the agent does not say which reminders it holds: {answer}"
            self._report(Diagnostic(DiagnosticKind.UNEXPECTED, text, method=_PENDING_INJECTIONS))
        else:
            self._take_list(asked, others, answer)
        self._delivery.reconnection_settled()
        self._run()

    def _take_list(
        self, asked: frozenset[str], others: Callable[[PendingInjections], None], answer: Any
    ) -> PendingInjections:
        pending = translate_pending(answer)
        others(pending)
        if pending.problem is None:
            self._delivery.listed(pending.event(asked))
        else:
            # Whoever is missing on such a list need not be missing.
            self._report(Diagnostic(DiagnosticKind.MALFORMED, pending.problem, method=_PENDING_INJECTIONS))
            self._delivery.listed_in_part(pending.event(frozenset()))
        self._run()
        return pending

    def _tell_apart(self, found: Iterable[Any], replayed: bool) -> list[SessionUpdate | ShownReminder]:
        """Leave out the reminders that are in the transcript already, because this host put them there."""
        shown: list[SessionUpdate | ShownReminder] = []
        for piece in found:
            if isinstance(piece, MarkedReminder) and not replayed:
                if piece.id in self._shown:
                    continue
                self._shown.add(piece.id)
            shown.append(piece)
        if replayed and self._delivery.wants_history:
            self._delivery.seen_in_history([piece.id for piece in shown if isinstance(piece, MarkedReminder)])
        return shown

    # --- what the delivery wants ------------------------------------------------------------------------------------

    def _run(self) -> None:
        while commands := self._delivery.commands():
            for command in commands:
                self._carry_out(command)
        self.is_listening = self._delivery.is_leading or self._user_text.is_holding

    def _carry_out(self, command: Command) -> None:
        match command:
            case SendRequest():
                self._send(command)
            case WithdrawRequest(token):
                if token in self._requests and not self._context.driver.protocol.ended:
                    self._context.driver.protocol.cancel(self._requests[token])
                    self._context.driver.flush()
            case StartTimer(token, seconds):
                self._timers[token] = self._scheduler.later(seconds, functools.partial(self._timed_out, token))
            case StopTimer(token):
                timer = self._timers.pop(token, None)
                if timer is not None:
                    timer.cancel()
            case Suppressed(entry_id):
                self._warn(entry_id)
            case Settled():
                self._settle(command)

    def _send(self, command: SendRequest) -> None:
        done = functools.partial(self._done, command.token)
        try:
            self._requests[command.token] = self._context.driver.send(command.method, command.params, done)
        except AcpError as error:
            self._delivery.failed(command.token, error)

    def _done(self, token: int, outcome: Any) -> None:
        self._requests.pop(token, None)
        if isinstance(outcome, AcpError):
            self._delivery.failed(token, outcome)
        else:
            self._delivery.answered(token, outcome)
        self._run()

    def _timed_out(self, token: int) -> None:
        self._timers.pop(token, None)
        self._delivery.timed_out(token)
        self._run()

    def _settle(self, settled: Settled) -> None:
        waiter = self._waiters.pop(settled.entry_id, None)
        if waiter is None or waiter.done():
            return
        if settled.error is None:
            waiter.set_result(settled.receipt)
        else:
            waiter.set_exception(settled.error)
            waiter.exception()  # one that nobody awaits any more must not be logged as never retrieved

    def _warn(self, entry_id: str) -> None:
        level = logging.DEBUG if self._warned else logging.WARNING
        self._warned = True
        _logger.log(
            level,
            "reminder %s of session %s was suppressed: no rung of its policy could take it; further ones of this "
            "session are logged at DEBUG",
            entry_id,
            self._session_id,
        )

    def _report(self, diagnostic: Diagnostic) -> None:
        self._context.report(diagnostic)
