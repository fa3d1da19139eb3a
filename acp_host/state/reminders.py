"""The reminders of a session: :class:`RemindersPanel`.

It folds what the host did with a reminder, and what the agent says about it, into one entry each, in whatever order it
arrives. This module owns the reducer. Which entry an update belongs to is the business of
:mod:`acp_host.state.reminder_book`, and what follows from what is known of one, of
:mod:`acp_host.state.reminder_builder`. It sends nothing: whoever can do that is :attr:`RemindersPanel.commands`.

Cost: O(1) amortised per event; a snapshot is linear in the number of entries kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from acp_host.errors import InvalidState
from acp_host.state import reminder_events as events
from acp_host.state.changes import ChangeKind
from acp_host.state.clock import Clock, Scheduler
from acp_host.state.observable import Observable
from acp_host.state.reminder_book import ReminderBook
from acp_host.state.reminder_builder import MOST_DROPPED, ReminderBuilder
from acp_host.state.reminder_entry import ReminderEntry, RemindersSnapshot, ReminderStatus
from acp_host.state.revocation import Revocation, RevokeResult

__all__ = ["ReminderCommands", "RemindersPanel"]

_SECTION = "reminders"
_IN_THE_HOSTS_HANDS = (ReminderStatus.QUEUED, ReminderStatus.SIDEBAR)


class ReminderCommands(Protocol):
    """What can be done with a reminder that takes more than the state."""

    def revoke(self, reminder_id: str) -> Awaitable[RevokeResult]:
        """Take a reminder back."""

    def clear(self, *, tag: str | None = None, key: str | None = None) -> Awaitable[list[Revocation]]:
        """Take back all that fit."""

    def dismiss(self, reminder_id: str) -> bool:
        """Put a reminder in the sidebar away."""


class RemindersPanel(Observable[RemindersSnapshot]):
    """The reminders of one session, the host's and the agent's own.

    Attributes:
        commands: does what needs the connection; ``None`` where there is none, as in the gallery of states.

    Args:
        scheduler: decides when observers are called.
        clock: says when something happened.
        report: called with an observer and what it raised.
        history: how many entries are kept that are not active any more; the oldest leave first.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        clock: Clock,
        report: Callable[[Callable[..., Any], BaseException], None] | None = None,
        *,
        history: int = 500,
    ) -> None:
        super().__init__(scheduler, report)
        self.commands: ReminderCommands | None = None
        self._clock = clock
        self._replays = 0
        self._agent_tells = False
        self._book = ReminderBook(
            now=clock.now,
            added=lambda entry_id: self.note(_SECTION, entry_id, ChangeKind.ADDED),
            changed=lambda entry_id: self.note(_SECTION, entry_id),
            removed=lambda entry_id: self.note(_SECTION, entry_id, ChangeKind.REMOVED),
            merged=self._note_merged,
            limit=history,
        )
        self._of_entries: dict[type, Callable[[ReminderBuilder, Any], None]] = {
            events.ReminderSending: self._sending,
            events.ReminderAccepted: self._accepted,
            events.ReminderRefused: self._refused,
            events.ReminderPlaced: self._placed,
            events.ReminderReplaced: self._replaced,
            events.ReminderEnded: self._ended,
            events.ReminderAged: self._aged,
        }
        self._reducers: dict[type, Callable[[Any], None]] = {
            events.ReminderMade: self._made,
            events.RemindersTurnStarted: self._turn_started,
            events.RemindersTurnEnded: self._turn_ended,
            events.RemindersReported: self._reported,
            events.RemindersReplayed: self._replayed,
            events.ReminderEmitted: self._emitted,
            events.ReminderDeduped: self._deduped,
            events.ReminderExpired: self._expired,
            events.RemindersListed: self._listed,
        }

    # --- for readers ------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> tuple[ReminderEntry, ...]:
        """All that are kept; see :class:`~acp_host.state.reminder_entry.RemindersSnapshot`."""
        return self.snapshot().entries

    @property
    def active(self) -> tuple[ReminderEntry, ...]:
        """The entries that may still reach the model, or that the user has before them."""
        return self.snapshot().active

    @property
    def counts(self) -> dict[str, int]:
        """How many entries have each status."""
        return self.snapshot().counts

    def find(
        self,
        *,
        tag: str | None = None,
        key: str | None = None,
        status: str | None = None,
        origin: str | None = None,
    ) -> tuple[ReminderEntry, ...]:
        """Return the entries that fit; see :meth:`acp_host.state.reminder_entry.RemindersSnapshot.find`."""
        return self.snapshot().find(tag=tag, key=key, status=status, origin=origin)

    def get(self, reminder_id: str) -> ReminderEntry | None:
        """Return the entry with this local id, agent's id or alias, or ``None``."""
        builder = self._book.lookup(reminder_id)
        return None if builder is None else self._book.frozen(builder)

    def revoke(self, reminder_id: str) -> Awaitable[RevokeResult]:
        """Take a reminder back; see :meth:`acp_host.host.reminders.SessionReminders.revoke`."""
        return self._commanded().revoke(reminder_id)

    def clear(self, *, tag: str | None = None, key: str | None = None) -> Awaitable[list[Revocation]]:
        """Take back all that fit; see :meth:`acp_host.host.reminders.SessionReminders.clear`."""
        return self._commanded().clear(tag=tag, key=key)

    def dismiss(self, reminder_id: str) -> bool:
        """Put a reminder in the sidebar away; return whether it was there."""
        return self._commanded().dismiss(reminder_id)

    def _commanded(self) -> ReminderCommands:
        if self.commands is None:
            raise InvalidState("this panel belongs to no connection, so nothing can be done with its reminders")
        return self.commands

    # --- for the delivery -------------------------------------------------------------------------------------------

    def next_id(self) -> str:
        """Return a local id that no reminder of the session has, here or, as far as is known, at the agent."""
        return self._book.next_id("rmd")

    def status_of(self, entry_id: str) -> str | None:
        """Return the status of an entry by its local id, or ``None`` if there is none; cheaper than :meth:`get`."""
        builder = self._book.get(entry_id)
        return None if builder is None else builder.status

    def apply(self, event: events.ReminderEvent) -> None:
        """Fold one event. This and nothing else changes the panel."""
        of_entry = self._of_entries.get(event.__class__)
        if of_entry is None:
            self._reducers[event.__class__](event)
        else:
            builder = self._book.get(event.id)  # type: ignore[union-attr]  # those events name an entry
            if builder is not None:
                of_entry(builder, event)
        self._book.file()

    def _freeze(self) -> RemindersSnapshot:
        return RemindersSnapshot(self._book.freeze())

    def _note_merged(self, kept: str, gone: str | None) -> None:
        self.note(_SECTION, kept, ChangeKind.MERGED)
        # What became of the other one is said by the kept one's aliases.
        self._noted.pop((_SECTION, gone), None)

    # --- what the host did ------------------------------------------------------------------------------------------

    def _made(self, event: events.ReminderMade) -> None:
        book = self._book
        book.add(ReminderBuilder(event.id, book.next_order(), self._clock.now(), book.turn, event))

    def _sending(self, builder: ReminderBuilder, event: events.ReminderSending) -> None:
        builder.phase, builder.rung = ReminderStatus.SENDING, event.rung
        builder.adjustments, builder.sent_id = event.adjustments, event.sent_id
        self._book.set_open(builder, True)
        if event.sent_id is not None:
            facts = self._book.facts_of(event.sent_id)
            if facts.owner is None:
                self._book.bind(facts, builder)
        self._book.touch(builder)

    def _accepted(self, builder: ReminderBuilder, event: events.ReminderAccepted) -> None:
        builder.accepted = True
        builder.emitted_by_host = builder.emitted_by_host or event.emitted
        builder.phase, builder.rung, builder.local_ttl_left = ReminderStatus.PENDING, event.rung, None
        self._book.set_open(builder, False)
        self._book.touch(builder)
        if event.reminder_id is not None:
            self._book.confirm(builder, event.reminder_id)

    def _refused(self, builder: ReminderBuilder, event: events.ReminderRefused) -> None:
        builder.error = event.error
        self._book.set_open(builder, False)
        for facts in tuple(builder.facts):
            if facts.id != builder.sent_id:
                # It was not about this one after all: what was refused cannot have been emitted.
                self._book.find_owner(facts)
            elif not facts.heard:
                self._book.unbind(facts)
        self._book.touch(builder)

    def _placed(self, builder: ReminderBuilder, event: events.ReminderPlaced) -> None:
        builder.phase = event.status
        builder.rung = event.rung or builder.rung
        builder.error = event.error or builder.error
        builder.adjustments = event.adjustments or builder.adjustments
        if event.status in _IN_THE_HOSTS_HANDS and builder.local_ttl_left is None:
            builder.local_ttl_left = builder.ttl_turns
        if event.status != ReminderStatus.UNCERTAIN:
            self._book.set_open(builder, False)
        self._book.touch(builder)

    def _replaced(self, old: ReminderBuilder, event: events.ReminderReplaced) -> None:
        new = self._book.get(event.by)
        if new is None:
            return
        if old.phase in _IN_THE_HOSTS_HANDS:
            old.local_ends.add(ReminderStatus.DEDUPED)
        else:
            # The agent had it and does not tell what becomes of each: that it dropped this one is likely, and no more.
            old.retire()
        old.replaced_by = new.id
        new.replaces.append(old.id)
        self._book.touch(old)
        self._book.touch(new)

    def _ended(self, builder: ReminderBuilder, event: events.ReminderEnded) -> None:
        builder.local_ends.add(event.status)
        self._book.set_open(builder, False)
        self._book.touch(builder)

    def _aged(self, builder: ReminderBuilder, event: events.ReminderAged) -> None:
        builder.local_ttl_left = event.ttl_left
        self._book.touch(builder, heard=False)

    def _turn_started(self, event: events.RemindersTurnStarted) -> None:
        self._book.turn += 1

    def _turn_ended(self, event: events.RemindersTurnEnded) -> None:
        for builder in self._book:
            if builder.turn_ended(self._agent_tells):
                self._book.touch(builder, heard=False)

    def _reported(self, event: events.RemindersReported) -> None:
        self._agent_tells = event.emits

    def _replayed(self, event: events.RemindersReplayed) -> None:
        self._replays += 1

    # --- what the agent said ----------------------------------------------------------------------------------------

    def _emitted(self, event: events.ReminderEmitted) -> None:
        facts = self._book.facts_of(event.reminder_id)
        facts.emit(event, self._book.turn, self._replays)
        self._book.heard(facts, replayed=event.replayed)

    def _deduped(self, event: events.ReminderDeduped) -> None:
        winner = self._book.facts_of(event.reminder_id)
        if event.dedupe_key is not None:
            winner.said.setdefault("dedupe_key", event.dedupe_key)
        for agent_id in event.dropped[:MOST_DROPPED]:
            if agent_id == event.reminder_id:
                continue
            dropped = self._book.facts_of(agent_id)
            dropped.ends.add(ReminderStatus.DEDUPED)
            dropped.deduped_by = event.reminder_id
            winner.replace(agent_id)
            if dropped.owner is not None:
                self._book.touch(dropped.owner)
        self._book.heard(winner, replayed=event.replayed)

    def _expired(self, event: events.ReminderExpired) -> None:
        facts = self._book.facts_of(event.reminder_id)
        facts.expire(event)
        self._book.heard_end(facts, replayed=event.replayed)

    def _listed(self, event: events.RemindersListed) -> None:
        present = set()
        for row in event.rows:
            facts = self._book.facts_of(row.reminder_id)
            facts.listed = True
            facts.describe(row)
            self._book.heard(facts, replayed=False)
            present.add(facts.owner)
        for builder in self._book:
            if builder.id in event.asked and builder not in present and builder.status == ReminderStatus.PENDING:
                builder.retire()
                self._book.touch(builder, heard=False)
