"""What the host does with reminders that no agent took: :class:`HostHands`.

It owns the sidebar and the queue of the last rung, and the reminders that lead a prompt, from the moment they are taken
for it until it is known what became of it:

==================  ===========================================================================================
the prompt          then the reminders that led it are
==================  ===========================================================================================
was accepted        emitted: they are part of the conversation
was refused,        queued again, in order, before what came meanwhile; one whose key a newer one has is
or never written    replaced by it, and one that was to be taken back is
was lost            uncertain
==================  ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.reminders.holding import Held, HeldReminders
from acp_host.reminders.sends import leading_block
from acp_host.state import reminder_events as events
from acp_host.state.reminder_entry import ReminderFault, ReminderStatus, Rung
from acp_host.state.reminders import RemindersPanel
from acp_host.state.revocation import RevokeResult
from acp_host.wire.content import TextContent

__all__ = ["HostHands", "LeadingReminder"]

_LOST = "the connection ended before it was known whether the agent took the prompt"


@frozen
class LeadingReminder:
    """A reminder that leads a prompt.

    Attributes:
        id: its host-local id.
        body: its text.
        block: the marked content block.
    """

    id: str
    body: str
    block: TextContent


class HostHands:
    """The sidebar, the queue of the last rung, and the prompt that is under way.

    Attributes:
        host: the name of the host program, for markers.

    Args:
        panel: is told of everything.
        report: takes diagnostics.
        host: see above.
    """

    def __init__(self, panel: RemindersPanel, report: Callable[[Diagnostic], None], host: str) -> None:
        self._panel = panel
        self._report = report
        self.host = host
        self._stores = {Rung.SIDEBAR: HeldReminders(), Rung.PREFIXED_USER_MESSAGE: HeldReminders()}
        self._carried: dict[str, Held] = {}
        self._unwanted: set[str] = set()
        self._lost: dict[str, Held] = {}
        self._turn = 0

    # --- to hold ----------------------------------------------------------------------------------------------------

    def place(self, rung: Rung, held: Held) -> int:
        """Hold a reminder at a rung; return how many older ones it replaced."""
        held.since = self._turn
        status = ReminderStatus.SIDEBAR if rung is Rung.SIDEBAR else ReminderStatus.QUEUED
        self._panel.apply(events.ReminderPlaced(held.id, status, rung))
        replaced = self.supersede(held.id, held.reminder.dedupe_key)
        self._drop(self._stores[rung].add(held))
        return replaced

    def supersede(self, entry_id: str, key: str | None) -> int:
        """Let a newer reminder replace those with its key; return how many there were."""
        older = [
            (store, held) for store in self._stores.values() for held in store.with_key(key) if held.id != entry_id
        ]
        for store, held in older:
            store.remove(held.id)
            self._panel.apply(events.ReminderReplaced(held.id, entry_id))
        return len(older)

    def let_go(self, entry_id: str) -> None:
        """Hold a reminder no longer: the agent has it after all."""
        for store in self._stores.values():
            store.remove(entry_id)

    def revoke(self, entry_id: str) -> RevokeResult | None:
        """Take a reminder back; ``None`` if it is not in the host's hands."""
        if entry_id in self._carried:
            self._unwanted.add(entry_id)  # in case that the prompt comes back
            return RevokeResult.ALREADY_DELIVERED
        for store in self._stores.values():
            if store.remove(entry_id) is not None:
                self._panel.apply(events.ReminderEnded(entry_id, ReminderStatus.REVOKED))
                return RevokeResult.REVOKED
        return None

    def dismiss(self, entry_id: str) -> bool:
        """Put a reminder in the sidebar away; return whether it was there."""
        if self._stores[Rung.SIDEBAR].remove(entry_id) is None:
            return False
        self._panel.apply(events.ReminderEnded(entry_id, ReminderStatus.DISMISSED))
        return True

    # --- the prompt -------------------------------------------------------------------------------------------------

    @property
    def is_carrying(self) -> bool:
        """Whether a prompt is under way that reminders lead."""
        return bool(self._carried)

    @property
    def has_lost(self) -> bool:
        """Whether there are reminders that led a prompt of which nobody knows what became."""
        return bool(self._lost)

    def lead_prompt(self) -> tuple[LeadingReminder, ...]:
        """Take the queue for the prompt that is about to be written."""
        batch = self._stores[Rung.PREFIXED_USER_MESSAGE].take_all()
        self._carried = {held.id: held for held in batch}
        for held in batch:
            self._panel.apply(events.ReminderSending(held.id, Rung.PREFIXED_USER_MESSAGE))
        return tuple(
            LeadingReminder(
                held.id,
                held.reminder.body,
                leading_block(held.reminder, held.id, host=self.host, marker=held.marker),
            )
            for held in batch
        )

    def prompt_accepted(self) -> None:
        """Take note that the agent took the prompt."""
        for held in self._end_prompt():
            self._emitted(held)

    def prompt_refused(self) -> None:
        """Take note that the agent did not take the prompt, or that it was never written."""
        queue = self._stores[Rung.PREFIXED_USER_MESSAGE]
        unwanted = set(self._unwanted)
        batch = self._end_prompt()
        for held in batch:
            self._panel.apply(events.ReminderPlaced(held.id, ReminderStatus.QUEUED, Rung.PREFIXED_USER_MESSAGE))
        kept = []
        for held in batch:
            newer = next(iter(reversed(queue.with_key(held.reminder.dedupe_key))), None)
            if held.id in unwanted:
                self._panel.apply(events.ReminderEnded(held.id, ReminderStatus.REVOKED))
            elif newer is not None:
                self._panel.apply(events.ReminderReplaced(held.id, newer.id))
            else:
                kept.append(held)
        self._drop(queue.put_back(kept, self._turn))

    def prompt_lost(self) -> None:
        """Take note that nobody knows whether the agent took the prompt."""
        fault = ReminderFault(message=_LOST, rung=Rung.PREFIXED_USER_MESSAGE)
        for held in self._end_prompt():
            self._lost[held.id] = held
            self._panel.apply(
                events.ReminderPlaced(held.id, ReminderStatus.UNCERTAIN, Rung.PREFIXED_USER_MESSAGE, fault)
            )

    def seen_in_history(self, entry_ids: Iterable[str]) -> None:
        """Take note that the session's history holds these reminders: their prompt was taken after all."""
        for entry_id in entry_ids:
            held = self._lost.pop(entry_id, None)
            if held is not None:
                self._emitted(held)

    def _emitted(self, held: Held) -> None:
        self._panel.apply(events.ReminderAccepted(held.id, Rung.PREFIXED_USER_MESSAGE, emitted=True))

    def _end_prompt(self) -> list[Held]:
        batch, self._carried = list(self._carried.values()), {}
        self._unwanted.clear()
        return batch

    # --- turns ------------------------------------------------------------------------------------------------------

    def turn_started(self, turn: int) -> None:
        """Take note of the number of the turn that runs."""
        self._turn = turn

    def turn_ended(self) -> None:
        """Count the turn for what is held."""
        for store in self._stores.values():
            expired, aged = store.turn_ended(self._turn)
            for held in aged:
                self._panel.apply(events.ReminderAged(held.id, held.ttl_left or 0))
            for held in expired:
                self._panel.apply(events.ReminderAged(held.id, 0))
                self._panel.apply(events.ReminderEnded(held.id, ReminderStatus.EXPIRED))

    def _drop(self, gone: list[Held]) -> None:
        """Take note of what was dropped to make room."""
        for held in gone:
            self._panel.apply(events.ReminderEnded(held.id, ReminderStatus.EXPIRED))
            text = f"reminder {held.id} is dropped: there is no more room for it"
            self._report(Diagnostic(DiagnosticKind.UNEXPECTED, text))
