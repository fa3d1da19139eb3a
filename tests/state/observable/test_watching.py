"""State that is watched in a coroutine, on an event loop."""

from __future__ import annotations

import asyncio

import pytest

from acp_host.state.changes import ChangeSet
from tests.state.observable.words import Words, ticks

# --- watching ---------------------------------------------------------------------------------------------------------


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
