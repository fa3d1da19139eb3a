"""When the replay of a session that is opened again is over: :class:`ReplayWindow`.

======================  ===========================================================================================
what is asked           then what comes is history
======================  ===========================================================================================
``session/load``        until a quarter of a second has passed after the answer without a further entry of the
                        transcript, or until a prompt is sent or the agent asks the user something. The specification
                        has the history come before the answer; some agents answer first, or in the midst of it
``session/resume``      until the answer. There should be no history; some agents send it all the same
all of it, of version   until the answer: its agents are told to have said everything by then
2
``session/fork``        until the answer: what comes for the new session before its id is known
======================  ===========================================================================================

What is told before the answer takes the place of what is shown with the answer. A request that fails ends it at once,
and all is as it was. Notices and reports about reminders are of the moment: those that come after the answer are live.
"""

from __future__ import annotations

from acp_host.state import events
from acp_host.state.clock import Scheduler, Timer
from acp_host.state.session_state import SessionState

__all__ = ["QUIET", "ReplayWindow"]

QUIET = 0.25
"""Seconds without a further entry after which a replay is over that went on behind the answer."""


class ReplayWindow:
    """The time during which updates of a session are history. It opens when it is made.

    Attributes:
        awaits_answer: the request that opens the session is not answered.

    Args:
        state: told when the replay begins and ends.
        scheduler: looks again after a pause.
        whole: the agent was asked to tell all of the session.
        goes_on: the agent may go on with it behind the answer.
    """

    def __init__(self, state: SessionState, scheduler: Scheduler, *, whole: bool, goes_on: bool) -> None:
        self.awaits_answer = True
        self._state = state
        self._scheduler = scheduler
        self._goes_on = goes_on
        self._seen = 0
        self._timer: Timer | None = None
        state.apply(events.ReplayStarted(whole))

    def answered(self) -> None:
        """Learn that the agent has opened the session."""
        self.awaits_answer = False
        if self._state.is_replaying:
            self._state.apply(events.ReplayAnswered())
        if self._goes_on and self._state.is_replaying:
            self._wait()
        else:
            self.close()

    def interrupt(self) -> None:
        """Learn that the agent does what it cannot do in a replay."""
        if not self.awaits_answer:
            self.close()

    def close(self) -> None:
        """End it, if it has not ended; without an answer, nothing is left of it."""
        failed, self.awaits_answer = self.awaits_answer, False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._state.is_replaying:
            self._state.apply(events.ReplayEnded(failed))

    def _wait(self) -> None:
        self._seen = self._state.entries_so_far
        self._timer = self._scheduler.later(QUIET, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._state.is_replaying and self._state.entries_so_far > self._seen:
            self._wait()
        else:
            self.close()
