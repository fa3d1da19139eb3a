"""Whether the agent is at work although no turn runs: :class:`Activity`.

Some agents work without having been asked to, e.g. on a schedule, and few say when they begin and end. So it is derived
from what they send between turns:

* anything that belongs to the conversation begins it, and so does the agent's own word;
* it ends two seconds after the last of it, unless a tool call or a question of the agent is open, or at once by the
  agent's own word.

Cost: nothing while a turn runs, two assignments per update between turns, a timer every two seconds of activity.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from acp_host.state.clock import Scheduler, Timer

__all__ = ["QUIET", "Activity"]

QUIET = 2.0
"""Seconds without a sign after which the agent is taken to be done, at least; at most twice as many."""


class Activity:
    """What the agent does between turns.

    Attributes:
        is_on: whether it is at work.

    Args:
        scheduler: looks again after a pause.
        changed: called when :attr:`is_on` has changed.
    """

    def __init__(self, scheduler: Scheduler, changed: Callable[[], None]) -> None:
        self.is_on = False
        self._scheduler = scheduler
        self._changed = changed
        self._open: set[Hashable] = set()
        self._heard = False
        self._timer: Timer | None = None

    def heard(self) -> None:
        """Take a sign that it is at work."""
        self._heard = True
        if self._timer is None:
            self._wait()
            self._set(True)

    def begins(self, work: Hashable) -> None:
        """Learn that a piece of work begins: there will be no end before :meth:`ends` is called for it."""
        self._open.add(work)
        self.heard()

    def knows(self, work: Hashable) -> bool:
        """Whether a piece of work is open."""
        return work in self._open

    def ends(self, work: Hashable) -> None:
        """Learn that a piece of work ends. Does nothing if its beginning was not told."""
        if self.knows(work):
            self._open.remove(work)
            self.heard()

    def stop(self) -> None:
        """Learn that it is not at work, or that this does not matter any more: a turn begins, or all is over."""
        self._open.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._set(False)

    def _wait(self) -> None:
        self._heard = False
        self._timer = self._scheduler.later(QUIET, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._heard:
            self._wait()
        elif not self._open:
            self._set(False)

    def _set(self, is_on: bool) -> None:
        if is_on != self.is_on:
            self.is_on = is_on
            self._changed()
