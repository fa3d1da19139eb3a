"""What a reader sees of a reminder: :class:`ReminderEntry`, its vocabularies, and :class:`RemindersSnapshot`.

All of it is immutable, and an entry that did not change is the same object in the next snapshot. How an entry comes
about is the business of :mod:`acp_host.state.reminders`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import Factory, frozen

from acp_host.state._value import plain_json

__all__ = [
    "Adjustment",
    "Authority",
    "Propagate",
    "ReminderEntry",
    "ReminderFault",
    "ReminderMode",
    "ReminderOrigin",
    "ReminderStatus",
    "RemindersSnapshot",
    "RoleHint",
    "Rung",
    "is_terminal",
]


class Rung(StrEnum):
    """The ways to deliver a reminder that this library knows, best first; a custom rung is any other string."""

    INJECT_REMINDER = "inject_reminder"
    """Request ``session/inject_reminder``."""
    REMIND = "remind"
    """Request ``session/remind``."""
    STEERING = "steering"
    """Request ``_session/steering`` into the running turn, in the user's role and marked; off unless asked for."""
    SIDEBAR = "sidebar"
    """Shown to the user; nothing is sent."""
    PREFIXED_USER_MESSAGE = "prefixed_user_message"
    """Put, marked, before the next prompt; off unless asked for."""
    SUPPRESSED = "suppressed"
    """Nothing is done with it, and the receipt says so."""


class ReminderStatus(StrEnum):
    """How far a reminder has come."""

    QUEUED = "queued"
    """Waits for the next prompt."""
    SENDING = "sending"
    """Written, or in a prompt that was written, without an answer yet."""
    PENDING = "pending"
    """The agent has it."""
    EMITTED = "emitted"
    """The agent showed it to the model."""
    SIDEBAR = "sidebar"
    """The user can see it; it goes to no model."""
    UNCERTAIN = "uncertain"
    """Written, but nobody knows whether the agent has it."""
    DEDUPED = "deduped"
    """A newer one with the same key took its place."""
    EXPIRED = "expired"
    """Its time was up."""
    CLEARED = "cleared"
    """The agent cleared it."""
    COMPACTED_OUT = "compacted_out"
    """The agent left it out when it shortened its context."""
    REVOKED = "revoked"
    """The host took it back."""
    DISMISSED = "dismissed"
    """The user has put it away."""
    FAILED = "failed"
    """Not delivered; ``error`` says why."""
    SUPPRESSED = "suppressed"
    """No rung took it."""


_TERMINAL = frozenset(
    {
        ReminderStatus.DEDUPED,
        ReminderStatus.EXPIRED,
        ReminderStatus.CLEARED,
        ReminderStatus.COMPACTED_OUT,
        ReminderStatus.REVOKED,
        ReminderStatus.DISMISSED,
        ReminderStatus.FAILED,
        ReminderStatus.SUPPRESSED,
    }
)


def is_terminal(status: str) -> bool:
    """Whether nothing follows a status."""
    return status in _TERMINAL


class ReminderMode(StrEnum):
    """When the agent takes up a reminder."""

    INTERRUPT_IMMEDIATE = "interrupt_immediate"
    """At the next safe point; a batch of tools that has not started is skipped."""
    FINISH_STEP = "finish_step"
    """With the next request to the model."""
    AUDIT_ONLY = "audit_only"
    """For the record of the session; no model sees it."""


class Propagate(StrEnum):
    """How far a reminder reaches into sub-agents, narrowest first."""

    NONE = "none"
    SESSION = "session"
    ALL = "all"


class RoleHint(StrEnum):
    """In which slot the model should see a reminder; the agent decides."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER_BLOCK = "user_block"
    EPHEMERAL_CACHE = "ephemeral_cache"


class Authority(StrEnum):
    """How binding a reminder is (Harn)."""

    CONTRACT = "contract"
    CORRECTIVE = "corrective"
    ADVISORY = "advisory"


class ReminderOrigin(StrEnum):
    """Where a reminder comes from; agents may say other words."""

    HOST = "host"
    PROVIDER = "provider"
    HOOK = "hook"
    BRIDGE = "bridge"
    INHERITED = "inherited"
    IN_PIPELINE = "in_pipeline"


@frozen(kw_only=True)
class Adjustment:
    """A field that was changed so that a rung could take the reminder.

    Attributes:
        field: name of the field.
        asked: its value in the reminder.
        sent: what was sent in its place; ``None`` if it was left out.
        reason: why, for people.
    """

    field: str
    asked: str
    sent: str | None
    reason: str


@frozen(kw_only=True)
class ReminderFault:
    """What went wrong with a reminder.

    Attributes:
        message: for people.
        rung: the rung that it went wrong at, if it was one.
        code: JSON-RPC code of the agent's answer, if it was one.
        rmd: the agent's own code in the message (``HARN-RMD-001``), if there is one.
    """

    message: str
    rung: str | None = None
    code: int | None = None
    rmd: str | None = None


@frozen(kw_only=True)
class ReminderEntry:
    """One reminder, the host's or the agent's own.

    Attributes:
        id: host-local id; never changes.
        status: one of :class:`ReminderStatus`.
        body: the text; empty where the agent only ever told of its end.
        active: it may still reach the model, or the user has it before them.
        reminder_id: the agent's id, once known.
        aliases: further ids of it: the agent's, and local ids of entries that turned out to be this one.
        tags: for people and queries.
        dedupe_key: a newer reminder with the same key replaces this one.
        origin: one of :class:`ReminderOrigin`, or the agent's own word; ``None`` if it did not say.
        source: the agent's word for the origin, as sent.
        provider_id: which provider or hook of the agent made it.
        originating_agent_id: which agent it was inherited from.
        rung: the rung that took it, or that it is being sent by; ``None`` for the agent's own.
        mode: one of :class:`ReminderMode`; ``None`` if not said.
        propagate: one of :class:`Propagate` or another word; ``None`` if not said.
        preserve_on_compact: whether it survives a compaction; ``None`` if not said.
        authority: one of :class:`Authority` or another word; ``None`` if not said.
        role_hint: one of :class:`RoleHint` or another word; ``None`` if not said.
        rendered_role: the role in which the model saw it, if said.
        times_emitted: how often it was shown to the model.
        fired_at_turn: the agent's number of the turn in which it was made, if said.
        first_turn: number of the session's turn in which it was first seen; 0 before the first.
        last_turn: likewise, when it was last heard of.
        ttl_turns: for how many turns it holds; ``None`` for no limit.
        ttl_left: how many of them are left.
        expiry_phase: the agent's word for how it ended, as sent.
        expired_at_turn: the agent's number of the turn in which it ended, if said.
        replaces: local ids of the entries whose place it took.
        replaced_by: local id of the entry that took its place.
        adjustments: what was changed so that the rung could take it.
        error: the last thing that went wrong with it.
        meta: ``_meta``, the host's or else the agent's; empty if none.
        estimated: that it is over is this host's guess: the agent does not tell.
        replayed: it is known from a replay only.
        created: when it was first seen, in seconds since the epoch.
        changed: when it last changed.
    """

    id: str
    status: str
    body: str
    active: bool
    reminder_id: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    dedupe_key: str | None = None
    origin: str | None = None
    source: str | None = None
    provider_id: str | None = None
    originating_agent_id: str | None = None
    rung: str | None = None
    mode: str | None = None
    propagate: str | None = None
    preserve_on_compact: bool | None = None
    authority: str | None = None
    role_hint: str | None = None
    rendered_role: str | None = None
    times_emitted: int = 0
    fired_at_turn: int | None = None
    first_turn: int = 0
    last_turn: int = 0
    ttl_turns: int | None = None
    ttl_left: int | None = None
    expiry_phase: str | None = None
    expired_at_turn: int | None = None
    replaces: tuple[str, ...] = ()
    replaced_by: str | None = None
    adjustments: tuple[Adjustment, ...] = ()
    error: ReminderFault | None = None
    meta: Mapping[str, Any] = plain_json(default=Factory(dict))
    estimated: bool = False
    replayed: bool = False
    created: float = 0.0
    changed: float = 0.0


@frozen
class RemindersSnapshot:
    """The reminders panel at one moment.

    Attributes:
        entries: all that are kept, in the order in which they came; a replacement stands where the replaced one stood,
            after it.
    """

    entries: tuple[ReminderEntry, ...] = ()

    @property
    def active(self) -> tuple[ReminderEntry, ...]:
        """The entries that may still reach the model, or that the user has before them."""
        return tuple(entry for entry in self.entries if entry.active)

    @property
    def counts(self) -> dict[str, int]:
        """How many entries have each status."""
        return dict(Counter(str(entry.status) for entry in self.entries))

    def find(
        self,
        *,
        tag: str | None = None,
        key: str | None = None,
        status: str | None = None,
        origin: str | None = None,
    ) -> tuple[ReminderEntry, ...]:
        """Return the entries that fit.

        Args:
            tag: one of their tags.
            key: their dedupe key.
            status: their status.
            origin: their origin, in its normalised or its raw form.
        """
        return tuple(
            entry
            for entry in self.entries
            if (tag is None or tag in entry.tags)
            and (key is None or key == entry.dedupe_key)
            and (status is None or status == entry.status)
            and (origin is None or origin in (entry.origin, entry.source))
        )
