"""A permission request as version 2 of the protocol has it, in version 1's form: :class:`PermissionQuestion`."""

from __future__ import annotations

from typing import TypeAlias

from acp_host.wire._model import UNSET, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.tool_calls import Content, Terminal, ToolCallUpdate, UnknownToolCallContent
from acp_host.wire.v2.diffs import Diff

__all__ = ["AskedCall", "PermissionQuestion", "ShownContent"]

ShownContent: TypeAlias = Content | Diff | Terminal | UnknownToolCallContent
"""One thing that a tool call produced, as version 1 has it, but for diffs, which say more in version 2."""
tagged_union(
    "ShownContent",
    tag="type",
    variants={"content": Content, "diff": Diff, "terminal": Terminal},
    unknown=UnknownToolCallContent,
)


@model
class AskedCall(ToolCallUpdate):
    """What is to be permitted, in the form of a tool call."""

    # More kinds than the call of an update has.
    content: tuple[ShownContent, ...] | None | Unset = wire_field(  # type: ignore[assignment]
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )


@model
class PermissionQuestion(RequestPermissionRequest):
    """The agent asks before it acts, with a question of its own beside the tool call.

    ``tool_call`` is an :class:`AskedCall`. It has been told as an update before, where it is a call of the session at
    all: a command, or something that nobody here knows, is described in the form of a call that is none.

    Attributes:
        title: the question, for people.
        description: why permission is needed, for people; empty where the agent does not say.
    """

    title: str = ""
    description: str = ""
