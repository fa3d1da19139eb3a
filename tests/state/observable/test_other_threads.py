"""Observers on other threads."""

from __future__ import annotations

import asyncio
import queue
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psygnal
import pytest

from acp_host.state.changes import Change, ChangeSet
from acp_host.state.clock import ManualScheduler
from tests.state.observable.words import ADDED, CHANGED, REMOVED, Words, ticks


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
