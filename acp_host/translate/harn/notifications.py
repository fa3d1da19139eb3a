"""What Harn tells beside ``session/update``, as normalised events: :func:`translate_notification`.

One row a method; each names the reader of its parameters. To which session a notification belongs is found out before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from acp_host.state.events import SessionEvent
from acp_host.state.harn.agent_events import AgentSessionEnded
from acp_host.translate.harn import HarnReport, agent_events, human_requests, idle, logs, progress
from acp_host.translate.harn.payload import Payload, Unusable

__all__ = ["NOTIFICATIONS", "translate_notification"]

Reader = Callable[[Payload], tuple[SessionEvent, ...]]
"""Reads the parameters; raises ``Unusable`` where they do not say what they are about."""

_OF_THE_ROUTE = ("sessionId", "promptCorrelation", "replayed")
"""Parameters that say whose a notification is and when it was made; the rest is what it says."""

NOTIFICATIONS: Final[dict[str, Reader]] = {
    "_harn/agentEvent": agent_events.agent_event,
    "agent/idle": idle.agent_idle,
    "harn.hitl.requested": human_requests.hitl_requested,
    "log": logs.log,
    "output": logs.output,
    "progress": progress.progress,
}
"""The notifications that are read here, by wire method."""


def translate_notification(method: str, params: Mapping[str, Any]) -> HarnReport | None:
    """Return what a notification says; ``None`` for a method that is not known."""
    reader = NOTIFICATIONS.get(method)
    if reader is None:
        return None
    replayed = params.get("replayed") is True
    members = {name: member for name, member in params.items() if name not in _OF_THE_ROUTE}
    payload = Payload(members, replayed=replayed)
    try:
        events = reader(payload)
    except Unusable as problem:
        return HarnReport((), (*payload.problems, str(problem)), replayed=replayed)
    ends = not replayed and any(isinstance(event, AgentSessionEnded) for event in events)
    return HarnReport(events, tuple(payload.problems), replayed=replayed, ends_session=ends)
