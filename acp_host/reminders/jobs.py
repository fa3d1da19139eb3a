"""A reminder on its way down the ladder: :class:`Job`, and one request with it: :class:`Sent`."""

from __future__ import annotations

from attrs import define, field

from acp_host.errors import AcpError
from acp_host.reminders.model import Reminder
from acp_host.reminders.planning import Step
from acp_host.reminders.policy import ReminderPolicy
from acp_host.reminders.receipt import Attempt, ReminderReceipt
from acp_host.reminders.rungs import WireRung
from acp_host.state.reminder_entry import Adjustment, ReminderEntry, ReminderFault, ReminderStatus
from acp_host.state.reminder_events import ReminderMade

__all__ = ["Job", "Sent"]


@define(eq=False)
class Sent:
    """A request that carries a reminder.

    Attributes:
        token: names it between the delivery and its driver.
        job: the reminder.
        step: the rung, as planned.
        rung: the rung.
        turn: number of the session's turn when it was written.
        in_turn: that turn was running.
        index: its place among the job's attempts.
        sent_id: the id that the agent was asked to use.
        timed: a timer runs for it.
        overdue: it had no answer in time; one may still come.
    """

    token: int
    job: Job
    step: Step
    rung: WireRung
    turn: int
    in_turn: bool
    index: int
    sent_id: str | None = None
    timed: bool = False
    overdue: bool = False


@define(eq=False)
class Job:
    """A reminder on its way down the ladder.

    Attributes:
        id: its host-local id.
        order: the higher, the newer.
        reminder: the reminder.
        policy: how it may travel.
        plan: the ladder as first planned.
        rung: the rung that it has come to.
        attempts: what was tried.
        tried: names of the rungs that were tried.
        adjustments: what was changed for the rung.
        deduped_count: how many older ones were dropped for it.
        current: the request that decides what happens next, once it is answered.
        cancelled: the caller has lost interest: no further rung is tried.
        delivered: the agent has it.
        settled: whoever waited has been told.
        error: the last thing that went wrong.
        cause: the same as an exception.
    """

    id: str
    order: int
    reminder: Reminder
    policy: ReminderPolicy
    plan: tuple[Step, ...]
    rung: str = ""
    attempts: list[Attempt] = field(factory=list)
    tried: set[str] = field(factory=set)
    adjustments: tuple[Adjustment, ...] = ()
    deduped_count: int | None = None
    current: Sent | None = None
    cancelled: bool = False
    delivered: bool = False
    settled: bool = False
    error: ReminderFault | None = None
    cause: AcpError | None = None

    def note(self, sent: Sent, outcome: str, error: ReminderFault | None = None) -> None:
        """Remember how an attempt went; a later word on the same one replaces the earlier."""
        attempt = Attempt(rung=sent.step.rung, outcome=outcome, error=error)
        if sent.index == len(self.attempts):
            self.attempts.append(attempt)
        else:
            self.attempts[sent.index] = attempt
        if error is not None:
            self.error = error

    def made(self) -> ReminderMade:
        """Return the panel's event for the reminder."""
        reminder = self.reminder
        return ReminderMade(
            id=self.id,
            body=reminder.body,
            mode=reminder.mode,
            tags=reminder.tags,
            dedupe_key=reminder.dedupe_key,
            ttl_turns=reminder.ttl_turns,
            preserve_on_compact=reminder.preserve_on_compact,
            propagate=reminder.propagate,
            role_hint=reminder.role_hint,
            authority=reminder.authority,
            meta=reminder.meta or {},
        )

    def receipt(self, entry: ReminderEntry | None) -> ReminderReceipt:
        """Return what became of the reminder so far; ``entry`` is the panel's."""
        return ReminderReceipt(
            id=self.id,
            rung=self.rung,
            status=ReminderStatus.FAILED if entry is None else entry.status,
            reminder_id=None if entry is None else entry.reminder_id,
            deduped_count=self.deduped_count,
            plan=self.plan,
            attempts=tuple(self.attempts),
            adjustments=self.adjustments,
            error=self.error,
        )
