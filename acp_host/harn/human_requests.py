"""Answering what an agent asks people outside of a permission request: :class:`HumanAnswers` (``harn.hitl.respond``).

What is asked is in the state (``session.state.snapshot().harn.human_requests``). While a turn runs an agent may read
the answer only behind it, so an answer has no time limit; if the turn does not move on, the user's way out is to cancel
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from acp_host.errors import AcpError, InvalidInput
from acp_host.harn.calls import Calls
from acp_host.state.events import HarnEvent
from acp_host.state.harn.human_requests import (
    KINDS,
    HumanAnswerRefused,
    HumanAnswerSent,
    HumanAnswerTaken,
    HumanRequest,
    kind_in,
)

__all__ = ["HumanAnswers"]

_METHOD = "harn.hitl.respond"
_BY: Mapping[str, type] = {
    "reviewer": str,
    "reason": str,
    "metadata": Mapping,
    "responded_at": datetime,
    "signature": str,
}


class HumanAnswers:
    """Answers the requests of one session.

    Args:
        calls: sends the answers.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def answer(self, request_id: str, answer: Any, **by: Any) -> None:
        """Answer a ``question``.

        Args:
            request_id: the agent's id of the request.
            answer: any JSON; where the question has a JSON Schema, one that fits it.
            by: ``reviewer``, ``reason``, ``metadata``, ``responded_at`` (a ``datetime`` with a time zone) and
                ``signature``, all optional: who answers, and why. Where several have to, each answers once.

        Raises:
            InvalidInput: the answer does not fit the question, the request is of another kind or over, or ``by`` is
                wrong.
            RequestFailed: the agent refused, or does not know the request.
            NotSupported: the agent is not Harn.
        """
        request = self._check_kind(request_id, "question")
        _check_answer(answer, None if request is None else request.schema)
        await self._respond(request_id, {"answer": answer}, by)

    async def approve(self, request_id: str, approved: bool, **by: Any) -> None:
        """Answer an ``approval`` or a ``dual_control``; arguments and errors as for :meth:`answer`."""
        self._check_kind(request_id, "approval", "dual_control")
        await self._respond(request_id, {"approved": _flag("approved", approved)}, by)

    async def accept(self, request_id: str, accepted: bool, **by: Any) -> None:
        """Answer an ``escalation``; arguments and errors as for :meth:`answer`."""
        self._check_kind(request_id, "escalation")
        await self._respond(request_id, {"accepted": _flag("accepted", accepted)}, by)

    def _check_kind(self, request_id: str, *kinds: str) -> HumanRequest | None:
        """Return the request, if the agent has announced it here.

        Raises:
            InvalidInput: it is of none of these kinds, or needs no answer any more.
        """
        if not isinstance(request_id, str) or not request_id:
            raise InvalidInput(f"request_id is the agent's id of a request, not {request_id!r}")
        harn = self._calls.session.state.harn
        request = None if harn is None else harn.snapshot().human_requests.get(request_id)
        kind = kind_in(request_id) if request is None else request.kind
        if kind in KINDS and kind not in kinds:
            raise InvalidInput(f"{request_id} is of the kind {kind}, and not {' or '.join(kinds)}")
        if request is not None and request.is_over:
            raise InvalidInput(f"{request_id} needs no answer any more: it is {request.status}")
        return request

    async def _respond(self, request_id: str, answer: Mapping[str, Any], by: Mapping[str, Any]) -> None:
        params = {"request_id": request_id, **answer, **_who(by)}
        self._calls.require(_METHOD)
        self._tell(HumanAnswerSent(request_id))
        try:
            await self._calls.request(_METHOD, params, on_result=lambda _: self._tell(HumanAnswerTaken(request_id)))
        except AcpError:  # also where it could not be sent
            self._tell(HumanAnswerRefused(request_id))
            raise

    def _tell(self, event: HarnEvent) -> None:
        if self._calls.session.state.harn is not None:  # else the request is not known here
            self._calls.session.state.apply(event)


def _who(by: Mapping[str, Any]) -> dict[str, Any]:
    """Return who answers as parameters.

    Raises:
        InvalidInput: a name is unknown, or a value is of the wrong type.
    """
    unknown = by.keys() - _BY.keys()
    if unknown:
        raise InvalidInput(f"an answer has no {', '.join(sorted(unknown))}; it may have {', '.join(_BY)}")
    given = {name: value for name, value in by.items() if value is not None}
    for name, value in given.items():
        if not isinstance(value, _BY[name]):
            raise InvalidInput(f"{name} of an answer is a {_BY[name].__name__}, not {type(value).__name__}")
    at = given.get("responded_at")
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise InvalidInput("responded_at needs a time zone")
        given["responded_at"] = at.isoformat()
    return given


def _check_answer(answer: Any, schema: Any) -> None:
    """Hold an answer against the schema of its question, where that is a JSON Schema.

    Raises:
        InvalidInput: it does not fit.
    """
    if not isinstance(schema, Mapping):
        return
    import jsonschema  # loaded when there is something to hold against it
    from jsonschema.exceptions import best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    checked = _without_patterns()
    try:
        checked.check_schema(schema)
        error = best_match(checked(schema, registry=Registry()).iter_errors(answer))  # which fetches nothing
    except (jsonschema.SchemaError, Unresolvable, RecursionError):
        return  # the agent's own notion of a schema: it will say itself what does not fit
    if error is not None:
        raise InvalidInput(f"the answer does not fit the question: {error.message} at {error.json_path}")


@cache
def _without_patterns() -> Any:
    """Return JSON Schema without its patterns: an agent's pattern may take for ever, and it checks them itself."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import create

    rules = {name: rule for name, rule in Draft202012Validator.VALIDATORS.items() if not name.startswith("pattern")}
    return create(Draft202012Validator.META_SCHEMA, rules)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} is True or False, not {value!r}")
    return value
