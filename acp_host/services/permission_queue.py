"""Permission requests that wait for a person: :class:`PermissionQueue`, :class:`PendingPermission`.

An application shows what is ``pending`` and answers each with one of the agent's options, by its id::

    queue = acp_host.PermissionQueue()
    async with acp_host.connect(command, permissions=queue) as host:
        queue.changed.connect(lambda changes: show(changes.snapshot))

All options are there, in the agent's order, several of one kind too. A request without any option can only be
acknowledged; the agent is told ``cancelled``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidInput
from acp_host.services.permission_memory import AnswerToRemember, what_is_remembered
from acp_host.services.permission_options import PermissionDecision, outcome_for, validate_outcome
from acp_host.services.permission_requests import HostPermissionRequest
from acp_host.services.permission_subject import PermissionSubject
from acp_host.services.permissions import Explanation
from acp_host.services.question_queue import PendingQuestion, QuestionQueue
from acp_host.state.clock import Scheduler
from acp_host.wire.permission import (
    CancelledPermissionOutcome,
    PermissionOption,
    RequestPermissionOutcome,
    RequestPermissionRequest,
    SelectedPermissionOutcome,
)

if TYPE_CHECKING:
    from acp_host.services.permission_memory import RememberScope

__all__ = ["PendingPermission", "PermissionQueue"]

_Answer = RequestPermissionOutcome | AnswerToRemember


class PendingPermission(PendingQuestion[RequestPermissionRequest, _Answer]):
    """A permission request that waits.

    Attributes:
        subject: what it is about, as the host reads it; ``None`` where the queue is called without a host.
        explanation: why the policy asks; ``None`` where there is no policy.
    """

    def __init__(
        self,
        number: int,
        request: RequestPermissionRequest,
        queue: PermissionQueue,
        subject: PermissionSubject | None = None,
        explanation: Explanation | None = None,
    ) -> None:
        super().__init__(number, request, queue)
        self.subject = subject
        self.explanation = explanation

    @property
    def options(self) -> tuple[PermissionOption, ...]:
        """The answers to choose from, in the agent's order; empty: it can only be acknowledged."""
        return self.request.options

    @property
    def is_hosts_own(self) -> bool:
        """Whether the host asks for itself: the agent wants this done and has not asked for permission."""
        return isinstance(self.request, HostPermissionRequest)

    @property
    def can_be_remembered(self) -> str | None:
        """What exactly would be remembered, as a sentence; ``None`` where it is too vague to remember anything."""
        return None if self.subject is None else what_is_remembered(self.subject)

    def choose(self, option_id: str, *, remember: RememberScope | str | None = None) -> None:
        """Answer with one of the options.

        Args:
            option_id: the option's id.
            remember: also let the host remember the answer, for the ``session`` or ``always``, so that nobody is
                asked about the same thing again; ``None``: not. It is independent of what an option asks the *agent*
                to remember.

        Raises:
            InvalidInput: there is no such option, or nothing that could be remembered.
            InvalidState: it was answered before, or has expired.
        """
        outcome = SelectedPermissionOutcome(option_id=option_id)
        if remember is None:
            self.answer(outcome)
        elif self.can_be_remembered is None:
            raise InvalidInput("the request names no path and no command, so there is nothing exact to remember")
        else:
            self.answer(AnswerToRemember(outcome, remember))

    def acknowledge(self) -> None:
        """Take note of a request without options; the agent is told ``cancelled``.

        Raises:
            InvalidInput: it has options; choose one of them.
            InvalidState: it was answered before, or has expired.
        """
        if self.options:
            raise InvalidInput("the request has options; choose one of them")
        self.answer(CancelledPermissionOutcome())


class PermissionQueue(QuestionQueue[RequestPermissionRequest, _Answer]):
    """The permission requests that wait, oldest first; a handler for ``connect(permissions=…)``, and reactive.

    A request leaves it as ``expired`` when the agent withdraws it, its turn is cancelled, the tool call that it is
    about ends, or the connection does; what waits here is what ``session.state`` has among its questions.

    Args:
        timeout: seconds that a person may take; then the request is rejected. ``None``: as long as the agent waits.
        scheduler: as for :class:`~acp_host.services.question_queue.QuestionQueue`.
        report: likewise.
    """

    def __init__(
        self,
        *,
        timeout: float | None = None,
        scheduler: Scheduler | None = None,
        report: Callable[[Callable[..., Any], BaseException], None] | None = None,
    ) -> None:
        super().__init__(timeout=timeout, scheduler=scheduler, report=report)

    @property
    def pending(self) -> tuple[PendingPermission, ...]:
        """The requests that wait, oldest first."""
        waiting: Any = self.snapshot()
        return tuple(waiting)

    async def ask(
        self, request: RequestPermissionRequest, subject: PermissionSubject, explanation: Explanation | None
    ) -> _Answer:
        """Ask, and show what the request is about; for the host. Raises ``TimeoutError`` when the time is up."""
        return await self.show(PendingPermission(self.next_number(), request, self, subject, explanation))

    def make_question(self, number: int, request: RequestPermissionRequest) -> PendingPermission:
        return PendingPermission(number, request, self)

    def checked(self, request: RequestPermissionRequest, answer: _Answer) -> _Answer:
        if isinstance(answer, AnswerToRemember):
            return AnswerToRemember(validate_outcome(request, answer.outcome), answer.scope)
        return validate_outcome(request, answer)

    def timed_out(self, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        return outcome_for(PermissionDecision.REJECT_ONCE, request.options)
