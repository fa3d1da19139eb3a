"""The agent asks the user for input, in version 2: ``elicitation/create``, with forms that say all they must.

The fields of a form, and ``elicitation/complete``, are as in version 1.

Specification: Elicitation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from acp_host.wire._model import UNSET, Json, JsonObject, Model, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.elicitation import (
    ElicitationCancelAction,
    ElicitationDeclineAction,
    ElicitationPropertySchema,
    ElicitationSchemaType,
    UnknownElicitation,
    UnknownElicitationAction,
)
from acp_host.wire.ids import ElicitationId, SessionId, ToolCallId
from acp_host.wire.v2.cancellation import RequestId

__all__ = [
    "CreateElicitationRequest",
    "CreateElicitationResponse",
    "ElicitationAcceptAction",
    "ElicitationContentValue",
    "ElicitationFormMode",
    "ElicitationRequestScope",
    "ElicitationSchema",
    "ElicitationUrlMode",
]


@model
class ElicitationSchema(Model):
    """A form.

    Attributes:
        type: ``object``.
        properties: the fields by name, in the order to show them.
        required: names of the fields that must be filled in; absent or ``null`` means none.
    """

    type: ElicitationSchemaType | str
    properties: Mapping[str, ElicitationPropertySchema]
    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    required: tuple[str, ...] | None | Unset = wire_field(default=UNSET)
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ElicitationRequestScope(Model):
    """The question belongs to one of the host's requests outside of any session, such as ``auth/login``."""

    request_id: RequestId


@model
class ElicitationFormMode(Model):
    """Parameters of ``elicitation/create`` in mode ``form``: ask by a form.

    Attributes:
        message: what is needed, for the user to read.
        session_id: with ``tool_call_id`` and ``request_id``, what the question belongs to: a session or a request.
    """

    message: str
    requested_schema: ElicitationSchema
    session_id: SessionId | Unset = wire_field(default=UNSET)
    tool_call_id: ToolCallId | None | Unset = wire_field(default=UNSET, default_on_error=True)
    request_id: RequestId | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ElicitationUrlMode(Model):
    """Parameters of ``elicitation/create`` in mode ``url``: send the user to a web page.

    Attributes:
        message: what is needed, for the user to read.
        elicitation_id: the name by which ``elicitation/complete`` tells that the user is done there.
        url: the page. It comes from the agent: show it, and ask, before it is opened.
        session_id: with ``tool_call_id`` and ``request_id``, what the question belongs to: a session or a request.
    """

    message: str
    elicitation_id: ElicitationId
    url: str
    session_id: SessionId | Unset = wire_field(default=UNSET)
    tool_call_id: ToolCallId | None | Unset = wire_field(default=UNSET, default_on_error=True)
    request_id: RequestId | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


CreateElicitationRequest: TypeAlias = ElicitationFormMode | ElicitationUrlMode | UnknownElicitation
"""Parameters of ``elicitation/create``, told apart by ``mode``."""
tagged_union(
    "CreateElicitationRequest",
    tag="mode",
    variants={"form": ElicitationFormMode, "url": ElicitationUrlMode},
    unknown=UnknownElicitation,
)


ElicitationContentValue: TypeAlias = Json
"""The value of one field of an answered form: text, a number, yes or no, texts; later perhaps something else."""


@model
class ElicitationAcceptAction(Model):
    """Result of ``elicitation/create``: the user answered the form, or agreed to open the page.

    Attributes:
        content: the values by field name; absent or ``null`` in mode ``url``.
    """

    content: Mapping[str, ElicitationContentValue] | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


CreateElicitationResponse: TypeAlias = (
    ElicitationAcceptAction | ElicitationDeclineAction | ElicitationCancelAction | UnknownElicitationAction
)
"""Result of ``elicitation/create``, told apart by ``action``."""
tagged_union(
    "CreateElicitationResponse",
    tag="action",
    variants={
        "accept": ElicitationAcceptAction,
        "decline": ElicitationDeclineAction,
        "cancel": ElicitationCancelAction,
    },
    unknown=UnknownElicitationAction,
)
