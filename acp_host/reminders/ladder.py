"""Reminders on their way to the agent: :class:`Ladder`.

It decides what is sent, and what an answer, an error, silence or the end of the connection means for a reminder. What
the agent may have is never sent again by itself.

======================================  ===============================================================================
what happened at a rung                 then
======================================  ===============================================================================
a result that names the reminder        delivered
any other result                        delivered, with a diagnostic, where the agent advertised the method; else the
                                        agent does not know it, and the next rung follows
an error                                see :mod:`acp_host.reminders.answers`
no answer in time, the end of the       uncertain, until a late answer, an update about it or the agent's list of what
connection, the caller's cancellation   it holds settles it; or the next rung, where the policy says so
======================================  ===============================================================================
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind, excerpt
from acp_host.errors import AcpError, LocalError, OutcomeUnknown, ReminderNotDelivered
from acp_host.reminders.answers import Verdict, fault_of, refuses_id, verdict_on
from acp_host.reminders.commands import (
    Command,
    SendRequest,
    Settled,
    StartTimer,
    StopTimer,
    Suppressed,
    WithdrawRequest,
)
from acp_host.reminders.hands import HostHands
from acp_host.reminders.holding import Held
from acp_host.reminders.jobs import Job, Sent
from acp_host.reminders.model import Reminder
from acp_host.reminders.planning import Step, plan_in
from acp_host.reminders.policy import IDLE_TIMEOUT, OnAmbiguous, ReminderPolicy
from acp_host.reminders.receipt import AttemptOutcome
from acp_host.reminders.rungs import Declined, Outgoing, Situation, Taken, WireRung
from acp_host.state import reminder_events as events
from acp_host.state.reminder_entry import ReminderFault, ReminderStatus, Rung
from acp_host.state.reminders import RemindersPanel
from acp_host.wire._model import Unset

__all__ = ["Ladder", "LadderContext"]

_KEYS = 1_000
"""For how many dedupe keys it is remembered which reminder the agent has."""
_UNSETTLED = (ReminderStatus.SENDING, ReminderStatus.UNCERTAIN)


@frozen(kw_only=True)
class LadderContext:
    """What the ladder needs around it.

    Attributes:
        session_id: the agent's id of the session.
        host: the name of the host program.
        panel: is told of everything.
        hands: holds what no agent took.
        rungs: the rungs that send something, by name.
        command: takes what is to be done.
        report: takes diagnostics.
    """

    session_id: str
    host: str
    panel: RemindersPanel
    hands: HostHands
    rungs: Mapping[str, WireRung]
    command: Callable[[Command], None]
    report: Callable[[Diagnostic], None]


class Ladder:
    """The reminders of one session that are on their way, or of which nobody knows where they are.

    Attributes:
        situation: what decides which rungs are there.
        turn: number of the session's turn.
        awaits_connection: the connection is lost and may come back; what is to be sent waits for that.

    Args:
        context: what it needs around it.
        situation: likewise.
    """

    def __init__(self, context: LadderContext, situation: Situation) -> None:
        self.situation = situation
        self.turn = 0
        self.awaits_connection = False
        self._held_back: list[Job] = []
        self._context = context
        self._panel = context.panel
        self._command = context.command
        self._tokens = itertools.count(1)
        self._orders = itertools.count(1)
        self._waiting: dict[str, Job] = {}
        self._sent: dict[int, Sent] = {}
        self._uncertain: dict[str, Job] = {}
        self._at_agent: OrderedDict[str, Job] = OrderedDict()

    # --- for the delivery -------------------------------------------------------------------------------------------

    @property
    def has_uncertain(self) -> bool:
        """Whether there are reminders of which nobody knows whether the agent has them."""
        return bool(self._uncertain)

    def start(self, reminder: Reminder, policy: ReminderPolicy) -> str:
        """Send a reminder down the ladder; return its host-local id.

        Raises:
            ReminderNotDelivered: the required rung is not there; nothing was done.
        """
        situation = evolve(self.situation, connected=self.situation.connected or self.awaits_connection)
        plan = tuple(plan_in(situation, reminder, policy, self._context.rungs))
        if policy.require is not None:
            step = next(step for step in plan if step.rung == policy.require)
            if not step.available:
                raise ReminderNotDelivered(step.rung, step.reason)
        job = Job(self._panel.next_id(), next(self._orders), reminder, policy, plan)
        self._panel.apply(job.made())
        self._waiting[job.id] = job
        if self.awaits_connection or self._held_back:
            self._held_back.append(job)
            rung = next(step.rung for step in plan if step.available)
            self._panel.apply(events.ReminderPlaced(job.id, ReminderStatus.QUEUED, rung))
        else:
            self._descend(job)
        return job.id

    def is_waiting(self, entry_id: str) -> bool:
        """Whether whoever waits for a reminder has not been told yet."""
        return entry_id in self._waiting

    def sent_id(self, entry_id: str) -> str | None:
        """Return the id that the agent was asked to use for a reminder that is uncertain."""
        job = self._uncertain.get(entry_id)
        return job.current.sent_id if job is not None and job.current is not None else None

    def look(self) -> None:
        """After the agent said something: settle what was uncertain until then."""
        for job in tuple(self._uncertain.values()):
            if self._panel.status_of(job.id) != ReminderStatus.UNCERTAIN:
                del self._uncertain[job.id]
                job.delivered = True

    # --- answers ----------------------------------------------------------------------------------------------------

    def answered(self, token: int, result: Any) -> None:
        """Take a result, however late."""
        sent = self._take(token)
        if sent is None:
            return
        rung = sent.step.rung
        try:
            meaning = sent.rung.read(result)
        except Exception as error:  # a custom rung is the application's code
            self._report(f"rung {rung} cannot read the answer: {type(error).__name__}: {error}", result)
            meaning = None
        odd = f"the answer at rung {rung} does not say what became of the reminder"
        if isinstance(meaning, Taken):
            self._taken(sent, meaning)
        elif isinstance(meaning, Declined):
            self._not_taken(sent, AttemptOutcome.DECLINED, ReminderFault(message=meaning.reason, rung=rung))
        elif sent.step.advertised:
            self._report(f"{odd}; the agent advertised the method, so it is taken as delivered", result)
            self._taken(sent, Taken())
        else:
            self.situation.learned.absent[rung] = f"{odd}, as of agents that do not know it"
            self._not_taken(sent, AttemptOutcome.ABSENT, ReminderFault(message=odd, rung=rung))

    def failed(self, token: int, error: AcpError) -> None:
        """Take an error: of the agent, of the connection, or because nothing could be sent."""
        sent = self._take(token)
        if sent is None:
            return
        fault = fault_of(error, sent.step.rung)
        sent.job.cause = error
        match verdict_on(error):
            case Verdict.ABSENT:
                self.situation.learned.absent[sent.step.rung] = f"the agent answered {fault.code}: {fault.message}"
                self._not_taken(sent, AttemptOutcome.ABSENT, fault)
            case Verdict.NEXT:
                outcome = AttemptOutcome.NOT_SENT if isinstance(error, LocalError) else AttemptOutcome.DECLINED
                self._not_taken(sent, outcome, fault)
            case Verdict.RAISE if sent.sent_id is not None and refuses_id(error) and not sent.job.cancelled:
                self._again_without_id(sent, fault)
            case Verdict.RAISE:
                self._given_up(sent, AttemptOutcome.REJECTED, fault, error)
            case Verdict.CANCELLED:
                self._given_up(sent, AttemptOutcome.CANCELLED, fault, None)
            case Verdict.AMBIGUOUS:
                self._ambiguous(sent, fault)

    def timed_out(self, token: int) -> None:
        """Take note that a timer has run out."""
        sent = self._sent.get(token)
        if sent is None or sent.overdue:
            return
        sent.timed = False
        if isinstance(sent.job.policy.timeout, Unset) and self.situation.turn_running:
            return  # begins anew when the turn is over
        sent.overdue = True
        self._ambiguous(sent, ReminderFault(message="the agent has not answered in time", rung=sent.step.rung))

    def caller_cancelled(self, entry_id: str) -> None:
        """Take note that nobody waits for a reminder any more: it is withdrawn."""
        job = self._waiting.get(entry_id)
        if job in self._held_back:
            self._held_back.remove(job)
            self._give_up(job, ReminderFault(message="it was given up before it was sent"), None)
            return
        if job is None or job.current is None:
            return
        job.cancelled = True
        self._command(WithdrawRequest(job.current.token))
        self._stop_timer(job.current)
        job.current.overdue = True
        self._ambiguous(job.current, ReminderFault(message="the caller was cancelled", rung=job.current.step.rung))

    # --- turns and the connection -----------------------------------------------------------------------------------

    def turn_ended(self) -> None:
        """Give what waited behind the turn its time to be answered."""
        for sent in self._sent.values():
            if not sent.timed and not sent.overdue:
                self._start_timer(sent)

    def connection_lost(self, cause: AcpError) -> None:
        """Take the end of the connection: no answer will come any more."""
        for token in tuple(self._sent):
            self.failed(token, OutcomeUnknown("the request with the reminder", cause))

    def reconnected(self, host: str, rungs: Mapping[str, WireRung]) -> None:
        """Go on over another connection, with its name for the host and its rungs."""
        self._context = evolve(self._context, host=host, rungs=rungs)

    def listed(self) -> None:
        """After the agent has listed what it holds: settle what was written to an earlier connection and is not there.

        If no turn has run since, no model can have seen it. Otherwise it stays uncertain.
        """
        self.look()
        for job in tuple(self._uncertain.values()):
            sent = job.current
            if sent is None or sent.token in self._sent or not sent.rung.takes_audit_only:
                continue
            if not sent.in_turn and sent.turn == self.turn and not self._goes_on(job):
                fault = ReminderFault(message="the agent does not have it; it never arrived", rung=sent.step.rung)
                self.never_arrived(job.id, fault)

    def never_arrived(self, entry_id: str, fault: ReminderFault) -> None:
        """Give an uncertain reminder up that the agent does not have."""
        job = self._uncertain.get(entry_id)
        if job is not None:
            self._give_up(job, fault, None)

    def go_on(self) -> None:
        """After a reconnection: go on with what is uncertain where the policy accepts that it may arrive twice.

        Then what has waited for it is sent.
        """
        if self.awaits_connection:
            return  # it is lost again
        for job in tuple(self._uncertain.values()):
            self._goes_on(job)
        self.release()

    def release(self) -> None:
        """Send what has waited for the connection, as far as it can be."""
        held, self._held_back = self._held_back, []
        for job in held:
            self._descend(job)

    # --- down the ladder --------------------------------------------------------------------------------------------

    def _descend(self, job: Job) -> None:
        step = self._next_step(job)
        if step is None:
            self._required_failed(job)
        elif step.rung in self._context.rungs:
            self._send(job, step)
        elif step.rung == Rung.SUPPRESSED:
            job.rung = step.rung
            self._panel.apply(events.ReminderPlaced(job.id, ReminderStatus.SUPPRESSED, job.rung))
            self._command(Suppressed(job.id))
            self._settle(job)
        else:
            self._hold(job, Rung(step.rung))

    def _next_step(self, job: Job) -> Step | None:
        steps = plan_in(self.situation, job.reminder, job.policy, self._context.rungs)
        return next((step for step in steps if step.available and step.rung not in job.tried), None)

    def _hold(self, job: Job, rung: Rung) -> None:
        job.tried.add(rung)
        job.rung, job.adjustments, job.current = rung, (), None
        held = Held(job.id, job.reminder, self.turn, job.reminder.ttl_turns, job.policy.marker)
        job.deduped_count = self._context.hands.place(rung, held)
        self._settle(job)

    def _send(self, job: Job, step: Step) -> None:
        job.tried.add(step.rung)
        job.rung, job.adjustments = step.rung, step.adjustments
        rung = self._context.rungs[step.rung]
        sent = Sent(
            token=next(self._tokens),
            job=job,
            step=step,
            rung=rung,
            turn=self.turn,
            in_turn=self.situation.turn_running,
            index=len(job.attempts),
        )
        job.current = sent
        outgoing = Outgoing(
            session_id=self._context.session_id,
            entry_id=job.id,
            host=self._context.host,
            marker=job.policy.marker,
            adjustments=step.adjustments,
            learned=self.situation.learned,
        )
        try:
            request = rung.request(job.reminder, outgoing)
        except Exception as error:  # a custom rung is the application's code
            message = f"rung {step.rung} cannot write the request: {type(error).__name__}: {error}"
            self._report(message, None)
            self._not_taken(sent, AttemptOutcome.NOT_SENT, ReminderFault(message=message, rung=step.rung))
            return
        sent.sent_id = request.sent_id
        self._sent[sent.token] = sent
        self._panel.apply(events.ReminderSending(job.id, step.rung, step.adjustments, request.sent_id))
        self._command(SendRequest(sent.token, request.method, request.params))
        self._start_timer(sent)

    def _again_without_id(self, sent: Sent, fault: ReminderFault) -> None:
        """A rejected request has queued nothing, so it can be sent once more, without what was wrong with it."""
        self.situation.learned.refuses_id = True
        job = sent.job
        job.note(sent, AttemptOutcome.REJECTED, fault)
        if job.delivered or sent is not job.current:
            return
        self._panel.apply(events.ReminderRefused(job.id, fault))
        self._uncertain.pop(job.id, None)
        self._send(job, sent.step)

    # --- how an attempt ends ----------------------------------------------------------------------------------------

    def _taken(self, sent: Sent, taken: Taken) -> None:
        job = sent.job
        job.note(sent, AttemptOutcome.TAKEN)
        job.delivered = True
        job.rung, job.adjustments = sent.step.rung, sent.step.adjustments
        job.deduped_count = taken.deduped_count
        if taken.problem is not None:
            self._report(taken.problem, None)
        self._context.hands.let_go(job.id)
        self._uncertain.pop(job.id, None)
        self._panel.apply(events.ReminderAccepted(job.id, job.rung, taken.reminder_id, taken.emitted))
        self._supersede(job)
        self._settle(job)

    def _not_taken(self, sent: Sent, outcome: AttemptOutcome, fault: ReminderFault) -> None:
        job = sent.job
        job.note(sent, outcome, fault)
        if not self._is_open(sent):
            return
        self._panel.apply(events.ReminderRefused(job.id, fault))
        self._uncertain.pop(job.id, None)
        if self._panel.status_of(job.id) not in _UNSETTLED:
            # Emitted under the id that this host gave it: the agent has it, whatever it answers.
            job.delivered = True
            self._settle(job)
        elif job.cancelled:
            self._give_up(job, fault, None)
        else:
            self._descend(job)

    def _given_up(self, sent: Sent, outcome: AttemptOutcome, fault: ReminderFault, error: AcpError | None) -> None:
        job = sent.job
        job.note(sent, outcome, fault)
        if self._is_open(sent):
            self._panel.apply(events.ReminderRefused(job.id, fault))
            self._give_up(job, fault, error)

    def _give_up(self, job: Job, fault: ReminderFault, error: AcpError | None) -> None:
        self._uncertain.pop(job.id, None)
        job.error = fault
        self._panel.apply(events.ReminderPlaced(job.id, ReminderStatus.FAILED, job.rung, fault))
        self._settle(job, error)

    def _required_failed(self, job: Job) -> None:
        """The one rung that the policy allows was tried and did not take it."""
        fault = job.error or ReminderFault(message="the rung is not there any more", rung=job.policy.require)
        error = ReminderNotDelivered(str(job.policy.require), fault.message, reminder_id=job.id)
        error.__cause__ = job.cause
        self._give_up(job, fault, error)

    def _ambiguous(self, sent: Sent, fault: ReminderFault) -> None:
        job = sent.job
        job.note(sent, AttemptOutcome.AMBIGUOUS, fault)
        if not self._is_open(sent):
            return
        self._panel.apply(events.ReminderPlaced(job.id, ReminderStatus.UNCERTAIN, job.rung, fault))
        if self._panel.status_of(job.id) != ReminderStatus.UNCERTAIN:
            job.delivered = True  # an update has said so already
            self._settle(job)
            return
        self._uncertain[job.id] = job
        if not self._goes_on(job):
            self._settle(job)

    def _goes_on(self, job: Job) -> bool:
        """Go to the next rung with an uncertain reminder, if its policy wants that and there is one."""
        if job.policy.on_ambiguous != OnAmbiguous.NEXT or job.cancelled:
            return False
        step = self._next_step(job)
        if step is None or step.rung == Rung.SUPPRESSED:
            return False  # to say that nothing was sent would not be true
        del self._uncertain[job.id]
        self._descend(job)
        return True

    def _is_open(self, sent: Sent) -> bool:
        return sent is sent.job.current and not sent.job.delivered

    def _supersede(self, job: Job) -> None:
        """Let a reminder that the agent took replace older ones with its key."""
        key = job.reminder.dedupe_key
        if key is None:
            return
        self._context.hands.supersede(job.id, key)
        older = self._at_agent.pop(key, job)
        self._at_agent[key] = job if job.order > older.order else older
        if len(self._at_agent) > _KEYS:
            self._at_agent.popitem(last=False)
        tells = self.situation.agreement.offer("reminders.emit") is True
        if older.order < job.order and job.deduped_count and not tells:
            self._panel.apply(events.ReminderReplaced(older.id, job.id))

    def _settle(self, job: Job, error: AcpError | None = None) -> None:
        self._waiting.pop(job.id, None)
        if job.settled:
            return
        job.settled = True
        self._command(Settled(job.id, job.receipt(self._panel.get(job.id)), error))

    # --- requests ---------------------------------------------------------------------------------------------------

    def _take(self, token: int) -> Sent | None:
        sent = self._sent.pop(token, None)
        if sent is not None:
            self._stop_timer(sent)
        return sent

    def _start_timer(self, sent: Sent) -> None:
        timeout = sent.job.policy.timeout
        if isinstance(timeout, Unset):
            timeout = None if self.situation.turn_running else IDLE_TIMEOUT
        if timeout is not None:
            sent.timed = True
            self._command(StartTimer(sent.token, timeout))

    def _stop_timer(self, sent: Sent) -> None:
        if sent.timed:
            sent.timed = False
            self._command(StopTimer(sent.token))

    def _report(self, text: str, data: Any) -> None:
        self._context.report(
            Diagnostic(
                DiagnosticKind.UNEXPECTED,
                text,
                session_id=self._context.session_id,
                data=None if data is None else excerpt(repr(data)),
            )
        )
