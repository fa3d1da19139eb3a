"""That a worker of a Harn agent is parked, and what would wake it: :func:`suspension_of`.

An agent parks its workers by itself. ``session/suspend`` is the name of a request by which a host could ask for it
some day: no version of Harn takes it, and so nothing here sends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.harn.workers import Worker
from acp_host.wire._model import NO_EXTRA
from acp_host.wire.harn.members import Members

__all__ = ["RESERVED_METHODS", "Suspension", "suspension_of"]

RESERVED_METHODS = frozenset({"session/suspend", "session/await_resumption"})
"""Wire methods that are proposed, and that no version of Harn takes."""

_SUSPENDED = "suspended"


@value
class Suspension:
    """Why a worker is parked, and what would wake it. Every member may be missing.

    Attributes:
        handle: what the agent calls it.
        reason: why, for people.
        initiator: who wanted it, in the agent's word.
        suspended_at: when, in the agent's words.
        suspended_at_turn: in which turn of the worker.
        snapshot_ref: what the agent calls the state that it will go on from.
        resume_by_mechanism: how it is to be woken, in the agent's word.
        conditions: what would wake it; JSON of the agent's own.
        auto_resume_trigger: what wakes it by itself; likewise.
        raw: all of it, as sent.
    """

    handle: str | None = None
    reason: str | None = None
    initiator: str | None = None
    suspended_at: str | None = None
    suspended_at_turn: int | None = None
    snapshot_ref: str | None = None
    resume_by_mechanism: str | None = None
    conditions: Any = plain_json(default=None)
    auto_resume_trigger: Any = plain_json(default=None)
    raw: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def words(self) -> str:
        """What to show of it."""
        return "parked" if self.reason is None else f"parked: {self.reason}"


def suspension_of(worker: Worker) -> Suspension | None:
    """Return why a worker is parked; ``None`` for one that is not."""
    if worker.status != _SUSPENDED:
        return None
    members = Members(worker.metadata.get("suspension"), "suspension")
    return Suspension(
        handle=members.text("handle"),
        reason=members.text("reason"),
        initiator=members.text("initiator"),
        suspended_at=members.text("suspended_at"),
        snapshot_ref=members.text("snapshot_ref"),
        resume_by_mechanism=members.text("resume_by_mechanism"),
        suspended_at_turn=members.whole("suspended_at_turn"),
        conditions=members.raw.get("conditions"),
        auto_resume_trigger=members.raw.get("auto_resume_trigger"),
        raw=members.raw,
    )
