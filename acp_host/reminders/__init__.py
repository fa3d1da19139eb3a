"""What a host tells the model beside the user: the reminder, the ladder of ways to deliver it, and ready-made sources.

Everything here but the sources that watch something is free of I/O; the objects an application holds are in
:mod:`acp_host.host`.

Names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_host.lazy_names import lazy_names
from acp_host.state.revocation import Revocation, RevokeResult

if TYPE_CHECKING:
    from acp_host.reminders.delivery import Delivery
    from acp_host.reminders.model import Reminder
    from acp_host.reminders.planning import Step, plan
    from acp_host.reminders.policy import OnAmbiguous, ReminderPolicy
    from acp_host.reminders.receipt import Attempt, AttemptOutcome, ReminderReceipt
    from acp_host.reminders.rungs import Declined, Learned, Offer, Outgoing, RungRequest, Situation, Taken, WireRung
    from acp_host.reminders.shipped import SHIPPED

_HOMES = {
    "delivery": ("Delivery",),
    "model": ("Reminder",),
    "planning": ("Step", "plan"),
    "policy": ("OnAmbiguous", "ReminderPolicy"),
    "receipt": ("Attempt", "AttemptOutcome", "ReminderReceipt"),
    "rungs": ("Declined", "Learned", "Offer", "Outgoing", "RungRequest", "Situation", "Taken", "WireRung"),
    "shipped": ("SHIPPED",),
}

__all__ = [
    "SHIPPED",
    "Attempt",
    "AttemptOutcome",
    "Declined",
    "Delivery",
    "Learned",
    "Offer",
    "OnAmbiguous",
    "Outgoing",
    "Reminder",
    "ReminderPolicy",
    "ReminderReceipt",
    "Revocation",
    "RevokeResult",
    "RungRequest",
    "Situation",
    "Step",
    "Taken",
    "WireRung",
    "plan",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
