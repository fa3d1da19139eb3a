"""What is kept of what a Harn agent tells of its loop: :class:`AgentEvents`, :class:`Alerts`, :class:`TurnPhases`.

The three are reducers of the same events: all that is told, of that what a user should see, and where the turn is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import is_same, value
from acp_host.state.changes import ChangeKind, Note
from acp_host.state.collections import Recent, RecentList
from acp_host.state.events import TurnStarted
from acp_host.state.harn.agent_events import AgentEvent, AgentEventReported, TurnPhase

__all__ = ["MAX_ALERTS", "MAX_EVENTS", "AgentEvents", "Alert", "Alerts", "TurnPhases"]

MAX_EVENTS = 500
"""How many events are kept, the newest ones."""

MAX_ALERTS = 100
"""How many alerts are kept, the newest ones."""


@value
class Alert:
    """Something that a user should see.

    Attributes:
        event: what the agent tells.
        replayed: it is history; nothing is to be done about it.
    """

    event: AgentEvent
    replayed: bool = False


class AgentEvents:
    """Collects what the agent tells of its loop.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._events: RecentList[AgentEvent] = RecentList("agent_events", note, MAX_EVENTS)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns the loop."""
        return {AgentEventReported: lambda reported: self._events.add(reported.event)}

    def freeze(self) -> Recent[AgentEvent]:
        """Return the events that are kept."""
        return self._events.freeze()


class Alerts:
    """Collects of that what a user should see, so that no flood of other events takes it away.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._alerts: RecentList[Alert] = RecentList("alerts", note, MAX_ALERTS)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns alerts."""
        return {AgentEventReported: self._reported}

    def freeze(self) -> Recent[Alert]:
        """Return the alerts that are kept."""
        return self._alerts.freeze()

    def _reported(self, reported: AgentEventReported) -> None:
        if reported.event.is_alert:
            self._alerts.add(Alert(event=reported.event, replayed=reported.replayed))


class TurnPhases:
    """Keeps the phase of the turn; a new turn begins without one.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._note = note
        self._phase: TurnPhase | None = None

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns the phase."""
        return {AgentEventReported: self._reported, TurnStarted: lambda _: self._set(None)}

    def freeze(self) -> TurnPhase | None:
        """Return the phase of the turn that runs or ran last; ``None`` as long as none is told."""
        return self._phase

    def _reported(self, reported: AgentEventReported) -> None:
        if isinstance(reported.event, TurnPhase):
            self._set(reported.event)

    def _set(self, phase: TurnPhase | None) -> None:
        if not is_same(phase, self._phase):
            self._phase = phase
            self._note("turn_phase", None, ChangeKind.CHANGED)
