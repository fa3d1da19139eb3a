"""Events between a run and whoever reads them: :class:`EventBuffer`."""

from __future__ import annotations

import asyncio
from collections import deque

from acp_host.automation.events import EventsSkipped, RunEvent

__all__ = ["EventBuffer"]


class EventBuffer:
    """A bounded queue of events; the run never waits for its reader.

    Beyond the limit the oldest events give way to one :class:`~acp_host.automation.events.EventsSkipped`.

    Args:
        limit: how many are kept.
    """

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._events: deque[RunEvent] = deque()
        self._skipped = 0
        self._closed = False
        self._changed = asyncio.Event()

    def put(self, event: RunEvent) -> None:
        """Add an event."""
        if len(self._events) == self._limit:
            self._events.popleft()
            self._skipped += 1
        self._events.append(event)
        self._changed.set()

    def close(self) -> None:
        """Say that none will follow."""
        self._closed = True
        self._changed.set()

    async def next(self) -> RunEvent | None:
        """Return the next event, waiting for it; ``None`` after the last."""
        while not self._events and not self._closed:
            self._changed.clear()
            await self._changed.wait()
        return self.take()

    def take(self) -> RunEvent | None:
        """Return the next event, if one is there."""
        if self._skipped:
            count, self._skipped = self._skipped, 0
            return EventsSkipped(count=count)
        return self._events.popleft() if self._events else None
