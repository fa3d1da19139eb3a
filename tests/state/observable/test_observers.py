"""Observers that misbehave, come, go and belong to somebody: none does anything to the others."""

from __future__ import annotations

import gc
import logging
import tracemalloc
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from acp_host.errors import InvalidInput
from acp_host.state.changes import ChangeSet
from acp_host.state.clock import ManualScheduler
from tests.state.observable.words import Panel, Words

# --- observers that misbehave, come and go ----------------------------------------------------------------------------


def test_an_observer_that_raises_is_reported_and_the_others_are_called(
    words: Words, scheduler: ManualScheduler, failures: list[tuple[Any, Exception]]
) -> None:
    heard: list[str] = []

    def broken(changes: ChangeSet) -> None:
        raise ValueError("no")

    words.changed.connect(lambda _: heard.append("before"))
    words.changed.connect(broken)
    words.changed.connect(lambda _: heard.append("after"))
    for _ in range(2):
        words.say("a")
        scheduler.flush()
    assert heard == ["before", "after"] * 2
    assert [(observer, str(error)) for observer, error in failures] == [(broken, "no")] * 2


def test_without_somebody_to_report_to_a_failure_is_logged(
    scheduler: ManualScheduler, caplog: pytest.LogCaptureFixture
) -> None:
    words = Words(scheduler)
    words.changed.connect(lambda _: 1 / 0)
    words.say("a")
    with caplog.at_level(logging.ERROR, logger="acp_host.state"):
        scheduler.flush()
    assert caplog.records[0].exc_info is not None


@pytest.mark.parametrize("how", ["end", "call", "with", "disconnect"])
def test_a_subscription_ends(words: Words, scheduler: ManualScheduler, how: str) -> None:
    heard: list[ChangeSet] = []
    observer = heard.append
    subscription = words.changed.connect(observer)
    assert len(words.changed) == 1
    match how:
        case "end":
            subscription.end()
            subscription.end()
        case "call":
            subscription()
        case "with":
            with subscription:
                pass
        case _:
            words.changed.disconnect(observer)
    assert len(words.changed) == 0
    words.say("a")
    scheduler.flush()
    assert heard == []


def test_disconnect_ends_every_subscription_of_an_observer_and_no_other(
    words: Words, scheduler: ManualScheduler
) -> None:
    one: list[Any] = []
    other: list[Any] = []
    one_observer, other_observer = one.append, other.append
    words.changed.connect(one_observer)
    words.select(len, one_observer)
    words.changed.connect(other_observer)
    words.changed.disconnect(one_observer)
    words.say("a")
    scheduler.flush()
    assert (one, len(other)) == ([], 1)


def test_observers_that_leave_during_a_delivery(words: Words, scheduler: ManualScheduler) -> None:
    heard: list[str] = []
    subscriptions = {}

    def leaver(_: ChangeSet) -> None:
        heard.append("leaver")
        subscriptions["leaver"].end()
        subscriptions["thrown out"].end()

    subscriptions["leaver"] = words.changed.connect(leaver)
    words.changed.connect(lambda _: heard.append("neighbour"))
    subscriptions["thrown out"] = words.changed.connect(lambda _: heard.append("thrown out"))
    words.changed.connect(lambda _: heard.append("last"))
    words.say("a")
    scheduler.flush()
    assert heard == ["leaver", "neighbour", "last"]
    assert len(words.changed) == 2


def test_the_list_that_a_delivery_walks_along_stays_as_it_is(words: Words, scheduler: ManualScheduler) -> None:
    """Versions of psygnal differ in what becomes of a neighbour when the list changes under them."""
    lengths: list[int] = []

    def unsettled(_: ChangeSet) -> None:
        subscription.end()
        words.changed.connect(lambda _: None)
        lengths.extend([len(words.changed), len(words.changed._signal)])

    subscription = words.changed.connect(unsettled)
    words.changed.connect(lambda _: None)
    words.say("a")
    scheduler.flush()
    assert lengths == [3, 2]
    assert (len(words.changed), len(words.changed._signal)) == (2, 2)


def test_an_observer_that_comes_during_a_delivery_hears_of_the_next(words: Words, scheduler: ManualScheduler) -> None:
    versions: list[int] = []

    def inviting(changes: ChangeSet) -> None:
        if changes.version == 1:
            words.changed.connect(lambda changes: versions.append(changes.version))

    words.changed.connect(inviting)
    for _ in range(2):
        words.say("a")
        scheduler.flush()
    assert versions == [2]


def test_a_coroutine_function_is_refused_with_a_hint(words: Words) -> None:
    async def observer(_: Any) -> None:
        raise AssertionError

    with pytest.raises(InvalidInput, match="watch"):
        words.changed.connect(observer)
    with pytest.raises(InvalidInput, match="watch"):
        words.select(len, observer)


# --- owners -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dispatched", [False, True])
def test_a_subscription_ends_with_its_owner_though_the_observer_is_a_method_of_it(
    words: Words, scheduler: ManualScheduler, dispatched: bool
) -> None:
    heard: list[Any] = []
    panel = Panel(heard)
    options: dict[str, Any] = {"dispatch": lambda run: run()} if dispatched else {}
    words.changed.connect(panel.show, owner=panel, **options)
    words.select(len, panel.show, owner=panel, **options)
    words.say("a")
    scheduler.flush()
    assert len(heard) == 2
    alive = weakref.ref(panel)
    del panel
    gc.collect()
    assert alive() is None
    assert len(words.changed) == 0
    words.say("b")
    scheduler.flush()
    assert len(heard) == 2


def test_an_owner_may_be_of_a_class_that_is_not_written_in_python(words: Words, scheduler: ManualScheduler) -> None:
    heard: deque[ChangeSet] = deque()
    words.changed.connect(heard.append, owner=heard)
    words.say("a")
    scheduler.flush()
    assert len(heard) == 1


def test_an_owner_takes_the_subscription_with_it_though_somebody_holds_that(words: Words) -> None:
    panel = Panel([])
    subscription = words.changed.connect(lambda _: None, owner=panel)
    assert len(words.changed) == len(words.changed._signal) == 1
    del panel
    gc.collect()
    assert len(words.changed) == 0
    assert len(words.changed._signal) == 0
    subscription.end()


def test_an_owner_is_not_the_observer(words: Words, scheduler: ManualScheduler) -> None:
    heard: list[Any] = []
    panel = Panel([])
    words.changed.connect(heard.append, owner=panel)
    words.say("a")
    scheduler.flush()
    assert len(heard) == 1
    del panel
    gc.collect()
    words.say("b")
    scheduler.flush()
    assert len(heard) == 1


def test_an_owner_that_lives_long_keeps_no_state_alive(scheduler: ManualScheduler) -> None:
    panel = Panel([])
    states = []
    for _ in range(3):
        words = Words(scheduler)
        words.changed.connect(panel.show, owner=panel)
        words.changed.connect(panel.show, owner=panel).end()
        states.append(weakref.ref(words))
        del words
    gc.collect()
    assert [state() for state in states] == [None] * 3


def test_without_an_owner_the_observer_is_kept_alive(words: Words, scheduler: ManualScheduler) -> None:
    heard: list[Any] = []
    words.changed.connect(Panel(heard).show)
    gc.collect()
    words.say("a")
    scheduler.flush()
    assert len(heard) == 1


@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("options", [{}, {"dispatch": lambda run: run()}])
def test_what_has_ended_is_freed_without_the_help_of_the_collector(
    words: Words, scheduler: ManualScheduler, owned: bool, options: dict[str, Any]
) -> None:
    panel, owner = Panel([]), Panel([])
    subscription = words.changed.connect(lambda changes, panel=panel: panel.show(changes), **options)
    other = words.changed.connect(owner.show, owner=owner if owned else None, **options)
    words.say("a")
    scheduler.flush()
    alive = [weakref.ref(value) for value in (panel, *words.changed._connections)]
    del panel
    assert all(reference() is not None for reference in alive)
    gc.disable()
    try:
        subscription.end()
        other.end()
        assert alive[0]() is None, "the observer and what it holds goes at once"
        words.say("b")
        scheduler.flush()
        assert [reference() for reference in alive] == [None] * 3
    finally:
        gc.enable()


# --- selectors --------------------------------------------------------------------------------------------------------


def test_a_selector_fires_only_when_its_value_changes(words: Words, scheduler: ManualScheduler) -> None:
    long: list[tuple[str, ...]] = []
    words.select(lambda snapshot: tuple(word for word in snapshot if len(word) > 1), long.append)
    for word in ("a", "bb", "c", "d", "eee"):
        words.say(word)
        scheduler.flush()
    assert long == [("bb",), ("bb", "eee")]


def test_a_selector_starts_from_the_present_state(words: Words, scheduler: ManualScheduler) -> None:
    words.say("a")
    lengths: list[int] = []
    words.select(len, lengths.append)
    scheduler.flush()
    assert lengths == []
    words.say("b")
    scheduler.flush()
    assert lengths == [2]


def nested(word: str, levels: int = 2_000) -> Any:
    value: Any = word
    for _ in range(levels):
        value = [value]
    return value


def test_what_is_nested_too_deeply_to_be_compared_counts_as_changed(words: Words, scheduler: ManualScheduler) -> None:
    told: list[Any] = []
    words.select(lambda snapshot: nested(snapshot[-1]) if snapshot else None, told.append)
    for _ in range(2):
        words.say("a")
        scheduler.flush()
    assert len(told) == 2


def test_a_failing_selector_is_reported_with_its_observer(
    words: Words, scheduler: ManualScheduler, failures: list[tuple[Any, Exception]], heard: list[ChangeSet]
) -> None:
    seen: list[str] = []
    observer = seen.append
    words.say("a")
    words.say("b")
    words.select(lambda snapshot: snapshot[2] if len(snapshot) > 2 else "none", observer)
    words.select(lambda snapshot: 1 // (4 - len(snapshot)), observer)
    words.say("c")
    words.say("d")
    scheduler.flush()
    assert seen == ["c"]
    assert [(who, type(error)) for who, error in failures] == [(observer, ZeroDivisionError)]
    assert len(heard) == 1


# --- size -------------------------------------------------------------------------------------------------------------


def test_thousands_of_observers(words: Words, scheduler: ManualScheduler) -> None:
    heard = [0] * 3_000

    def observer(index: int) -> Callable[[ChangeSet], None]:
        def count(_: ChangeSet) -> None:
            heard[index] += 1

        return count

    subscriptions = [words.changed.connect(observer(index)) for index in range(len(heard))]
    words.say("a")
    scheduler.flush()
    assert heard == [1] * len(heard)
    for subscription in subscriptions[1::2][::-1]:
        subscription.end()
    words.say("b")
    scheduler.flush()
    assert heard == [2, 1] * (len(heard) // 2)


def test_subscriptions_that_come_and_go_leave_no_memory(words: Words, scheduler: ManualScheduler) -> None:
    panel = Panel([])

    def cycle(number: int) -> None:
        for _ in range(number):
            words.changed.connect(lambda _: None).end()
            words.changed.connect(panel.show, owner=panel).end()
            words.select(len, lambda _: None, dispatch=lambda run: run()).end()
            words.note("x")
            scheduler.flush()

    words._freeze = lambda: ()
    cycle(100)
    gc.collect()
    tracemalloc.start()
    try:
        cycle(10)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        cycle(300)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 20_000
    assert len(words.changed._signal) == 0
