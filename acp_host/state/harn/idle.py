"""Whether a Harn agent that stays alive waits for something to happen: :class:`Idling`, a reducer.

The agent tells of it again and again, and not of its end; that is taken from what it does next, and a turn that begins
or ends is one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state import events
from acp_host.state._value import is_same, plain_json, value
from acp_host.state.changes import ChangeKind, Note
from acp_host.state.harn.agent_events import AgentEventReported, AgentSessionEnded
from acp_host.wire._model import NO_EXTRA, model

__all__ = ["Idle", "IdleReported", "Idling"]

_TOPIC = "idle"
_SIGNS_OF_WORK = frozenset({"iteration_start", "turn_start", "turn_phase_changed"})


@value
class Idle:
    """The agent waits.

    Attributes:
        iteration: of its loop, counted by it; ``None`` if it does not say.
        backoff_ms: after how many milliseconds it looks again.
        extra: what else the agent said.
    """

    iteration: int | None = None
    backoff_ms: int | float | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@model
class IdleReported(events.HarnEvent):
    """The agent waits, or waits on."""

    idle: Idle


class Idling:
    """Keeps whether the agent waits.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._note = note
        self._idle: Idle | None = None

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns waiting."""
        ends = (
            events.TurnStarted,
            events.TurnEnded,
            events.SessionClosed,
            events.MessageChunk,
            events.TextStreamed,
            AgentSessionEnded,
        )
        return {
            **dict.fromkeys(ends, lambda _: self._set(None)),
            IdleReported: lambda event: self._set(event.idle),
            AgentEventReported: self._agent_event,
        }

    def freeze(self) -> Idle | None:
        """Return how the agent waits; ``None`` if it does not."""
        return self._idle

    def _agent_event(self, reported: AgentEventReported) -> None:
        if reported.event.kind in _SIGNS_OF_WORK:
            self._set(None)

    def _set(self, idle: Idle | None) -> None:
        if not is_same(idle, self._idle):
            self._idle = idle
            self._note(_TOPIC, None, ChangeKind.CHANGED)
