"""Work that a Harn agent hands to somebody else, a person or another of its personas: :class:`Handoffs`, a reducer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Keyed
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, model

__all__ = ["MAX_HANDOFFS", "Handoff", "HandoffReported", "HandoffTarget", "Handoffs"]

MAX_HANDOFFS = 200
"""How many handoffs are kept, the newest ones."""

_TOPIC = "handoffs"


@value
class HandoffTarget:
    """Who is to go on with the work.

    Attributes:
        kind: ``persona``, or another word of the agent, e.g. for a person.
        id: who, for the agent.
        label: who, for people.
        uri: where to reach them.
        extra: what else the agent said.
    """

    kind: str | None = None
    id: str | None = None
    label: str | None = None
    uri: str | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@value
class Handoff:
    """Work that is handed on. All but the id may be missing; lists hold JSON of the agent's own.

    Attributes:
        handoff_id: its id; what comes with the same one takes its place.
        artifact_id: the artifact that goes with it.
        kind: what sort of handoff it is; older agents do not say, and have one sort.
        source_persona: who hands it on.
        target: who is to go on with it.
        task: what is to be done.
        reason: why it is handed on.
        evidence_refs: what it rests on.
        open_questions: what has to be found out.
        blocked_on: what it waits for.
        requested_capabilities: what the target has to be able to do.
        allowed_side_effects: what it may change.
        files_or_entities_touched: what was changed so far.
        receipt_links: proofs of what was done.
        budget_remaining: what may still be spent; JSON of the agent's own, as are the five after it.
        deadline_checkback: when somebody will look after it.
        confidence: how sure the agent is.
        route_decision: why this target.
        metadata: what else there is to it.
        parent_run_id: the run that it is from.
        created_at: when it was made, as the agent writes it.
        extra: what else the agent said.
    """

    handoff_id: str
    artifact_id: str | None = None
    kind: str = "handoff"
    source_persona: str | None = None
    target: HandoffTarget | None = None
    task: str | None = None
    reason: str | None = None
    evidence_refs: tuple[Any, ...] = plain_json(default=())
    open_questions: tuple[Any, ...] = plain_json(default=())
    blocked_on: tuple[Any, ...] = plain_json(default=())
    requested_capabilities: tuple[Any, ...] = plain_json(default=())
    allowed_side_effects: tuple[Any, ...] = plain_json(default=())
    files_or_entities_touched: tuple[Any, ...] = plain_json(default=())
    receipt_links: tuple[Any, ...] = plain_json(default=())
    budget_remaining: Any = plain_json(default=None)
    deadline_checkback: Any = plain_json(default=None)
    confidence: Any = plain_json(default=None)
    route_decision: Any = plain_json(default=None)
    metadata: Any = plain_json(default=None)
    parent_run_id: str | None = None
    created_at: str | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@model
class HandoffReported(HarnEvent):
    """Work is handed on; this takes the place of what was said of it before."""

    handoff: Handoff


class Handoffs:
    """Folds what is told of handoffs.

    Args:
        note: called with each change.
        problem: called with what is forgotten because there is too much.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self._handoffs: Keyed[Handoff] = Keyed(_TOPIC, note, MAX_HANDOFFS, problem=problem)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns handoffs."""
        return {HandoffReported: lambda event: self._handoffs.put(event.handoff.handoff_id, event.handoff)}

    def freeze(self) -> Mapping[str, Handoff]:
        """Return the handoffs by id, in the order in which they first came."""
        return self._handoffs.freeze()
