"""What becomes of the agent's ``elicitation/create``: :func:`answer_elicitation`.

Owns which requests reach a handler, and the check that an answer fits the question. Nothing is sent that does not fit:

================================================  =====================================================
the handler                                       the agent is told
================================================  =====================================================
accepts with an answer that fits the form         ``accept`` with the answer
accepts with one that does not, or is no answer   ``decline``, and a diagnostic
declines or cancels                               the same
raises a :class:`~acp_host.errors.RequestFailed`  that error
raises anything else                              ``decline``, and a diagnostic
there is none for the mode, or it is not known    ``decline``, and a diagnostic with the whole request
================================================  =====================================================

``decline`` lets the agent go on without an answer, while several end their turn at ``cancel``; that is for users who
went away, and for turns that are cancelled. A form that is too large to be shown, or an address that is not safe to
open, is refused with -32602 and reaches nobody.

Specification: Elicitation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import InvalidInput, InvalidParams, RequestFailed
from acp_host.services._awaiting import awaited
from acp_host.services.elicitation_handlers import ElicitationHandler, ElicitationHandlers
from acp_host.services.form_answers import review_answer
from acp_host.services.form_reader import read_form
from acp_host.services.forms import Form
from acp_host.services.page_address import read_address
from acp_host.services.question_queue import QuestionQueue
from acp_host.wire._model import UNSET, evolve
from acp_host.wire.elicitation import (
    CreateElicitationRequest,
    CreateElicitationResponse,
    ElicitationAcceptAction,
    ElicitationDeclineAction,
    ElicitationFormMode,
    ElicitationUrlMode,
)

__all__ = ["answer_elicitation", "require_answer"]

_METHOD = "elicitation/create"


async def answer_elicitation(
    handlers: ElicitationHandlers,
    request: CreateElicitationRequest,
    report: Callable[[Diagnostic], None],
    decided_here: Callable[[str], None] = lambda why: None,
) -> CreateElicitationResponse:
    """Return what the agent is told; see the table of this module.

    Args:
        handlers: of the application.
        request: the question.
        report: takes diagnostics.
        decided_here: told why, where the answer is neither the user's nor the handler's.

    Raises:
        InvalidParams: the question is none that can be shown.
        RequestFailed: the handler refused in its own words.
    """
    session_id = getattr(request.scope, "session_id", None)

    def say(kind: DiagnosticKind, text: str, data: Any = None) -> None:
        report(Diagnostic(kind, text, method=_METHOD, session_id=session_id, data=data))

    handler = _handler_for(handlers, request)
    if handler is None:
        text = "the agent asked in a mode that this host did not offer; it was declined"
        say(DiagnosticKind.UNEXPECTED, text, request)
        decided_here(text)
        return ElicitationDeclineAction()
    form = await _read(request, say)
    try:
        return await _checked(form, await _asked(handler, request, decided_here), say)
    except RequestFailed:
        raise
    except Exception as error:
        text = f"the elicitation handler failed, so the agent was told no: {type(error).__name__}: {error}"
        say(DiagnosticKind.HANDLER_FAILED, text)
        decided_here(text)
        return ElicitationDeclineAction()


def _handler_for(handlers: ElicitationHandlers, request: CreateElicitationRequest) -> ElicitationHandler | None:
    """Return the handler for the request's mode, or ``None``."""
    if isinstance(request, ElicitationFormMode):
        return handlers.form
    return handlers.url if isinstance(request, ElicitationUrlMode) else None


async def _asked(handler: ElicitationHandler, request: Any, decided_here: Callable[[str], None]) -> Any:
    """Return a handler's answer; a queue's is nobody's where the time was up."""
    if not isinstance(handler, QuestionQueue):
        return await awaited(handler(request))
    try:
        return await handler.show(handler.make_question(handler.next_number(), request))
    except TimeoutError as error:
        decided_here(str(error))
        return handler.timed_out(request)


async def _read(request: CreateElicitationRequest, say: Callable[..., None]) -> Form | None:
    """Return the form of a request that has one; raises ``InvalidParams`` for a question that cannot be shown."""
    try:
        if isinstance(request, ElicitationUrlMode):
            read_address(request.url)
        elif isinstance(request, ElicitationFormMode):
            form = await asyncio.to_thread(read_form, request)
            if form.problems:
                text = f"parts of the form were left out: {'; '.join(form.problems)}"
                say(DiagnosticKind.UNEXPECTED, text, form.problems)
            return form
    except (InvalidInput, InvalidParams) as error:
        text = error.message if isinstance(error, InvalidParams) else str(error)
        say(DiagnosticKind.MALFORMED, f"a question was refused: {text}")
        raise InvalidParams(text) from None
    return None


async def _checked(form: Form | None, given: Any, say: Callable[..., None]) -> CreateElicitationResponse:
    """Return a handler's answer as it may be sent; raises ``InvalidInput`` if it does not fit the question."""
    answer = require_answer(given)
    if not isinstance(answer, ElicitationAcceptAction):
        return answer
    if form is None:
        return evolve(answer, content=UNSET)
    review = await review_answer(form, answer.content or {})
    review.require_valid()
    if review.unchecked:
        say(DiagnosticKind.UNEXPECTED, f"parts of an answer were not checked: {'; '.join(review.unchecked)}")
    return evolve(answer, content=review.content)


def require_answer(answer: object) -> CreateElicitationResponse:
    """Return ``answer`` if it accepts, declines or cancels, or is of a later kind; raise ``InvalidInput`` if not."""
    if not isinstance(answer, CreateElicitationResponse):
        given = type(answer).__name__
        raise InvalidInput(f"a question is accepted, declined or cancelled, not answered with {given}")
    content = getattr(answer, "content", None)
    if content and not isinstance(content, Mapping):
        raise InvalidInput(f"the content of an answer is a mapping by name of the field, not {type(content).__name__}")
    return answer
