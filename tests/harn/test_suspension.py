"""Workers that are parked."""

from __future__ import annotations

from typing import Any

from acp_host.state.harn.suspension import Suspension, suspension_of
from acp_host.state.harn.workers import Worker
from tests.harn.harness import Desk, named

SUSPENSION = {
    "handle": "h-1",
    "reason": "waits for the build",
    "initiator": "agent",
    "suspended_at": "0193aa",
    "suspended_at_turn": 3,
    "snapshot_ref": "snap-1",
    "resume_by_mechanism": "host",
    "conditions": [{"kind": "timer"}],
    "auto_resume_trigger": None,
    "new": 1,
}


def parked(suspension: Any, status: str = "suspended") -> Worker:
    update = named("worker_update", workerId="w", status=status, metadata={"suspension": suspension})
    return Desk().take(update).harn.workers["w"]


def test_why_and_what_would_wake_it() -> None:
    found = suspension_of(parked(SUSPENSION))
    assert found == Suspension(
        handle="h-1",
        reason="waits for the build",
        initiator="agent",
        suspended_at="0193aa",
        suspended_at_turn=3,
        snapshot_ref="snap-1",
        resume_by_mechanism="host",
        conditions=[{"kind": "timer"}],
        raw=SUSPENSION,
    )
    assert found.words == "parked: waits for the build"


def test_the_agent_may_not_say_why() -> None:
    for suspension in (None, "x", {}, {"reason": 7}):
        found = suspension_of(parked(suspension))
        assert found is not None
        assert (found.reason, found.words) == (None, "parked")


def test_a_worker_that_went_on_is_parked_no_more() -> None:
    assert suspension_of(parked(SUSPENSION, "running")) is None
