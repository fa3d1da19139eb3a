"""What changed in a state: :class:`ChangeSet`, and what several changes of one item amount to."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, NamedTuple

from attrs import field, frozen

__all__ = ["Change", "ChangeKind", "ChangeSet", "Note", "Part", "changes_of", "merge_change"]


class ChangeKind(StrEnum):
    """What happened to a part of the state."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    MERGED = "merged"


Note = Callable[[str, str | int | None, ChangeKind], None]
"""Takes the section and the key of what changed (``None``: the section as a whole), and the kind of the change."""


class Change(NamedTuple):
    """One part of the state that changed.

    Attributes:
        section: which part of the state, e.g. ``"transcript"``.
        key: which item of it; ``None`` for the section as a whole.
        kind: what happened to it.
    """

    section: str
    key: str | int | None
    kind: ChangeKind


@frozen
class ChangeSet:
    """What changed in one delivery.

    Attributes:
        version: the version of the state after the changes, as in ``snapshot``; it grows by one with each delivery.
        changes: each part at most once, in the order in which it first changed.
        snapshot: the state after the changes; an observer on another thread must use this one.
    """

    version: int
    changes: tuple[Change, ...]
    snapshot: Any = field(default=None, eq=False, repr=False)

    def touches(self, section: str) -> bool:
        """Tell whether anything in a section changed."""
        return any(change.section == section for change in self.changes)

    def keys(self, section: str) -> tuple[str | int | None, ...]:
        """Return the keys of the items of a section that changed."""
        return tuple(change.key for change in self.changes if change.section == section)

    def after(self, earlier: ChangeSet) -> ChangeSet:
        """Return one change set for ``earlier`` followed by this one."""
        merged = {(change.section, change.key): change.kind for change in earlier.changes}
        for change in self.changes:
            merge_change(merged, (change.section, change.key), change.kind)
        return ChangeSet(self.version, changes_of(merged), self.snapshot)


Part = tuple[str, str | int | None]
"""A section and the key of an item of it; the key is ``None`` for the section as a whole."""

# What two changes of one item amount to, where it is not the second one; ``None``: it came and went.
_NET: Final[dict[tuple[ChangeKind, ChangeKind], ChangeKind | None]] = {
    (ChangeKind.ADDED, ChangeKind.CHANGED): ChangeKind.ADDED,
    (ChangeKind.ADDED, ChangeKind.MERGED): ChangeKind.ADDED,
    (ChangeKind.ADDED, ChangeKind.REMOVED): None,
    (ChangeKind.REMOVED, ChangeKind.ADDED): ChangeKind.CHANGED,
    (ChangeKind.MERGED, ChangeKind.CHANGED): ChangeKind.MERGED,
}


def merge_change(noted: dict[Part, ChangeKind], part: Part, kind: ChangeKind, *, seen: bool = False) -> None:
    """Add a change to those before it, of which somebody may have ``seen`` the result."""
    known = noted.get(part)
    net = kind if known is None else _NET.get((known, kind), kind)
    if net is None and not seen:
        del noted[part]
    else:
        noted[part] = net or kind


def changes_of(noted: dict[Part, ChangeKind]) -> tuple[Change, ...]:
    """Return what was noted as changes, in order."""
    make = tuple.__new__  # what Change() does; calling that takes three times as long, and a burst is thousands
    return tuple([make(Change, (section, key, kind)) for (section, key), kind in noted.items()])
