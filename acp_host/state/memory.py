"""How much of a transcript is kept in memory: :class:`MemoryPolicy`, :class:`Archive`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from attrs import field, frozen

from acp_host.validators import number

__all__ = ["Archive", "MemoryPolicy"]


class Archive(Protocol):
    """Keeps entries that have left memory, in their JSON form, by position."""

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Take entries that follow those that were taken before."""

    def fetch(self, first: int, last: int) -> Sequence[Mapping[str, Any]]:
        """Return the entries at positions ``first`` to ``last``, both included, as far as they are here."""


@frozen(kw_only=True)
class MemoryPolicy:
    """What is kept of a transcript when turns end. Positions of entries never change.

    Attributes:
        keep_turns: how many turns are kept, the newest ones; ``None`` keeps all.
        archive: takes the entries that leave: an :class:`Archive`, for a connection with one session; or a function
            that returns that of a session, by its id, such as ``TranscriptArchive.of``. ``None``: they are gone.

    Raises:
        InvalidInput: ``keep_turns`` is below 1.
    """

    keep_turns: int | None = field(default=None, validator=number("turns", least=1, whole=True, optional=True))
    archive: Archive | Callable[[str], Archive] | None = None

    def archive_of(self, session_id: str) -> Archive | None:
        """Return what takes the entries of a session."""
        return self.archive(session_id) if callable(self.archive) else self.archive

    def first_to_keep(self, turn_starts: Sequence[int]) -> int:
        """Return the position of the oldest entry to keep, given where the turns so far begin."""
        if self.keep_turns is None or len(turn_starts) <= self.keep_turns:
            return 0
        return turn_starts[-self.keep_turns]
