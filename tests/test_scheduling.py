"""The scheduler on an event loop, and the clock of the machine."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from acp_host.scheduling import AsyncioScheduler, SystemClock


async def ticks(number: int = 3) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


@pytest.fixture
async def faults() -> list[dict[str, Any]]:
    """What the loop was told of."""
    faults: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    return faults


async def test_what_is_put_off_in_one_turn_of_the_loop_runs_in_the_next_in_order() -> None:
    scheduler = AsyncioScheduler()
    log: list[int] = []
    for number in range(3):
        scheduler.soon(lambda number=number: log.append(number))
    assert log == []
    await ticks(1)
    assert log == [0, 1, 2]


async def test_it_is_one_callback_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    scheduler = AsyncioScheduler()
    calls: list[Any] = []
    call_soon = loop.call_soon
    monkeypatch.setattr(
        loop, "call_soon", lambda *args, **options: (calls.append(args), call_soon(*args, **options))[1]
    )
    for _ in range(100):
        scheduler.soon(lambda: None)
    assert len(calls) == 1


async def test_what_a_callback_puts_off_waits_for_the_turn_after() -> None:
    scheduler = AsyncioScheduler()
    log: list[str] = []
    scheduler.soon(lambda: (log.append("first"), scheduler.soon(lambda: log.append("put off"))))
    scheduler.soon(lambda: log.append("second"))
    await ticks(1)
    assert log == ["first", "second"]
    await ticks(1)
    assert log == ["first", "second", "put off"]


async def test_a_callback_that_raises_is_reported_to_the_loop_and_keeps_none_from_being_called(
    faults: list[dict[str, Any]],
) -> None:
    scheduler = AsyncioScheduler()
    log: list[str] = []
    scheduler.soon(lambda: 1 / 0)
    scheduler.soon(lambda: log.append("next"))
    await ticks()
    assert log == ["next"]
    assert [type(fault["exception"]) for fault in faults] == [ZeroDivisionError]


def test_an_interrupt_loses_nothing() -> None:
    loop = asyncio.new_event_loop()
    scheduler = AsyncioScheduler(loop)
    log: list[str] = []

    def interrupted() -> None:
        raise KeyboardInterrupt

    scheduler.soon(interrupted)
    scheduler.soon(lambda: log.append("next"))
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(ticks())
    loop.run_until_complete(ticks())
    loop.close()
    assert log == ["next"]


async def test_a_timer_runs_in_its_time_unless_it_is_cancelled() -> None:
    scheduler = AsyncioScheduler()
    loop = asyncio.get_running_loop()
    fired: asyncio.Future[float] = loop.create_future()
    begin = loop.time()
    scheduler.later(0.01, lambda: fired.set_exception(AssertionError("cancelled"))).cancel()
    scheduler.later(0.02, lambda: fired.set_result(loop.time() - begin))
    assert await fired >= 0.019


async def test_a_waiter_is_woken_once_or_repeatedly() -> None:
    waiter = AsyncioScheduler().waiter()

    async def wait() -> str:
        await waiter
        return "awake"

    task = asyncio.create_task(wait())
    await ticks()
    assert not task.done()
    waiter.wake()
    waiter.wake()
    assert await task == "awake"
    await waiter


async def test_a_waiter_whose_task_was_cancelled_may_still_be_woken() -> None:
    waiter = AsyncioScheduler().waiter()

    async def wait() -> None:
        await waiter

    task = asyncio.create_task(wait())
    await ticks()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    waiter.wake()


async def test_another_thread_may_put_something_off() -> None:
    scheduler = AsyncioScheduler()
    ran: asyncio.Future[threading.Thread] = asyncio.get_running_loop().create_future()
    thread = threading.Thread(
        target=lambda: scheduler.soon_threadsafe(lambda: ran.set_result(threading.current_thread()))
    )
    thread.start()
    assert await asyncio.wait_for(ran, 10) is threading.current_thread()
    thread.join(10)


def test_after_the_end_of_the_loop_nothing_runs_and_nothing_raises() -> None:
    loop = asyncio.new_event_loop()
    scheduler = AsyncioScheduler(loop)
    loop.close()
    scheduler.soon(lambda: pytest.fail("the loop is closed"))
    scheduler.soon_threadsafe(lambda: pytest.fail("the loop is closed"))


def test_made_before_there_is_a_loop_it_belongs_to_the_one_that_runs_first() -> None:
    scheduler, log = AsyncioScheduler(), []
    scheduler.soon_threadsafe(lambda: log.append("early"))

    async def use() -> None:
        scheduler.soon(lambda: log.append("late"))
        await ticks()

    asyncio.run(use())
    assert log == ["early", "late"]


async def test_that_of_the_first_use_does_not_belong_to_the_loop_that_runs_when_it_is_made() -> None:
    scheduler = AsyncioScheduler.of_first_use()
    called_on: list[asyncio.AbstractEventLoop] = []

    async def elsewhere() -> asyncio.AbstractEventLoop:
        scheduler.soon(lambda: called_on.append(asyncio.get_running_loop()))
        await asyncio.sleep(0)
        return asyncio.get_running_loop()

    other = await asyncio.to_thread(asyncio.run, elsewhere())
    assert called_on == [other]


def test_the_clock_says_what_the_machine_says() -> None:
    before = time.time()
    assert before <= SystemClock().now() <= time.time()
