"""The agent asks the user for input, by a form or on a web page: ``elicitation/create`` and ``elicitation/complete``.

Owns the question, the form's description and the answer. The form is a narrow kind of JSON Schema: one object whose
properties are plain values. Checking an answer against it is the elicitation service's work.

Specification: Elicitation.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, UInt, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import ElicitationId, RequestId, SessionId, ToolCallId, valid_id

__all__ = [
    "BooleanPropertySchema",
    "CompleteElicitationNotification",
    "CreateElicitationRequest",
    "CreateElicitationResponse",
    "ElicitationAcceptAction",
    "ElicitationCancelAction",
    "ElicitationContentValue",
    "ElicitationDeclineAction",
    "ElicitationFormMode",
    "ElicitationPropertySchema",
    "ElicitationRequestScope",
    "ElicitationSchema",
    "ElicitationSchemaType",
    "ElicitationSessionScope",
    "ElicitationUrlMode",
    "EnumOption",
    "IntegerPropertySchema",
    "MultiSelectItems",
    "MultiSelectPropertySchema",
    "NumberPropertySchema",
    "StringFormat",
    "StringMultiSelectItems",
    "StringPropertySchema",
    "TitledMultiSelectItems",
    "UnknownElicitation",
    "UnknownElicitationAction",
    "UnknownMultiSelectItems",
    "UnknownPropertySchema",
]


# The fields of a form.


class StringFormat(StrEnum):
    """What a text field holds."""

    EMAIL = "email"
    URI = "uri"
    DATE = "date"
    """A day, as in 2025-01-31."""
    DATE_TIME = "date-time"
    """A point in time, in ISO 8601."""


@model
class EnumOption(Model):
    """One value to choose.

    Attributes:
        const: the value that goes into the answer.
        title: the label to show for it.
    """

    const: str
    title: str
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class StringPropertySchema(Model):
    """A text field, or a choice of one value where ``enum`` or ``one_of`` is given.

    Attributes:
        min_length: in characters.
        max_length: in characters.
        pattern: a regular expression that the text has to match.
        format: one of :class:`StringFormat` or another word.
        default: what to start with.
        enum: values to choose from, without labels.
        one_of: values to choose from, with labels.
    """

    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    min_length: UInt | None | Unset = wire_field(default=UNSET)
    max_length: UInt | None | Unset = wire_field(default=UNSET)
    pattern: str | None | Unset = wire_field(default=UNSET)
    format: StringFormat | str | None | Unset = wire_field(default=UNSET)
    default: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    enum: tuple[str, ...] | None | Unset = wire_field(default=UNSET)
    one_of: tuple[EnumOption, ...] | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class NumberPropertySchema(Model):
    """A field for a number.

    Attributes:
        minimum: the smallest number allowed.
        maximum: the largest number allowed.
        default: what to start with.
    """

    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    minimum: float | None | Unset = wire_field(default=UNSET)
    maximum: float | None | Unset = wire_field(default=UNSET)
    default: float | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class IntegerPropertySchema(Model):
    """A field for a whole number.

    Attributes:
        minimum: the smallest number allowed.
        maximum: the largest number allowed.
        default: what to start with.
    """

    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    minimum: int | None | Unset = wire_field(default=UNSET)
    maximum: int | None | Unset = wire_field(default=UNSET)
    default: int | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class BooleanPropertySchema(Model):
    """A field for yes or no.

    Attributes:
        default: what to start with.
    """

    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    default: bool | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class StringMultiSelectItems(Model):
    """Values to choose from, without labels."""

    enum: tuple[str, ...]
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TitledMultiSelectItems(Model):
    """Values to choose from, with labels. It is the one kind that has no ``type``."""

    any_of: tuple[EnumOption, ...]
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownMultiSelectItems(Unknown):
    """Things to choose from, of a type that this version does not know."""


MultiSelectItems: TypeAlias = StringMultiSelectItems | TitledMultiSelectItems | UnknownMultiSelectItems
"""What a choice of several values offers, told apart by ``type``; without one, values with labels."""

tagged_union(
    "MultiSelectItems",
    tag="type",
    variants={"string": StringMultiSelectItems},
    unknown=UnknownMultiSelectItems,
    default=TitledMultiSelectItems,
)


@model
class MultiSelectPropertySchema(Model):
    """A choice of several values.

    Attributes:
        min_items: how many to choose at least.
        max_items: how many to choose at most.
        default: the values to start with.
    """

    items: MultiSelectItems
    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    min_items: UInt | None | Unset = wire_field(default=UNSET)
    max_items: UInt | None | Unset = wire_field(default=UNSET)
    default: tuple[str, ...] | None | Unset = wire_field(default=UNSET, default_on_error=True, skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownPropertySchema(Unknown):
    """A field of a type that this version does not know."""


ElicitationPropertySchema: TypeAlias = (
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema
    | UnknownPropertySchema
)
"""A field of a form, told apart by ``type``."""

tagged_union(
    "ElicitationPropertySchema",
    tag="type",
    variants={
        "string": StringPropertySchema,
        "number": NumberPropertySchema,
        "integer": IntegerPropertySchema,
        "boolean": BooleanPropertySchema,
        "array": MultiSelectPropertySchema,
    },
    unknown=UnknownPropertySchema,
)


class ElicitationSchemaType(StrEnum):
    """The type of a whole form: there is only one."""

    OBJECT = "object"


@model
class ElicitationSchema(Model):
    """A form.

    Attributes:
        type: absent means ``object``.
        properties: the fields by name, in the order to show them; absent means none.
        required: names of the fields that must be filled in; absent or ``null`` means none.
    """

    type: ElicitationSchemaType | str | Unset = wire_field(default=UNSET, default_on_error=True)
    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    properties: Mapping[str, ElicitationPropertySchema] | Unset = wire_field(default=UNSET)
    required: tuple[str, ...] | None | Unset = wire_field(default=UNSET)
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


# The question.


@model
class ElicitationSessionScope(Model):
    """The question belongs to a session.

    Attributes:
        tool_call_id: the tool call that it belongs to; absent or ``null``: to none.
    """

    session_id: SessionId
    tool_call_id: ToolCallId | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ElicitationRequestScope(Model):
    """The question belongs to one of the host's requests outside of any session, such as ``authenticate``."""

    request_id: RequestId


def _scope(
    session_id: SessionId | Unset, tool_call_id: ToolCallId | None | Unset, request_id: RequestId | Unset
) -> ElicitationSessionScope | ElicitationRequestScope | None:
    if session_id is not UNSET:
        return ElicitationSessionScope(session_id, tool_call_id)
    if request_id is not UNSET:
        return ElicitationRequestScope(request_id)
    return None


@model
class ElicitationFormMode(Model):
    """Parameters of ``elicitation/create`` in mode ``form``: ask by a form.

    Attributes:
        message: what is needed, for the user to read.
        session_id: with ``tool_call_id`` and ``request_id``, what the question belongs to; see ``scope``.
    """

    message: str
    requested_schema: ElicitationSchema
    session_id: SessionId | Unset = wire_field(default=UNSET)
    tool_call_id: ToolCallId | None | Unset = wire_field(default=UNSET, default_on_error=True)
    request_id: RequestId | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)

    @property
    def scope(self) -> ElicitationSessionScope | ElicitationRequestScope | None:
        """What the question belongs to; ``None`` where the agent left out what it has to say here."""
        return _scope(self.session_id, self.tool_call_id, self.request_id)


@model
class ElicitationUrlMode(Model):
    """Parameters of ``elicitation/create`` in mode ``url``: send the user to a web page.

    Attributes:
        message: what is needed, for the user to read.
        elicitation_id: the name by which ``elicitation/complete`` tells that the user is done there.
        url: the page. It comes from the agent: show it, and ask, before it is opened.
        session_id: with ``tool_call_id`` and ``request_id``, what the question belongs to; see ``scope``.
    """

    message: str
    elicitation_id: ElicitationId
    url: str
    session_id: SessionId | Unset = wire_field(default=UNSET)
    tool_call_id: ToolCallId | None | Unset = wire_field(default=UNSET, default_on_error=True)
    request_id: RequestId | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)

    @property
    def scope(self) -> ElicitationSessionScope | ElicitationRequestScope | None:
        """What the question belongs to; ``None`` where the agent left out what it has to say here."""
        return _scope(self.session_id, self.tool_call_id, self.request_id)


@model
class UnknownElicitation(Unknown):
    """Parameters of ``elicitation/create`` in a mode that this version does not know: not to be shown as another."""

    @property
    def scope(self) -> ElicitationSessionScope | ElicitationRequestScope | None:
        """What the question belongs to; ``None`` where that cannot be read."""
        session_id, tool_call_id = self.data.get("sessionId"), self.data.get("toolCallId", UNSET)
        request_id = self.data.get("requestId", UNSET)
        return _scope(
            session_id if isinstance(session_id, str) else UNSET,
            tool_call_id if isinstance(tool_call_id, str) or tool_call_id is None else UNSET,
            request_id if valid_id(request_id) else UNSET,
        )


CreateElicitationRequest: TypeAlias = ElicitationFormMode | ElicitationUrlMode | UnknownElicitation
"""Parameters of ``elicitation/create``, told apart by ``mode``."""

tagged_union(
    "CreateElicitationRequest",
    tag="mode",
    variants={"form": ElicitationFormMode, "url": ElicitationUrlMode},
    unknown=UnknownElicitation,
)


@model
class CompleteElicitationNotification(Model):
    """Parameters of ``elicitation/complete``: the user is done on the web page."""

    elicitation_id: ElicitationId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


# The answer.


ElicitationContentValue: TypeAlias = str | int | float | bool | tuple[str, ...]
"""The value of one field of an answered form."""


@model
class ElicitationAcceptAction(Model):
    """Result of ``elicitation/create``: the user answered the form, or agreed to open the page.

    Attributes:
        content: the values by field name; absent or ``null`` in mode ``url``.
    """

    content: Mapping[str, ElicitationContentValue] | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ElicitationDeclineAction(Model):
    """Result of ``elicitation/create``: the user said no."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ElicitationCancelAction(Model):
    """Result of ``elicitation/create``: the user went away without an answer, or the turn was cancelled."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownElicitationAction(Unknown):
    """Result of ``elicitation/create`` of a kind that this version does not know."""


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
