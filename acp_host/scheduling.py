"""State on asyncio: :class:`AsyncioScheduler` and :class:`SystemClock`, which the state model is given.

What is put off with ``soon`` during one turn of the event loop runs together in the next; so all that was read in one
turn reaches observers as one delivery.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

from acp_host.state.clock import Timer, Waiter

__all__ = ["AsyncioScheduler", "SystemClock"]


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        return time.time()


class _FutureWaiter:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._future: asyncio.Future[None] = loop.create_future()

    def wake(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    def __await__(self) -> Generator[Any, None, None]:
        return self._future.__await__()


class AsyncioScheduler:
    """A :class:`~acp_host.state.clock.Scheduler` on an event loop. A callback that raises keeps none from being called.

    Args:
        loop: the loop on whose thread the state lives. By default the running one; where none runs yet, the one that
            runs when something is put off for the first time.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._given = loop
        if loop is None:
            with contextlib.suppress(RuntimeError):
                self._given = asyncio.get_running_loop()
        self._soon: deque[Callable[[], None]] = deque()
        self._scheduled = False

    @classmethod
    def of_first_use(cls) -> AsyncioScheduler:
        """Return one for the loop on which something is put off first, whichever runs now.

        For state that is made by one thread, such as that of a notebook's cells, for a connection on another.
        """
        scheduler = cls()
        scheduler._given = None
        return scheduler

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        if self._given is None:
            self._given = asyncio.get_running_loop()
        return self._given

    def soon(self, callback: Callable[[], None]) -> None:
        self._soon.append(callback)
        self._schedule()

    def soon_threadsafe(self, callback: Callable[[], None]) -> None:
        if self._given is None:  # no loop has run yet, so there is nobody to hand it to before the first does
            self._soon.append(callback)
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing is delivered any more
            self._given.call_soon_threadsafe(self.soon, callback)

    def later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return self._loop.call_later(seconds, callback)

    def waiter(self) -> Waiter:
        return _FutureWaiter(self._loop)

    def _schedule(self) -> None:
        # State may outlive its loop: whoever still changes it has no observers left to tell.
        if not self._scheduled and not self._loop.is_closed():
            self._scheduled = True
            self._loop.call_soon(self._run)

    def _run(self) -> None:
        self._scheduled = False
        try:
            for _ in range(len(self._soon)):
                self._call(self._soon.popleft())
        finally:
            if self._soon:  # a KeyboardInterrupt came in between
                self._schedule()

    def _call(self, callback: Callable[[], None]) -> None:
        try:
            callback()
        except Exception as error:
            self._loop.call_exception_handler(
                {"message": f"a delivery of state changes failed: {callback!r}", "exception": error}
            )
