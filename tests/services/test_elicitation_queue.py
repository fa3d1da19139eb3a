"""Forms and pages that wait: filled in, reviewed, sent as reviewed; opened only after consent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from acp_host.errors import InvalidInput, InvalidState
from acp_host.services.elicitation_queue import ElicitationQueue, FormQuestion, PageQuestion
from acp_host.services.question_queue import QuestionStatus
from acp_host.wire.elicitation import (
    ElicitationAcceptAction,
    ElicitationCancelAction,
    ElicitationDeclineAction,
    ElicitationUrlMode,
)
from tests.services.form_strategies import request_of

FORM = request_of(
    {
        "properties": {
            "name": {"type": "string", "title": "Name", "pattern": "^[a-z]+$"},
            "port": {"type": "integer", "default": 80, "maximum": 65535},
            "tls": {"type": "boolean"},
        },
        "required": ["name"],
    }
)


def page(number: int = 1, url: str = "https://example.org/login") -> ElicitationUrlMode:
    return ElicitationUrlMode("Log in\x1b[2J", f"e-{number}", url, session_id="s")


@asynccontextmanager
async def asked(queue: ElicitationQueue, request: Any) -> AsyncIterator[tuple[Any, asyncio.Task[Any]]]:
    """Ask; the question has to be over at the end."""
    task = asyncio.create_task(queue(request))
    async for pending in queue.watch():
        if any(question.request is request for question in pending):
            break
    yield queue.pending[-1], task
    await asyncio.wait([task], timeout=10)
    assert task.done()
    assert queue.pending == ()


async def test_a_form_is_filled_in_reviewed_and_sent() -> None:
    queue = ElicitationQueue()
    async with asked(queue, FORM) as (question, task):
        assert isinstance(question, FormQuestion)
        assert question.values == {"port": 80}
        question.set("name", "ada")
        question.type_in("port", "8080")
        question.type_in("tls", "yes")
        question.set("tls", None)
        review = await question.review()
        assert [(line.label, line.text) for line in review.lines] == [("Name", "ada"), ("port", "8080"), ("tls", "")]
        question.accept(review)
        assert await task == ElicitationAcceptAction({"name": "ada", "port": 8080})
        assert question.status is QuestionStatus.ANSWERED


async def test_what_was_not_reviewed_is_not_sent() -> None:
    queue = ElicitationQueue()
    async with asked(queue, FORM) as (question, task):
        with pytest.raises(InvalidInput, match="Name needs an answer"):
            question.accept(await question.review())
        question.set("name", "B")
        with pytest.raises(InvalidInput, match="does not match the pattern"):
            question.accept(await question.review())
        question.set("name", "b")
        old = await question.review()
        question.set("port", 1)
        with pytest.raises(InvalidInput, match="review it again"):
            question.accept(old)
        reviewing = asyncio.create_task(question.review())
        await asyncio.sleep(0)
        question.set("port", 2)
        with pytest.raises(InvalidInput, match="review it again"):
            question.accept(await reviewing)
        assert not task.done()
        question.accept(await question.review())
        assert (await task).content == {"name": "b", "port": 2}
        with pytest.raises(InvalidState, match="answered already"):
            question.accept(await question.review())


async def test_a_list_that_changes_later_changes_nothing() -> None:
    tags = ["a"]
    form = request_of({"properties": {"t": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}}})
    async with asked(ElicitationQueue(), form) as (question, task):
        question.set("t", tags)
        tags.append("b")
        review = await question.review()
        question.accept(review)
        assert (await task).content == {"t": ("a",)}


async def test_fields_that_are_not_there_and_text_that_is_no_value() -> None:
    async with asked(ElicitationQueue(), FORM) as (question, _):
        for wrong in (lambda: question.set("ghost", 1), lambda: question.type_in("ghost", "1")):
            with pytest.raises(InvalidInput, match="no field named 'ghost'"):
                wrong()
        with pytest.raises(InvalidInput, match="whole number"):
            question.type_in("port", "many")
        assert question.values == {"port": 80}
        question.decline()


async def test_an_answer_past_the_form_is_checked_too() -> None:
    async with asked(ElicitationQueue(), FORM) as (question, task):
        with pytest.raises(InvalidInput, match="port is too large"):
            question.answer(ElicitationAcceptAction({"name": "ada", "port": 10**6}))
        question.answer(ElicitationAcceptAction({"name": "ada"}))
        assert (await task).content == {"name": "ada"}


@pytest.mark.parametrize("request_", [FORM, page()])
async def test_what_is_no_answer_is_refused(request_: Any) -> None:
    async with asked(ElicitationQueue(), request_) as (question, task):
        for wrong in ("yes", {"name": "ada"}, None, ElicitationAcceptAction("ada")):
            with pytest.raises(InvalidInput, match=r"accepted, declined or cancelled|a mapping"):
                question.answer(wrong)
        assert not task.done()
        question.decline()


@pytest.mark.parametrize("request_", [FORM, page()])
async def test_declined_cancelled_withdrawn_or_never_answered(request_: Any) -> None:
    queue = ElicitationQueue(opener=pytest.fail)
    async with asked(queue, request_) as (question, task):
        question.decline()
        assert await task == ElicitationDeclineAction()
    async with asked(queue, request_) as (question, task):
        question.cancel()
        assert await task == ElicitationCancelAction()
    async with asked(queue, request_) as (question, task):
        task.cancel()
    assert question.expired
    with pytest.raises(InvalidState, match="expired already"):
        question.decline()
    assert await ElicitationQueue(timeout=0.001)(request_) == ElicitationCancelAction()
    assert queue.visits == ()


async def test_many_wait_at_once() -> None:
    queue = ElicitationQueue()
    tasks = [asyncio.create_task(queue(request)) for request in (FORM, page(), FORM)]
    async for pending in queue.watch():
        if len(pending) == 3:
            break
    for question in reversed(queue.pending):
        question.decline()
    assert await asyncio.gather(*tasks) == [ElicitationDeclineAction()] * 3


async def test_a_page_is_opened_after_consent_and_never_before() -> None:
    opened: list[tuple[str, bool]] = []
    main = threading.get_ident()

    def opener(url: str) -> bool:
        opened.append((url, threading.get_ident() == main))
        return True

    queue = ElicitationQueue(opener=opener)
    async with asked(queue, page(url="https://аpple.com/login")) as (question, task):
        assert isinstance(question, PageQuestion)
        assert question.message == "Log in\\x1b[2J"
        assert (question.address.host, question.address.display_host) == ("xn--pple-43d.com", "аpple.com")
        await asyncio.sleep(0.01)
        assert opened == []
        await question.open()
        assert await task == ElicitationAcceptAction()
    assert opened == [("https://xn--pple-43d.com/login", False)], "opened once, as it was shown, in a thread"
    [visit] = queue.visits
    assert (visit.elicitation_id, visit.address, visit.completed) == ("e-1", question.address, False)
    with pytest.raises(InvalidState, match="answered"):
        await question.open()
    assert len(opened) == 1


async def test_two_clicks_open_one_page() -> None:
    opened: list[str] = []
    allowed = asyncio.Event()

    async def opener(url: str) -> None:
        opened.append(url)
        await allowed.wait()

    async with asked(ElicitationQueue(opener=opener), page()) as (question, task):
        first = asyncio.create_task(question.open())
        await asyncio.sleep(0)
        with pytest.raises(InvalidState, match="in use"):
            await question.open()
        allowed.set()
        await first
        assert await task == ElicitationAcceptAction()
    assert len(opened) == 1


def _fails(url: str) -> bool:
    raise OSError("no display")


@pytest.mark.parametrize(("opener", "why"), [(_fails, "OSError: no display"), (lambda _: False, "no browser")])
async def test_a_page_that_cannot_be_opened_can_be_visited_by_hand(opener: Any, why: str) -> None:
    queue = ElicitationQueue(opener=opener)
    async with asked(queue, page()) as (question, task):
        for _ in range(2):
            with pytest.raises(InvalidState, match=why):
                await question.open()
        assert not task.done()
        assert queue.visits == ()
        question.accept()
        assert await task == ElicitationAcceptAction()
    assert len(queue.visits) == 1


async def test_the_end_of_a_visit() -> None:
    queue = ElicitationQueue(opener=lambda _: None)
    seen: list[Any] = []
    queue.changed.connect(lambda changes: seen.extend(changes.keys("visits")))
    assert not queue.complete("e-1"), "nothing of that name is under way"
    async with asked(queue, page()) as (question, _):
        question.accept()
        assert queue.complete("e-1"), "at once after the answer"
    assert [visit.completed for visit in queue.visits] == [True]
    assert not queue.complete("e-1"), "twice"
    await asyncio.sleep(0)
    assert seen == ["e-1"]


async def test_a_visit_that_ends_before_the_answer_is_not_opened_any_more() -> None:
    queue = ElicitationQueue(opener=pytest.fail)
    async with asked(queue, page()) as (question, task):
        assert queue.complete("e-1")
        assert not queue.complete("e-1")
        assert question.completed
        assert not task.done(), "the user still has the word"
        await question.open()
        assert await task == ElicitationAcceptAction()
    assert [visit.completed for visit in queue.visits] == [True]


async def test_visits_are_bounded() -> None:
    queue = ElicitationQueue(opener=lambda _: None)
    for number in range(102):
        async with asked(queue, page(number)) as (question, _):
            question.accept()
    assert [visit.elicitation_id for visit in queue.visits] == [f"e-{number}" for number in range(2, 102)]


async def test_questions_are_answered_from_other_threads() -> None:
    queue = ElicitationQueue()
    async with asked(queue, page()) as (question, task):
        await asyncio.to_thread(question.accept)
        assert await task == ElicitationAcceptAction()
        assert len(queue.visits) == 1
