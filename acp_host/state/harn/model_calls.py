"""What Harn's bridge tells of the calls of the model: :class:`ModelCalls`, a reducer.

These are measurements, and no tool calls: what the model says comes to the transcript in another way. ``text`` is what
an agent lets a user see of a call before that, if anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Keyed
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, evolve, model

__all__ = [
    "MAX_CALLS",
    "MAX_TEXT",
    "ModelCall",
    "ModelCallEnded",
    "ModelCallProgressed",
    "ModelCallStarted",
    "ModelCalls",
]

MAX_CALLS = 100
"""How many calls are kept; those that have ended leave first, the oldest before the others."""

MAX_TEXT = 4000
"""How much of a call's text is kept, in characters: the end."""

_TOPIC = "model_calls"


@value
class ModelCall:
    """A call of the model. All but the id may be missing.

    Attributes:
        call_id: its id.
        call_type: ``llm``, or another word of the agent.
        name: what is called.
        script: by which program.
        status: how it has ended, in the agent's word; ``None`` as long as it runs.
        ended: it has ended.
        tokens: how many tokens have come so far.
        text: the end of what a user may see of it.
        duration_ms: how long it took, in milliseconds.
        metadata: what else there is to it; of each member what was said last.
        extra: what else the agent said.
    """

    call_id: str
    call_type: str | None = None
    name: str | None = None
    script: str | None = None
    status: str | None = None
    ended: bool = False
    tokens: int | None = None
    text: str = ""
    duration_ms: int | float | None = None
    metadata: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@model
class ModelCallStarted(HarnEvent):
    """A call begins."""

    call: ModelCall


@model
class ModelCallProgressed(HarnEvent):
    """More of a call has come; ``text`` is what of that a user may see."""

    call_id: str
    tokens: int | None = None
    text: str = ""


@model
class ModelCallEnded(HarnEvent):
    """A call has ended."""

    call: ModelCall


class ModelCalls:
    """Folds what is told of calls.

    Args:
        note: called with each change.
        problem: called with what is forgotten because there is too much.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self._calls: Keyed[ModelCall] = Keyed(_TOPIC, note, MAX_CALLS, lambda call: call.ended, problem)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns calls."""
        return {ModelCallStarted: self._told, ModelCallProgressed: self._progressed, ModelCallEnded: self._told}

    def freeze(self) -> Mapping[str, ModelCall]:
        """Return the calls by id, those that began first before the others."""
        return self._calls.freeze()

    def _told(self, event: ModelCallStarted | ModelCallEnded) -> None:
        told = event.call
        known = self._calls.get(told.call_id) or told
        merged = evolve(
            known,
            call_type=told.call_type or known.call_type,
            name=told.name or known.name,
            script=told.script or known.script,
            status=told.status or known.status,
            ended=told.ended or known.ended,
            duration_ms=known.duration_ms if told.duration_ms is None else told.duration_ms,
            metadata=told.metadata or known.metadata,
            extra=told.extra or known.extra,
        )
        self._calls.put(told.call_id, merged)

    def _progressed(self, event: ModelCallProgressed) -> None:
        known = self._calls.get(event.call_id) or ModelCall(call_id=event.call_id)
        tokens = known.tokens if event.tokens is None else event.tokens
        self._calls.put(event.call_id, evolve(known, tokens=tokens, text=(known.text + event.text)[-MAX_TEXT:]))
