"""Compaction in version 2: as in version 1, with version 2's content."""

from __future__ import annotations

from typing import ClassVar

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.compaction import CompactionStatus
from acp_host.wire.ids import CompactionId
from acp_host.wire.v2.content import ContentBlock

__all__ = ["CompactionSummaryChunk", "CompactionUpdate"]


@model
class CompactionUpdate(Model):
    """A compaction begins or has changed. Absent leaves an attribute as it was, ``None`` clears it.

    Attributes:
        status: one of :class:`~acp_host.wire.compaction.CompactionStatus` or another word.
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
