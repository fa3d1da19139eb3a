"""Questions that wait for a person: :class:`QuestionQueue`, :class:`PendingQuestion`.

A queue is a handler: the connection calls it with a request and awaits the answer. Meanwhile the question is
``pending``, any number of them at once, and an application shows it and answers it, once. A question that needs no
answer any more (the agent withdrew it, its turn was cancelled, the connection ended, the time is up) leaves the queue
as ``expired``, so that a dialog can be closed.

It owns who waits for which answer. What a question looks like, and which answers are valid, its subclasses say.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Generic, TypeVar

from acp_host.errors import InvalidInput, InvalidState
from acp_host.scheduling import AsyncioScheduler
from acp_host.state.changes import ChangeKind
from acp_host.state.clock import Scheduler
from acp_host.state.observable import Observable

__all__ = ["PendingQuestion", "QuestionQueue", "QuestionStatus"]

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class QuestionStatus(StrEnum):
    """What has become of a question."""

    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    """It was withdrawn or its time was up; an answer comes too late."""


class PendingQuestion(Generic[Request, Answer]):
    """A question that waits; made by a :class:`QuestionQueue`. It can be answered from any thread.

    Attributes:
        number: tells the questions of a queue apart; grows with each.
        request: what the agent asks.
    """

    def __init__(self, number: int, request: Request, queue: QuestionQueue[Request, Answer]) -> None:
        self.number = number
        self.request = request
        self._queue = queue
        self._loop = asyncio.get_running_loop()
        self._reply: asyncio.Future[Answer] = self._loop.create_future()
        self._lock = threading.Lock()
        self._status = QuestionStatus.OPEN

    @property
    def status(self) -> QuestionStatus:
        """What has become of it."""
        return self._status

    @property
    def expired(self) -> bool:
        """Whether nobody waits for an answer any more."""
        return self._status is QuestionStatus.EXPIRED

    def answer(self, value: Answer) -> None:
        """Answer the question.

        Raises:
            InvalidInput: it cannot be answered with ``value``; it stays open.
            InvalidState: it was answered before, or has expired.
        """
        valid = self._queue.checked(self.request, value)
        self._move_on(QuestionStatus.ANSWERED)
        if threading.get_ident() == self._queue.thread:
            self._settle(valid)
        else:
            self._loop.call_soon_threadsafe(self._settle, valid)

    async def wait(self) -> Answer:
        """Wait for the answer; for the queue."""
        return await self._reply

    def expire(self) -> bool:
        """Take it that nobody waits any more; tell whether it was open. For the queue."""
        try:
            self._move_on(QuestionStatus.EXPIRED)
        except InvalidState:
            return False
        return True

    def _move_on(self, status: QuestionStatus) -> None:
        with self._lock:
            if self._status is not QuestionStatus.OPEN:
                raise InvalidState(f"the question cannot be answered: it is {self._status} already")
            self._status = status

    def _settle(self, value: Answer) -> None:
        self._queue.left(self)
        if not self._reply.done():
            self._reply.set_result(value)


class QuestionQueue(Observable[tuple[PendingQuestion[Request, Answer], ...]], Generic[Request, Answer]):
    """The questions that wait, oldest first; reactive, with the section ``pending`` and the numbers as keys. ::

        queue.changed.connect(lambda changes: show(changes.snapshot))
        queue.pending[0].answer(value)

    Args:
        timeout: seconds that a person may take for an answer; ``None``: as long as the agent waits.
        scheduler: decides when observers are called; ``None``: the event loop of the connection.
        report: called with an observer and what it raised; without it that is logged.

    Raises:
        InvalidInput: ``timeout`` is not above 0.
    """

    def __init__(
        self,
        *,
        timeout: float | None = None,
        scheduler: Scheduler | None = None,
        report: Callable[[Callable[..., Any], BaseException], None] | None = None,
    ) -> None:
        if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
            raise InvalidInput(f"timeout is a number of seconds above 0, not {timeout!r}")
        super().__init__(scheduler or AsyncioScheduler.of_first_use(), report)
        self.thread: int | None = None
        self._timeout = timeout
        self._numbers = itertools.count(1)
        self._pending: dict[int, PendingQuestion[Request, Answer]] = {}

    @property
    def pending(self) -> tuple[PendingQuestion[Request, Answer], ...]:
        """The questions that wait, oldest first; the same tuple until one comes or goes."""
        return self.snapshot()

    async def __call__(self, request: Request) -> Answer:
        """Ask, and return the answer; cancel the task to withdraw the question."""
        try:
            return await self.show(self.make_question(self.next_number(), request))
        except TimeoutError:
            return self.timed_out(request)

    async def show(self, question: PendingQuestion[Request, Answer]) -> Answer:
        """Show a question, and return its answer; for subclasses. Raises ``TimeoutError`` after its time."""
        self.thread = threading.get_ident()
        self._pending[question.number] = question
        self.note("pending", question.number, ChangeKind.ADDED)
        try:
            async with asyncio.timeout(self._timeout):
                return await question.wait()
        except TimeoutError:
            if question.expire():
                raise TimeoutError(f"nobody has answered within {self._timeout:g} s") from None
            return await question.wait()  # it was answered in this very moment
        finally:
            question.expire()
            self.left(question)

    def left(self, question: PendingQuestion[Request, Answer]) -> None:
        """Take a question out, on the thread of the queue."""
        if self._pending.pop(question.number, None) is not None:
            self.note("pending", question.number, ChangeKind.REMOVED)

    # --- for subclasses ---------------------------------------------------------------------------------------------

    def next_number(self) -> int:
        """Return a number that no question has had."""
        return next(self._numbers)

    def make_question(self, number: int, request: Request) -> PendingQuestion[Request, Answer]:
        """Return what stands for ``request`` in the queue."""
        return PendingQuestion(number, request, self)

    def checked(self, request: Request, answer: Answer) -> Answer:
        """Return ``answer`` as it is given to the agent; raises ``InvalidInput`` where ``request`` cannot have it."""
        return answer

    def timed_out(self, request: Request) -> Answer:
        """Return the answer to a question that nobody has answered in time."""
        raise TimeoutError("nobody has answered in time")

    def _freeze(self) -> tuple[PendingQuestion[Request, Answer], ...]:
        return tuple(self._pending.values())
