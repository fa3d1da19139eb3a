"""State that is watched: what observers hear, when, on which thread, and what none of them can do to the others."""

from __future__ import annotations

import asyncio
import functools
import gc
import logging
import queue
import random
import sys
import threading
import time
import tracemalloc
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import psygnal
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import InvalidInput
from acp_host.scheduling import AsyncioScheduler
from acp_host.state.changes import Change, ChangeKind, ChangeSet
from acp_host.state.clock import ManualScheduler
from acp_host.state.observable import Observable

ADDED, CHANGED, REMOVED, MERGED = ChangeKind.ADDED, ChangeKind.CHANGED, ChangeKind.REMOVED, ChangeKind.MERGED


class Words(Observable[tuple[str, ...]]):
    """Observable words."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.words: list[str] = []
        self.frozen = 0

    def say(self, word: str) -> None:
        self.words.append(word)
        self.note("words", len(self.words) - 1, ADDED)

    def correct(self, index: int, word: str) -> None:
        self.words[index] = word
        self.note("words", index)

    def _freeze(self) -> tuple[str, ...]:
        self.frozen += 1
        return tuple(self.words)


@pytest.fixture
def failures() -> list[tuple[Any, Exception]]:
    return []


@pytest.fixture
def scheduler() -> ManualScheduler:
    return ManualScheduler()


@pytest.fixture
def words(scheduler: ManualScheduler, failures: list[tuple[Any, Exception]]) -> Words:
    return Words(scheduler, lambda observer, error: failures.append((observer, error)))


@pytest.fixture
def heard(words: Words) -> list[ChangeSet]:
    heard: list[ChangeSet] = []
    words.changed.connect(heard.append)
    return heard


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


class Panel:
    """A widget that shows words."""

    heard: list[Any]

    def __init__(self, heard: list[Any]) -> None:
        self.heard = heard

    def show(self, value: Any) -> None:
        self.heard.append(value)


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


# --- watching ---------------------------------------------------------------------------------------------------------


@pytest.fixture
async def live(failures: list[tuple[Any, Exception]]) -> Words:
    return Words(AsyncioScheduler(), lambda observer, error: failures.append((observer, error)))


async def ticks(number: int = 3) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_watching_yields_the_present_state_and_then_the_latest(live: Words) -> None:
    watching = live.watch()
    assert await anext(watching) == ()
    for word in "abc":
        live.say(word)
    assert await anext(watching) == ("a", "b", "c")
    for word in "def":
        live.say(word)
        await ticks()
    assert await anext(watching) == tuple("abcdef"), "no backlog"
    await watching.aclose()


async def test_a_watcher_that_saw_a_state_early_does_not_see_it_twice(live: Words) -> None:
    live.say("a")
    watching = live.watch()
    assert await anext(watching) == ("a",)
    await ticks()
    later = asyncio.ensure_future(anext(watching))
    await ticks()
    assert not later.done()
    live.say("b")
    assert await later == ("a", "b")
    await watching.aclose()


async def test_many_watchers_each_at_its_own_pace(live: Words) -> None:
    seen: dict[int, list[int]] = {pace: [] for pace in (1, 2, 5)}

    async def watch(pace: int) -> None:
        async for snapshot in live.watch():
            seen[pace].append(len(snapshot))
            if len(snapshot) == 20:
                return
            await ticks(pace)

    async with asyncio.TaskGroup() as group:
        for pace in seen:
            group.create_task(watch(pace))
        for _ in range(20):
            live.say("x")
            await ticks(2)
    for lengths in seen.values():
        assert lengths == sorted(set(lengths))
        assert lengths[-1] == 20
    assert len(seen[5]) < len(seen[1])


async def test_cancelled_watchers_leave_nothing_behind(live: Words) -> None:
    async def watch() -> None:
        async for _ in live.watch():
            pass

    for _ in range(50):
        task = asyncio.create_task(watch())
        await ticks()
        assert live.is_observed
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(live._waiters) == 0
    assert not live.is_observed
    for _ in range(50):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                async for _ in live.watch():
                    pass
    assert len(live._waiters) == 0


async def test_a_delivery_and_a_cancellation_in_the_same_tick(live: Words) -> None:
    seen: list[tuple[str, ...]] = []

    async def watch() -> None:
        async for snapshot in live.watch():
            seen.append(snapshot)

    task = asyncio.create_task(watch())
    await ticks()
    live.say("a")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await ticks()
    assert seen == [()]
    assert not live.is_observed


async def test_is_observed(live: Words) -> None:
    assert not live.is_observed
    with live.changed.connect(lambda _: None):
        assert live.is_observed
    assert not live.is_observed
    with live.select(len, lambda _: None):
        assert live.is_observed
    watching = live.watch()
    assert not live.is_observed
    await anext(watching)
    assert live.is_observed
    await watching.aclose()
    assert not live.is_observed


# --- on the event loop ------------------------------------------------------------------------------------------------


async def test_all_that_happens_in_one_tick_is_one_delivery(live: Words) -> None:
    sets: list[ChangeSet] = []
    live.changed.connect(sets.append)
    loop = asyncio.get_running_loop()
    for word in "abc":
        loop.call_soon(live.say, word)
    await ticks()
    assert [changes.snapshot for changes in sets] == [("a", "b", "c")]


async def test_an_observer_that_always_answers_does_not_keep_the_loop_for_itself(live: Words) -> None:
    live.changed.connect(lambda _: live.say("more"))
    live.say("first")
    await ticks(20)
    assert 5 <= len(live.words) <= 25


# --- other threads ----------------------------------------------------------------------------------------------------


class Worker:
    """A thread that runs what it is given, one after the other."""

    def __init__(self) -> None:
        self.todo: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def dispatch(self, run: Callable[[], None]) -> None:
        self.todo.put(run)

    def settle(self) -> None:
        """Wait until all that was given so far is done."""
        done = threading.Event()
        self.todo.put(done.set)
        assert done.wait(10)

    def stop(self) -> None:
        self.todo.put(None)
        self.thread.join(10)

    def _work(self) -> None:
        while (run := self.todo.get()) is not None:
            run()


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


def test_a_dispatched_observer_runs_on_the_other_thread(
    words: Words, scheduler: ManualScheduler, worker: Worker
) -> None:
    seen: list[tuple[threading.Thread, Any]] = []
    words.changed.connect(
        lambda changes: seen.append((threading.current_thread(), changes.snapshot)), dispatch=worker.dispatch
    )
    words.select(len, lambda value: seen.append((threading.current_thread(), value)), dispatch=worker.dispatch)
    words.say("a")
    scheduler.flush()
    worker.settle()
    assert seen == [(worker.thread, ("a",)), (worker.thread, 1)]


def test_what_piles_up_at_the_other_thread_is_merged(words: Words, scheduler: ManualScheduler, worker: Worker) -> None:
    sets: list[ChangeSet] = []
    words.changed.connect(sets.append, dispatch=worker.dispatch)
    blocked = threading.Event()
    worker.dispatch(blocked.wait)
    for word in "abc":
        words.say(word)
        scheduler.flush()
    words.correct(0, "x")
    words.note("gone", 1, ADDED)
    scheduler.flush()
    words.note("gone", 1, REMOVED)
    scheduler.flush()
    assert worker.todo.qsize() <= 2
    blocked.set()
    worker.settle()
    added = tuple(Change("words", index, ADDED) for index in range(3))
    assert [(changes, changes.snapshot) for changes in sets] == [(ChangeSet(5, added), ("x", "b", "c"))]


def test_what_came_and_went_while_the_other_thread_was_busy_is_no_news_there(
    words: Words, scheduler: ManualScheduler
) -> None:
    sets: list[ChangeSet] = []
    runs: list[Callable[[], None]] = []
    words.changed.connect(sets.append, dispatch=runs.append)
    for kind in (ADDED, REMOVED):
        words.note("items", "x", kind)
        scheduler.flush()
    for run in runs:
        run()
    assert sets == []


def test_a_thread_that_stands_still_costs_the_owner_nothing_that_grows(
    words: Words, scheduler: ManualScheduler
) -> None:
    words.changed.connect(lambda _: None, dispatch=lambda run: None)
    words._freeze = lambda: ()

    def cost(deliveries: int) -> float:
        begin = time.thread_time()
        for number in range(deliveries):
            words.note("items", random.random(), ADDED if number else CHANGED)
            scheduler.flush()
        return (time.thread_time() - begin) / deliveries

    cost(200)
    early = min(cost(200) for _ in range(3))
    cost(10_000)
    assert min(cost(200) for _ in range(3)) < 20 * early


def test_nothing_is_lost_between_two_threads_that_never_wait_for_each_other(worker: Worker) -> None:
    """The last change arrives however the two threads interleave: they switch as often as Python lets them."""
    scheduler = ManualScheduler()
    words = Words(scheduler)
    seen: list[ChangeSet] = []
    words.changed.connect(seen.append, dispatch=worker.dispatch)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for round_ in range(1_500):
            words.correct(0, str(round_)) if words.words else words.say("0")
            scheduler.flush()
            if round_ % 3 == 0:
                worker.settle()
                assert seen[-1].version == words.version
    finally:
        sys.setswitchinterval(interval)
    worker.settle()
    versions = [changes.version for changes in seen]
    assert versions == sorted(set(versions))
    assert seen[-1].snapshot == words.snapshot()


@pytest.mark.parametrize("when", ["before the other thread takes it out", "after", "before it is put back"])
def test_the_other_thread_looks_at_the_worst_moment(words: Words, scheduler: ManualScheduler, when: str) -> None:
    seen: list[ChangeSet] = []
    runs: list[Callable[[], None]] = []
    words.changed.connect(seen.append, dispatch=runs.append)
    words.say("a")
    scheduler.flush()
    connection = next(iter(words.changed._connections))
    waiting: Any = connection._waiting

    class Interrupted:
        """The deque, at which the other thread looks while the owner is between two steps."""

        def pop(self) -> Any:
            if when == "before the other thread takes it out":
                run_other_thread()
            merged = waiting.pop()
            if when == "before it is put back":
                run_other_thread()
            return merged

        def append(self, merged: Any) -> None:
            waiting.append(merged)
            if when == "after":
                run_other_thread()

    def run_other_thread() -> None:
        connection._waiting = waiting
        runs.pop(0)()

    connection._waiting = Interrupted()
    words.say("b")
    scheduler.flush()
    while runs:
        runs.pop(0)()
    assert seen[-1].snapshot == ("a", "b")
    assert sum(len(changes.changes) for changes in seen) == 2
    words.say("c")
    scheduler.flush()
    while runs:
        runs.pop(0)()
    assert seen[-1].snapshot == ("a", "b", "c")


def test_after_the_end_a_call_that_is_under_way_does_not_arrive(words: Words, scheduler: ManualScheduler) -> None:
    runs: list[Callable[[], None]] = []
    seen: list[ChangeSet] = []
    subscription = words.changed.connect(seen.append, dispatch=runs.append)
    words.say("a")
    scheduler.flush()
    subscription.end()
    for run in runs:
        run()
    assert seen == []


def test_a_failure_on_the_other_thread_is_reported_on_the_thread_of_the_state(
    scheduler: ManualScheduler, worker: Worker
) -> None:
    reported: list[tuple[threading.Thread, str]] = []
    words = Words(scheduler, lambda _, error: reported.append((threading.current_thread(), str(error))))

    def broken(_: ChangeSet) -> None:
        raise ValueError("no")

    words.changed.connect(broken, dispatch=worker.dispatch)
    words.say("a")
    scheduler.flush()
    worker.settle()
    assert reported == []
    scheduler.flush()
    assert reported == [(threading.current_thread(), "no")]


def test_a_dispatch_that_fails_is_reported_and_tried_again(
    words: Words, scheduler: ManualScheduler, failures: list[tuple[Any, Exception]], heard: list[ChangeSet]
) -> None:
    works: list[bool] = []
    seen: list[ChangeSet] = []

    def dispatch(run: Callable[[], None]) -> None:
        if not works:
            raise RuntimeError("the loop is closed")
        run()

    words.changed.connect(seen.append, dispatch=dispatch)
    words.say("a")
    scheduler.flush()
    scheduler.flush()
    assert [(observer, str(error)) for observer, error in failures] == [(dispatch, "the loop is closed")]
    works.append(True)
    words.say("b")
    scheduler.flush()
    assert [(changes.version, changes.keys("words")) for changes in seen] == [(2, (0, 1))], "nothing was lost"
    assert len(heard) == 2


async def test_dispatch_to_another_event_loop(live: Words) -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    seen: list[tuple[threading.Thread, int]] = []
    arrived = asyncio.Event()
    here = asyncio.get_running_loop()

    def observer(changes: ChangeSet) -> None:
        seen.append((threading.current_thread(), len(changes.snapshot)))
        if len(changes.snapshot) == 100:
            here.call_soon_threadsafe(arrived.set)

    live.changed.connect(observer, dispatch=loop.call_soon_threadsafe)
    for _ in range(100):
        live.say("x")
        await ticks(1)
    await asyncio.wait_for(arrived.wait(), 10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()
    assert {who for who, _ in seen} == {thread}
    assert [length for _, length in seen] == sorted(length for _, length in seen)


async def test_a_loop_that_is_closed_is_reported_not_raised(live: Words, failures: list[tuple[Any, Exception]]) -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    seen: list[ChangeSet] = []
    live.changed.connect(seen.append, dispatch=loop.call_soon_threadsafe)
    live.changed.connect(seen.append)
    live.say("a")
    await ticks()
    assert len(seen) == 1
    assert [type(error) for _, error in failures] == [RuntimeError]


def test_a_thread_of_psygnal_gets_one_call_however_much_piles_up(words: Words, scheduler: ManualScheduler) -> None:
    seen: list[tuple[threading.Thread, ChangeSet]] = []
    thread = threading.Thread(target=lambda: psygnal.emit_queued(thread))
    words.changed.connect(lambda changes: seen.append((threading.current_thread(), changes)), thread=thread)
    for word in "abc":
        words.say(word)
        scheduler.flush()
    assert seen == []
    thread.start()
    thread.join(10)
    assert [(who, changes.snapshot, changes.version) for who, changes in seen] == [(thread, ("a", "b", "c"), 3)]


def test_a_subscription_for_the_current_thread_is_called_at_once_and_ends(
    words: Words, scheduler: ManualScheduler
) -> None:
    seen: list[ChangeSet] = []
    subscription = words.changed.connect(seen.append, thread="current")
    words.say("a")
    scheduler.flush()
    subscription.end()
    words.say("b")
    scheduler.flush()
    assert len(seen) == 1


def test_a_subscription_may_end_on_any_thread_while_observers_are_called(
    words: Words, scheduler: ManualScheduler, worker: Worker
) -> None:
    subscriptions = [words.changed.connect(lambda _: None) for _ in range(300)]
    for subscription in subscriptions:
        worker.dispatch(subscription.end)
        words.say("a")
        scheduler.flush()
    worker.settle()
    assert len(words.changed) == 0


def test_an_observer_may_wait_for_a_thread_that_ends_a_subscription(
    words: Words, scheduler: ManualScheduler, worker: Worker
) -> None:
    other = words.changed.connect(lambda _: None)
    done = threading.Event()
    waited: list[bool] = []
    words.changed.connect(lambda _: waited.append(done.wait(5)))
    worker.dispatch(lambda: (other.end(), done.set()))
    words.say("a")
    scheduler.flush()
    assert waited == [True]


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
