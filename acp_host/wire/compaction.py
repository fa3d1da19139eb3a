"""Compaction: the agent shortens its context, and may say what it kept.

A compaction has an id and a place in the transcript, where the first message that names it arrives.
"""

from __future__ import annotations

import enum
from typing import ClassVar

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.content import ContentBlock
from acp_host.wire.ids import CompactionId

__all__ = ["CompactionStatus", "CompactionSummaryChunk", "CompactionUpdate"]


class CompactionStatus(enum.StrEnum):
    """How far a compaction has come. Words that begin with ``_`` are an agent's own."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@model
class CompactionUpdate(Model):
    """A compaction begins or has changed. Absent leaves an attribute as it was, ``None`` clears it.

    Attributes:
        summary: what was kept, for the user; replaces the summary so far, and an empty tuple clears it too.
        error: why it failed, for people.
        meta: absent leaves it as it was, ``None`` clears it.
    """

    session_update: ClassVar[str] = "compaction_update"

    compaction_id: CompactionId
    status: CompactionStatus | str
    summary: tuple[ContentBlock, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    error: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CompactionSummaryChunk(Model):
    """One more block of a compaction's summary. An id not seen before begins a compaction that is in progress."""

    session_update: ClassVar[str] = "compaction_summary_chunk"

    compaction_id: CompactionId
    content: ContentBlock
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
