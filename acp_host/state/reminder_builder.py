"""What is known of a reminder, and the entry that follows from it: :class:`AgentFacts`, :class:`ReminderBuilder`.

An entry is never moved from status to status. What the host did and what the agent said are kept side by side, and the
status follows from both, so that it does not matter in which order they came. What the agent said is kept per agent id,
apart from the entry, so that it can be handed to another entry once it turns out whose id it is.

==========  =====================================================================================================
status      follows from
==========  =====================================================================================================
failed,     the host placed it so; nothing that the agent says changes it
suppressed
ended       the strongest of the ends that were told: deduped, revoked, dismissed, compacted out, cleared, expired;
            while an answer is due, not by an id that is only assumed to be the entry's
queued,     the host placed it so
sidebar
emitted     the agent emitted it, or it went out with a prompt that was accepted
pending     the agent accepted it, listed it, or it is the agent's own
sending,    nothing of the above
uncertain
==========  =====================================================================================================
"""

from __future__ import annotations

from typing import Any

from acp_host.state.reminder_entry import (
    Adjustment,
    ReminderEntry,
    ReminderFault,
    ReminderMode,
    ReminderOrigin,
    ReminderStatus,
    Rung,
    is_terminal,
)
from acp_host.state.reminder_events import ListedReminder, ReminderEmitted, ReminderExpired, ReminderMade

__all__ = ["MOST_DROPPED", "AgentFacts", "ReminderBuilder"]

MOST_DROPPED = 1_000
"""Of how many reminders whose place another one took that is remembered, the newest."""

_ENDS = (
    ReminderStatus.DEDUPED,
    ReminderStatus.REVOKED,
    ReminderStatus.DISMISSED,
    ReminderStatus.COMPACTED_OUT,
    ReminderStatus.CLEARED,
    ReminderStatus.EXPIRED,
)
"""The ends, the one that says most first: an agent may tell of two."""

_PHASES = {
    "cleared": ReminderStatus.CLEARED,
    "compacted_out": ReminderStatus.COMPACTED_OUT,
    "compaction": ReminderStatus.COMPACTED_OUT,
}
_ORIGINS = {"stdlib_provider": ReminderOrigin.PROVIDER}
_BY_THE_HOST = frozenset({Rung.STEERING, Rung.PREFIXED_USER_MESSAGE})
"""Rungs that put text into the conversation itself: the agent never tells what becomes of it."""

_SAID = (
    "body",
    "tags",
    "dedupe_key",
    "source",
    "provider_id",
    "originating_agent_id",
    "fired_at_turn",
    "role_hint",
    "rendered_role",
    "authority",
    "ttl_turns",
    "meta",
    "mode",
    "propagate",
    "preserve_on_compact",
)


class _Emissions:
    """Counts emissions so that one that is told twice, by an update and beside another, counts once."""

    __slots__ = ("_decorated", "_key", "_updates", "total")

    def __init__(self) -> None:
        self.total = 0
        self._key: int | None = None
        self._updates = 0
        self._decorated = 0

    def add(self, key: int, decoration: bool) -> None:
        if key != self._key:
            self._key, self._updates, self._decorated = key, 0, 0
        before = max(self._updates, self._decorated)
        if decoration:
            self._decorated = 1
        else:
            self._updates += 1
        self.total += max(self._updates, self._decorated) - before


class AgentFacts:
    """Everything that the agent said under one of its ids.

    Args:
        agent_id: the id.
        gone: its entry was there and is not kept any more.
    """

    __slots__ = (
        "_live",
        "_replay",
        "_replays",
        "deduped_by",
        "dropped",
        "ends",
        "expired",
        "gone",
        "heard",
        "id",
        "listed",
        "live",
        "owner",
        "said",
    )

    def __init__(self, agent_id: str, *, gone: bool = False) -> None:
        self.id = agent_id
        self.gone = gone
        self.owner: ReminderBuilder | None = None
        self.said: dict[str, Any] = {}
        self.ends: set[str] = set()
        self.expired: ReminderExpired | None = None
        self.deduped_by: str | None = None
        self.dropped: dict[str, None] = {}
        self.listed = False
        self.heard = False
        self.live = False
        self._live = _Emissions()
        self._replay = _Emissions()
        self._replays = 0

    @property
    def emitted(self) -> int:
        """How often it was emitted; a replay repeats what may have been counted before."""
        return max(self._live.total, self._replay.total)

    def emit(self, event: ReminderEmitted, turn: int, replays: int) -> None:
        """Take an emission."""
        if not event.replayed:
            if self._replay.total > self._live.total:
                self._live.total = self._replay.total
            self._live.add(turn, event.decoration)
        else:
            if replays != self._replays:
                self._replays, self._replay = replays, _Emissions()
            self._replay.add(0, event.decoration)
        self.describe(event)

    def expire(self, event: ReminderExpired) -> None:
        """Take its end."""
        self.expired = event
        self.ends.add(_PHASES.get(event.phase, ReminderStatus.EXPIRED))

    def describe(self, event: ReminderEmitted | ListedReminder) -> None:
        """Remember what is said about the reminder itself."""
        for name in _SAID:
            value = getattr(event, name, None)
            if value is not None and value != () and value != "":
                self.said[name] = value

    def replace(self, agent_id: str) -> None:
        """Note that it took the place of another one."""
        self.dropped.pop(agent_id, None)
        self.dropped[agent_id] = None
        if len(self.dropped) > MOST_DROPPED:
            del self.dropped[next(iter(self.dropped))]

    def hear(self, replayed: bool) -> None:
        """Note that the agent said something under this id."""
        self.heard = True
        self.live = self.live or not replayed


class ReminderBuilder:
    """An entry that may still change.

    Attributes:
        made: what the host made; ``None`` for the agent's own reminders.
        phase: where the host has put it; see :class:`~acp_host.state.reminder_entry.ReminderStatus`.
        sent_id: the id that the agent was asked to use.
        turns_over: how many turns have ended since it was due.
        retired: it is over by this host's estimate.
        first_place: the place of an entry that it replaced and that is not kept any more.
        frozen: the entry as it is now, if it was asked for since it last changed.
    """

    def __init__(self, entry_id: str, order: int, now: float, turn: int, made: ReminderMade | None = None) -> None:
        self.id = entry_id
        self.order = order
        self.first_place = order
        self.created = self.changed = now
        self.first_turn = self.last_turn = turn
        self.made = made
        self.phase: str = ReminderStatus.PENDING if made is None else ReminderStatus.SENDING
        self.rung: str | None = None
        self.accepted = made is None
        self.emitted_by_host = False
        self.local_ends: set[str] = set()
        self.adjustments: tuple[Adjustment, ...] = ()
        self.error: ReminderFault | None = None
        self.sent_id: str | None = None
        self.reminder_id: str | None = None
        self.merged: list[str] = []
        self.facts: list[AgentFacts] = []
        self.turns_over = 0
        self.local_ttl_left: int | None = None
        self.retired = False
        self.replaced_by: str | None = None
        self.replaces: list[str] = []
        self.frozen: ReminderEntry | None = None

    # --- what follows from what is known ----------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """The status; see the table at the top of the module."""
        if self.phase in (ReminderStatus.FAILED, ReminderStatus.SUPPRESSED):
            return ReminderStatus.REVOKED if ReminderStatus.REVOKED in self.local_ends else self.phase
        ends = self.local_ends.union(*(facts.ends for facts in self.facts if self._is_sure_of(facts)))
        if ends:
            return next(end for end in _ENDS if end in ends)
        if self.phase in (ReminderStatus.QUEUED, ReminderStatus.SIDEBAR):
            return self.phase
        if self.times_emitted or self.emitted_by_host:
            return ReminderStatus.EMITTED
        if self.accepted or any(facts.listed for facts in self.facts):
            return ReminderStatus.PENDING
        return self.phase

    def _is_sure_of(self, facts: AgentFacts) -> bool:
        # As long as an answer is due it may turn out that the id is another entry's; an end could not be taken back.
        return self.phase != ReminderStatus.SENDING or facts.id in (self.reminder_id, self.sent_id)

    @property
    def times_emitted(self) -> int:
        """How often it was emitted, under whichever of its ids."""
        return sum(facts.emitted for facts in self.facts) + self.emitted_by_host

    @property
    def _is_told_of(self) -> bool:
        """Whether an agent that tells of reminders tells of this one; what no model sees is recorded without a word."""
        mode = self.made.mode if self.made is not None else self._said().get("mode")
        return self.rung not in _BY_THE_HOST and mode != ReminderMode.AUDIT_ONLY

    @property
    def active(self) -> bool:
        """Whether it may still reach the model, or is before the user."""
        return not (self.retired or self.replayed or is_terminal(self.status))

    @property
    def replayed(self) -> bool:
        """Whether it is known from a replay only."""
        return self.made is None and not any(facts.live for facts in self.facts)

    @property
    def is_assumed(self) -> bool:
        """Whether something was heard that may be about it, though no answer has said so."""
        return any(facts.heard for facts in self.facts)

    @property
    def body(self) -> str:
        """The text, without what stands around it."""
        return self.made.body if self.made is not None else str(self._said().get("body", ""))

    @property
    def dedupe_key(self) -> str | None:
        """The key, if it has one."""
        return self.made.dedupe_key if self.made is not None else self._said().get("dedupe_key")

    @property
    def ttl_turns(self) -> int | None:
        """For how many turns it holds, if that is limited."""
        return self.made.ttl_turns if self.made is not None else self._said().get("ttl_turns")

    # --- turns ------------------------------------------------------------------------------------------------------

    def turn_ended(self, agent_tells: bool) -> bool:
        """Count a turn that is over; return whether that changed anything."""
        if not self.active or self.status not in (ReminderStatus.PENDING, ReminderStatus.EMITTED):
            return False
        self.turns_over += 1
        ttl = self.ttl_turns
        # Without a limit it holds until the agent says so; where the agent never does, for the turn it was due in.
        if self.turns_over >= (ttl or 1) and not (agent_tells and self._is_told_of):
            self.retired = True
        return self.retired or ttl is not None

    def wake(self) -> None:
        """Make it active again: the agent said something about it."""
        self.retired = False
        if self.ttl_turns is None:
            self.turns_over = 0

    def retire(self) -> None:
        """Take it for over, by this host's estimate."""
        self.retired = not is_terminal(self.status)

    # --- the entry --------------------------------------------------------------------------------------------------

    def thaw(self) -> None:
        """Let the next :meth:`freeze` make a new entry."""
        self.frozen = None

    def freeze(self, replaces: tuple[str, ...], replaced_by: str | None) -> ReminderEntry:
        """Return the entry as it is now; the same object until :meth:`thaw`."""
        if self.frozen is None:
            self.frozen = self._entry(replaces, replaced_by)
        return self.frozen

    def _entry(self, replaces: tuple[str, ...], replaced_by: str | None) -> ReminderEntry:
        said, status = self._said(), self.status
        own: dict[str, Any] = {} if self.made is None else {name: getattr(self.made, name, None) for name in _SAID}
        described: dict[str, Any] = {
            name: said.get(name) if own.get(name) in (None, (), {}) else own[name] for name in _SAID
        }
        source = said.get("source")
        expired = next((facts.expired for facts in self.facts if facts.expired is not None), None)
        described |= {"tags": described["tags"] or (), "meta": described["meta"] or {}, "body": self.body}
        return ReminderEntry(
            id=self.id,
            status=status,
            active=self.active,
            reminder_id=self._known_as(),
            aliases=self._aliases(),
            origin=ReminderOrigin.HOST if self.made is not None else _ORIGINS.get(source or "", source),
            rung=self.rung,
            times_emitted=self.times_emitted,
            first_turn=self.first_turn,
            last_turn=self.last_turn,
            ttl_left=self._ttl_left(),
            expiry_phase=expired.phase if expired else None,
            expired_at_turn=expired.expired_at_turn if expired else None,
            replaces=replaces,
            replaced_by=replaced_by,
            adjustments=self.adjustments,
            error=self.error,
            estimated=self.retired and not is_terminal(status),
            replayed=self.replayed,
            created=self.created,
            changed=self.changed,
            **described,
        )

    def _said(self) -> dict[str, Any]:
        if len(self.facts) == 1:
            return self.facts[0].said
        said: dict[str, Any] = {}
        # Under the confirmed id last: of two ids it is the one that is surely this reminder's.
        for facts in sorted(self.facts, key=lambda facts: facts.id == self.reminder_id):
            said.update(facts.said)
        return said

    def _known_as(self) -> str | None:
        if self.reminder_id is not None:
            return self.reminder_id
        return next((facts.id for facts in self.facts if facts.heard), None)

    def _aliases(self) -> tuple[str, ...]:
        known_as = self._known_as()
        heard = (facts.id for facts in self.facts if facts.heard)
        return tuple(alias for alias in (*heard, *self.merged) if alias != known_as)

    def _ttl_left(self) -> int | None:
        if self.local_ttl_left is not None:
            return self.local_ttl_left
        return None if self.ttl_turns is None else max(0, self.ttl_turns - self.turns_over)
