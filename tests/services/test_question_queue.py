"""Questions that wait: shown in order, answered once, and gone when nobody waits for them any more."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from acp_host.errors import InvalidInput, InvalidState
from acp_host.services.question_queue import PendingQuestion, QuestionQueue, QuestionStatus


class Numbers(QuestionQueue[str, int]):
    def checked(self, request: str, answer: int) -> int:
        if answer < 0:
            raise InvalidInput("no negative numbers")
        return answer

    def timed_out(self, request: str) -> int:
        return 0


async def asked(queue: Numbers, number: int = 1) -> tuple[PendingQuestion[str, int], ...]:
    async for pending in queue.watch():
        if len(pending) == number:
            return pending
    raise AssertionError("they never came")


async def test_any_number_waits_and_each_is_answered_once_in_any_order() -> None:
    queue = Numbers()
    tasks = [asyncio.create_task(queue(text)) for text in "abc"]
    a, b, c = await asked(queue, 3)
    assert [question.request for question in queue.pending] == ["a", "b", "c"]
    assert queue.pending is queue.pending
    b.answer(2)
    assert queue.pending == (a, c)
    assert (b.status, a.status) == (QuestionStatus.ANSWERED, QuestionStatus.OPEN)
    for again in (2, 5):
        with pytest.raises(InvalidState, match="answered already"):
            b.answer(again)
    c.answer(3)
    a.answer(1)
    assert await asyncio.gather(*tasks) == [1, 2, 3]
    assert queue.pending == ()


async def test_an_invalid_answer_leaves_it_open() -> None:
    queue = Numbers()
    task = asyncio.create_task(queue("a"))
    [question] = await asked(queue)
    with pytest.raises(InvalidInput):
        question.answer(-1)
    assert queue.pending == (question,)
    question.answer(1)
    assert await task == 1


async def test_one_that_is_withdrawn_leaves_as_expired_and_the_others_stay() -> None:
    queue = Numbers()
    first, second = asyncio.create_task(queue("a")), asyncio.create_task(queue("b"))
    a, b = await asked(queue, 2)
    first.cancel()
    await asyncio.wait([first])
    assert first.cancelled()
    assert (a.status, a.expired) == (QuestionStatus.EXPIRED, True)
    assert queue.pending == (b,)
    with pytest.raises(InvalidState, match="expired already"):
        a.answer(1)
    b.answer(2)
    assert await second == 2


async def test_without_an_answer_in_time_it_expires_with_the_queues_own_answer() -> None:
    queue = Numbers(timeout=0.01)
    task = asyncio.create_task(queue("a"))
    [question] = await asked(queue)
    assert await task == 0
    assert question.expired
    assert queue.pending == ()


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan")])
def test_a_timeout_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(InvalidInput, match="above 0"):
        Numbers(timeout=timeout)


async def test_observers_hear_of_what_comes_and_goes() -> None:
    queue, seen = Numbers(), []
    queue.changed.connect(lambda changes: seen.append((changes.changes[0].kind, len(changes.snapshot))))
    task = asyncio.create_task(queue("a"))
    [question] = await asked(queue)
    await asyncio.sleep(0)
    question.answer(1)
    await task
    await asyncio.sleep(0)
    assert seen == [("added", 1), ("removed", 0)]


def test_a_queue_can_be_made_and_connected_before_there_is_a_loop() -> None:
    queue, seen = Numbers(), []
    queue.changed.connect(lambda changes: seen.append(len(changes.snapshot)))

    async def use() -> int:
        task = asyncio.create_task(queue("a"))
        [question] = await asked(queue)
        await asyncio.sleep(0)
        question.answer(4)
        return await task

    assert asyncio.run(use()) == 4
    assert seen == [1, 0]


async def test_other_threads_may_answer_and_only_one_of_them_does() -> None:
    queue = Numbers()
    task = asyncio.create_task(queue("a"))
    [question] = await asked(queue)
    outcomes: list[Any] = []
    start = threading.Barrier(4)

    def answer(value: int) -> None:
        start.wait()
        try:
            question.answer(value)
            outcomes.append(value)
        except InvalidState:
            outcomes.append(None)

    threads = [threading.Thread(target=answer, args=(value,)) for value in range(1, 5)]
    for thread in threads:
        thread.start()
    result = await task
    for thread in threads:
        thread.join()
    assert [value for value in outcomes if value is not None] == [result]
    assert queue.pending == ()
