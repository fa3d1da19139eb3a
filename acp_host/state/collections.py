"""What sections keep their entries in, bounded: :class:`Keyed` by id, :class:`RecentList` in order of arrival."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from acp_host.state._value import is_same, value
from acp_host.state.changes import ChangeKind, Note
from acp_host.wire._model import NO_EXTRA

__all__ = ["Keyed", "Recent", "RecentList"]

E = TypeVar("E")


class Keyed(Generic[E]):
    """Entries by id, the oldest first.

    Args:
        section: name of the section, for ``note``.
        note: called with each change.
        limit: how many entries are kept.
        is_over: tells whether nothing more is expected of an entry; such entries leave before the others.
        problem: called when one leaves that is not over. Those that are leave as a matter of course.
    """

    def __init__(
        self,
        section: str,
        note: Note,
        limit: int,
        is_over: Callable[[E], bool] = lambda _: False,
        problem: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._section = section
        self._note = note
        self._limit = limit
        self._is_over = is_over
        self._problem = problem
        self._entries: dict[str, E] = {}
        self._frozen: Mapping[str, E] | None = NO_EXTRA

    def get(self, key: str) -> E | None:
        """Return an entry, or ``None`` if it is not kept."""
        return self._entries.get(key)

    def put(self, key: str, entry: E) -> None:
        """Take an entry in place of the one with its id, or behind all others; an equal one changes nothing."""
        known = self._entries.get(key)
        if known is not None and is_same(known, entry):
            return
        if known is None and len(self._entries) >= self._limit:
            self._make_room()
        self._entries[key] = entry
        self._change(key, ChangeKind.ADDED if known is None else ChangeKind.CHANGED)

    def remove(self, key: str) -> None:
        """Forget an entry, if it is kept."""
        if self._entries.pop(key, None) is not None:
            self._change(key, ChangeKind.REMOVED)

    def clear(self) -> None:
        """Forget all entries."""
        for key in tuple(self._entries):
            self.remove(key)

    def freeze(self) -> Mapping[str, E]:
        """Return the entries by id; the same mapping until something changes."""
        if self._frozen is None:
            self._frozen = dict(self._entries)
        return self._frozen

    def _change(self, key: str, kind: ChangeKind) -> None:
        self._frozen = None
        self._note(self._section, key, kind)

    def _make_room(self) -> None:
        leaves = next((key for key, entry in self._entries.items() if self._is_over(entry)), None)
        if leaves is None:
            leaves = next(iter(self._entries))
            name = self._section.replace("_", " ")
            self._problem(f"more than {self._limit} {name}: the oldest of them is forgotten")
        self.remove(leaves)


@value
class Recent(Generic[E]):
    """The newest of what came, in order.

    Attributes:
        first: the number of the oldest that is kept, counted from 0; grows as the oldest leave.
        entries: what is kept, the oldest first.
    """

    first: int = 0
    entries: tuple[E, ...] = ()

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[E]:
        return iter(self.entries)

    @property
    def end(self) -> int:
        """The number that the next entry will have."""
        return self.first + len(self.entries)

    def since(self, number: int) -> tuple[E, ...]:
        """Return the entries from this number on, as far as they are kept; all, if others take their place since."""
        return self.entries[max(0, number - self.first) :] if number <= self.end else self.entries


class RecentList(Generic[E]):
    """Collects a :class:`Recent`; its entries never change.

    Args:
        section: name of the section, for ``note``.
        note: called with each change.
        limit: how many entries are kept.
    """

    def __init__(self, section: str, note: Note, limit: int) -> None:
        self._section = section
        self._note = note
        self._entries: deque[E] = deque(maxlen=limit)
        self._count = 0
        self._frozen: Recent[E] | None = Recent()

    def add(self, entry: E) -> None:
        """Take an entry behind all others; the oldest leaves where there are too many."""
        self._entries.append(entry)
        self._count += 1
        self._frozen = None
        self._note(self._section, None, ChangeKind.CHANGED)

    def freeze(self) -> Recent[E]:
        """Return what is kept; the same object until something comes."""
        if self._frozen is None:
            self._frozen = Recent(first=self._count - len(self._entries), entries=tuple(self._entries))
        return self._frozen
