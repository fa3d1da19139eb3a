"""Whether an agent waits for something to happen."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state import events
from acp_host.state.entries import Speaker
from acp_host.state.harn.agent_events import AgentSessionEnded
from acp_host.state.harn.idle import Idle
from acp_host.wire.content import TextContent
from tests.harn.harness import Desk


def idle() -> Desk:
    return Desk().hear("agent/idle", iteration=3, backoff_ms=1000)


def test_it_waits_and_waits_on() -> None:
    desk = idle()
    assert desk.harn.idle == Idle(iteration=3, backoff_ms=1000)
    before = desk.state.snapshot()
    desk.hear("agent/idle", iteration=3, backoff_ms=1000)
    assert desk.state.snapshot() is before
    desk.hear("agent/idle", iteration=4, backoff_ms=2000, promptCorrelation={"messageId": "m"})
    assert desk.harn.idle == Idle(iteration=4, backoff_ms=2000)
    desk.assert_exact()


def test_that_it_came_says_enough() -> None:
    assert Desk().hear("agent/idle").harn.idle == Idle()


@pytest.mark.parametrize(
    "sign",
    [
        events.TurnStarted(1, (), ()),
        events.TurnEnded(1, "completed"),
        events.SessionClosed(),
        events.MessageChunk(Speaker.ASSISTANT, TextContent("Hi")),
        events.TextStreamed(Speaker.ASSISTANT, ("Hi",)),
        AgentSessionEnded(),
    ],
)
def test_what_it_does_next_ends_that(sign: Any) -> None:
    desk = idle().apply(sign)
    desk.deliver()
    assert desk.harn.idle is None
    desk.assert_exact()


@pytest.mark.parametrize("kind, waits", [("iteration_start", False), ("turn_start", False), ("purpose_label", True)])
def test_so_does_what_it_tells_of_its_loop(kind: str, waits: bool) -> None:
    desk = idle().hear("_harn/agentEvent", kind=kind, iteration=4)
    assert (desk.harn.idle is not None) is waits


def test_a_replay_changes_nothing_of_it() -> None:
    desk = idle().apply(events.ReplayStarted()).hear("log", message="m")
    desk.hear("agent/idle", iteration=9, replayed=True)
    assert desk.harn.idle == Idle(iteration=3, backoff_ms=1000)
