"""What the user can set about a session in version 2: configuration options. There are no modes beside them."""

from __future__ import annotations

import enum
from typing import ClassVar, TypeAlias

from acp_host.wire._model import UNSET, Json, JsonObject, Model, Unset, model, wire_field
from acp_host.wire._unions import shape_union, tagged_union
from acp_host.wire.config_options import (
    SessionConfigOptionCategory,
    SessionConfigSelectOption,
    UnknownConfigOption,
    UnknownSelectItem,
)
from acp_host.wire.ids import SessionConfigGroupId, SessionConfigId, SessionConfigValueId, SessionId

__all__ = [
    "ConfigOptionUpdate",
    "ConfigValueType",
    "SessionConfigBoolean",
    "SessionConfigOption",
    "SessionConfigSelect",
    "SessionConfigSelectGroup",
    "SessionConfigSelectItem",
    "SessionConfigSelectOptions",
    "SetSessionConfigOptionRequest",
    "SetSessionConfigOptionResponse",
]


@model
class SessionConfigSelectGroup(Model):
    """Values under a heading.

    Attributes:
        name: the heading.
    """

    group_id: SessionConfigGroupId
    name: str
    options: tuple[SessionConfigSelectOption, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


SessionConfigSelectItem: TypeAlias = SessionConfigSelectOption | SessionConfigSelectGroup | UnknownSelectItem
"""An entry of a list to choose from; ``groupId`` or ``value`` tells which."""
shape_union(
    "SessionConfigSelectItem",
    by_property={"groupId": SessionConfigSelectGroup, "value": SessionConfigSelectOption},
    unknown=UnknownSelectItem,
)

SessionConfigSelectOptions: TypeAlias = tuple[SessionConfigSelectItem, ...]
"""What can be chosen: either only values or only groups."""


@model
class SessionConfigSelect(Model):
    """An option that is a choice from a list.

    Attributes:
        name: what the user sees.
        current_value: the ``value`` of the one that is chosen now.
        options: what can be chosen, either only values or only groups of them.
    """

    config_id: SessionConfigId
    name: str
    current_value: SessionConfigValueId
    options: SessionConfigSelectOptions
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    category: SessionConfigOptionCategory | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionConfigBoolean(Model):
    """An option that is a switch.

    Attributes:
        name: what the user sees.
        current_value: whether it is on now.
    """

    config_id: SessionConfigId
    name: str
    current_value: bool
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    category: SessionConfigOptionCategory | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


SessionConfigOption: TypeAlias = SessionConfigSelect | SessionConfigBoolean | UnknownConfigOption
"""Something the user can set about a session, and how it is set now."""
tagged_union(
    "SessionConfigOption",
    tag="type",
    variants={"select": SessionConfigSelect, "boolean": SessionConfigBoolean},
    unknown=UnknownConfigOption,
)


@model
class ConfigOptionUpdate(Model):
    """The options have changed.

    Attributes:
        config_options: always all of them; they replace the earlier ones.
    """

    session_update: ClassVar[str] = "config_option_update"

    config_options: tuple[SessionConfigOption, ...] = wire_field(skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


class ConfigValueType(enum.StrEnum):
    """What the value of an option is: the ``value`` of a choice, or whether a switch is to be on."""

    ID = "id"
    BOOLEAN = "boolean"


@model
class SetSessionConfigOptionRequest(Model):
    """Set an option (``session/set_config_option``).

    Attributes:
        type: one of :class:`ConfigValueType` or another word; an agent refuses a word that it does not know.
        value: of the kind that ``type`` says.
    """

    session_id: SessionId
    config_id: SessionConfigId
    type: ConfigValueType | str
    value: Json = wire_field()
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SetSessionConfigOptionResponse(Model):
    """The option is set.

    Attributes:
        config_options: all options as they are now; setting one may have changed others.
    """

    config_options: tuple[SessionConfigOption, ...] = wire_field(skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
