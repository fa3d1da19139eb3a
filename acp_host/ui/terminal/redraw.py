"""Drawing what has changed, at most once per frame: :class:`Redraw`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from acp_host.state.changes import ChangeSet

__all__ = ["FRAME", "Redraw"]

FRAME = 1 / 30
"""Seconds between two drawings at least."""


class Redraw:
    """Gathers change sets and has them drawn, those of one frame together; it sleeps while nothing changes.

    Args:
        draw: draws what has changed.
    """

    def __init__(self, draw: Callable[[ChangeSet], Awaitable[None]]) -> None:
        self._draw = draw
        self._waiting: ChangeSet | None = None
        self._arrived = asyncio.Event()

    def take(self, changes: ChangeSet) -> None:
        """Take what has changed; an observer for ``changed.connect``."""
        self._waiting = changes if self._waiting is None else changes.after(self._waiting)
        self._arrived.set()

    async def run(self) -> None:
        """Draw until cancelled."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            changes, self._waiting = self._waiting, None
            if changes is not None:
                began = time.monotonic()
                await self._draw(changes)
                # Half of the time at least is left to others: what draws slowly is drawn less often.
                await asyncio.sleep(max(FRAME, time.monotonic() - began))
