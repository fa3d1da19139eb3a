"""Where a session's entries are kept: :class:`TranscriptStore`, and what readers get of it: :class:`Transcript`.

Entries stand in pages of :data:`PAGE`. A snapshot is a tuple of pages, of which only those that changed are made anew,
so that it costs the same however long the session has become. Pages of turns that are over are packed into bytes: a
session of a million updates is then a few thousand objects to the garbage collector. Readers do not notice; a packed
page is unpacked when somebody looks, and an entry that somebody still holds is the same object again.

A message or tool call that is being written stands in its page as a builder (anything with ``freeze()``), which is
replaced by its frozen entry as soon as it is closed.
"""

from __future__ import annotations

import contextlib
import pickle
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, overload

from attrs import field, frozen

from acp_host.state.entries import Entry

__all__ = ["PAGE", "Builder", "Transcript", "TranscriptStore"]

PAGE = 128
"""Entries in a page."""
_KEPT_OPEN = 8
"""Full pages at the end that are not packed: what front-ends show."""
_KEPT_WAITING = 16
"""Further pages that may wait to be packed until there is time for it."""
_KEPT_UNPACKED = 2
"""Packed pages that stay unpacked after somebody looked at them."""


class Builder(Protocol):
    """An entry that is being written."""

    def freeze(self) -> Entry:
        """Return the entry as it is now."""


class _Unpacked:
    """The entries of a packed page, while somebody looks at them."""

    __slots__ = ("__weakref__", "entries")

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self.entries = entries


class _Packed:
    """Entries as bytes. They are unpacked on demand, and each is kept as long as somebody holds it.

    Args:
        entries: what to pack.
        recent: keeps what was looked at last, so that a look at every entry in turn unpacks each page once.

    Raises:
        RecursionError: something in it is nested too deeply.
    """

    __slots__ = ("_bytes", "_held", "_recent", "_unpacked")

    def __init__(self, entries: tuple[Entry, ...], recent: deque[_Unpacked]) -> None:
        self._bytes = pickle.dumps(entries, pickle.HIGHEST_PROTOCOL)
        self._held: weakref.WeakValueDictionary[int, Entry] = weakref.WeakValueDictionary()
        self._recent = recent
        self._unpacked: weakref.ref[_Unpacked] | None = None

    def hold(self, entries: Iterable[Entry | None]) -> None:
        """Know entries that somebody holds, so that they are the same objects again."""
        self._held.update({entry.position: entry for entry in entries if entry is not None})

    def unpack(self) -> tuple[Entry, ...]:
        unpacked = self._unpacked() if self._unpacked is not None else None
        if unpacked is None:
            # These bytes were made a few lines above and have never left this object.
            fresh = pickle.loads(self._bytes)
            unpacked = _Unpacked(tuple(self._held.get(entry.position, entry) for entry in fresh))
            self.hold(unpacked.entries)
            self._unpacked = weakref.ref(unpacked)
            self._recent.append(unpacked)
        return unpacked.entries


class _Page:
    """Entries that do not change any more. Snapshots share it, so that packing it frees memory for all of them."""

    __slots__ = ("_content",)

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self._content: tuple[Entry, ...] | _Packed = entries

    @property
    def entries(self) -> tuple[Entry, ...]:
        content = self._content
        return content.unpack() if isinstance(content, _Packed) else content

    def pack(self, recent: deque[_Unpacked]) -> None:
        entries = self.entries
        references = [weakref.ref(entry) for entry in entries]
        # Readers on other threads meet either form.
        self._content = packed = _Packed(entries, recent)
        del entries
        # Nearly all entries are gone by now, since nobody but the page held them.
        packed.hold(reference() for reference in references)


@frozen(eq=False)
class Transcript(Sequence[Entry]):
    """The entries of a session at one moment, oldest first. Indexed by place, not by position.

    Attributes:
        first: position of the oldest entry that is kept; 0 unless the memory policy has dropped some.
    """

    first: int
    _pages: tuple[Any, ...] = field(repr=False)
    _end: int = field(repr=False)

    def __len__(self) -> int:
        return self._end - self.first

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, index: int | slice) -> Entry | tuple[Entry, ...]:
        if isinstance(index, slice):
            return tuple(self._walk(range(*index.indices(len(self)))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError("transcript index out of range")
        return self._at(self.first + place)

    def __iter__(self) -> Iterator[Entry]:
        return self._walk(range(len(self)))

    def __reversed__(self) -> Iterator[Entry]:
        return self._walk(range(len(self) - 1, -1, -1))

    def at(self, position: int) -> Entry | None:
        """Return the entry with this position, or ``None`` if it is not kept."""
        return self._at(position) if self.first <= position < self._end else None

    def _at(self, position: int) -> Entry:
        page = self._pages[position // PAGE - self.first // PAGE]
        entry: Entry = page.entries[position % PAGE]
        return entry

    def _walk(self, places: Iterable[int]) -> Iterator[Entry]:
        first_page, number, entries = self.first // PAGE, -1, ()
        for place in places:
            position = self.first + place
            if position // PAGE != number:
                number = position // PAGE
                entries = self._pages[number - first_page].entries  # held while we look: it is unpacked once
            yield entries[position % PAGE]


class _PageBuilder:
    """A page that is not packed: entries, builders in the places that are still being written, and what has changed."""

    __slots__ = ("_entries", "_frozen", "builders", "changed")

    def __init__(self, entries: list[Entry]) -> None:
        self._entries: list[Any] = entries
        self._frozen: _Page | None = None
        self.builders: dict[int, Builder] = {}
        self.changed: set[int] = set()

    def add(self, slot: Entry | Builder) -> None:
        self._entries.append(None)
        self.put(len(self._entries) - 1, slot)

    def put(self, place: int, slot: Any) -> None:
        self._frozen = None
        if hasattr(slot, "freeze"):
            self.builders[place] = slot
            self.changed.add(place)
        else:
            self.builders.pop(place, None)
            self.changed.discard(place)
            self._entries[place] = slot

    def get(self, place: int) -> Entry | Builder:
        entry: Entry = self._entries[place]
        return self.builders.get(place) or entry

    def truncate(self, size: int) -> None:
        self._frozen = None
        del self._entries[size:]
        self.builders = {place: builder for place, builder in self.builders.items() if place < size}
        self.changed = {place for place in self.changed if place < size}

    def close(self, place: int) -> None:
        builder = self.builders.get(place)
        if builder is None:
            return
        if place in self.changed:
            self.put(place, builder.freeze())
        else:
            del self.builders[place]  # what readers have of it stays the same object

    def freeze(self) -> _Page:
        if self.changed or self._frozen is None:
            for place in self.changed:
                self._entries[place] = self.builders[place].freeze()
            self.changed.clear()
            self._frozen = _Page(tuple(self._entries))
        return self._frozen


class TranscriptStore:
    """The pages of a session. Everything is O(1) amortised but what says otherwise.

    Attributes:
        end: position that the next entry gets.
        first: position of the oldest entry that is kept.
    """

    def __init__(self) -> None:
        self.end = 0
        self.first = 0
        self._pages: list[_PageBuilder | _Page] = []
        self._first_page = 0
        self._next_to_pack = 0
        self._recent: deque[_Unpacked] = deque(maxlen=_KEPT_UNPACKED)
        self._frozen: Transcript | None = None

    def add(self, slot: Entry | Builder) -> int:
        """Append an entry or its builder, which must have :attr:`end` as its position."""
        self._frozen = None
        if self.end % PAGE == 0:
            self._pages.append(_PageBuilder([]))
        page = self._pages[-1]
        assert isinstance(page, _PageBuilder)
        page.add(slot)
        self.end += 1
        return self.end - 1

    def touch(self, position: int) -> None:
        """Say that the builder at ``position`` has changed."""
        self._frozen = None
        self._open_page(position).changed.add(position % PAGE)

    def put(self, position: int, slot: Entry | Builder) -> None:
        """Put an entry or builder in the place of another."""
        self._frozen = None
        self._open_page(position).put(position % PAGE, slot)

    def get(self, position: int) -> Entry | Builder | None:
        """Return what stands at ``position``; ``None`` if it is not kept any more."""
        if not self.first <= position < self.end:
            return None
        page = self._pages[position // PAGE - self._first_page]
        place = position % PAGE
        return page.get(place) if isinstance(page, _PageBuilder) else page.entries[place]

    def close(self, position: int) -> None:
        """Replace the builder at ``position`` by its entry: it is written for now."""
        if self.first <= position < self.end:
            page = self._pages[position // PAGE - self._first_page]
            if isinstance(page, _PageBuilder):
                page.close(position % PAGE)

    def freeze(self) -> Transcript:
        """Return a snapshot, the same one until something changes; costs one step per page besides what changed."""
        if self._frozen is None:
            pages = tuple([page.freeze() if isinstance(page, _PageBuilder) else page for page in self._pages])
            self._frozen = Transcript(self.first, pages, self.end)
        return self._frozen

    def can_pack(self, before: int, *, in_a_hurry: bool = False) -> bool:
        """Tell whether there is a full page whose entries all lie before a position, and that is to be packed.

        ``in_a_hurry``, while there are no idle moments, only what may wait no longer is.
        """
        full_end = (max(self._next_to_pack, self._first_page) + 1) * PAGE
        kept = _KEPT_OPEN + _KEPT_WAITING if in_a_hurry else _KEPT_OPEN
        return full_end <= before and full_end + kept * PAGE <= self.end

    def pack_one(self, before: int, *, in_a_hurry: bool = False) -> bool:
        """Pack the oldest page that :meth:`can_pack` is about; tell whether there was one.

        Costs about a millisecond; the owner calls it in idle moments.
        """
        if not self.can_pack(before, in_a_hurry=in_a_hurry):
            return False
        index = max(self._next_to_pack, self._first_page)
        page = self._pages[index - self._first_page]
        if isinstance(page, _PageBuilder):
            if page.builders:
                return False  # something in it is being written again
            frozen = self._pages[index - self._first_page] = page.freeze()
            del page  # its entries are to be held by nobody but readers
            # What is nested too deeply for pickle stays as it is.
            with contextlib.suppress(RecursionError):
                frozen.pack(self._recent)
        self._next_to_pack = index + 1
        return True

    def drop_before(self, position: int) -> None:
        """Forget the entries before a position."""
        self._frozen = None
        self.first = max(self.first, min(position, self.end))
        while self._pages and (self._first_page + 1) * PAGE <= self.first:
            self._pages.pop(0)
            self._first_page += 1

    def truncate(self, end: int) -> None:
        """Forget the entries from a position on; the next entry gets it."""
        if end >= self.end:
            return
        self._frozen = None
        self._open_page(end).truncate(end % PAGE)
        del self._pages[end // PAGE - self._first_page + (1 if end % PAGE else 0) :]
        self.end = end

    def _open_page(self, position: int) -> _PageBuilder:
        index = position // PAGE - self._first_page
        page = self._pages[index]
        if isinstance(page, _PageBuilder):
            return page
        opened = self._pages[index] = _PageBuilder(list(page.entries))
        self._next_to_pack = min(self._next_to_pack, position // PAGE)
        return opened
