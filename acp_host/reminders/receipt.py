"""What became of a reminder: :class:`ReminderReceipt`."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from acp_host.reminders.planning import Step
from acp_host.state.reminder_entry import Adjustment, ReminderFault

__all__ = ["Attempt", "AttemptOutcome", "ReminderReceipt"]


class AttemptOutcome(StrEnum):
    """How an attempt at a rung went."""

    TAKEN = "taken"
    DECLINED = "declined"
    ABSENT = "absent"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    AMBIGUOUS = "ambiguous"
    NOT_SENT = "not_sent"


@frozen(kw_only=True)
class Attempt:
    """One attempt at a rung.

    Attributes:
        rung: name of the rung.
        outcome: how it went; one of :class:`AttemptOutcome`.
        error: what went wrong; ``None`` where nothing did.
    """

    rung: str
    outcome: str
    error: ReminderFault | None = None


@frozen(kw_only=True)
class ReminderReceipt:
    """What became of a reminder, when :meth:`~acp_host.host.session.Session.remind` returned.

    It does not change any more; the entry in the panel does.

    Attributes:
        id: its host-local id, as in the panel.
        rung: the rung that took it, or that it came to an end at.
        status: one of :class:`~acp_host.state.reminder_entry.ReminderStatus`.
        reminder_id: the agent's id; ``None`` where it has none, or none is known.
        deduped_count: how many older ones were dropped for it; ``None`` where nobody said.
        plan: the ladder as it was planned.
        attempts: what was tried, in order.
        adjustments: what was changed so that the rung could take it.
        error: the last thing that went wrong; ``None`` where nothing did.
    """

    id: str
    rung: str
    status: str
    reminder_id: str | None = None
    deduped_count: int | None = None
    plan: tuple[Step, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    adjustments: tuple[Adjustment, ...] = ()
    error: ReminderFault | None = None
