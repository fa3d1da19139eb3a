"""The normalised events that the reminders panel is folded from.

Some tell what the host did with a reminder, some what the agent said. The first name an entry by its local id and come
in the order in which the host acted; the second name the agent's id and may come in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from attrs import Factory

from acp_host.state.reminder_entry import Adjustment, ReminderFault
from acp_host.wire._model import model

__all__ = [
    "ListedReminder",
    "ReminderAccepted",
    "ReminderAged",
    "ReminderDeduped",
    "ReminderEmitted",
    "ReminderEnded",
    "ReminderEvent",
    "ReminderExpired",
    "ReminderMade",
    "ReminderPlaced",
    "ReminderRefused",
    "ReminderReplaced",
    "ReminderSending",
    "RemindersListed",
    "RemindersReplayed",
    "RemindersReported",
    "RemindersTurnEnded",
    "RemindersTurnStarted",
]


# What the host did.


@model
class ReminderMade:
    """The application made a reminder; attributes as in :class:`~acp_host.state.reminder_entry.ReminderEntry`."""

    id: str
    body: str
    mode: str
    tags: tuple[str, ...] = ()
    dedupe_key: str | None = None
    ttl_turns: int | None = None
    preserve_on_compact: bool | None = None
    propagate: str | None = None
    role_hint: str | None = None
    authority: str | None = None
    meta: Mapping[str, Any] = Factory(dict)


@model
class ReminderSending:
    """It was written to the agent.

    Attributes:
        id: local id.
        rung: by which rung.
        adjustments: what was changed for it.
        sent_id: the id that the agent was asked to use for it, if one was sent.
    """

    id: str
    rung: str
    adjustments: tuple[Adjustment, ...] = ()
    sent_id: str | None = None


@model
class ReminderAccepted:
    """The agent has it.

    Attributes:
        id: local id.
        rung: the rung that it went by.
        reminder_id: the agent's id; ``None`` if it gave none.
        emitted: it is in the conversation already, so that the model sees it without further ado.
    """

    id: str
    rung: str
    reminder_id: str | None = None
    emitted: bool = False


@model
class ReminderRefused:
    """The agent answered with an error, or does not know the method; what follows says what became of it."""

    id: str
    error: ReminderFault


@model
class ReminderPlaced:
    """It came to rest without the agent: ``queued``, ``sidebar``, ``suppressed``, ``failed`` or ``uncertain``."""

    id: str
    status: str
    rung: str | None = None
    error: ReminderFault | None = None
    adjustments: tuple[Adjustment, ...] = ()


@model
class ReminderReplaced:
    """A newer reminder with the same key took its place while it was in the host's hands."""

    id: str
    by: str


@model
class ReminderEnded:
    """It ended in the host's hands: ``expired`` or ``dismissed``; or, wherever it was, ``revoked``."""

    id: str
    status: str


@model
class ReminderAged:
    """A reminder in the host's hands has so many turns left."""

    id: str
    ttl_left: int


@model
class RemindersTurnStarted:
    """A turn of the session began."""


@model
class RemindersTurnEnded:
    """The turn is over."""


@model
class RemindersReported:
    """Whether the agent promises to tell what becomes of its reminders (``reminders.emit``)."""

    emits: bool


@model
class RemindersReplayed:
    """A replay of the session's history begins; what it repeats is not counted again."""


# What the agent said.


@model
class ReminderEmitted:
    """The model was, or is being, shown a reminder; ``None`` where the agent said nothing.

    Attributes:
        reminder_id: the agent's id.
        decoration: it was said beside another update, which may be about the same emission.
        replayed: it is history.
    """

    reminder_id: str
    body: str
    tags: tuple[str, ...] = ()
    dedupe_key: str | None = None
    source: str | None = None
    provider_id: str | None = None
    originating_agent_id: str | None = None
    fired_at_turn: int | None = None
    role_hint: str | None = None
    rendered_role: str | None = None
    authority: str | None = None
    ttl_turns: int | None = None
    meta: Mapping[str, Any] | None = None
    decoration: bool = False
    replayed: bool = False


@model
class ReminderDeduped:
    """A newer reminder (``reminder_id``) took the place of others."""

    reminder_id: str
    dedupe_key: str | None = None
    dropped: tuple[str, ...] = ()
    replayed: bool = False


@model
class ReminderExpired:
    """A reminder is over; ``phase`` is the agent's word for how."""

    reminder_id: str
    phase: str
    expired_at_turn: int | None = None
    replayed: bool = False


@model
class ListedReminder:
    """A reminder that the agent holds; attributes as in :class:`~acp_host.state.reminder_entry.ReminderEntry`."""

    reminder_id: str
    body: str = ""
    tags: tuple[str, ...] = ()
    dedupe_key: str | None = None
    source: str | None = None
    mode: str | None = None
    propagate: str | None = None
    preserve_on_compact: bool | None = None
    role_hint: str | None = None
    ttl_turns: int | None = None
    fired_at_turn: int | None = None
    originating_agent_id: str | None = None


@model
class RemindersListed:
    """The agent's list of what it still holds.

    Attributes:
        rows: one per reminder, with what the agent said about it.
        asked: local ids of the entries that the agent had accepted when it was asked.
    """

    rows: tuple[ListedReminder, ...]
    asked: frozenset[str] = frozenset()


ReminderEvent: TypeAlias = (
    ReminderMade
    | ReminderSending
    | ReminderAccepted
    | ReminderRefused
    | ReminderPlaced
    | ReminderReplaced
    | ReminderEnded
    | ReminderAged
    | RemindersTurnStarted
    | RemindersTurnEnded
    | RemindersReported
    | RemindersReplayed
    | ReminderEmitted
    | ReminderDeduped
    | ReminderExpired
    | RemindersListed
)
"""What the panel's reducer takes."""
