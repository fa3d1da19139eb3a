"""The plans of a Harn agent as documents with revisions and comments: :class:`PlanDocuments`, a reducer.

The steps of such a plan are the session's plan, as with every agent; here is what there is to it beyond them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Keyed
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, model

__all__ = ["MAX_DOCUMENTS", "PlanDocument", "PlanDocumentReported", "PlanDocuments", "PlanRevision"]

MAX_DOCUMENTS = 50
"""How many documents are kept, the newest ones."""

_TOPIC = "plan_documents"


@value
class PlanRevision:
    """A plan as it was at one time. Every member may be missing.

    Attributes:
        revision_id: its id; a change of the plan names the one that it is made to.
        markdown: the plan, for people.
        plan: the plan with its steps and what else is to it; JSON of the agent's own.
        author: who made it so; likewise.
        operation: by what; likewise.
        source: from where; likewise.
        created_at: when, in the agent's words.
        extra: what else the agent said.
    """

    revision_id: str | None = None
    markdown: str | None = None
    plan: Any = plain_json(default=None)
    author: Any = plain_json(default=None)
    operation: Any = plain_json(default=None)
    source: Any = plain_json(default=None)
    created_at: str | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@value
class PlanDocument:
    """A plan.

    Attributes:
        document_id: its id.
        schema: ``harn.plan_document.v1``; ``harn.plan.v1`` for what agents up to April 2026 send, which has only
            ``revision.plan``.
        revision: the plan as it is now; ``None`` if the agent does not say.
        comments: what people have said to it; JSON of the agent's own.
        resolution_receipts: what has become of that; likewise.
        created_at: when it was begun, in the agent's words.
        updated_at: when it was changed, likewise.
        extra: what else the agent said.
    """

    document_id: str
    schema: str | None = None
    revision: PlanRevision | None = None
    comments: tuple[Any, ...] = plain_json(default=())
    resolution_receipts: tuple[Any, ...] = plain_json(default=())
    created_at: str | None = None
    updated_at: str | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def title(self) -> str | None:
        """What the plan is called, if that is known."""
        plan = None if self.revision is None else self.revision.plan
        title = plan.get("title") if isinstance(plan, Mapping) else None
        return title if isinstance(title, str) else None


@model
class PlanDocumentReported(HarnEvent):
    """A document is now so, in place of the one with its id."""

    document: PlanDocument


class PlanDocuments:
    """Folds what is told of documents.

    Args:
        note: called with each change.
        problem: called with what is forgotten because there is too much.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self._documents: Keyed[PlanDocument] = Keyed(_TOPIC, note, MAX_DOCUMENTS, problem=problem)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns documents."""
        return {PlanDocumentReported: lambda event: self._documents.put(event.document.document_id, event.document)}

    def freeze(self) -> Mapping[str, PlanDocument]:
        """Return the documents by id, in the order in which they first came."""
        return self._documents.freeze()
