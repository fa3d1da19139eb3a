"""The workers of a Harn agent, and what each is doing: :class:`Workers`, a reducer.

An agent tells of one change of a worker in up to two messages, and a host may come late; so what is told is compared
with what is known:

====================================  =================================================================================
known                                 what is told of it next
====================================  =================================================================================
nothing                               Anything: the beginning may have been told before this host was there.
running, progressed, awaiting_input   Anything.
suspended                             running, suspended, failed, stopped, cancelled. It goes on before it can end well.
completed, failed, stopped, cancelled The same again.
anything                              The same again adds what is new about the worker, and is no change of its status.
====================================  =================================================================================

What does not fit is not applied and becomes a diagnostic. A status that is not known here is kept as it came and fits
wherever the worker has not ended; whether it lives then is what the agent says of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Keyed
from acp_host.state.events import HarnEvent
from acp_host.state.harn.audit import MutationRecord
from acp_host.state.members import newest
from acp_host.wire._model import NO_EXTRA, evolve, model

__all__ = ["ENDED", "MAX_MEMBERS", "MAX_WORKERS", "STATUSES", "Worker", "WorkerReported", "Workers"]

MAX_WORKERS = 500
"""How many workers are kept; those that have ended leave first, the oldest before the others."""

MAX_MEMBERS = 200
"""How many members of a worker's metadata are kept, and of what else is said of it."""

_TOPIC = "workers"
STATUSES: Final = frozenset(
    {"running", "progressed", "awaiting_input", "suspended", "completed", "failed", "stopped", "cancelled"}
)
"""The statuses that Harn is known to use."""
ENDED: Final = frozenset({"completed", "failed", "stopped", "cancelled"})
"""Those of them after which nothing more comes."""
_AFTER_SUSPENDED = frozenset({"running", "suspended", "failed", "stopped", "cancelled"})


@model
class WorkerReported(HarnEvent):
    """An agent tells of a worker; ``None`` means that it does not say.

    Attributes:
        worker_id: its id.
        status: what it is doing now, one of :data:`STATUSES`; the agent's word where it is not known.
        event: what happened, e.g. ``WorkerSpawned``; the agent's word where it is not known.
        ended: nothing more will come of it.
        name: what it is called.
        task: what it is to do.
        mode: how it is run.
        metadata: what else the agent knows of it.
        audit: under which rules it works.
        extra: members of the message that are none of these.
    """

    worker_id: str
    status: str
    event: str | None = None
    ended: bool = False
    name: str | None = None
    task: str | None = None
    mode: str | None = None
    metadata: Mapping[str, Any] = NO_EXTRA
    audit: MutationRecord | None = None
    extra: Mapping[str, Any] = NO_EXTRA


@value
class Worker:
    """A worker of the agent.

    Attributes:
        worker_id: its id.
        status: what it is doing: ``running``, ``progressed`` (running, and something is done), ``awaiting_input``,
            ``suspended``, ``completed``, ``failed``, ``stopped``, ``cancelled``, or the agent's word.
        event: what happened last, in Harn's word.
        ended: nothing more will come of it.
        name: what it is called.
        task: what it is to do.
        mode: how it is run.
        metadata: what else the agent said of it, e.g. ``parent_worker_id``, ``error``, ``suspension``; of each member
            what it said last. Times in it are opaque words.
        audit: under which rules it works.
        extra: what else stood in the messages.
    """

    worker_id: str
    status: str
    event: str | None = None
    ended: bool = False
    name: str | None = None
    task: str | None = None
    mode: str | None = None
    metadata: Mapping[str, Any] = plain_json(default=NO_EXTRA)
    audit: MutationRecord | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def parent_worker_id(self) -> str | None:
        """The worker that this one works for, if it is known."""
        parent = self.metadata.get("parent_worker_id")
        return parent if isinstance(parent, str) else None


class Workers:
    """Folds what is told of workers.

    Args:
        note: called with each change.
        problem: called with what is wrong with an event that is not applied, and with what is left out.
    """

    def __init__(self, note: Note, problem: Callable[[str], None]) -> None:
        self._problem = problem
        self._workers: Keyed[Worker] = Keyed(_TOPIC, note, MAX_WORKERS, lambda worker: worker.ended, problem)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns workers."""
        return {WorkerReported: self._reported}

    def freeze(self) -> Mapping[str, Worker]:
        """Return the workers by id, those that were told of first before the others."""
        return self._workers.freeze()

    def _reported(self, event: WorkerReported) -> None:
        known = self._workers.get(event.worker_id)
        if known is None:
            new = Worker(worker_id=event.worker_id, status=event.status)
            self._workers.put(event.worker_id, _told(new, event, self._problem))
        elif not _fits(known, event):
            self._problem(f"worker {event.worker_id} is {known.status}; {event.status} cannot follow that")
        else:
            self._workers.put(event.worker_id, _told(known, event, self._problem))


def _fits(known: Worker, event: WorkerReported) -> bool:
    if event.status == known.status:
        return True
    if known.ended:
        return False
    return known.status != "suspended" or event.status not in STATUSES or event.status in _AFTER_SUSPENDED


def _told(known: Worker, event: WorkerReported, problem: Callable[[str], None]) -> Worker:
    """Return what is known of a worker after a report; what it does not mention stays."""
    return evolve(
        known,
        status=event.status,
        event=event.event or known.event,
        ended=event.ended or (known.ended and event.status == known.status),
        name=event.name or known.name,
        task=event.task or known.task,
        mode=event.mode or known.mode,
        metadata=_merged(known.metadata, event.metadata, problem),
        audit=event.audit or known.audit,
        extra=_merged(known.extra, event.extra, problem),
    )


def _merged(known: Mapping[str, Any], told: Mapping[str, Any], problem: Callable[[str], None]) -> Mapping[str, Any]:
    news = {key: member for key, member in told.items() if member is not None or key not in known}
    if not news:
        return known
    return newest({**known, **news}, MAX_MEMBERS, "members of one worker", problem)
