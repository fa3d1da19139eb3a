"""What writes the entries of a transcript: :class:`TranscriptWriter`.

It knows in which turn an entry stands and whether it is history, and lets a history take the place of what is shown. It
does not know what an entry says.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from acp_host.state.changes import ChangeKind, Note
from acp_host.state.entries import Entry
from acp_host.state.transcript import Builder, Transcript, TranscriptStore

__all__ = ["SECTION", "TranscriptWriter"]

SECTION = "transcript"

# Reading a member off its enumeration costs as much as making a small object.
_ADDED, _CHANGED = ChangeKind.ADDED, ChangeKind.CHANGED


class TranscriptWriter:
    """Writes the entries of a session and tells of what has changed.

    A history that takes the place of what is shown is kept out of sight until the agent has opened the session; if it
    does not, nothing has happened.

    Attributes:
        store: the entries.
        turn: number of the turn that is running; ``None`` between turns.
        turn_starts: positions of the entries that the turns begin with, oldest first.
        replaying: what comes is history.
        told_again: what comes next is, though the rest is live.

    Args:
        note: called with each change.
        dropped: called with the position of the oldest entry that is left whenever others were forgotten.
    """

    def __init__(self, note: Note, dropped: Callable[[int], None]) -> None:
        self.store = TranscriptStore()
        self.turn: int | None = None
        self.turn_starts: deque[int] = deque()
        self.replaying = False
        self.told_again = False
        self._note = note
        self._dropped = dropped
        # The history takes the place of the entries before this position; of those before the other one if it begins
        # with something of the user's.
        self._superseded = 0
        self._may_be_superseded = 0
        # The end and the turns before a replay, and what else is to be undone, until the session is opened.
        self._before: tuple[int, deque[int], Callable[[], None]] | None = None
        # The entries whose change is noted already: nothing more to do for the next one until someone looks.
        self._touched: set[int] = set()
        self._shown_meanwhile: Transcript | None = None

    @property
    def is_history(self) -> bool:
        """Whether what comes has happened earlier."""
        return self.replaying or self.told_again

    def place(self) -> dict[str, Any]:
        """Return the attributes that say where the next entry stands, and in what."""
        return {"position": self.store.end, "turn": self.turn, "replayed": self.is_history}

    def append(self, slot: Entry | Builder) -> int:
        """Write an entry, or begin to, behind all others; return its position."""
        self._supersede()
        position = self.store.add(slot)
        self._tell(position, _ADDED)
        return position

    def replace(self, position: int, entry: Entry) -> None:
        """Write an entry in the place of another."""
        self.store.put(position, entry)
        self._tell(position, _CHANGED)

    def touch(self, position: int) -> None:
        """Say that the builder of an entry has changed."""
        if position not in self._touched:
            self._touched.add(position)
            self.store.touch(position)
            self._tell(position, _CHANGED)

    def delivered(self) -> None:
        """Learn that observers have been told of all changes so far."""
        self._touched.clear()

    def freeze(self) -> Transcript:
        """Return the transcript as it is shown now."""
        self._touched.clear()
        return self.store.freeze() if self._shown_meanwhile is None else self._shown_meanwhile

    def drop_before(self, position: int) -> None:
        """Forget the entries before a position."""
        self.store.drop_before(position)
        self._note(SECTION, None, _CHANGED)
        first = self.store.first
        while self.turn_starts and self.turn_starts[0] < first:
            self.turn_starts.popleft()
        self._dropped(first)

    @property
    def can_pack(self) -> bool:
        """Whether there is a page of turns that are over to be packed."""
        return self.store.can_pack(self._over_before, in_a_hurry=self.turn is not None)

    def pack_one(self) -> bool:
        """Pack a page of turns that are over, if there is one; tell whether there was. While a turn runs, few are."""
        return self.store.pack_one(self._over_before, in_a_hurry=self.turn is not None)

    @property
    def _over_before(self) -> int:
        return self.store.end if self.turn is None else self.turn_starts[-1]

    # --- replay -----------------------------------------------------------------------------------------------------

    def is_superseded(self, position: int) -> bool:
        """Tell whether a history takes the place of an entry: it cannot go on."""
        return position < self._superseded

    def replay_started(self, *, whole: bool, undo: Callable[[], None]) -> None:
        """Take what comes as history.

        Args:
            whole: of all of the session.
            undo: called if what was told out of sight is forgotten again.
        """
        self.replaying = True
        # The agent tells all of the session again: with the first that comes, what is here is shown twice.
        self._superseded, self._may_be_superseded = (self.store.end, 0) if whole else (0, self.store.end)
        self._before = self.store.end, self.turn_starts.copy(), undo

    def replayed_turn_begins(self) -> None:
        """Learn that the history tells of a turn: then it is of all of the session, whatever was asked for."""
        if self._may_be_superseded:
            self._superseded, self._may_be_superseded = self._may_be_superseded, 0

    def replay_answered(self) -> None:
        """Show what was told so far in the place of what was there; the rest follows in sight."""
        self._before = None
        if self._shown_meanwhile is None:
            return
        self._shown_meanwhile = None
        first, self._superseded = self._superseded, 0
        self.drop_before(first)
        for position in range(first, self.store.end):
            self._note(SECTION, position, _ADDED)

    def replay_failed(self) -> None:
        """Forget what was told out of sight; what was there before is so again."""
        before, self._before = self._before, None
        self._superseded = 0
        if before is not None and self._shown_meanwhile is not None:
            end, self.turn_starts, undo = before
            self.store.truncate(end)
            self._shown_meanwhile = None
            undo()

    def replay_ended(self) -> None:
        """Go on live."""
        self.replay_answered()
        self.replaying = False
        self._superseded = self._may_be_superseded = 0

    def _supersede(self) -> None:
        """Let what a replay tells take the place of what is there, or begin to do so out of sight."""
        if self._superseded and self._before is None:
            self.drop_before(self._superseded)
            self._superseded = 0
        elif self._superseded and self._shown_meanwhile is None:
            self._shown_meanwhile = self.freeze()

    def _tell(self, position: int, kind: ChangeKind) -> None:
        """Note a change of an entry, unless it is out of sight."""
        if self._shown_meanwhile is None:
            self._note(SECTION, position, kind)
