"""Whether the agent is at work, with a turn or without."""

from __future__ import annotations

import pytest

from acp_host.state import events
from acp_host.state.activity import QUIET
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.session_state import SessionState
from acp_host.wire.commands import AvailableCommand
from acp_host.wire.content import TextContent
from tests.state.session_events import LIVE, REPLAY, Folding, asks, call, end, said, start, thought, update, user

WORDS = events.SessionMessageReported("m", appended=TextContent("x"))


class Working(Folding):
    def __init__(self, *folded: events.SessionEvent) -> None:
        self.clock = ManualClock()
        self.scheduler = ManualScheduler(self.clock)
        self.state = SessionState("s", self.scheduler)
        self.fold(*folded)

    def after(self, seconds: float) -> bool:
        """Let time pass, and return whether the agent is at work then."""
        self.clock.advance(seconds)
        self.flush()
        return self.active

    @property
    def active(self) -> bool:
        return self.snapshot.turn.activity


def test_a_turn_is_activity_and_its_end_is_the_end_of_it():
    working = Working(start())
    assert working.after(10 * QUIET)
    assert not working.fold(end()).snapshot.turn.activity


COMPACTION = events.CompactionReported("k", "x")


@pytest.mark.parametrize(
    "sign", [said("a"), thought("a"), user("a"), call(status="completed"), update(), COMPACTION, WORDS]
)
def test_what_it_sends_between_turns_is_a_sign_until_it_has_been_quiet(sign):
    working = Working(start(), end(), sign)
    assert working.active
    assert working.snapshot.turn.status == "idle"
    assert working.after(QUIET - 0.1)
    assert not working.after(0.1)


def test_every_sign_begins_the_quiet_anew():
    working = Working(said("a"))
    for _ in range(5):
        assert working.after(QUIET - 0.1)
        working.fold(said("more"))
    assert working.after(QUIET - 0.1)
    assert not working.after(2 * QUIET)


@pytest.mark.parametrize(
    "other",
    [
        events.UsageReported(1, 2),
        events.CommandsReplaced((AvailableCommand("a", ""),)),
        events.SessionInfoChanged(title="x"),
        events.ModeChanged("m"),
        events.UnknownReported("x", {}),
        events.TerminalReported("t", "ls", printed="x"),
        events.ConfigOptionsReplaced(()),
    ],
)
def test_other_updates_are_none(other):
    assert not Working(start(), end(), other).active


def test_a_history_is_none():
    working = Working(REPLAY, user("a"), said("b"), call(status="in_progress"), LIVE)
    assert not working.active
    assert working.fold(said("c")).snapshot.turn.activity


def test_an_open_call_keeps_it_at_work():
    working = Working(call("c", status="in_progress"))
    assert working.after(100 * QUIET)
    working.fold(update("c", status="completed"))
    assert working.after(QUIET - 0.1)
    assert not working.after(0.1)


def test_a_question_keeps_it_at_work_until_it_is_answered():
    working = Working(asks("c", 7))
    assert working.after(100 * QUIET)
    working.fold(events.QuestionClosed(7))
    assert working.after(QUIET - 0.1)
    assert not working.after(0.1)


def test_the_answer_to_a_question_of_a_turn_is_no_sign():
    assert not Working(start(), asks("c", 7), end(), events.QuestionClosed(7)).active


def test_it_may_say_so_itself():
    working = Working(events.SessionInfoChanged(at_work=True))
    assert working.after(100 * QUIET)
    working.fold(said("x"), call("c", status="pending"))
    assert not working.fold(events.SessionInfoChanged(at_work=False)).active
    assert not working.after(QUIET)


def test_in_a_turn_its_word_does_not_count():
    working = Working(start(), events.SessionInfoChanged(at_work=False))
    assert working.active
    assert not working.fold(events.SessionInfoChanged(at_work=True), end()).active


@pytest.mark.parametrize("status", ["lost", "closed"])
def test_an_agent_that_is_gone_is_not_at_work(status):
    working = Working(call("c", status="in_progress"))
    assert not working.fold(events.HealthChanged(status)).active
    assert working.scheduler.next_due == working.clock.now()  # what is left is the delivery
    working.flush()
    assert working.scheduler.next_due is None


@pytest.mark.parametrize("over", [events.SessionClosed(), start(), REPLAY])
def test_no_timer_is_left(over):
    working = Working(said("a"), over)
    working.flush()
    working.flush()
    assert working.scheduler.next_due is None


def test_a_turn_that_follows_ends_what_was_open():
    working = Working(call("c", status="in_progress"), start(), end())
    assert not working.active


def test_observers_hear_of_it():
    working, seen = Working(), []
    working.state.select(lambda snapshot: snapshot.turn.activity, seen.append)
    working.fold(said("a")).flush()
    working.fold(said("b")).flush()
    working.after(QUIET)
    working.after(QUIET)
    working.flush()
    assert seen == [True, False]
