"""The scheduler without a loop: what runs when, and what becomes of the rest when something raises."""

from __future__ import annotations

import threading

import pytest

from acp_host.state.clock import ManualClock, ManualScheduler


class Log(list[str]):
    """Callbacks that say that they were called."""

    def entry(self, text: str):
        return lambda: self.append(text)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(100.0)


@pytest.fixture
def scheduler(clock: ManualClock) -> ManualScheduler:
    return ManualScheduler(clock)


@pytest.fixture
def log() -> Log:
    return Log()


def test_nothing_runs_before_the_flush(scheduler: ManualScheduler, clock: ManualClock, log: Log) -> None:
    scheduler.soon(log.entry("soon"))
    scheduler.later(0.0, log.entry("later"))
    clock.advance(10)
    assert log == []
    scheduler.flush()
    assert log == ["later", "soon"]
    scheduler.flush()
    assert log == ["later", "soon"]


def test_timers_run_in_the_order_of_their_time_and_equal_ones_as_they_were_set(
    scheduler: ManualScheduler, clock: ManualClock, log: Log
) -> None:
    for seconds, text in [(3, "c"), (1, "a"), (3, "d"), (2, "b"), (5, "not yet")]:
        scheduler.later(seconds, log.entry(text))
    clock.advance(2.5)
    scheduler.flush()
    assert log == ["a", "b"]
    clock.advance(0.5)
    scheduler.flush()
    assert log == ["a", "b", "c", "d"]


def test_a_cancelled_timer_does_not_run_even_if_another_timer_of_the_same_flush_cancels_it(
    scheduler: ManualScheduler, clock: ManualClock, log: Log
) -> None:
    scheduler.later(1, log.entry("cancelled")).cancel()
    scheduler.later(1, lambda: second.cancel())
    second = scheduler.later(2, log.entry("cancelled by the other"))
    clock.advance(5)
    scheduler.flush()
    assert log == []
    second.cancel()


def test_what_a_flush_puts_off_waits_for_the_next(scheduler: ManualScheduler, log: Log) -> None:
    def again() -> None:
        log.append("again")
        scheduler.soon(again)
        scheduler.later(0, log.entry("timer"))

    scheduler.soon(again)
    scheduler.flush()
    assert log == ["again"]
    scheduler.flush()
    assert log == ["again", "timer", "again"]


def test_a_timer_that_sets_itself_again_runs_once_per_flush(
    scheduler: ManualScheduler, clock: ManualClock, log: Log
) -> None:
    def again() -> None:
        log.append("again")
        scheduler.later(0, again)

    scheduler.later(0, again)
    scheduler.flush()
    assert log == ["again"]
    scheduler.flush()
    assert log == ["again", "again"]


def test_what_a_timer_puts_off_is_done_in_the_same_flush(scheduler: ManualScheduler, log: Log) -> None:
    scheduler.later(0, lambda: scheduler.soon(log.entry("delivered")))
    scheduler.flush()
    assert log == ["delivered"]


def test_a_flush_within_a_flush_does_nothing(scheduler: ManualScheduler, log: Log) -> None:
    scheduler.soon(lambda: (scheduler.flush(), log.append("first")))
    scheduler.soon(log.entry("second"))
    scheduler.flush()
    assert log == ["first", "second"]


@pytest.mark.parametrize("put_off", [ManualScheduler.soon, lambda scheduler, callback: scheduler.later(0, callback)])
def test_after_an_exception_the_next_flush_goes_on(scheduler: ManualScheduler, log: Log, put_off) -> None:
    put_off(scheduler, lambda: 1 / 0)
    put_off(scheduler, log.entry("after it"))
    with pytest.raises(ZeroDivisionError):
        scheduler.flush()
    assert scheduler.next_due == 100.0
    scheduler.flush()
    assert log == ["after it"]


def test_when_the_next_flush_is_due(scheduler: ManualScheduler, clock: ManualClock, log: Log) -> None:
    assert scheduler.next_due is None
    first = scheduler.later(5, log.entry(""))
    scheduler.later(7, log.entry(""))
    assert scheduler.next_due == 105.0
    first.cancel()
    assert scheduler.next_due == 107.0
    scheduler.soon(log.entry(""))
    assert scheduler.next_due == clock.now()
    scheduler.flush()
    assert scheduler.next_due == 107.0
    clock.advance(7)
    scheduler.flush()
    assert scheduler.next_due is None


def test_other_threads_may_put_something_off(scheduler: ManualScheduler, log: Log) -> None:
    def work() -> None:
        for _ in range(1_000):
            scheduler.soon_threadsafe(log.entry("x"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        scheduler.flush()
        for thread in threads:
            thread.join(0.001)
    scheduler.flush()
    assert len(log) == 4_000


async def test_a_waiter_waits_until_it_is_woken(scheduler: ManualScheduler) -> None:
    waiter = scheduler.waiter()
    waiting = waiter.__await__()
    assert next(waiting) is None
    waiter.wake()
    waiter.wake()
    with pytest.raises(StopIteration):
        next(waiting)
