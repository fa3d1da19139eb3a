"""The agent asks before it acts, in version 2: a title, and what it is about where that can be said.

Specification: Tool Calls, Requesting Permission.
"""

from __future__ import annotations

from typing import TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import SessionId, TerminalId, ToolCallId
from acp_host.wire.permission import PermissionOption, SelectedPermissionOutcome, UnknownPermissionOutcome
from acp_host.wire.v2.content import AbsolutePath
from acp_host.wire.v2.tool_calls import ToolCallUpdate

__all__ = [
    "CancelledPermissionOutcome",
    "CommandPermissionSubject",
    "RequestPermissionOutcome",
    "RequestPermissionRequest",
    "RequestPermissionResponse",
    "RequestPermissionSubject",
    "ToolCallPermissionSubject",
    "UnknownPermissionSubject",
]


@model
class ToolCallPermissionSubject(Model):
    """It is about a tool call.

    Attributes:
        tool_call: what is new about the tool call of that id; it counts like an update, before the question is shown.
    """

    tool_call: ToolCallUpdate
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CommandPermissionSubject(Model):
    """It is about a command that would be run.

    Attributes:
        cwd: where it would be run.
        tool_call_id: the tool call that it belongs to; absent or ``None``: not told.
        terminal_id: the terminal that it belongs to; absent or ``None``: not known yet.
    """

    command: str
    cwd: AbsolutePath
    tool_call_id: ToolCallId | None | Unset = wire_field(default=UNSET, default_on_error=True)
    terminal_id: TerminalId | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownPermissionSubject(Unknown):
    """It is about something that this version does not know."""


RequestPermissionSubject: TypeAlias = ToolCallPermissionSubject | CommandPermissionSubject | UnknownPermissionSubject
"""What a question is about, told apart by ``type``."""
tagged_union(
    "RequestPermissionSubject",
    tag="type",
    variants={"tool_call": ToolCallPermissionSubject, "command": CommandPermissionSubject},
    unknown=UnknownPermissionSubject,
)


@model
class RequestPermissionRequest(Model):
    """Parameters of ``session/request_permission``.

    Attributes:
        title: the question, for people; it is not the tool call's title.
        options: the answers to choose from, in the agent's order; at least one.
        description: why permission is needed, for people.
        subject: what it is about; absent or ``None``: not told.
    """

    session_id: SessionId
    title: str
    options: tuple[PermissionOption, ...]
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    subject: RequestPermissionSubject | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CancelledPermissionOutcome(Model):
    """The work was cancelled before anyone answered."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


RequestPermissionOutcome: TypeAlias = CancelledPermissionOutcome | SelectedPermissionOutcome | UnknownPermissionOutcome
"""The answer to a permission request, told apart by ``outcome``."""
tagged_union(
    "RequestPermissionOutcome",
    tag="outcome",
    variants={"cancelled": CancelledPermissionOutcome, "selected": SelectedPermissionOutcome},
    unknown=UnknownPermissionOutcome,
)


@model
class RequestPermissionResponse(Model):
    """Result of ``session/request_permission``."""

    outcome: RequestPermissionOutcome
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
