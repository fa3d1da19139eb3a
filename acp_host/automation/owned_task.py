"""Work that begins when somebody wants it, and that nobody who waits for it leaves behind: :class:`OwnedTask`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

__all__ = ["OwnedTask"]

_T = TypeVar("_T")
_Awaited = TypeVar("_Awaited")


class OwnedTask(Generic[_T]):
    """A task, and what becomes of it when its callers are cancelled or leave.

    Args:
        work: the work; called once, when it begins.
        name: of the task.
        end_soon: asks the work to end by itself when it is given up; ``None``: it is cancelled at once.
    """

    def __init__(
        self, work: Callable[[], Coroutine[Any, Any, _T]], name: str, end_soon: Callable[[], None] | None = None
    ) -> None:
        self._work = work
        self._name = name
        self._end_soon = end_soon
        self._task: asyncio.Task[_T] | None = None

    @property
    def begun(self) -> bool:
        """Whether it has begun."""
        return self._task is not None

    @property
    def done(self) -> bool:
        """Whether it is over."""
        return self._task is not None and self._task.done()

    @property
    def result(self) -> _T | None:
        """What it has returned; ``None`` while it goes on, and where it was given up or has failed."""
        task = self._task
        ended = task is not None and task.done() and not task.cancelled() and task.exception() is None
        return task.result() if task is not None and ended else None

    def begin(self) -> None:
        """Begin, if that is not done yet."""
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name=self._name)
            self._task.add_done_callback(_look_at)

    async def finish(self) -> _T:
        """Begin it if need be, and return what it returns; raises what it raises."""
        self.begin()
        assert self._task is not None
        return await self.or_give_up(asyncio.shield(self._task))

    async def or_give_up(self, awaited: Awaitable[_Awaited]) -> _Awaited:
        """Await something for the caller; cancelled, the caller does not leave the work behind."""
        try:
            return await awaited
        except asyncio.CancelledError:
            await self.give_up()
            raise

    async def give_up(self) -> None:
        """End what still goes on, and wait for that; cancelled meanwhile, without patience."""
        task = self._task
        if task is None or task.done():
            return
        try:
            if self._end_soon is not None:
                self._end_soon()
                await asyncio.wait([task])
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task])


def _look_at(task: asyncio.Task[Any]) -> None:
    """Look at what a task ended with, so that one that was left does not log that nobody did."""
    if not task.cancelled():
        task.exception()
