"""Workers that are parked."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host import harn
from acp_host.errors import NotSupported
from acp_host.state.harn.suspension import RESERVED_METHODS, Suspension, suspension_of
from acp_host.state.harn.workers import Worker
from acp_host.testing import ScriptedAgent
from tests.harn.commands import harn_session
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


@pytest.mark.parametrize("method", sorted(RESERVED_METHODS))
async def test_its_request_is_a_name_for_later_and_is_not_sent(method: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        assert (await agent.expect("harn.other"))["params"] == {"sessionId": "s-1"}
        agent.reply({})

    async with harn_session(script) as session:
        with pytest.raises(NotSupported, match=f"{method} is a name that Harn keeps for later"):
            await harn.of(session).request(method)
        await harn.of(session).request("harn.other")
