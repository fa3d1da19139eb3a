"""A replay takes the place of what is shown when the session is open, and leaves it alone if that fails."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.state import events
from acp_host.state.entries import MessageEntry, Speaker, TextPart
from acp_host.state.json_form import to_json
from acp_host.state.memory import MemoryPolicy
from acp_host.state.transcript import PAGE, TranscriptStore
from acp_host.wire.commands import AvailableCommand
from acp_host.wire.subagents import SubagentUpdate
from tests.state.session_events import LIVE, REPLAY, Folding, call, end, said, start, user
from tests.state.test_deltas import Viewer, exact

ANSWERED, FAILED = events.ReplayAnswered(), events.ReplayEnded(failed=True)
ON_RESUME = events.ReplayStarted(whole=False)
OLD = (start(1), said("hello"), call("c"), end(1))
HISTORY = (user("One"), said("1"), call("c"), user("Two"))


@pytest.fixture
def shown() -> Folding:
    folding = Folding(*OLD)
    folding.flush()
    return folding


@pytest.mark.parametrize("begins", [REPLAY, ON_RESUME])
def test_what_is_shown_stays_until_the_answer(shown: Folding, begins: Any) -> None:
    before = shown.texts
    shown.fold(begins, *HISTORY)
    assert shown.texts == before
    shown.fold(ANSWERED)
    assert shown.texts == ["u:One", "a:1", "c", "u:Two"]
    assert all(entry.replayed for entry in shown.entries)


def test_the_rest_of_it_follows_in_sight(shown: Folding) -> None:
    shown.fold(REPLAY, user("One"), ANSWERED, said("1"))
    assert shown.texts == ["u:One", "a:1"]
    shown.fold(LIVE, start(2), said("live"), end(2))
    assert shown.texts == ["u:One", "a:1", "u:Hi", "a:live"]


def test_an_agent_that_answers_first(shown: Folding) -> None:
    shown.fold(REPLAY, ANSWERED)
    assert shown.texts == ["u:Hi", "a:hello", "c"]
    shown.fold(user("One"))
    assert shown.texts == ["u:One"]


def test_a_prompt_shows_it(shown: Folding) -> None:
    assert shown.fold(REPLAY, user("One"), start(2)).texts == ["u:One", "u:Hi"]


@pytest.mark.parametrize("begins", [REPLAY, ON_RESUME])
def test_a_session_that_is_not_opened_is_as_before(shown: Folding, begins: Any) -> None:
    before = shown.entries
    told = (
        events.PlanReplaced("p", ()),
        events.CommandsReplaced((AvailableCommand("x", "x"),)),
        events.SessionInfoChanged(title="Another"),
        events.UsageReported(1, 2),
        events.ModeChanged("m"),
        events.SubagentReported(SubagentUpdate("child")),
        events.UnknownReported("u", {}),
    )
    earlier = shown.snapshot
    viewer = Viewer(shown)
    shown.fold(begins, *HISTORY, *told)
    shown.flush()
    shown.fold(FAILED)
    shown.flush()
    assert shown.entries == before
    for section in ("plans", "commands", "info", "usage", "modes", "subagents", "options"):
        assert getattr(shown.snapshot, section) == getattr(earlier, section), section
    assert exact(viewer.document) == exact(to_json(shown.snapshot))
    shown.fold(start(2), said("on"), end(2))
    assert shown.texts == ["u:Hi", "a:hello", "c", "u:Hi", "a:on"]


def test_a_second_try_after_a_failed_one(shown: Folding) -> None:
    shown.fold(REPLAY, *HISTORY, FAILED, REPLAY, user("One"), ANSWERED, LIVE)
    assert shown.texts == ["u:One"]


def test_observers_hear_of_it_once(shown: Folding) -> None:
    viewer = Viewer(shown)
    shown.fold(REPLAY, *HISTORY)
    shown.flush()
    assert viewer.latest is None, "there is nothing to see yet"
    shown.fold(ANSWERED, LIVE)
    shown.flush()
    assert exact(viewer.document) == exact(to_json(shown.snapshot))


def test_without_anything_to_replace_it_is_shown_as_it_comes() -> None:
    assert Folding(REPLAY, user("One")).texts == ["u:One"]


def entry(position: int) -> MessageEntry:
    return MessageEntry(position=position, speaker=Speaker.USER, parts=(TextPart(segments=(str(position),)),))


@given(st.lists(st.one_of(st.integers(0, 3 * PAGE), st.integers(-PAGE, -1)), max_size=12))
def test_a_store_that_is_cut_is_as_if_the_rest_had_never_been(steps: list[int]) -> None:
    """Positive: add so many; negative: cut so many."""
    store, size = TranscriptStore(), 0
    for step in steps:
        if step < 0:
            size = max(0, size + step)
            store.truncate(size)
        for _ in range(step):
            store.add(entry(size))
            size += 1
        frozen = store.freeze()
        assert store.end == size
        assert [one.position for one in frozen] == list(range(size))
        while store.pack_one(size):
            pass


def test_a_turn_that_ends_while_a_replay_is_out_of_sight_takes_nothing_away() -> None:
    folding = Folding(*OLD, start(2), said("b"), memory=MemoryPolicy(keep_turns=1))
    folding.fold(REPLAY, *HISTORY, end(2))
    assert folding.texts == ["u:Hi", "a:hello", "c", "u:Hi", "a:b"]
    assert folding.fold(FAILED).texts == ["u:Hi", "a:b"]
    assert folding.fold(start(3), call("c"), end(3)).texts == ["u:Hi", "c"]
