"""A worker of the Harn-like agent: :class:`HarnWorker`, told in the present form, and in that of the bridge too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_host.testing.harn._frames import named

__all__ = ["HarnWorker"]

_EVENTS = {
    "WorkerSpawned": ("running", False),
    "WorkerProgressed": ("progressed", False),
    "WorkerWaitingForInput": ("awaiting_input", False),
    "WorkerSuspended": ("suspended", False),
    "WorkerResumed": ("running", False),
    "WorkerCompleted": ("completed", True),
    "WorkerFailed": ("failed", True),
    "WorkerStopped": ("stopped", True),
    "WorkerCancelled": ("cancelled", True),
}


class HarnWorker:
    """Something that works beside the conversation. Made by :meth:`~acp_host.testing.harn.turn.HarnTurn.worker`.

    Args:
        id: its id.
        name: what it is called.
        task: what it is to do.
        send: sends an update.
    """

    def __init__(self, id: str, name: str, task: str, send: Callable[[dict[str, Any]], None]) -> None:
        self.id = id
        self.name = name
        self.task = task
        self._send = send

    def tell(self, event: str, **metadata: Any) -> None:
        """Tell what happened to it, e.g. ``WorkerProgressed``: once as Harn does now, once as its bridge does."""
        status, terminal = _EVENTS[event]
        self._send(
            named(
                "worker_update",
                workerId=self.id,
                workerName=self.name,
                workerTask=self.task,
                workerMode="delegated_stage",
                event=event,
                status=status,
                terminal=terminal,
                metadata={"task": self.task, "child_run_id": f"run-{self.id}", **metadata},
            )
        )
        again = {"worker_id": self.id, "worker_name": self.name, "status": status, "metadata": metadata}
        self._send({"sessionUpdate": "worker_update", "content": again})
