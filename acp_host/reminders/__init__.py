"""What a host tells the model beside the user: the reminder, the ladder of ways to deliver it, and ready-made sources.

Everything here but the sources that watch something is free of I/O; the objects an application holds are in
:mod:`acp_host.host`.
"""

from acp_host.reminders.delivery import Delivery
from acp_host.reminders.model import Reminder
from acp_host.reminders.planning import Step, plan
from acp_host.reminders.policy import OnAmbiguous, ReminderPolicy
from acp_host.reminders.receipt import Attempt, AttemptOutcome, ReminderReceipt
from acp_host.reminders.rungs import Declined, Learned, Offer, Outgoing, RungRequest, Situation, Taken, WireRung
from acp_host.reminders.shipped import SHIPPED
from acp_host.state.revocation import Revocation, RevokeResult

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
