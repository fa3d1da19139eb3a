"""What a Harn agent tells as a part of a session's state: snapshots, change sets, JSON, deltas, replays."""

from __future__ import annotations

from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.state import events
from acp_host.state._value import value
from acp_host.state.changes import ChangeKind, ChangeSet
from acp_host.state.collections import Keyed, Recent, RecentList
from acp_host.state.deltas import DeltaMaker
from acp_host.state.harn.deltas import harn_operations
from acp_host.state.harn.workers import MAX_MEMBERS
from acp_host.state.json_form import to_json
from tests.harn.harness import Desk, copy, events_of, named


def told(worker_id: str, status: str = "running", **members: Any) -> dict[str, Any]:
    return named("worker_update", workerId=worker_id, status=status, **members)


def test_another_agents_session_has_none_of_it() -> None:
    desk = Desk()
    desk.state.apply(events.ReplayStarted())
    desk.state.apply(events.ReplayEnded())
    assert desk.state.harn is None
    assert desk.state.snapshot().harn is None
    assert desk.front_end["harn"] is None


def test_the_first_that_is_told_brings_all_of_it_and_what_follows_only_itself() -> None:
    desk = Desk().take(told("a"))
    assert desk.paths == ["replace /harn"]
    desk.take(told("b"), told("a", "completed"))
    assert desk.paths == ["add /harn/workers/b", "add /harn/workers/a"]
    desk.assert_exact()
    assert list(desk.front_end["harn"]["workers"]) == ["a", "b"]


def test_ids_may_be_anything() -> None:
    desk = Desk().take(told("a"), told("x/~y"), told(""))
    desk.take(told("x/~y", "failed"))
    assert desk.paths == ["add /harn/workers/x~1~0y"]
    desk.assert_exact()


def test_change_sets_name_topic_and_id() -> None:
    desk = Desk().take(told("a"))
    heard: list[Any] = []
    here: list[Any] = []
    desk.state.changed.connect(lambda changes: heard.extend(changes.changes))
    harn = desk.state.harn
    assert harn is not None
    harn.changed.connect(lambda changes: here.extend(changes.changes))
    desk.take(told("a", "completed"), told("b"))
    assert heard == [("harn", "workers/a", ChangeKind.CHANGED), ("harn", "workers/b", ChangeKind.ADDED)]
    assert here == [("workers", "a", ChangeKind.CHANGED), ("workers", "b", ChangeKind.ADDED)]


def test_what_did_not_change_is_the_same_object() -> None:
    desk = Desk().take(told("a"), told("b"))
    before = desk.harn
    desk.take({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}})
    assert desk.harn is before
    desk.take(told("b", "completed"))
    assert desk.harn.workers["a"] is before.workers["a"]


def test_a_replay_takes_the_place_of_what_is_known_with_the_first_that_it_tells() -> None:
    desk = Desk().take(told("a", "completed"), told("b"))
    desk.apply(events.ReplayStarted())
    desk.deliver()
    assert list(desk.harn.workers) == ["a", "b"]
    desk.take(told("a"))
    assert list(desk.harn.workers) == ["a"]
    assert desk.harn.workers["a"].status == "running"
    desk.apply(events.ReplayEnded())
    desk.take(told("b"))
    assert list(desk.harn.workers) == ["a", "b"]
    assert desk.problems == []
    desk.assert_exact()


@pytest.mark.parametrize("started", [events.ReplayStarted(whole=False), events.ReplayEnded()])
def test_a_part_of_the_history_takes_the_place_of_nothing(started: Any) -> None:
    desk = Desk().take(told("a", "completed"))
    desk.apply(started).take(told("b"))
    assert list(desk.harn.workers) == ["a", "b"]


def test_a_replay_that_told_nothing_leaves_what_is_known() -> None:
    desk = Desk().take(told("a"))
    desk.apply(events.ReplayStarted(), events.ReplayEnded()).take(told("b"))
    assert list(desk.harn.workers) == ["a", "b"]


def test_a_replay_that_fails_leaves_everything_as_it_was() -> None:
    desk = Desk().take(told("a", "completed"), told("b"))
    before = desk.harn.workers
    desk.apply(events.ReplayStarted()).take(told("a"), told("c"))
    desk.apply(events.ReplayEnded(failed=True))
    desk.deliver()
    assert desk.harn.workers is before
    desk.assert_exact()
    desk.take(told("b", "completed"))
    assert desk.harn.workers["b"].ended


def test_what_comes_and_goes_within_one_delivery() -> None:
    desk = Desk().take(told("a"))
    desk.apply(events.ReplayStarted())
    desk.take(told("b"), told("a", "completed"))
    assert desk.paths == ["replace /harn/workers"]
    desk.assert_exact()


def test_however_deep_it_is_nobody_walks_through_it() -> None:
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    desk = Desk().take(told("a", metadata={"deep": deep}), told("a", metadata={"deep": deep}))
    assert desk.harn.workers["a"].metadata == {"deep": deep}


def test_what_an_agent_says_of_one_worker_is_bounded() -> None:
    desk = Desk()
    for number in range(MAX_MEMBERS + 1):
        desk.take(told("a", metadata={f"m{number}": 1}))
    assert len(desk.harn.workers["a"].metadata) == MAX_MEMBERS
    assert "m0" not in desk.harn.workers["a"].metadata


STEPS = st.lists(
    st.one_of(
        st.builds(told, st.sampled_from("ab"), st.sampled_from(["running", "completed", "failed"])),
        st.builds(lambda name: named("skill_activated", skillName=name), st.sampled_from("xy")),
        st.builds(lambda spec: named("artifact", artifactId="a", spec=spec), st.integers(0, 2)),
        st.sampled_from(
            [events.ReplayStarted(), events.ReplayStarted(whole=False), events.ReplayEnded(), events.ReplayEnded(True)]
        ),
        st.just("deliver"),
    ),
    max_size=25,
)


@given(STEPS, st.integers(1, 3))
def test_however_many_changes_a_delta_stands_for_it_is_exact(steps: list[Any], together: int) -> None:
    desk = Desk()
    maker, front_end = DeltaMaker(desk.state.snapshot()), desk.front_end
    waiting: list[ChangeSet] = []
    desk.state.changed.connect(waiting.append)
    for step in [*steps, "deliver"]:
        if step != "deliver":
            desk.apply(*(events_of(step) if isinstance(step, dict) else [step]))
            continue
        desk.deliver()
        if len(waiting) >= together:
            merged = waiting[0]
            for later in waiting[1:]:
                merged = later.after(merged)
            waiting.clear()
            front_end = jsonpatch.apply_patch(front_end, copy(maker.delta(merged)))
            assert front_end == copy(to_json(desk.state.snapshot()))
    desk.assert_exact()


def test_an_event_of_nobody_is_a_fault_of_the_program() -> None:
    with pytest.raises(KeyError):
        Desk().apply(object())
    with pytest.raises(KeyError):
        Desk().apply(events.HarnEvent())


@value
class Topics:
    """Stands for a snapshot."""

    t: Recent[Any]


class Noted:
    def __init__(self) -> None:
        self.changes: list[Any] = []

    def __call__(self, topic: str, key: str | None, kind: ChangeKind) -> None:
        self.changes.append((topic, key, str(kind)))


def test_entries_by_id() -> None:
    noted = Noted()
    keyed: Keyed[int] = Keyed("t", noted, 2, is_over=lambda entry: entry < 0)
    assert keyed.freeze() == {}
    keyed.put("a", 1)
    keyed.put("b", -1)
    frozen = keyed.freeze()
    keyed.put("a", 1)
    assert keyed.freeze() is frozen
    keyed.put("c", 3)
    keyed.put("d", 4)
    keyed.remove("nobody")
    assert keyed.freeze() == {"c": 3, "d": 4}
    assert frozen == {"a": 1, "b": -1}
    assert noted.changes[2:] == [
        ("t", "b", "removed"),
        ("t", "c", "added"),
        ("t", "a", "removed"),
        ("t", "d", "added"),
    ]


@pytest.mark.parametrize(
    "before, after, paths",
    [
        ("", "a", ["replace /harn/t"]),
        ("a", "ab", ["add /harn/t/entries/-"]),
        ("ab", "abcd", ["remove /harn/t/entries/0"] + ["add /harn/t/entries/-"] * 2 + ["replace /harn/t/first"]),
        ("abc", "abcdefgh", ["replace /harn/t"]),
    ],
)
def test_what_came_last_is_sent_alone(before: str, after: str, paths: list[str]) -> None:
    recent: RecentList[str] = RecentList("t", Noted(), 3)
    for word in before:
        recent.add(word)
    old = Topics(t=recent.freeze())
    for word in after[len(before) :]:
        recent.add(word)
    new = Topics(t=recent.freeze())
    operations = harn_operations(old, new, ["t"], "/harn")
    assert [f"{each['op']} {each['path']}" for each in operations] == paths
    assert jsonpatch.apply_patch({"harn": to_json(old)}, operations) == {"harn": to_json(new)}


def test_a_list_that_begins_anew_is_sent_whole() -> None:
    old = Topics(t=Recent(entries=("a1", "b1")))
    new = Topics(t=Recent(entries=("a2", "b2", "c2")))
    operations = harn_operations(old, new, ["t"], "/harn")
    assert operations == [{"op": "replace", "path": "/harn/t", "value": {"first": 0, "entries": ["a2", "b2", "c2"]}}]


def test_the_newest_in_order() -> None:
    noted = Noted()
    recent: RecentList[str] = RecentList("t", noted, 2)
    assert recent.freeze() == Recent()
    for word in "abc":
        recent.add(word)
    assert recent.freeze() is recent.freeze()
    assert recent.freeze() == Recent(first=1, entries=("b", "c"))
    assert [*Recent(first=1, entries=("b",))] == ["b"]
    assert recent.freeze().end == 3
    told = {number: recent.freeze().since(number) for number in range(5)}
    assert told == {0: ("b", "c"), 1: ("b", "c"), 2: ("c",), 3: (), 4: ("b", "c")}
    assert noted.changes == [("t", None, "changed")] * 3
