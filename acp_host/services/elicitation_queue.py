"""Forms and web pages that wait for the user: :class:`ElicitationQueue`, :class:`FormQuestion`, :class:`PageQuestion`.

A form is filled in by :meth:`~FormQuestion.set`, reviewed, and accepted as it was reviewed; so the user has seen what
is sent. A page is opened after the user has agreed, never before, and nothing of it is fetched here.

Specification: Elicitation.
"""

from __future__ import annotations

import asyncio
import inspect
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import evolve, frozen

from acp_host.errors import InvalidInput, InvalidState
from acp_host.printable import block
from acp_host.services.elicitation import require_answer
from acp_host.services.form_answers import FormReview, check_answer, parse_value, review_answer
from acp_host.services.form_reader import read_form
from acp_host.services.forms import FieldValue, FormField
from acp_host.services.page_address import PageAddress, read_address
from acp_host.services.question_queue import PendingQuestion, QuestionQueue, QuestionStatus
from acp_host.state.changes import ChangeKind
from acp_host.state.clock import Scheduler
from acp_host.wire.elicitation import (
    CreateElicitationResponse,
    ElicitationAcceptAction,
    ElicitationCancelAction,
    ElicitationDeclineAction,
    ElicitationFormMode,
    ElicitationUrlMode,
)

__all__ = ["ElicitationQueue", "FormQuestion", "PageOpener", "PageQuestion", "PageVisit"]

_Request: TypeAlias = ElicitationFormMode | ElicitationUrlMode
_Queue: TypeAlias = QuestionQueue[_Request, CreateElicitationResponse]

PageOpener = Callable[[str], Any]
"""Opens an address: a function, which runs in a thread, or a coroutine function; it returns ``False`` or raises where
it cannot."""

_MAX_VISITS = 100
_MESSAGE_LENGTH = 4_000
_MESSAGE_LINES = 100


class _Question(PendingQuestion[_Request, CreateElicitationResponse]):
    """What forms and pages have in common."""

    def decline(self) -> None:
        """Say no; raises like :meth:`answer`."""
        self.answer(ElicitationDeclineAction())

    def cancel(self) -> None:
        """Go away without an answer, on which some agents end their turn; raises like :meth:`answer`."""
        self.answer(ElicitationCancelAction())


class FormQuestion(_Question):
    """A form that waits. ::

        question.set("port", 8080)
        review = await question.review()     # show review.lines, and review.errors where there are any
        question.accept(review)

    Attributes:
        form: what to draw.
    """

    def __init__(self, number: int, request: ElicitationFormMode, queue: _Queue) -> None:
        super().__init__(number, request, queue)
        self.form = read_form(request)
        self._values: dict[str, Any] = dict(self.form.defaults)
        self._review: FormReview | None = None

    @property
    def values(self) -> Mapping[str, FieldValue]:
        """What has been filled in, as a copy; it begins with the defaults. Fields without a value are not in it."""
        return dict(self._values)

    def set(self, name: str, value: FieldValue | None) -> None:
        """Fill in a field; ``None`` empties it. Whether the value is allowed, :meth:`review` tells.

        Raises:
            InvalidInput: the form has no such field.
        """
        self._field(name)
        self._review = None
        if value is None:
            self._values.pop(name, None)
        else:
            self._values[name] = tuple(value) if isinstance(value, list) else value

    def type_in(self, name: str, text: str | Sequence[str]) -> None:
        """Fill in a field with what was typed; see :func:`~acp_host.services.form_answers.parse_value`.

        Raises:
            InvalidInput: the form has no such field, or the text is no value for it.
        """
        self.set(name, parse_value(self._field(name), text))

    async def review(self) -> FormReview:
        """Return what would be sent, and what is wrong with it. May take seconds where a pattern runs away."""
        values = dict(self._values)
        review = await review_answer(self.form, values)
        self._review = review if values == self._values else None
        return review

    def accept(self, review: FormReview) -> None:
        """Send the answer as it was reviewed.

        Raises:
            InvalidInput: it is not valid, or the form was changed after this review; nothing is sent.
            InvalidState: the question was answered before, or has expired.
        """
        if not isinstance(review, FormReview):
            raise InvalidInput("accept() takes a review of the form: write accept(await question.review())")
        review.require_valid()
        if review is not self._review:
            raise InvalidInput("the form was changed after this review; review it again")
        self.answer(ElicitationAcceptAction(content=review.content))

    def _field(self, name: str) -> FormField:
        try:
            return self.form[name]
        except KeyError:
            raise InvalidInput(f"the form has no field named {name!r}") from None


class PageQuestion(_Question):
    """A web page that waits for the user's consent. ::

        if the_user_agrees_to(question.message, question.address.host, question.address.url):
            await question.open()

    Attributes:
        message: what is needed and why, in the agent's words.
        address: what to show of the page's address.
        completed: the agent has said that the user is done on the page, so it need not be opened.
    """

    def __init__(self, number: int, request: ElicitationUrlMode, queue: ElicitationQueue) -> None:
        super().__init__(number, request, queue)
        self.elicitation_id = request.elicitation_id
        self.message = block(request.message, _MESSAGE_LENGTH, _MESSAGE_LINES)
        self.address = read_address(request.url)
        self.completed = False
        self._pages = queue
        self._opening = False

    async def open(self) -> None:
        """Open the page, to which the user has agreed, and tell the agent so.

        Raises:
            InvalidState: it cannot be opened, and the question stays open: show the address, and :meth:`accept` once
                the user has it. Also if the question is being opened, was answered or has expired; then nothing is
                opened.
        """
        if self._opening or self.status is not QuestionStatus.OPEN:
            raise InvalidState(f"the page is not opened: the question is {'in use' if self._opening else self.status}")
        self._opening = True
        try:
            if not self.completed:
                await _open_page(self._pages.opener, self.address)
        finally:
            self._opening = False
        self.accept()

    def accept(self) -> None:
        """Tell the agent that the user has agreed, and opens the page by other means; raises like :meth:`answer`."""
        self.answer(ElicitationAcceptAction())

    def _settle(self, value: CreateElicitationResponse) -> None:
        if isinstance(value, ElicitationAcceptAction):
            self._pages.visit_begins(self)  # before anything else is read: the agent may say at once that it is over
        super()._settle(value)


@frozen(kw_only=True)
class PageVisit:
    """A web page that the user has agreed to visit.

    Attributes:
        elicitation_id: the agent's id.
        message: what it is for, in the agent's words.
        address: where it is.
        completed: the agent has said that the user is done there.
    """

    elicitation_id: str
    message: str
    address: PageAddress
    completed: bool = False


class ElicitationQueue(QuestionQueue[_Request, CreateElicitationResponse]):
    """The forms and web pages that wait for the user; pass one to each :func:`acp_host.connect`. ::

        queue = ElicitationQueue()
        async with acp_host.connect(command, elicitation=queue) as host: ...

    It is watched like any queue; pages that were agreed to are in the section ``visits``, with their ids as keys.

    Args:
        opener: opens web pages; ``None`` for the system's browser.
        timeout: seconds that a person may take for an answer, after which the agent is told ``cancel``; ``None``: as
            long as the agent waits.
        scheduler: decides when observers are called; ``None``: the event loop of the connection.
        report: called with an observer and what it raised; without it that is logged.
    """

    def __init__(
        self,
        *,
        opener: PageOpener | None = None,
        timeout: float | None = None,
        scheduler: Scheduler | None = None,
        report: Callable[[Callable[..., Any], BaseException], None] | None = None,
    ) -> None:
        super().__init__(timeout=timeout, scheduler=scheduler, report=report)
        self.opener = opener or webbrowser.open
        self._visits: dict[str, PageVisit] = {}

    @property
    def visits(self) -> tuple[PageVisit, ...]:
        """The pages that the user has agreed to visit on this connection, the newest 100, oldest first."""
        return tuple(self._visits.values())

    def complete(self, elicitation_id: str) -> bool:
        """Take the agent's word that the user is done on a page; return whether there was one that was not done yet."""
        for question in self.pending:
            if isinstance(question, PageQuestion) and question.elicitation_id == elicitation_id:
                changed, question.completed = not question.completed, True
                self.note("pending", question.number, ChangeKind.CHANGED)
                return changed
        visit = self._visits.get(elicitation_id)
        if visit is None or visit.completed:
            return False
        self._visits[elicitation_id] = evolve(visit, completed=True)
        self.note("visits", elicitation_id, ChangeKind.CHANGED)
        return True

    def visit_begins(self, question: PageQuestion) -> None:
        """Remember a page that the user has agreed to visit; for the question."""
        visit = PageVisit(
            elicitation_id=question.elicitation_id,
            message=question.message,
            address=question.address,
            completed=question.completed,
        )
        self._visits.pop(visit.elicitation_id, None)
        self._visits[visit.elicitation_id] = visit
        self.note("visits", visit.elicitation_id, ChangeKind.ADDED)
        if len(self._visits) > _MAX_VISITS:
            oldest = next(iter(self._visits))
            del self._visits[oldest]
            self.note("visits", oldest, ChangeKind.REMOVED)

    def make_question(self, number: int, request: _Request) -> PendingQuestion[_Request, CreateElicitationResponse]:
        """Return what stands for a request in the queue."""
        if isinstance(request, ElicitationFormMode):
            return FormQuestion(number, request, self)
        return PageQuestion(number, request, self)

    def checked(self, request: _Request, answer: CreateElicitationResponse) -> CreateElicitationResponse:
        """Return an answer that fits the question; patterns are matched when it is reviewed, and before it is sent."""
        require_answer(answer)
        if isinstance(request, ElicitationFormMode) and isinstance(answer, ElicitationAcceptAction):
            check_answer(read_form(request), answer.content or {}, patterns=False).require_valid()
        return answer

    def timed_out(self, request: _Request) -> CreateElicitationResponse:
        """Return the answer to a question that nobody has answered in time."""
        return ElicitationCancelAction()


async def _open_page(opener: PageOpener, address: PageAddress) -> None:
    """Open a page; raises ``InvalidState`` if that fails."""
    try:
        if inspect.iscoroutinefunction(opener):
            opened = await opener(address.url)
        else:
            opened = await asyncio.to_thread(opener, address.url)
        why = "no browser was found"
    except Exception as error:
        opened, why = False, f"{type(error).__name__}: {error}"
    if opened is False:
        raise InvalidState(f"the page on {address.host} could not be opened: {why}")
