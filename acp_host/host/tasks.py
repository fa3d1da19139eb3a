"""The one owner of a connection's tasks: :class:`TaskOwner`."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

__all__ = ["TaskOwner"]


class TaskOwner:
    """A task group whose life is not bound to a block of the application's code.

    The group lives in a task of its own, so that an error in the application's ``async with`` block is not wrapped into
    an exception group, and a connection can be opened in one place and closed in another.
    """

    def __init__(self) -> None:
        self._group: asyncio.TaskGroup | None = None
        self._closing = asyncio.Event()
        self._home: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Make the group ready for :meth:`start`."""
        ready = asyncio.Event()
        self._home = asyncio.create_task(self._live(ready), name="acp_host tasks")
        await ready.wait()

    @property
    def is_open(self) -> bool:
        """Whether tasks can be started."""
        return self._group is not None

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run ``work``, which must not raise, as a task of the group."""
        if self._group is None:
            work.close()
            raise RuntimeError("the task group is not open")
        task = self._group.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def close(self, seconds: float) -> bool:
        """Cancel what still runs and wait for its end, at most ``seconds``; tell whether all has ended."""
        self._closing.set()
        home = self._home
        if home is not None:
            await asyncio.wait([home], timeout=seconds)
        if home is None or home.cancelled() or not home.done():
            return home is None or home.done()
        home.result()
        return True

    async def _live(self, ready: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            self._group = group
            ready.set()
            try:
                await self._closing.wait()
            finally:  # also when the loop is going away and cancels everything
                self._group = None
            for task in tuple(self._running):
                task.cancel()
