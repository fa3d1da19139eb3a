"""When the replay of a loaded session is over: :class:`ReplayWindow`.

The specification has the history come before the answer to ``session/load``. Some agents answer first and replay
afterwards, so an answer with nothing before it leaves the window open until the history has come and gone quiet, until
it does not come at all, or until a prompt is sent.
"""

from __future__ import annotations

from acp_host.state import events
from acp_host.state.clock import Scheduler
from acp_host.state.session_state import SessionState

__all__ = ["ReplayWindow"]

_QUIET = 0.25
"""Seconds without a further entry after which a late replay is over."""
_LOOKS = 8
"""How many such pauses pass before a replay is taken to have been empty."""


class ReplayWindow:
    """The time during which updates of a session are history. It opens when it is made.

    Args:
        state: told when the replay begins and ends.
        scheduler: looks again after a pause.
    """

    def __init__(self, state: SessionState, scheduler: Scheduler) -> None:
        self._state = state
        self._scheduler = scheduler
        self._first = self._seen = state.entries_so_far
        self._looks = 0
        state.apply(events.ReplayStarted())

    def answered(self) -> None:
        """Learn that the agent has answered ``session/load``."""
        if self._state.entries_so_far > self._first:
            self._close()
        else:
            self._scheduler.later(_QUIET, self._look)

    def _look(self) -> None:
        entries = self._state.entries_so_far
        quiet = entries == self._seen and entries > self._first
        self._seen = entries
        self._looks += 1
        if quiet or (entries == self._first and self._looks >= _LOOKS):
            self._close()
        elif self._state.is_replaying:
            self._scheduler.later(_QUIET, self._look)

    def _close(self) -> None:
        if self._state.is_replaying:
            self._state.apply(events.ReplayEnded())
