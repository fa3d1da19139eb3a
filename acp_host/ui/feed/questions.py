"""The questions that wait for a person, as the feed tells of them and takes their answers: :class:`Questions`.

Permission requests, forms, web pages and logins are in queues of their own; here they are one list, with one row of
numbers. Everything an agent says in them is shown beside its name, and answered with what it offered, never with what a
page makes of it: the queues check each answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from acp_host.errors import InvalidInput, InvalidState
from acp_host.host.authentication import LoginRequest
from acp_host.host.login_queue import LoginQueue, PendingLogin
from acp_host.services.elicitation_queue import ElicitationQueue, FormQuestion, PageQuestion
from acp_host.services.forms import FormField
from acp_host.services.permission_queue import PendingPermission, PermissionQueue
from acp_host.services.question_queue import PendingQuestion
from acp_host.state.json_form import to_json
from acp_host.ui.feed.logins import login_ways
from acp_host.wire._model import UNSET
from acp_host.wire.codec import encode
from acp_host.wire.converters import unstructure
from acp_host.wire.elicitation import CreateElicitationRequest

__all__ = ["Questions"]

_LARGEST_RAW = 256 * 2**10
"""Bytes of a request that is shown as it came; a larger one is shown by its parts only."""

_ACCEPTED = {"accepted": True}


class Questions:
    """What waits for an answer, oldest first.

    Args:
        permissions: the queue of permission requests; ``None``: they are not answered here.
        elicitation: that of forms and web pages; likewise.
        logins: that of logins; likewise.
        agent_name: returns the name to show beside each.
        changed: called when one comes, changes or goes.
    """

    def __init__(
        self,
        permissions: PermissionQueue | None,
        elicitation: ElicitationQueue | None,
        logins: LoginQueue | None,
        agent_name: Callable[[], str],
        changed: Callable[[], None],
    ) -> None:
        self._queues: list[Any] = [queue for queue in (permissions, elicitation, logins) if queue is not None]
        self._agent_name = agent_name
        self._counter = itertools.count(1)
        self._numbers: dict[PendingQuestion[Any, Any], int] = {}
        self._subscriptions = [queue.changed.connect(lambda _: changed()) for queue in self._queues]

    def close(self) -> None:
        """Follow the queues no more."""
        for subscription in self._subscriptions:
            subscription.end()

    def message(self) -> dict[str, Any]:
        """Return what waits, as the feed's message."""
        return {"type": "questions", "items": [self._shown(number, each) for each, number in self._pending().items()]}

    async def answer(self, number: int, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one; return whether that was ``accepted``, and else what is wrong with which field of a form.

        Args:
            number: as it was told.
            answer: ``option`` and ``remember``, or ``action`` and ``content``, or ``login`` and ``values``.

        Raises:
            InvalidInput: it cannot be answered so; it stays open.
            InvalidState: nobody waits for an answer any more.
        """
        question = next((each for each, known in self._pending().items() if known == number), None)
        if question is None:
            raise InvalidState(f"question {number} was answered already, or nobody waits for an answer any more")
        if isinstance(question, PendingPermission):
            _answer_permission(question, answer)
            return _ACCEPTED
        if isinstance(question, PendingLogin):
            _answer_login(question, answer)
            return _ACCEPTED
        if not isinstance(question, FormQuestion | PageQuestion):
            raise InvalidInput(f"question {number} is of a kind that cannot be answered here")
        return await _answer_elicitation(question, answer)

    def _pending(self) -> dict[PendingQuestion[Any, Any], int]:
        """Return what waits, numbered in the order in which it was first seen."""
        pending = [question for queue in self._queues for question in queue.pending]
        waiting = set(pending)
        known = {question: number for question, number in self._numbers.items() if question in waiting}
        self._numbers = known | {question: next(self._counter) for question in pending if question not in known}
        return self._numbers

    def _shown(self, number: int, question: PendingQuestion[Any, Any]) -> dict[str, Any]:
        common = {"number": number, "agent": self._agent_name()}
        if isinstance(question, PendingPermission):
            return {**common, **_permission(question)}
        if isinstance(question, PendingLogin):
            return {**common, **_login(question.request)}
        session, tool_call = question.request.session_id, question.request.tool_call_id
        common |= {
            "session": None if session is UNSET else session,
            "toolCallId": None if tool_call is UNSET else tool_call,
            "raw": _raw(unstructure(question.request, CreateElicitationRequest)),
        }
        if isinstance(question, FormQuestion):
            return {**common, **_form(question)}
        assert isinstance(question, PageQuestion)
        return {**common, **_page(question)}


# --- telling ----------------------------------------------------------------------------------------------------------


def _permission(question: PendingPermission) -> dict[str, Any]:
    subject, request = question.subject, question.request
    title = request.tool_call.title
    return {
        "kind": "permission",
        "session": request.session_id,
        "toolCallId": request.tool_call.tool_call_id,
        "title": subject.title if subject is not None else (title if isinstance(title, str) else ""),
        "summary": "" if subject is None else subject.summary,
        "command": None if subject is None else subject.command,
        "paths": [] if subject is None else list(subject.named_paths),
        "hidesEdit": subject is not None and subject.hides_edit,
        "options": [
            {"id": option.option_id, "name": option.name, "kind": str(option.kind)} for option in question.options
        ],
        "reason": None if question.explanation is None else question.explanation.reason,
        "remember": question.can_be_remembered,
        "hostsOwn": question.is_hosts_own,
        "raw": _raw(unstructure(request)),
    }


def _form(question: FormQuestion) -> dict[str, Any]:
    form = question.form
    return {
        "kind": "form",
        "title": form.title,
        "message": form.message,
        "description": form.description,
        "fields": [_field(field) for field in form.fields],
        "values": to_json(question.values),
        "problems": list(form.problems),
    }


def _field(field: FormField) -> dict[str, Any]:
    return {
        "name": field.name,
        "kind": str(field.kind),
        "label": field.label,
        "description": field.description,
        "required": field.required,
        "default": to_json(field.default),
        "choices": [
            {"value": choice.value, "label": choice.label, "description": choice.description}
            for choice in field.choices
        ],
        "minLength": field.min_length,
        "maxLength": field.max_length,
        "pattern": field.pattern,
        "format": field.format,
        "minimum": field.minimum,
        "maximum": field.maximum,
        "minItems": field.min_items,
        "maxItems": field.max_items,
    }


def _page(question: PageQuestion) -> dict[str, Any]:
    address = question.address
    return {
        "kind": "page",
        "message": question.message,
        "url": address.url,
        "host": address.host,
        "displayHost": address.display_host,
        "warnings": list(address.warnings),
        "completed": question.completed,
    }


def _login(request: LoginRequest) -> dict[str, Any]:
    return {
        "kind": "login",
        "session": None,
        "toolCallId": None,
        "message": request.message,
        "method": request.method,
        "ways": login_ways(request.methods),
        "raw": None,
    }


def _raw(request: Any) -> Any:
    """Return a request as it came; ``None`` where it is very large."""
    try:
        return request if len(encode(request)) <= _LARGEST_RAW else None
    except InvalidInput:
        return None


# --- answering --------------------------------------------------------------------------------------------------------


def _answer_permission(question: PendingPermission, answer: Mapping[str, Any]) -> None:
    if "option" in answer:
        question.choose(answer["option"], remember=answer.get("remember"))
    elif answer.get("action") == "cancel":
        question.acknowledge()
    else:
        raise InvalidInput("a permission request is answered with one of its options")


def _answer_login(question: PendingLogin, answer: Mapping[str, Any]) -> None:
    if "login" in answer:
        question.choose(answer["login"], answer.get("values"))
    elif answer.get("action") == "cancel":
        question.refuse()
    else:
        raise InvalidInput("a login is answered with the id of one of its ways, or with the action cancel")


async def _answer_elicitation(question: FormQuestion | PageQuestion, answer: Mapping[str, Any]) -> dict[str, Any]:
    action = answer.get("action")
    if action == "decline":
        question.decline()
    elif action == "cancel":
        question.cancel()
    elif action != "accept":
        raise InvalidInput("a form or a page is answered with an action: accept, decline or cancel")
    elif isinstance(question, PageQuestion):
        question.accept()  # the viewer's browser opens it
    else:
        return await _fill_in(question, answer.get("content", {}))
    return _ACCEPTED


async def _fill_in(question: FormQuestion, content: Mapping[str, Any]) -> dict[str, Any]:
    for name in question.values:
        question.set(name, None)
    for name, value in content.items():
        question.set(name, value)
    review = await question.review()
    if not review.valid:
        errors = [{"name": error.name, "message": error.message} for error in review.errors]
        return {"accepted": False, "errors": errors}
    question.accept(review)
    return _ACCEPTED
