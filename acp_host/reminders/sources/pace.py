"""How often a source may speak: :class:`Pace`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol

from attrs import define, field

__all__ = ["Handle", "Pace"]


class Handle(Protocol):
    """A callback that was put off."""

    def cancel(self) -> None:
        """Do not call it any more."""


def _later(seconds: float, callback: Callable[[], None]) -> Handle:
    return asyncio.get_running_loop().call_later(seconds, callback)


@define(eq=False)
class _Turnstile:
    """One key: when it was last let through, and what waits for it."""

    last: float
    waiting: Callable[[], Any] | None = None
    handle: Handle | None = None


@define(eq=False)
class Pace:
    """Lets one call per key through in some time; of those that come meanwhile the newest goes once it is over.

    Attributes:
        interval: seconds between two calls with one key.
        now: says what time it is, in seconds.
        later: calls a function after so many seconds; the default is that of the running event loop.
    """

    interval: float
    now: Callable[[], float] = time.monotonic
    later: Callable[[float, Callable[[], None]], Handle] = _later
    _keys: dict[str, _Turnstile] = field(factory=dict, init=False)

    def offer(self, key: str, call: Callable[[], Any]) -> None:
        """Make a call now, or once its time has come; it takes the place of one that still waits."""
        now = self.now()
        known = self._keys.get(key)
        if known is None or (known.handle is None and now - known.last >= self.interval):
            self._forget_old(now)
            self._keys[key] = _Turnstile(now)
            call()
            return
        known.waiting = call
        if known.handle is None:
            known.handle = self.later(known.last + self.interval - now, lambda: self._let_through(known))

    def stop(self) -> None:
        """Drop what waits."""
        keys, self._keys = self._keys, {}
        for known in keys.values():
            if known.handle is not None:
                known.handle.cancel()

    def _let_through(self, known: _Turnstile) -> None:
        call, known.waiting, known.handle, known.last = known.waiting, None, None, self.now()
        if call is not None:
            call()

    def _forget_old(self, now: float) -> None:
        if len(self._keys) >= 1_000:
            self._keys = {
                key: known
                for key, known in self._keys.items()
                if known.handle is not None or now - known.last < self.interval
            }
