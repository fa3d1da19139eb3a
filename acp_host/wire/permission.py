"""The agent asks before it acts: ``session/request_permission``.

Owns the question, its options and the answer. Who answers, and how, is the permission service's work.

Specification: Tool Calls, Requesting Permission.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import PermissionOptionId, SessionId
from acp_host.wire.tool_calls import ToolCallUpdate

__all__ = [
    "CancelledPermissionOutcome",
    "PermissionOption",
    "PermissionOptionKind",
    "RequestPermissionOutcome",
    "RequestPermissionRequest",
    "RequestPermissionResponse",
    "SelectedPermissionOutcome",
    "UnknownPermissionOutcome",
]


class PermissionOptionKind(StrEnum):
    """What an option means. ``…_always`` asks the agent to remember the answer."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"


@model
class PermissionOption(Model):
    """One of the answers to choose from.

    Attributes:
        name: the label to show.
        kind: one of :class:`PermissionOptionKind` or another word. A hint for display: what counts is the option's id.
    """

    option_id: PermissionOptionId
    name: str
    kind: PermissionOptionKind | str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class RequestPermissionRequest(Model):
    """Parameters of ``session/request_permission``.

    Attributes:
        tool_call: what the agent wants to do; it also updates the tool call of that id.
        options: the answers to choose from, in the agent's order.
    """

    session_id: SessionId
    tool_call: ToolCallUpdate
    options: tuple[PermissionOption, ...]
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CancelledPermissionOutcome(Model):
    """The turn was cancelled before anyone answered."""


@model
class SelectedPermissionOutcome(Model):
    """One of the options was chosen."""

    option_id: PermissionOptionId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownPermissionOutcome(Unknown):
    """An outcome that this version does not know."""


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
