"""The reducers of the time between turns: :class:`BetweenTurns`.

They fold what those of a turn fold, and take it besides for a sign of what the agent does without having been asked to;
what follows from such signs is the business of :class:`~acp_host.state.activity.Activity`. As long as a turn runs, none
of this costs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state import events
from acp_host.state.activity import Activity
from acp_host.state.entries import ENDED_CALL

__all__ = ["BetweenTurns"]

_Reducer = Callable[[Any], None]

_SIGNS_OF_WORK = (
    events.MessageChunk,
    events.TextStreamed,
    events.MessageReplaced,
    events.ToolCallContentAdded,
    events.PlanReplaced,
    events.CompactionReported,
    events.CompactionSummaryAdded,
    events.SessionMessageReported,
)
"""What an agent sends while it is at work and, besides tool calls and questions, at no other time."""


class BetweenTurns:
    """Folds an event as in a turn, and tells of it what it is a sign of.

    Args:
        in_turn: the reducers of a turn, by class of event.
        activity: is told.
        tell_harn: takes what is a sign that the agent is at work.
    """

    def __init__(
        self, in_turn: Mapping[type, _Reducer], activity: Activity, tell_harn: Callable[[events.SessionEvent], None]
    ) -> None:
        self._in_turn = in_turn
        self._activity = activity
        self._tell_harn = tell_harn

    def reducers(self) -> Mapping[type, _Reducer]:
        """Return the method for each class of event."""
        return {
            **self._in_turn,
            **{kind: self._as_sign(self._in_turn[kind]) for kind in _SIGNS_OF_WORK},
            events.ToolCallReported: self._tool_call_reported,
            events.ToolCallPatched: self._tool_call_patched,
            events.SessionInfoChanged: self._session_info_changed,
            events.QuestionAsked: self._question_asked,
        }

    def _as_sign(self, reducer: _Reducer) -> _Reducer:
        def fold(event: Any) -> None:
            reducer(event)
            self._activity.heard()
            self._tell_harn(event)

        return fold

    def _tool_call_reported(self, event: events.ToolCallReported) -> None:
        self._in_turn[events.ToolCallReported](event)
        self._call(event.report.tool_call_id, event.report.status)

    def _tool_call_patched(self, event: events.ToolCallPatched) -> None:
        self._in_turn[events.ToolCallPatched](event)
        self._call(event.tool_call_id, event.said.get("status"))

    def _call(self, tool_call_id: str, status: Any) -> None:
        call = ("call", tool_call_id)
        if status in ("pending", "in_progress"):
            self._activity.begins(call)
        elif status in ENDED_CALL and self._activity.knows(call):
            self._activity.ends(call)
        else:
            self._activity.heard()

    def _question_asked(self, event: events.QuestionAsked) -> None:
        self._in_turn[events.QuestionAsked](event)
        self._activity.begins(("question", event.request_id))

    def _session_info_changed(self, event: events.SessionInfoChanged) -> None:
        self._in_turn[events.SessionInfoChanged](event)
        if event.at_work is True:
            self._activity.begins("what it says")
        elif event.at_work is False:
            self._activity.stop()
