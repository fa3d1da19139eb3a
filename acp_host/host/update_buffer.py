"""Updates between the reader and whoever iterates: :class:`UpdateBuffer`.

The reader never waits. Up to :attr:`UpdateBuffer.limit` updates are kept as they came; beyond it, neighbouring chunks
of one message are joined, and then the oldest updates give way to a single :class:`UpdatesSkipped`. So they do beyond
:data:`MAX_LARGE`, whatever their number. Adding and taking are O(1) amortised.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from acp_host.wire._model import evolve
from acp_host.wire._size import memory_of
from acp_host.wire.content import TextContent
from acp_host.wire.text import join_text
from acp_host.wire.updates import ContentChunk, SessionUpdate

__all__ = ["MAX_LARGE", "UpdateBuffer", "UpdatesSkipped"]

MAX_LARGE = 64 * 2**20
"""Bytes of memory, roughly, that large updates may take which nobody has taken yet."""

_LARGE = 16 * 1024
_LONGEST_JOINED = 4096


@frozen(eq=False)
class _Large:
    """An update that takes much memory, and how much."""

    update: SessionUpdate
    size: int


@frozen
class UpdatesSkipped:
    """Stands for updates that were dropped because nobody took them in time; the text of the turn is not affected.

    Attributes:
        count: how many were dropped, at least 1.
    """

    count: int


class UpdateBuffer:
    """A bounded queue of updates; several consumers share what is in it.

    Args:
        limit: how many are kept before chunks are joined and the oldest dropped.
    """

    def __init__(self, limit: int = 10_000) -> None:
        self.limit = limit
        self._items: deque[Any] = deque()
        self._large = 0
        self._skipped = 0
        self._since_joined = limit
        self._closed = False
        self._waiters: set[asyncio.Future[None]] = set()

    def push(self, update: SessionUpdate) -> None:
        """Add an update."""
        size = _size_of(update)
        if size <= _LARGE:
            self.extend((update,))
            return
        self._large += size
        self.extend((_Large(update, size),))
        while self._large > MAX_LARGE and len(self._items) > 1:
            self._drop_oldest()

    def extend(self, updates: Sequence[Any]) -> None:
        """Add several updates, none of which is large."""
        self._items.extend(updates)
        if len(self._items) > self.limit:
            self._make_room()
        if self._waiters:
            self._wake()

    def close(self) -> None:
        """Say that no update follows; what is there can still be taken."""
        self._closed = True
        self._wake()

    def take(self) -> SessionUpdate | UpdatesSkipped | None:
        """Return the oldest update, or ``None`` if there is none now."""
        if self._skipped:
            skipped, self._skipped = self._skipped, 0
            return UpdatesSkipped(skipped)
        return self._take_oldest() if self._items else None

    async def wait(self) -> bool:
        """Wait until there is an update to take; return ``False`` if there will be none."""
        while not self._items and not self._closed:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)
        return bool(self._items)

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _make_room(self) -> None:
        self._since_joined += len(self._items) - self.limit
        if self._since_joined >= self.limit // 2:
            # One pass over everything pays for itself only after many additions; in between the oldest just goes.
            self._since_joined = 0
            self._items = _joined(self._items)
        while len(self._items) > self.limit:
            self._drop_oldest()

    def _take_oldest(self) -> SessionUpdate:
        oldest: Any = self._items.popleft()
        if oldest.__class__ is not _Large:
            update: SessionUpdate = oldest
            return update
        self._large -= oldest.size
        large: SessionUpdate = oldest.update
        return large

    def _drop_oldest(self) -> None:
        self._take_oldest()
        self._skipped += 1


def _size_of(update: Any) -> int:
    """Return about how many bytes an update takes; of one that is large, the true figure, up to the limit."""
    text = _plain_text(update)
    return memory_of(update, MAX_LARGE) if text is None else len(text)


def _joined(items: deque[Any]) -> deque[Any]:
    """Return ``items`` with neighbouring text chunks of one message put together."""
    joined: deque[Any] = deque()
    run = _Run()
    for item in items:
        if run.takes(item):
            run.add(item)
            continue
        joined.extend(run.end())
        if run.takes(item):
            run.add(item)
        else:
            joined.append(item)
    joined.extend(run.end())
    return joined


class _Run:
    """Neighbouring chunks of one message that hold nothing but text."""

    def __init__(self) -> None:
        self._chunks: list[Any] = []
        self._length = 0

    def takes(self, item: Any) -> bool:
        """Tell whether ``item`` continues the run, or can begin one."""
        text = _plain_text(item)
        if text is None:
            return False
        if not self._chunks:
            return True
        first = self._chunks[0]
        same_message = type(first) is type(item) and first.message_id == item.message_id
        return same_message and self._length + len(text) <= _LONGEST_JOINED

    def add(self, item: Any) -> None:
        self._chunks.append(item)
        self._length += len(item.content.text)

    def end(self) -> Iterable[SessionUpdate]:
        """Return the run as one chunk, or nothing if it is empty, and begin anew."""
        chunks, self._chunks, self._length = self._chunks, [], 0
        if len(chunks) < 2:
            return chunks
        text = join_text(chunk.content.text for chunk in chunks)
        return [evolve(chunks[0], content=TextContent(text))]


def _plain_text(item: Any) -> str | None:
    """Return the text of a chunk that holds nothing else, or ``None``."""
    if not isinstance(item, ContentChunk) or item.extra or item.meta or not isinstance(item.content, TextContent):
        return None
    content = item.content
    return None if content.extra or content.meta or content.annotations else content.text
