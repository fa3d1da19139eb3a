"""What the user can set about a session: configuration options, and the older modes.

An option is a choice from a list or a switch. The agent always tells all options at once, since setting one may change
the others. Modes are one such choice in a form of its own.
"""

from __future__ import annotations

import enum
from typing import ClassVar, TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import shape_union, tagged_union
from acp_host.wire.ids import (
    SessionConfigGroupId,
    SessionConfigId,
    SessionConfigValueId,
    SessionId,
    SessionModeId,
)

__all__ = [
    "ConfigOptionUpdate",
    "CurrentModeUpdate",
    "SessionConfigBoolean",
    "SessionConfigOption",
    "SessionConfigOptionCategory",
    "SessionConfigSelect",
    "SessionConfigSelectGroup",
    "SessionConfigSelectItem",
    "SessionConfigSelectOption",
    "SessionConfigSelectOptions",
    "SessionMode",
    "SessionModeState",
    "SetSessionConfigOptionRequest",
    "SetSessionConfigOptionResponse",
    "SetSessionModeRequest",
    "SetSessionModeResponse",
    "UnknownConfigOption",
    "UnknownSelectItem",
]


class SessionConfigOptionCategory(enum.StrEnum):
    """What an option is about; only for where and how to show it. Words that begin with ``_`` are an agent's own."""

    MODE = "mode"
    MODEL = "model"
    MODEL_CONFIG = "model_config"
    THOUGHT_LEVEL = "thought_level"


@model
class SessionConfigSelectOption(Model):
    """One value that can be chosen.

    Attributes:
        value: what is sent to choose it.
        name: what the user sees.
    """

    value: SessionConfigValueId
    name: str
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionConfigSelectGroup(Model):
    """Values under a heading.

    Attributes:
        group: its id.
        name: the heading.
    """

    group: SessionConfigGroupId
    name: str
    options: tuple[SessionConfigSelectOption, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownSelectItem(Unknown):
    """Neither a value nor a group of them."""


SessionConfigSelectItem: TypeAlias = SessionConfigSelectOption | SessionConfigSelectGroup | UnknownSelectItem
"""An entry of a list to choose from; ``group`` or ``value`` tells which."""
shape_union(
    "SessionConfigSelectItem",
    by_property={"group": SessionConfigSelectGroup, "value": SessionConfigSelectOption},
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

    id: SessionConfigId
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

    id: SessionConfigId
    name: str
    current_value: bool
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    category: SessionConfigOptionCategory | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownConfigOption(Unknown):
    """An option of a kind that this version does not know; it can be shown, not set."""


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

    config_options: tuple[SessionConfigOption, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SetSessionConfigOptionRequest(Model):
    """Set an option (``session/set_config_option``).

    Attributes:
        value: the chosen value's ``value``, or whether a switch is to be on.
        type: ``"boolean"`` if ``value`` is a bool, otherwise absent. Any other word beside a string says nothing.
    """

    session_id: SessionId
    config_id: SessionConfigId
    value: bool | SessionConfigValueId
    type: str | Unset = UNSET
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SetSessionConfigOptionResponse(Model):
    """The option is set.

    Attributes:
        config_options: all options as they are now; setting one may have changed others.
    """

    config_options: tuple[SessionConfigOption, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionMode(Model):
    """A way for the agent to work, such as asking before it acts.

    Attributes:
        name: what the user sees.
    """

    id: SessionModeId
    name: str
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionModeState(Model):
    """The modes of a session, and which one is on.

    Attributes:
        current_mode_id: the ``id`` of one of ``available_modes``.
    """

    current_mode_id: SessionModeId
    available_modes: tuple[SessionMode, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CurrentModeUpdate(Model):
    """Another mode is on, by the user's wish or the agent's own."""

    session_update: ClassVar[str] = "current_mode_update"

    current_mode_id: SessionModeId = wire_field(also="modeId")
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SetSessionModeRequest(Model):
    """Turn a mode on (``session/set_mode``).

    Attributes:
        mode_id: the ``id`` of one of the session's modes.
    """

    session_id: SessionId
    mode_id: SessionModeId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SetSessionModeResponse(Model):
    """The mode is on."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
