"""Answering what an agent asks people outside of a permission request: :class:`HumanAnswers` (``harn.hitl.respond``).

What is asked is in the state (``session.state.snapshot().harn.human_requests``). While a turn runs an agent may read
the answer only behind it, so an answer has no time limit; if the turn does not move on, the user's way out is to cancel
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from acp_host.errors import InvalidInput
from acp_host.harn.calls import Calls
from acp_host.wire._model import NO_EXTRA

__all__ = ["HumanAnswers"]

_METHOD = "harn.hitl.respond"
_KINDS = ("question", "approval", "dual_control", "escalation")
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
            InvalidInput: the answer does not fit the question, the request is of another kind, or ``by`` is wrong.
            RequestFailed: the agent refused, or does not know the request.
            NotSupported: the agent is not Harn.
        """
        payload = self._asked(request_id, "question")
        _check_answer(answer, payload.get("schema"))
        await self._respond(request_id, {"answer": answer}, by)

    async def approve(self, request_id: str, approved: bool, **by: Any) -> None:
        """Answer an ``approval`` or a ``dual_control``; arguments and errors as for :meth:`answer`."""
        self._asked(request_id, "approval", "dual_control")
        await self._respond(request_id, {"approved": _flag("approved", approved)}, by)

    async def accept(self, request_id: str, accepted: bool, **by: Any) -> None:
        """Answer an ``escalation``; arguments and errors as for :meth:`answer`."""
        self._asked(request_id, "escalation")
        await self._respond(request_id, {"accepted": _flag("accepted", accepted)}, by)

    def _asked(self, request_id: str, *kinds: str) -> Mapping[str, Any]:
        """Return what is asked, as far as it is known here, and check that it is of one of these kinds."""
        kind, payload = _kind_by_id(request_id), NO_EXTRA
        if kind is not None and kind not in kinds:
            raise InvalidInput(f"{request_id} is a request of the kind {kind}, not {' or '.join(kinds)}")
        return payload

    async def _respond(self, request_id: str, answer: Mapping[str, Any], by: Mapping[str, Any]) -> None:
        await self._calls.request(_METHOD, {"request_id": request_id, **answer, **_who(by)})


def _kind_by_id(request_id: str) -> str | None:
    """Return the kind of a request that Harn names by it."""
    if not isinstance(request_id, str) or not request_id:
        raise InvalidInput(f"request_id is the agent's id of a request, not {request_id!r}")
    return next((kind for kind in _KINDS if request_id.startswith(f"hitl_{kind}_")), None)


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

    try:
        jsonschema.validate(answer, schema)
    except jsonschema.SchemaError:
        return  # the agent's own notion of a schema; it will say itself what does not fit
    except jsonschema.ValidationError as error:
        raise InvalidInput(f"the answer does not fit the question: {error.message} at {error.json_path}") from error


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} is True or False, not {value!r}")
    return value
