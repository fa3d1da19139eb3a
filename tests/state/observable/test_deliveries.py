"""What observers hear of changes, and when."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.state.changes import Change, ChangeKind, ChangeSet
from acp_host.state.clock import ManualScheduler
from tests.state.observable.words import ADDED, CHANGED, MERGED, REMOVED, Words

# --- deliveries and snapshots -----------------------------------------------------------------------------------------


def test_one_change_set_per_delivery(words: Words, scheduler: ManualScheduler, heard: list[ChangeSet]) -> None:
    words.say("a")
    words.correct(0, "b")
    words.say("c")
    assert heard == []
    scheduler.flush()
    assert heard == [ChangeSet(1, (Change("words", 0, ADDED), Change("words", 1, ADDED)))]
    assert heard[0].snapshot == ("b", "c")
    scheduler.flush()
    assert len(heard) == 1


def test_versions_grow_by_one_with_each_delivery_observed_or_not(words: Words, scheduler: ManualScheduler) -> None:
    for version in range(3):
        assert words.version == version
        words.say("a")
        words.say("b")
        assert words.version == version + 1, "the present state is the one that the delivery will bring"
        scheduler.flush()
    assert words.version == 3


def test_a_snapshot_stays_the_same_object_until_something_changes(
    words: Words, scheduler: ManualScheduler, heard: list[ChangeSet]
) -> None:
    first = words.snapshot()
    assert words.snapshot() is first
    words.say("a")
    assert words.snapshot() == ("a",)
    taken = words.snapshot()
    scheduler.flush()
    assert heard[0].snapshot is taken
    assert words.snapshot() is taken


def test_nobody_observes_so_nothing_is_frozen(words: Words, scheduler: ManualScheduler) -> None:
    words.say("a")
    scheduler.flush()
    assert words.frozen == 0


def test_what_an_observer_changes_is_the_next_delivery(words: Words, scheduler: ManualScheduler) -> None:
    heard: list[tuple[str, ChangeSet]] = []

    def answer(changes: ChangeSet) -> None:
        heard.append(("answerer", changes))
        if len(words.words) < 3:
            words.say("answer")

    words.changed.connect(answer)
    words.changed.connect(lambda changes: heard.append(("other", changes)))
    words.say("a")
    scheduler.flush()
    assert [(who, changes.version) for who, changes in heard] == [("answerer", 1), ("other", 1)]
    scheduler.flush()
    scheduler.flush()
    assert [(who, changes.version, changes.snapshot) for who, changes in heard[2:]] == [
        ("answerer", 2, ("a", "answer")),
        ("other", 2, ("a", "answer")),
        ("answerer", 3, ("a", "answer", "answer")),
        ("other", 3, ("a", "answer", "answer")),
    ]


def test_an_observer_that_flushes_changes_nobodys_order(words: Words, scheduler: ManualScheduler) -> None:
    versions: list[int] = []
    words.changed.connect(lambda changes: (words.say("more") if changes.version == 1 else None, scheduler.flush()))
    words.changed.connect(lambda changes: versions.append(changes.version))
    words.say("a")
    scheduler.flush()
    scheduler.flush()
    assert versions == [1, 2]


def test_a_failing_delivery_does_not_silence_the_state_for_ever(
    words: Words, scheduler: ManualScheduler, heard: list[ChangeSet], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(words, "_freeze", lambda: 1 / 0)
        words.say("a")
        with pytest.raises(ZeroDivisionError):
            scheduler.flush()
    words.say("b")
    scheduler.flush()
    assert [changes.snapshot for changes in heard] == [("a", "b")]


# --- what several changes amount to -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kinds", "net"),
    [
        ([ADDED], ADDED),
        ([ADDED, CHANGED, CHANGED], ADDED),
        ([ADDED, MERGED], ADDED),
        ([ADDED, REMOVED], None),
        ([ADDED, REMOVED, ADDED], ADDED),
        ([CHANGED, CHANGED], CHANGED),
        ([CHANGED, REMOVED], REMOVED),
        ([CHANGED, MERGED], MERGED),
        ([MERGED, CHANGED], MERGED),
        ([MERGED, REMOVED], REMOVED),
        ([REMOVED, ADDED], CHANGED),
        ([REMOVED, ADDED, REMOVED], REMOVED),
        ([REMOVED, REMOVED], REMOVED),
    ],
)
def test_changes_of_one_item_in_a_delivery(
    words: Words, scheduler: ManualScheduler, heard: list[ChangeSet], kinds: list[ChangeKind], net: ChangeKind | None
) -> None:
    for kind in kinds:
        words.note("items", "x", kind)
    words.note("other")
    scheduler.flush()
    expected = [] if net is None else [Change("items", "x", net)]
    assert [change for change in heard[0].changes if change.section == "items"] == expected
    sets = [ChangeSet(version, (Change("items", "x", kind),)) for version, kind in enumerate(kinds, 1)]
    merged = functools.reduce(lambda earlier, later: later.after(earlier), sets)
    assert merged == ChangeSet(len(kinds), tuple(expected))


@pytest.mark.parametrize("section", ["items", "part"])
def test_several_items_are_noted_like_one_after_the_other(scheduler: ManualScheduler, section: str) -> None:
    heard: list[list[ChangeSet]] = []
    for at_once in (True, False):
        part, whole = Words(scheduler), Words(scheduler)
        part.join(whole, "part")
        for state in (part, whole):
            heard.append([])
            state.changed.connect(heard[-1].append)
        for keys, kind in (("ab", ADDED), ("", CHANGED), ("bc", CHANGED), ("a", REMOVED), ("cd", ADDED)):
            if at_once:
                part.note_all(section, keys, kind)
            else:
                for key in keys:
                    part.note(section, key, kind)
        scheduler.flush()
    assert heard[:2] == heard[2:]
    assert [sets[0].keys("part" if sets is heard[1] else section) for sets in heard[:2]] == [
        ("b", "c", "d"),
        ("b", "c", "d") if section == "part" else ("a", "b", "c", "d"),
    ]


def test_what_came_and_went_again_is_no_news(words: Words, scheduler: ManualScheduler, heard: list[ChangeSet]) -> None:
    words.note("items", "x", ADDED)
    words.note("items", "x", REMOVED)
    scheduler.flush()
    for kind in (ADDED, REMOVED) * 10:
        words.note("items", "x", kind)
    assert len(scheduler._soon) == 1
    scheduler.flush()
    assert heard == []
    assert words.version == 0
    words.say("a")
    scheduler.flush()
    assert [changes.version for changes in heard] == [1]


@given(st.lists(st.sampled_from(["add", "change", "remove", "deliver"])))
def test_a_mirror_made_from_change_sets_alone_is_exact(steps: list[str]) -> None:
    """Whoever adds, changes and removes what the change sets say has what is there; nothing is ever said twice."""
    scheduler = ManualScheduler()
    items = Words(scheduler)
    mirror: set[str | int | None] = set()
    present: set[int] = set()

    def follow(changes: ChangeSet) -> None:
        for change in changes.changes:
            assert (change.key in mirror) is (change.kind is not ADDED)
            (mirror.discard if change.kind is REMOVED else mirror.add)(change.key)

    items.changed.connect(follow)
    for number, step in enumerate(steps):
        key = number % 3
        if step == "deliver":
            scheduler.flush()
            assert mirror == present
        elif step == "add" and key not in present:
            present.add(key)
            items.note("items", key, ADDED)
        elif step != "add" and key in present:
            if step == "remove":
                present.discard(key)
            items.note("items", key, REMOVED if step == "remove" else CHANGED)
    scheduler.flush()
    assert mirror == present


def test_a_change_set_says_what_it_touches() -> None:
    changes = ChangeSet(1, (Change("a", 1, ADDED), Change("b", None, CHANGED), Change("a", "x", REMOVED)))
    assert changes.touches("a")
    assert not changes.touches("c")
    assert changes.keys("a") == (1, "x")
