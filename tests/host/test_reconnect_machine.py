"""The state machine of reconnection, with a clock and chances that are given."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import (
    AcpError,
    AuthRequired,
    ConnectionClosed,
    ConnectionLost,
    InternalError,
    InvalidInput,
    StartFailed,
    UnsupportedVersion,
)
from acp_host.host.reconnect_machine import ConnectionStatus, ReconnectMachine, is_permanent
from acp_host.host.reconnect_policy import ReconnectPolicy

LOST = ConnectionLost("cut")


def machine(random: Callable[[], float] = lambda: 0.0, **policy: float) -> ReconnectMachine:
    return ReconnectMachine(ReconnectPolicy(**policy), random)


def test_the_way_back() -> None:
    way = machine()
    seen = [way.status]
    way.lost(LOST, 10.0)
    assert (way.status, way.attempt, way.next_try, way.error) == ("waiting", 1, 10.5, LOST)
    for step in (way.begins, way.started, way.agreed, way.restored):
        step(11.0)
        seen.append(way.status)
    assert seen == ["connected", "connecting", "handshaking", "reopening", "connected"]
    assert (way.attempt, way.next_try, way.error) == (0, None, None)


def test_waits_grow_to_a_limit_and_differ_by_chance() -> None:
    policy = ReconnectPolicy(first_delay=1.0, factor=2.0, longest_delay=5.0, jitter=0.5)
    assert [policy.delay(attempt, 0.0) for attempt in (1, 2, 3, 4, 100_000)] == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert policy.delay(1, 0.999) == pytest.approx(0.5, abs=0.01)


def test_the_default_outlasts_the_heartbeats_of_others() -> None:
    """Bug log 119: eight sessions were lost, since 175 ms were thought to be enough where 20 s are."""
    way, now = machine(), 0.0
    way.lost(LOST, now)
    while not way.is_over:
        assert way.next_try is not None
        now = way.next_try
        way.begins(now)
        way.failed(LOST, now)
    assert 120.0 < now <= ReconnectPolicy().budget


def test_the_tries_are_bounded() -> None:
    way = machine(tries=2, first_delay=0.0)
    way.lost(LOST, 0.0)
    for _ in range(2):
        assert way.status is ConnectionStatus.WAITING
        way.begins(0.0)
        way.failed(LOST, 0.0)
    assert way.status is ConnectionStatus.LOST


def test_a_loss_right_after_the_return_goes_on_with_the_tries() -> None:
    way = machine(tries=3, first_delay=0.0, stable_after=10.0)
    way.lost(LOST, 0.0)
    for now in (1.0, 2.0, 3.0):
        way.begins(now)
        way.restored(now)
        way.lost(LOST, now + 1.0)
    assert way.status is ConnectionStatus.LOST, "an agent that ends as soon as it starts is given up"


def test_a_loss_after_a_while_begins_anew() -> None:
    way = machine(tries=1, first_delay=0.0, stable_after=10.0)
    way.lost(LOST, 0.0)
    way.begins(1.0)
    way.restored(1.0)
    way.lost(LOST, 11.0)
    assert (way.status, way.attempt) == ("waiting", 1)


def test_hurry() -> None:
    way = machine(first_delay=30.0)
    way.hurry(0.0)
    assert way.next_try is None, "nothing is waited for"
    way.lost(LOST, 0.0)
    way.hurry(1.0)
    assert way.next_try == 1.0


def test_a_restart_is_tried_at_once_whatever_it_was_lost_by() -> None:
    way = machine(first_delay=30.0)
    way.lost(ConnectionClosed("this host wants another one"), 5.0, at_once=True)
    assert (way.status, way.next_try) == ("waiting", 5.0)


@pytest.mark.parametrize(
    ("error", "permanent"),
    [
        (UnsupportedVersion("99"), True),
        (AuthRequired("log in"), True),
        (ConnectionClosed("by this host"), True),
        (InvalidInput("no such directory"), True),
        (StartFailed("401", http_status=401, retryable=False), True),
        (StartFailed("503", http_status=503), False),
        (ConnectionLost("cut"), False),
        (InternalError("not now"), False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, AcpError) else "",
)
def test_what_would_always_be_the_same_is_given_up_at_once(error: AcpError, permanent: bool) -> None:
    assert is_permanent(error) is permanent
    way = machine()
    way.lost(LOST, 0.0)
    way.begins(1.0)
    way.failed(error, 1.0)
    assert way.is_over is permanent


def test_the_ends_are_ends() -> None:
    way = machine()
    way.close(1.0)
    assert way.status is ConnectionStatus.CLOSED
    way.give_up(LOST, 2.0)
    assert (way.status, way.since) == ("closed", 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"first_delay": -1},
        {"factor": 0.5},
        {"jitter": 2},
        {"budget": 0},
        {"tries": 0},
        {"calls_wait": "soon"},
        {"session_timeout": True},
    ],
    ids=str,
)
def test_a_policy_that_makes_no_sense(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        ReconnectPolicy(**wrong)


STEPS = st.lists(st.tuples(st.sampled_from(["begins", "started", "agreed", "restored", "failed"]), st.floats(0, 40)))


@given(STEPS, st.integers(1, 5), st.floats(1, 100), st.floats(0, 0.999))
def test_it_always_comes_to_an_end(steps: list[tuple[str, float]], tries: int, budget: float, chance: float) -> None:
    """However long the steps take: no more tries than allowed, and none is due beyond the budget."""
    way, now, begun = ReconnectMachine(ReconnectPolicy(tries=tries, budget=budget), lambda: chance), 0.0, 0
    way.lost(LOST, now)
    for step, seconds in steps:
        if way.is_over or step == "restored":
            break
        now += seconds
        if way.status is ConnectionStatus.WAITING:
            assert way.next_try is not None
            assert way.next_try <= budget
            now = max(now, way.next_try)
            begun += 1
            way.begins(now)
        elif step == "failed":
            way.failed(LOST, now)
    assert begun <= tries
