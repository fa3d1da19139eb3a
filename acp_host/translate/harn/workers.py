"""Updates about workers: :func:`worker_update`."""

from __future__ import annotations

from typing import Any, Final

from acp_host.state.harn.workers import ENDED, STATUSES, WorkerReported
from acp_host.translate.harn.audit import mutation_record
from acp_host.translate.harn.payload import Payload, Unusable
from acp_host.wire._model import NO_EXTRA

__all__ = ["worker_update"]

# What happened, in Harn's word, and what a worker is doing thereafter.
_EVENTS: Final = {
    "WorkerSpawned": "running",
    "WorkerProgressed": "progressed",
    "WorkerWaitingForInput": "awaiting_input",
    "WorkerSuspended": "suspended",
    "WorkerResumed": "running",
    "WorkerCompleted": "completed",
    "WorkerFailed": "failed",
    "WorkerStopped": "stopped",
    "WorkerCancelled": "cancelled",
}
_ALIASES: Final = {
    "awaiting": "awaiting_input",
    **dict.fromkeys(("done", "succeeded", "success", "ok"), "completed"),
    **dict.fromkeys(("error", "errored", "timeout", "timed_out"), "failed"),
    **dict.fromkeys(("canceled", "aborted"), "cancelled"),
}


def _letters(word: str) -> str:
    """Return a word without what different versions write differently: its case, and the ``_`` in it."""
    return word.replace("_", "").casefold()


_EVENT_OF = {_letters(event): event for event in _EVENTS}
_STATUS_OF = {_letters(status): status for status in STATUSES} | {_letters(word): s for word, s in _ALIASES.items()}
_OLDER_METADATA = {
    "startedAt": "started_at",
    "finishedAt": "finished_at",
    "snapshotPath": "snapshot_path",
    "runId": "run_id",
    "runPath": "run_path",
}
"""What the bridge's older message has beside ``metadata``, and what to call it in there."""


def worker_update(payload: Payload) -> tuple[WorkerReported, ...]:
    """Read ``worker_update``, in its present form and in the bridge's older one."""
    worker_id = payload.identity("workerId")
    event_said, status_said, ended_said = payload.text("event"), payload.text("status"), payload.flag("terminal")
    event = _EVENT_OF.get(_letters(event_said or ""), event_said)
    status = _STATUS_OF.get(_letters(status_said or "")) or _EVENTS.get(event or "") or status_said or event_said
    if not status:
        raise Unusable("event and status are missing")
    if status in STATUSES and ended_said is not None and ended_said != (status in ENDED):
        payload.problems.append(f"terminal is {str(ended_said).lower()}, though the worker is {status}")
    is_known = status == status_said or _letters(status_said or "") in _STATUS_OF
    unused = {"status": status_said} if status_said and not is_known else {}  # the event says more than this word
    metadata = payload.object("metadata") or {}
    older = {name: payload.any(member) for member, name in _OLDER_METADATA.items() if payload.has(member)}
    audit = payload.nested("audit") or Payload({"audit": metadata.get("audit")}).nested("audit")
    report = WorkerReported(
        worker_id,
        status,
        event or None,
        status in ENDED if status in STATUSES else bool(ended_said),
        name=payload.text("workerName"),
        task=payload.text("workerTask") or _text(metadata.get("task")),
        mode=payload.text("workerMode") or _text(metadata.get("mode")),
        metadata={**older, **metadata} or NO_EXTRA,
        audit=None if audit is None else mutation_record(audit),
        extra={**unused, **payload.rest()} or NO_EXTRA,
    )
    return (report,)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
