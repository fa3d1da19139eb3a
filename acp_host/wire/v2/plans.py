"""Plans in version 2: every plan has an id, and an entry can be cancelled."""

from __future__ import annotations

import enum
from typing import ClassVar, TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import PlanId
from acp_host.wire.plans import PlanEntry, PlanFile, PlanMarkdown, UnknownPlan

__all__ = ["PlanEntryStatus", "PlanItems", "PlanUpdate", "PlanUpdateContent"]


class PlanEntryStatus(enum.StrEnum):
    """How far an entry has come."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


@model
class PlanItems(Model):
    """A plan that is a list.

    Attributes:
        entries: always all of them; they replace the earlier ones. The status of each is one of
            :class:`PlanEntryStatus` or another word.
    """

    plan_id: PlanId
    entries: tuple[PlanEntry, ...] = wire_field(skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


PlanUpdateContent: TypeAlias = PlanItems | PlanFile | PlanMarkdown | UnknownPlan
"""The new form of a plan. Files and Markdown are unstable."""
tagged_union(
    "PlanUpdateContent",
    tag="type",
    variants={"items": PlanItems, "file": PlanFile, "markdown": PlanMarkdown},
    unknown=UnknownPlan,
)


@model
class PlanUpdate(Model):
    """A plan is new or has changed; the new form replaces the one with the same id."""

    session_update: ClassVar[str] = "plan_update"

    plan: PlanUpdateContent
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
