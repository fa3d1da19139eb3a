"""Tool calls: what the agent does, as it is shown while it happens.

A call begins with a :class:`ToolCall`; each :class:`ToolCallUpdate` changes what it names. A permission request
carries an update too, so that it can describe a call which was not announced before.
"""

from __future__ import annotations

import enum
from typing import ClassVar, TypeAlias

from acp_host.wire._model import UNSET, Json, JsonObject, Model, UInt, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.content import ContentBlock
from acp_host.wire.ids import TerminalId, ToolCallId

__all__ = [
    "Content",
    "Diff",
    "Terminal",
    "ToolCall",
    "ToolCallContent",
    "ToolCallLocation",
    "ToolCallStatus",
    "ToolCallUpdate",
    "ToolKind",
    "UnknownToolCallContent",
]


class ToolKind(enum.StrEnum):
    """What sort of thing a tool does; for icons and layout."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    FETCH = "fetch"
    SWITCH_MODE = "switch_mode"
    OTHER = "other"


class ToolCallStatus(enum.StrEnum):
    """How far a tool call has come. ``pending``: not begun; its input may still be streaming, or the user is asked."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


@model
class ToolCallLocation(Model):
    """A place in a file that a tool call reads or changes, so that an editor can follow along.

    Attributes:
        path: absolute.
        line: counted from 1; a 0 that an agent may send means nothing. Absent or ``None``: the file as a whole.
    """

    path: str
    line: UInt | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class Content(Model):
    """A content block that a tool call produced."""

    content: ContentBlock
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class Diff(Model):
    """A change to one file.

    Attributes:
        path: absolute.
        new_text: the text after the change.
        old_text: the text before it; absent or ``None`` for a file that is new.
    """

    path: str
    new_text: str
    old_text: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class Terminal(Model):
    """A terminal of the host whose output belongs to a tool call; it is shown even after it was released."""

    terminal_id: TerminalId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownToolCallContent(Unknown):
    """Something a tool call produced, of a kind that this version does not know."""


ToolCallContent: TypeAlias = Content | Diff | Terminal | UnknownToolCallContent
"""One thing that a tool call produced."""
tagged_union(
    "ToolCallContent",
    tag="type",
    variants={"content": Content, "diff": Diff, "terminal": Terminal},
    unknown=UnknownToolCallContent,
)


@model
class ToolCall(Model):
    """A tool call begins, or is told again as a whole.

    Attributes:
        title: what it does, for people.
        name: the tool's name as the model knows it; absent and ``None`` both mean that it is not told.
        kind: absent means ``other``.
        status: absent means ``pending``.
        content: what it has produced so far; absent means nothing.
        locations: the files it touches; absent means that none are told.
        raw_input: what the tool was given, in the tool's own shape.
        raw_output: what it returned, in the tool's own shape.
    """

    session_update: ClassVar[str] = "tool_call"

    tool_call_id: ToolCallId
    title: str
    name: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    kind: ToolKind | str | Unset = wire_field(default=UNSET, default_on_error=True)
    status: ToolCallStatus | str | Unset = wire_field(default=UNSET, default_on_error=True)
    content: tuple[ToolCallContent, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    locations: tuple[ToolCallLocation, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    raw_input: Json = wire_field(default=UNSET, default_on_error=True)
    raw_output: Json = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ToolCallUpdate(Model):
    """What has changed about a tool call. Absent and ``None`` both leave an attribute as it was.

    Attributes:
        content: replaces everything produced before; an empty tuple clears it.
        locations: replaces all earlier ones; an empty tuple clears them.
    """

    session_update: ClassVar[str] = "tool_call_update"

    tool_call_id: ToolCallId
    kind: ToolKind | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    status: ToolCallStatus | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    name: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    content: tuple[ToolCallContent, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    locations: tuple[ToolCallLocation, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    raw_input: Json = wire_field(default=UNSET, default_on_error=True)
    raw_output: Json = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
