"""Plans: what the agent means to do, and how far it has come.

:class:`Plan` is the session's one plan. The other types let a session have several, told apart by id, and let a plan
be a list, a file or Markdown; they are unstable.
"""

from __future__ import annotations

import enum
from typing import ClassVar, TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import PlanId

__all__ = [
    "Plan",
    "PlanEntry",
    "PlanEntryPriority",
    "PlanEntryStatus",
    "PlanFile",
    "PlanItems",
    "PlanMarkdown",
    "PlanRemoved",
    "PlanUpdate",
    "PlanUpdateContent",
    "UnknownPlan",
]


class PlanEntryPriority(enum.StrEnum):
    """How much an entry matters to the whole."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class PlanEntryStatus(enum.StrEnum):
    """How far an entry has come."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


@model
class PlanEntry(Model):
    """One thing that the agent means to do.

    Attributes:
        content: what it is, for people.
    """

    content: str
    priority: PlanEntryPriority | str = wire_field(stand_in=PlanEntryPriority.MEDIUM)
    status: PlanEntryStatus | str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class Plan(Model):
    """The session's plan.

    Attributes:
        entries: always all of them; they replace the earlier ones.
    """

    session_update: ClassVar[str] = "plan"

    entries: tuple[PlanEntry, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class PlanItems(Model):
    """A plan that is a list. Unstable.

    Attributes:
        entries: always all of them; they replace the earlier ones.
    """

    plan_id: PlanId
    entries: tuple[PlanEntry, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class PlanFile(Model):
    """A plan that is kept in a file. Unstable.

    Attributes:
        uri: where the file is.
    """

    plan_id: PlanId
    uri: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class PlanMarkdown(Model):
    """A plan that is written out. Unstable.

    Attributes:
        content: all of it, in Markdown.
    """

    plan_id: PlanId
    content: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownPlan(Unknown):
    """A plan of a kind that this version does not know."""


PlanUpdateContent: TypeAlias = PlanItems | PlanFile | PlanMarkdown | UnknownPlan
"""The new form of a plan. Unstable."""
tagged_union(
    "PlanUpdateContent",
    tag="type",
    variants={"items": PlanItems, "file": PlanFile, "markdown": PlanMarkdown},
    unknown=UnknownPlan,
)


@model
class PlanUpdate(Model):
    """A plan is new or has changed; the new form replaces the one with the same id. Unstable."""

    session_update: ClassVar[str] = "plan_update"

    plan: PlanUpdateContent
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class PlanRemoved(Model):
    """A plan is gone. Unstable."""

    session_update: ClassVar[str] = "plan_removed"

    plan_id: PlanId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
