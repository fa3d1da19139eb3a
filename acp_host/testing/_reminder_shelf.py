"""The reminders that the reference agent keeps for its model, without any wire form: :class:`ReminderShelf`.

===========  ==========================================================================================
a reminder   until
===========  ==========================================================================================
waits        the model is asked next; then it is shown, and may not be taken back any more
is shown     with each request to the model: until its turns are used up, or it is cleared, compacted
             away or replaced by one with its key
is recorded  for good, without ever being shown, if it is for the audit only: from the end of the turn on
===========  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

from attrs import define, evolve, field

from acp_host.state.reminder_entry import Propagate, ReminderMode, RoleHint

__all__ = ["AgentReminder", "ReminderShelf", "Source", "Withdrawal"]


class Source(StrEnum):
    """Where a reminder comes from, in the words of the RFC."""

    HOST = "host"
    PROVIDER = "provider"
    INHERITED = "inherited"


class Withdrawal(StrEnum):
    """What became of the host's wish to take a reminder back."""

    REVOKED = "revoked"
    ALREADY_REVOKED = "already_revoked"
    ALREADY_DELIVERED = "already_delivered"
    UNKNOWN = "unknown_reminder_id"


@define(eq=False, kw_only=True)
class AgentReminder:
    """A reminder as the agent keeps it.

    Attributes:
        id: its id.
        body: the text.
        source: where it comes from.
        tags: for people and for :meth:`ReminderShelf.clear`.
        dedupe_key: a newer one with the same key replaces it.
        ttl_turns: for how many turns it is shown; ``None`` until it is cleared or compacted away.
        turns_shown: how many of them are over.
        preserve_on_compact: whether it survives a compaction.
        propagate: whether sessions that are made of this one inherit it (``all``).
        role_hint: in which role the model sees it.
        mode: when the model sees it.
        authority: how binding it is; ``None`` if not said.
        provider_id: which part of the agent made it; ``None`` if none did.
        originating_agent_id: the session that it was inherited from.
        fired_at_turn: number of the session's turn in which it came; 0 before the first.
    """

    id: str
    body: str
    source: Source = Source.HOST
    tags: tuple[str, ...] = ()
    dedupe_key: str | None = None
    ttl_turns: int | None = None
    turns_shown: int = 0
    preserve_on_compact: bool = False
    propagate: str = Propagate.SESSION
    role_hint: str = RoleHint.SYSTEM
    mode: str = ReminderMode.FINISH_STEP
    authority: str | None = None
    provider_id: str | None = None
    originating_agent_id: str | None = None
    fired_at_turn: int = 0

    @property
    def rendered_role(self) -> str:
        """The role in which the model sees it: ``system``, ``developer`` or ``user``."""
        return self.role_hint if self.role_hint in (RoleHint.SYSTEM, RoleHint.DEVELOPER) else "user"


@define(eq=False)
class ReminderShelf:
    """The reminders of one session.

    Attributes:
        waiting: what the model has not been shown yet, in the order in which it came.
        shown: what the model is shown with each request.
        recorded: what was for the audit only.
    """

    waiting: list[AgentReminder] = field(factory=list)
    shown: list[AgentReminder] = field(factory=list)
    recorded: list[AgentReminder] = field(factory=list)
    _revoked: set[str] = field(factory=set)
    _delivered: set[str] = field(factory=set)

    def put(self, reminder: AgentReminder) -> None:
        """Let a reminder wait for the model."""
        self._revoked.discard(reminder.id)
        self.waiting.append(reminder)

    def drop_older(self, newer: AgentReminder) -> list[AgentReminder]:
        """Drop the reminders that ``newer`` replaces, and return them."""
        key = newer.dedupe_key
        return [] if key is None else self._drop(lambda each: each is not newer and each.dedupe_key == key)

    @property
    def wants_interrupt(self) -> bool:
        """Whether the model is to be shown something before the next tool runs."""
        return any(reminder.mode == ReminderMode.INTERRUPT_IMMEDIATE for reminder in self.waiting)

    def show(self) -> tuple[AgentReminder, ...]:
        """Return what a request to the model shows it; of several with one key the newest only."""
        for reminder in reversed(self._due()):
            if reminder in self.waiting:
                self.drop_older(reminder)
        due = self._due()
        self.shown += due
        self.waiting = _without(self.waiting, due)
        self._delivered.update(reminder.id for reminder in due)
        return tuple(self.shown)

    def turn_ended(self) -> list[AgentReminder]:
        """Count a turn for what is shown, and return what is not shown any more."""
        recorded = [reminder for reminder in self.waiting if reminder.mode == ReminderMode.AUDIT_ONLY]
        self.recorded += recorded
        self.waiting = _without(self.waiting, recorded)
        self._delivered.update(reminder.id for reminder in recorded)
        for reminder in self.shown:
            reminder.turns_shown += 1
        expired = [each for each in self.shown if each.ttl_turns is not None and each.turns_shown >= each.ttl_turns]
        self.shown = _without(self.shown, expired)
        return expired

    def compact(self) -> list[AgentReminder]:
        """Shorten the context: return what the model was shown and does not see any more."""
        lost = [reminder for reminder in self.shown if not reminder.preserve_on_compact]
        self.shown = [reminder for reminder in self.shown if reminder.preserve_on_compact]
        return lost

    def clear(self, tag: str | None = None) -> list[AgentReminder]:
        """Drop all reminders, or those with a tag, and return them."""
        return self._drop(lambda reminder: tag is None or tag in reminder.tags)

    def revoke(self, reminder_id: str) -> Withdrawal:
        """Take a reminder back, if the model has not been shown it."""
        if self._drop(lambda reminder: reminder.id == reminder_id, shown=False):
            self._revoked.add(reminder_id)
            return Withdrawal.REVOKED
        if reminder_id in self._revoked:
            return Withdrawal.ALREADY_REVOKED
        return Withdrawal.ALREADY_DELIVERED if reminder_id in self._delivered else Withdrawal.UNKNOWN

    def inherited(self, session_id: str, new_id: Callable[[], str]) -> ReminderShelf:
        """Return what a session inherits that is made of this one: copies that wait for its model.

        Args:
            session_id: this session.
            new_id: makes the ids of the copies.
        """
        heritage = [each for each in (*self.shown, *self.waiting) if each.propagate == Propagate.ALL]
        return ReminderShelf(
            waiting=[
                evolve(
                    reminder,
                    id=new_id(),
                    source=Source.INHERITED,
                    originating_agent_id=session_id,
                    turns_shown=0,
                    fired_at_turn=0,
                )
                for reminder in heritage
            ]
        )

    def _due(self) -> list[AgentReminder]:
        return [reminder for reminder in self.waiting if reminder.mode != ReminderMode.AUDIT_ONLY]

    def _drop(self, fits: Callable[[AgentReminder], bool], *, shown: bool = True) -> list[AgentReminder]:
        dropped = [*(filter(fits, self.shown) if shown else ()), *filter(fits, self.waiting)]
        self.shown = _without(self.shown, dropped)
        self.waiting = _without(self.waiting, dropped)
        return dropped


def _without(reminders: Iterable[AgentReminder], dropped: list[AgentReminder]) -> list[AgentReminder]:
    return [reminder for reminder in reminders if reminder not in dropped]
