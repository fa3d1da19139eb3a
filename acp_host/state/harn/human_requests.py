"""What a Harn agent wants from a person: :class:`HumanRequests`, a reducer.

==========================================  ===========================================================================
what happens                                ``status`` of the request
==========================================  ===========================================================================
it is announced, in one way or in both      ``open``
this host has sent an answer                ``sent``; an answer may wait for the end of the turn that waits for it
the agent has taken that                    ``answered``; ``open`` where more than one person has to answer
the agent has refused that                  ``open``
the agent says what became of the request   its word: ``answered``, ``timeout``, ``cancelled``, ``error``, or another
its turn ends before anybody has answered   ``unanswered``; an answer, or the agent's word, may yet come
its session ends before the agent's word    ``unanswered``
==========================================  ===========================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Keyed
from acp_host.state.events import HarnEvent, SessionClosed, TurnEnded
from acp_host.state.harn.agent_events import AgentSessionEnded
from acp_host.wire._model import NO_EXTRA, evolve, model
from acp_host.wire._shape import LARGEST_NUMBER

__all__ = [
    "KINDS",
    "MAX_REQUESTS",
    "HumanAnswerRefused",
    "HumanAnswerSent",
    "HumanAnswerTaken",
    "HumanRequest",
    "HumanRequestResolved",
    "HumanRequested",
    "HumanRequests",
    "kind_in",
]

MAX_REQUESTS = 200
"""How many requests are kept; those that need no answer leave first, the oldest before the others."""

_TOPIC = "human_requests"
_OPEN, _SENT, _ANSWERED, _UNANSWERED = "open", "sent", "answered", "unanswered"
_NOT_OVER = (_OPEN, _SENT, _UNANSWERED)
"""Words of this host: an agent that uses them says only that the request is over."""
KINDS: Final = ("question", "approval", "dual_control", "escalation")
"""The kinds of request that Harn is known to have."""


@value
class HumanRequest:
    """Something that the agent wants from a person.

    Attributes:
        request_id: its id; it begins with ``hitl_`` and the kind.
        kind: ``question``, ``approval``, ``dual_control``, ``escalation``, or another word of the agent.
        payload: what is asked; JSON of the agent's own, of which the properties below read what is known of it.
        agent: who asks, if it is said.
        trace_id: names the work that it belongs to, if it is said.
        run_id: likewise.
        requested_at: when, in the agent's words.
        status: see above.
        extra: what else the agent said.
    """

    request_id: str
    kind: str | None = None
    payload: Mapping[str, Any] = plain_json(default=NO_EXTRA)
    agent: str | None = None
    trace_id: str | None = None
    run_id: str | None = None
    requested_at: str | None = None
    status: str = _OPEN
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def is_open(self) -> bool:
        """Whether an answer may still come to something: show the question as long as that is so."""
        return self.status in (_OPEN, _SENT)

    @property
    def is_over(self) -> bool:
        """Whether the agent has said what became of it."""
        return not self.is_open and self.status != _UNANSWERED

    @property
    def waits_for_agent(self) -> bool:
        """Whether an answer is on its way. If nothing comes of it, cancelling the turn is the way out."""
        return self.status == _SENT

    @property
    def prompt(self) -> str:
        """What to ask a person; empty if the agent does not say."""
        words = (self.payload.get("prompt"), self.payload.get("detail"), self.approval.get("action"))
        return next((word for word in words if isinstance(word, str) and word), "")

    @property
    def schema(self) -> Any:
        """The JSON Schema of the answer to a question; ``None`` if anything is one."""
        return self.payload.get("schema")

    @property
    def default(self) -> Any:
        """What a question is taken to be answered with where nobody answers; ``None`` if there is nothing."""
        return self.payload.get("default")

    @property
    def approval(self) -> Mapping[str, Any]:
        """What is to be approved, as the agent tells it; empty if this is about nothing of that sort."""
        found = self.payload.get("approval_request")
        return found if isinstance(found, Mapping) else NO_EXTRA

    @property
    def quorum(self) -> int:
        """How many people have to agree, each by an answer of their own."""
        found = self.payload.get("quorum", self.approval.get("approvers_required"))
        return found if isinstance(found, int) and not isinstance(found, bool) and found > 1 else 1

    @property
    def reviewers(self) -> tuple[str, ...]:
        """Who may answer; empty: anybody."""
        found = self.payload.get("reviewers")
        return tuple([each for each in found if isinstance(each, str)]) if isinstance(found, list | tuple) else ()

    @property
    def timeout(self) -> float | None:
        """Seconds that the agent waits for an answer, from when it asked; ``None`` if it does not say."""
        found = self.payload.get("timeout_ms", self.payload.get("deadline_ms"))
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        return found / 1000 if is_number and 0 <= found <= LARGEST_NUMBER else None


@model
class HumanRequested(HarnEvent):
    """The agent wants something; one request may be announced twice, with different facts."""

    request: HumanRequest


@model
class HumanRequestResolved(HarnEvent):
    """The agent says what became of a request, in its word."""

    request_id: str
    outcome: str
    kind: str | None = None


@model
class HumanAnswerSent(HarnEvent):
    """This host has sent an answer to a request."""

    request_id: str


@model
class HumanAnswerTaken(HarnEvent):
    """The agent has taken that answer; what became of the request it may say besides."""

    request_id: str


@model
class HumanAnswerRefused(HarnEvent):
    """The agent did not take that answer."""

    request_id: str


class HumanRequests:
    """Folds what is told of requests.

    Args:
        note: called with each change.
        problem: called with what is forgotten because there is too much.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self._requests: Keyed[HumanRequest] = Keyed(
            _TOPIC, note, MAX_REQUESTS, lambda request: not request.is_open, problem
        )

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns requests."""
        return {
            HumanRequested: self._requested,
            HumanRequestResolved: self._resolved,
            HumanAnswerSent: lambda event: self._move(event.request_id, (_OPEN, _UNANSWERED), _SENT),
            HumanAnswerTaken: self._taken,
            HumanAnswerRefused: lambda event: self._move(event.request_id, (_SENT,), _OPEN),
            TurnEnded: lambda _: self._over(_OPEN),
            SessionClosed: lambda _: self._over(_OPEN, _SENT),
            AgentSessionEnded: lambda _: self._over(_OPEN, _SENT),
        }

    def freeze(self) -> Mapping[str, HumanRequest]:
        """Return the requests by id, those that were announced first before the others."""
        return self._requests.freeze()

    def _requested(self, event: HumanRequested) -> None:
        told = event.request
        known = self._requests.get(told.request_id) or told
        merged = evolve(
            known,
            kind=known.kind or told.kind or kind_in(told.request_id),
            payload={**told.payload, **known.payload} or NO_EXTRA,
            agent=known.agent or told.agent,
            trace_id=known.trace_id or told.trace_id,
            run_id=known.run_id or told.run_id,
            requested_at=known.requested_at or told.requested_at,
            extra={**told.extra, **known.extra} or NO_EXTRA,
        )
        self._requests.put(told.request_id, merged)

    def _resolved(self, event: HumanRequestResolved) -> None:
        known = self._requests.get(event.request_id)
        if known is None:
            kind = event.kind or kind_in(event.request_id)
            known = HumanRequest(request_id=event.request_id, kind=kind)
        if known.is_open or known.status == _UNANSWERED:
            outcome = _ANSWERED if event.outcome in _NOT_OVER else event.outcome
            self._requests.put(event.request_id, evolve(known, status=outcome))

    def _taken(self, event: HumanAnswerTaken) -> None:
        known = self._requests.get(event.request_id)
        if known is not None:
            self._move(event.request_id, (_SENT,), _ANSWERED if known.quorum == 1 else _OPEN)

    def _move(self, request_id: str, before: tuple[str, ...], after: str) -> None:
        known = self._requests.get(request_id)
        if known is not None and known.status in before:
            self._requests.put(request_id, evolve(known, status=after))

    def _over(self, *before: str) -> None:
        for request_id in self._requests.freeze():
            self._move(request_id, before, _UNANSWERED)


def kind_in(request_id: str) -> str | None:
    """Return the kind of a request that its id tells of, or ``None``."""
    return next((kind for kind in KINDS if request_id.startswith(f"hitl_{kind}_")), None)
