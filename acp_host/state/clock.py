"""Time and turn-taking, passed in: :class:`Clock` and :class:`Scheduler`.

Nothing in this layer reads a clock, sleeps or knows an event loop. A driver passes both; :class:`ManualScheduler` is
the one for a driver without a loop, and for tests.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Protocol

__all__ = ["Clock", "ManualClock", "ManualScheduler", "Scheduler", "Timer", "Waiter"]


class Clock(Protocol):
    """Says what time it is."""

    def now(self) -> float:
        """Return seconds since the epoch."""


class Timer(Protocol):
    """A callback that was put off."""

    def cancel(self) -> None:
        """Do not call it any more."""


class Waiter(Awaitable[None], Protocol):
    """Something to await until :meth:`wake` is called."""

    def wake(self) -> None:
        """Let whoever awaits go on; may be called repeatedly."""


class Scheduler(Protocol):
    """Runs callbacks later, all of them on the thread that owns the state."""

    def soon(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once the delivery that is being handled is done."""

    def soon_threadsafe(self, callback: Callable[[], None]) -> None:
        """As :meth:`soon`, but may be called on any thread."""

    def later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call ``callback`` after so many seconds."""

    def waiter(self) -> Waiter:
        """Return something to await."""


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float = 0.0) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        self._now += seconds


class _ManualTimer:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class _ManualWaiter:
    def __init__(self) -> None:
        self._awake = False

    def wake(self) -> None:
        self._awake = True

    def __await__(self) -> Generator[Any, None, None]:
        while not self._awake:
            yield


class ManualScheduler:
    """A scheduler that does nothing until :meth:`flush` is called.

    Args:
        clock: decides which timers are due.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or ManualClock()
        self._soon: deque[Callable[[], None]] = deque()
        self._timers: list[tuple[float, int, _ManualTimer]] = []
        self._numbers = itertools.count()
        self._flushing = False

    def soon(self, callback: Callable[[], None]) -> None:
        self._soon.append(callback)

    soon_threadsafe = soon

    def later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        timer = _ManualTimer(callback)
        heapq.heappush(self._timers, (self._clock.now() + seconds, next(self._numbers), timer))
        return timer

    def waiter(self) -> Waiter:
        return _ManualWaiter()

    @property
    def next_due(self) -> float | None:
        """When :meth:`flush` will have something to do, by the clock; a time gone by: now; ``None``: never."""
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        if self._soon:
            return self._clock.now()
        return self._timers[0][0] if self._timers else None

    def flush(self) -> None:
        """Run what is due: timers in the order of their time, then everything put off with :meth:`soon`.

        What these put off in turn waits for the next flush, so that observers hear of changes once per flush. If one of
        them raises, so does this, and the next flush goes on behind it. Within a flush this does nothing.
        """
        if self._flushing:
            return
        self._flushing = True
        try:
            self._run_timers()
            for _ in range(len(self._soon)):
                self._soon.popleft()()
        finally:
            self._flushing = False

    def _run_timers(self) -> None:
        now, first_new = self._clock.now(), next(self._numbers)
        while self._timers and self._timers[0][0] <= now and self._timers[0][1] < first_new:
            callback = heapq.heappop(self._timers)[2].callback
            if callback is not None:
                callback()
