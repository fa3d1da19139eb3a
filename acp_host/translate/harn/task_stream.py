"""What a Harn agent tells of a task over A2A, as events of the same state: :func:`translate_task_event`.

The events stand in the stream of the task with their members at their root; a status that is not final says in words
what the agent is doing. What is A2A's own, a final status and the artifacts of a task, is not read here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from acp_host.state.events import SessionEvent
from acp_host.state.harn.agent_events import AgentEventReported, OtherAgentEvent
from acp_host.state.harn.plan_documents import PlanDocument, PlanDocumentReported
from acp_host.state.harn.progress import NARRATION, Progress, ProgressReported
from acp_host.translate.harn import HarnReport, human_requests, workers
from acp_host.translate.harn.payload import Payload, Unusable
from acp_host.translate.harn.plan_documents import plan_document, plan_of_older
from acp_host.translate.v1 import translate
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.harn.members import harn_meta
from acp_host.wire.plans import Plan

__all__ = ["translate_task_event"]

_OF_THE_TASK = ("type", "taskId", "contextId")


def translate_task_event(event: Any) -> HarnReport | None:
    """Return what an event of a task's stream says; ``None`` for one that is A2A's own or not known.

    Args:
        event: the event, as decoded.
    """
    if not isinstance(event, Mapping):
        return None
    reader = _READERS.get(event["type"]) if isinstance(event.get("type"), str) else None
    if reader is None:
        if event.get("kind") != "status-update" or event.get("final") is not False:
            return None
        reader = _status
    payload = Payload({name: member for name, member in event.items() if name not in _OF_THE_TASK})
    try:
        return HarnReport(reader(payload), tuple(payload.problems))
    except Unusable as problem:
        return HarnReport((), (*payload.problems, str(problem)))


def _hitl(payload: Payload) -> tuple[SessionEvent, ...]:
    if payload.text("phase") == "resolved":
        return human_requests.hitl_resolved(payload)
    return human_requests.hitl_request(payload)


def _plan_document(payload: Payload) -> tuple[SessionEvent, ...]:
    document = plan_document(payload.required("planDocument", payload.nested))
    return _plan(payload, document)


def _older_plan(payload: Payload) -> tuple[SessionEvent, ...]:
    document = plan_of_older(payload.required("plan", payload.nested), payload.any("plan"))
    return _plan(payload, document)


def _plan(payload: Payload, document: PlanDocument) -> tuple[SessionEvent, ...]:
    """Return the events for a document and for its steps, which are the session's plan."""
    reported = PlanDocumentReported(document)
    entries = payload.items("entries")
    if entries is None:
        return (reported,)
    plan, repairs = structure_tolerant({"entries": list(entries)}, Plan)
    payload.problems += [repair.message for repair in repairs]
    steps = translate(plan)
    assert steps is not None
    return (steps, reported)


def _status(payload: Payload) -> tuple[SessionEvent, ...]:
    """Read a status that is not final: its words, and the measurements beside it."""
    health = harn_meta(payload.object("metadata")).get("sessionHealth")
    events: list[SessionEvent] = []
    if isinstance(health, Mapping):
        events.append(AgentEventReported(OtherAgentEvent(kind="session_health", data=health)))
    status = payload.nested("status")
    message = None if status is None else status.nested("message")
    parts = () if message is None else message.objects("parts") or ()
    words = "\n".join(text for part in parts if (text := part.text("text")))
    if words:
        events.append(ProgressReported(Progress(message=words, phase=NARRATION)))
    return tuple(events)


_READERS: Final[Mapping[str, Callable[[Payload], tuple[SessionEvent, ...]]]] = {
    "harn_plan": _older_plan,
    "harn_plan_document": _plan_document,
    "hitl": _hitl,
    "worker_update": workers.worker_update,
}
