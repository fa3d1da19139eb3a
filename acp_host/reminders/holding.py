"""Reminders in the host's own hands: :class:`HeldReminders`, the queue of the last rung and the sidebar.

Both hold a bounded number of reminders in order, replace an older one by a newer one with the same key, and count the
turns that go by. What they decide they return; telling the panel is the caller's part.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define

from acp_host.reminders.model import Reminder
from acp_host.reminders.planning import LARGEST_HELD
from acp_host.state.reminder_marker import MARKER, Marker

__all__ = ["MOST_HELD", "Held", "HeldReminders"]

MOST_HELD = 32
"""How many reminders are held at once, of one kind."""


@define(eq=False)
class Held:
    """A reminder that is held.

    Attributes:
        id: its host-local id.
        reminder: the reminder.
        since: number of the session's turn when it came; that turn is not counted.
        ttl_left: how many turns it has left; ``None`` for no limit.
        marker: how it is marked in a prompt.
    """

    id: str
    reminder: Reminder
    since: int
    ttl_left: int | None
    marker: Marker = MARKER

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return len(self.reminder.body.encode("utf-8", "surrogatepass"))


class HeldReminders:
    """Reminders in order, at most :data:`MOST_HELD` and :data:`LARGEST_HELD` bytes."""

    def __init__(self) -> None:
        self._held: dict[str, Held] = {}

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self._held

    def __len__(self) -> int:
        return len(self._held)

    def add(self, held: Held) -> list[Held]:
        """Hold one more; return those that had to go for it, oldest first, perhaps itself."""
        self._held[held.id] = held
        return self._shrink()

    def put_back(self, batch: Iterable[Held], turn: int) -> list[Held]:
        """Hold a batch again, before all others; return those that had to go, oldest first.

        Args:
            batch: the reminders, in order.
            turn: number of the turn that did not keep them, which does not count as one that went by.
        """
        returned = {held.id: held for held in batch}
        for held in returned.values():
            held.since = turn
        self._held = {**returned, **self._held}
        return self._shrink()

    def take_all(self) -> list[Held]:
        """Return all of them in order, and hold none."""
        held, self._held = self._held, {}
        return list(held.values())

    def remove(self, entry_id: str) -> Held | None:
        """Hold one no longer; return it, or ``None`` if it was not held."""
        return self._held.pop(entry_id, None)

    def with_key(self, key: str | None) -> list[Held]:
        """Return those with a dedupe key, oldest first; none for no key."""
        return [] if key is None else [held for held in self._held.values() if held.reminder.dedupe_key == key]

    def turn_ended(self, turn: int) -> tuple[list[Held], list[Held]]:
        """Count a turn; return those whose time is up, which are held no longer, and those with turns left."""
        expired, aged = [], []
        for held in tuple(self._held.values()):
            if held.ttl_left is None or held.since >= turn:
                continue
            held.ttl_left -= 1
            if held.ttl_left > 0:
                aged.append(held)
            else:
                expired.append(self._held.pop(held.id))
        return expired, aged

    def _shrink(self) -> list[Held]:
        gone = []
        size = sum(held.size for held in self._held.values())
        while len(self._held) > MOST_HELD or size > LARGEST_HELD:
            oldest = self._held.pop(next(iter(self._held)))
            size -= oldest.size
            gone.append(oldest)
        return gone
