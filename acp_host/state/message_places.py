"""Where the messages stand that an agent's ids mean: :class:`MessagePlaces`.

The ids of some agents mean a message of the turn only, and another one in the next turn; those of others mean a message
of the session for good. Whoever tells of a message says which.
"""

from __future__ import annotations

__all__ = ["MessagePlaces"]

_Places = dict[tuple[str, str], int]


class MessagePlaces:
    """Finds messages by who speaks and by id; O(1)."""

    def __init__(self) -> None:
        self._of_turn: _Places = {}
        self._of_session: _Places = {}

    def find(self, speaker: str, message_id: str, *, of_session: bool) -> int | None:
        """Return the position of a message; ``None`` if the id means none yet."""
        return (self._of_session if of_session else self._of_turn).get((speaker, message_id))

    def note(self, speaker: str, message_id: str, position: int, *, of_session: bool) -> None:
        """Know where a message stands."""
        (self._of_session if of_session else self._of_turn)[speaker, message_id] = position

    def in_turn(self, ids: _Places) -> _Places:
        """Let the ids of a turn mean what they mean in another one; return what they meant."""
        before, self._of_turn = self._of_turn, ids
        return before

    def turn_begins(self) -> None:
        """Forget what ids meant in the turn before."""
        self._of_turn.clear()

    def dropped(self, first: int) -> None:
        """Forget the messages before a position; those of the turn are never before it."""
        self._of_session = {key: position for key, position in self._of_session.items() if position >= first}

    def known(self) -> _Places:
        """Return what the ids of the session mean, for :meth:`restore`."""
        return self._of_session.copy()

    def restore(self, known: _Places) -> None:
        """Let ids mean what they meant at an earlier moment, outside of any turn."""
        self._of_turn.clear()
        self._of_session = known
