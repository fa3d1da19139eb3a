"""What a rung that sends something is: :class:`WireRung`.

A rung says whether it can take a reminder, what to send, and what the answer means. An application adds its own by
registering a :class:`WireRung` and naming it in a policy; those that ship are in :mod:`acp_host.reminders.shipped`.
Rungs that send nothing of their own are the business of :mod:`acp_host.reminders.planning`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field, frozen

from acp_host.protocol.negotiation import Agreement
from acp_host.reminders.model import Reminder
from acp_host.state.reminder_entry import Adjustment
from acp_host.state.reminder_marker import MARKER, Marker

__all__ = [
    "Declined",
    "Learned",
    "Offer",
    "Outgoing",
    "RungRequest",
    "Situation",
    "Taken",
    "WireRung",
]


@define
class Learned:
    """What a connection has taught about the agent; for each connection anew.

    Attributes:
        absent: rungs whose method the agent does not have, and how that was learned.
        refuses_id: ``session/remind`` does not take an ``id``.
        cannot_revoke: there is no ``session/revoke_reminder``.
    """

    absent: dict[str, str] = field(factory=dict)
    refuses_id: bool = False
    cannot_revoke: bool = False


@frozen(kw_only=True)
class Situation:
    """What decides which rungs are there.

    Attributes:
        agreement: what was agreed with the agent.
        learned: what it has taught since.
        turn_running: whether a turn of the session runs.
        sidebar: whether a person sees the panel.
        connected: whether the agent can be reached.
    """

    agreement: Agreement
    learned: Learned = field(factory=Learned)
    turn_running: bool = False
    sidebar: bool = False
    connected: bool = True


@frozen(kw_only=True)
class Offer:
    """Whether a rung can take a reminder.

    Attributes:
        available: whether it can.
        reason: why, or why not; for people.
        adjustments: what has to be changed for it.
        advertised: the agent itself said that it knows the method, so that an odd answer means it took the reminder.
    """

    available: bool
    reason: str
    adjustments: tuple[Adjustment, ...] = ()
    advertised: bool = True


@frozen(kw_only=True)
class Outgoing:
    """What a rung needs to send a reminder.

    Attributes:
        session_id: the agent's id of the session.
        entry_id: the reminder's host-local id.
        host: the name of the host program.
        marker: the marker for rungs that speak in the user's role.
        adjustments: what to change; see :meth:`fitted`.
        learned: what the agent has taught.
    """

    session_id: str
    entry_id: str
    host: str = "the host"
    marker: Marker = MARKER
    adjustments: tuple[Adjustment, ...] = ()
    learned: Learned = field(factory=Learned)

    def fitted(self, name: str, asked: str | None) -> str | None:
        """Return what to send for a field of the reminder; ``None`` to leave it out."""
        return next((adjustment.sent for adjustment in self.adjustments if adjustment.field == name), asked)


@frozen(kw_only=True)
class RungRequest:
    """A request that carries a reminder.

    Attributes:
        method: wire method.
        params: its parameters, plain JSON.
        sent_id: the id that the agent is asked to use for the reminder, if it is asked.
    """

    method: str
    params: Mapping[str, Any]
    sent_id: str | None = None


@frozen(kw_only=True)
class Taken:
    """The agent took the reminder.

    Attributes:
        reminder_id: its id for it, if it gave one.
        deduped_count: how many older ones it dropped for it, if it said so.
        emitted: it is in the conversation already.
        problem: what is odd about the answer all the same; becomes a diagnostic.
    """

    reminder_id: str | None = None
    deduped_count: int | None = None
    emitted: bool = False
    problem: str | None = None


@frozen
class Declined:
    """The agent did not take the reminder, this time; the next rung may."""

    reason: str


@frozen(kw_only=True)
class WireRung:
    """A rung that sends a request.

    Attributes:
        name: its name in policies.
        check: whether it can take a reminder, in a situation.
        request: what to send.
        read: what a result means; ``None`` where it does not say that it knows of the reminder.
        takes_audit_only: reminders that no model is to see may go this way.
    """

    name: str
    check: Callable[[Reminder, Situation], Offer]
    request: Callable[[Reminder, Outgoing], RungRequest]
    read: Callable[[Any], Taken | Declined | None]
    takes_audit_only: bool = False
