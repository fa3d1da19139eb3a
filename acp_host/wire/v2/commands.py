"""Commands in version 2: what the user can type after a slash, each with its kind."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union

__all__ = [
    "AvailableCommand",
    "AvailableCommandInput",
    "AvailableCommandsUpdate",
    "Command",
    "TextCommandInput",
    "UnknownCommand",
    "UnknownCommandInput",
]


@model
class TextCommandInput(Model):
    """A command takes whatever is typed after its name, as one text.

    Attributes:
        hint: what to show while nothing is typed yet.
    """

    hint: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownCommandInput(Unknown):
    """Input of a kind that this version does not know."""


AvailableCommandInput: TypeAlias = TextCommandInput | UnknownCommandInput
"""What a command takes, told apart by ``type``."""
tagged_union("AvailableCommandInput", tag="type", variants={"text": TextCommandInput}, unknown=UnknownCommandInput)


@model
class Command(Model):
    """A command. It is run by a prompt whose text begins with a slash and its name.

    Attributes:
        name: without the slash, and without spaces.
        input: what it takes; absent or ``None``: nothing.
    """

    name: str
    description: str
    input: AvailableCommandInput | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownCommand(Unknown):
    """A command of a kind that this version does not know; it has a name and a description, too."""


AvailableCommand: TypeAlias = Command | UnknownCommand
"""Something that the user can run, told apart by ``type``."""
tagged_union("AvailableCommand", tag="type", variants={"command": Command}, unknown=UnknownCommand)


@model
class AvailableCommandsUpdate(Model):
    """The commands are known, or have changed.

    Attributes:
        available_commands: always all of them; they replace the earlier ones.
    """

    session_update: ClassVar[str] = "available_commands_update"

    available_commands: tuple[AvailableCommand, ...] = wire_field(skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
