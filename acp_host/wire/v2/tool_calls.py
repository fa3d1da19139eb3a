"""Tool calls of version 2: one message creates and changes them, another adds to what they have produced."""

from __future__ import annotations

import enum
from typing import Annotated, ClassVar, TypeAlias

from acp_host.wire._model import UNSET, Json, JsonObject, Limit, Model, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import SessionId, ToolCallId
from acp_host.wire.tool_calls import Terminal, ToolKind, UnknownToolCallContent
from acp_host.wire.v2.content import AbsolutePath, ContentBlock
from acp_host.wire.v2.diffs import Diff

__all__ = [
    "CancelToolCallRequest",
    "CancelToolCallResponse",
    "Content",
    "ToolCallCancelCapabilities",
    "ToolCallCapabilities",
    "ToolCallContent",
    "ToolCallContentChunk",
    "ToolCallLocation",
    "ToolCallStatus",
    "ToolCallUpdate",
]


class ToolCallStatus(enum.StrEnum):
    """How far a tool call has come; a word that is not here means that it is still going on.

    ``pending``: not begun. ``paused``: it goes on when something resumes it.
    """

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@model
class ToolCallLocation(Model):
    """A place in a file that a tool call reads or changes, so that an editor can follow along.

    Attributes:
        line: counted from 1; absent or ``None``: the file as a whole.
    """

    path: AbsolutePath
    line: Annotated[int, Limit(minimum=1)] | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class Content(Model):
    """A content block that a tool call produced."""

    content: ContentBlock
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


ToolCallContent: TypeAlias = Content | Diff | Terminal | UnknownToolCallContent
"""One thing that a tool call produced; its terminals are the agent's own."""
tagged_union(
    "ToolCallContent",
    tag="type",
    variants={"content": Content, "diff": Diff, "terminal": Terminal},
    unknown=UnknownToolCallContent,
)


@model
class ToolCallCancelCapabilities(Model):
    """A tool call can be cancelled; being there is what counts."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ToolCallCapabilities(Model):
    """What the host may do to a tool call at present.

    Attributes:
        cancel: cancel it with ``tool_call/cancel``; absent and ``None`` mean that it may not.
    """

    cancel: ToolCallCancelCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ToolCallUpdate(Model):
    """A tool call begins or has changed. Absent leaves an attribute as it was, ``None`` clears it.

    Attributes:
        kind: cleared it is ``other``.
        status: cleared it is ``pending``.
        content: replaces everything produced before; an empty tuple clears it, too.
        locations: replaces all earlier ones; an empty tuple clears them, too.
        capabilities: replaces the earlier ones; a new call has none.
        meta: changes the members that it names; those that are ``None`` in it are removed.
    """

    session_update: ClassVar[str] = "tool_call_update"

    tool_call_id: ToolCallId
    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    name: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    kind: ToolKind | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    status: ToolCallStatus | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    content: tuple[ToolCallContent, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    locations: tuple[ToolCallLocation, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    raw_input: Json = wire_field(default=UNSET, default_on_error=True)
    raw_output: Json = wire_field(default=UNSET, default_on_error=True)
    capabilities: ToolCallCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ToolCallContentChunk(Model):
    """One more thing that a tool call has produced.

    Attributes:
        meta: belongs to the chunk, not to the call.
    """

    session_update: ClassVar[str] = "tool_call_content_chunk"

    tool_call_id: ToolCallId
    content: ToolCallContent
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CancelToolCallRequest(Model):
    """Cancel one tool call (``tool_call/cancel``), where its capabilities say that it may be.

    The answer says that the wish was taken; the call is over when an update says so.
    """

    session_id: SessionId
    tool_call_id: ToolCallId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CancelToolCallResponse(Model):
    """The agent is about to cancel the tool call."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
