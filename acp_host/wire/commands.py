"""Commands: what the user can type after a slash, as the agent offers it."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field

__all__ = ["AvailableCommand", "AvailableCommandInput", "AvailableCommandsUpdate", "UnstructuredCommandInput"]


@model
class UnstructuredCommandInput(Model):
    """A command takes whatever is typed after its name, as one text.

    Attributes:
        hint: what to show while nothing is typed yet.
    """

    hint: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


AvailableCommandInput: TypeAlias = UnstructuredCommandInput
"""What a command takes; there is one form so far."""


@model
class AvailableCommand(Model):
    """A command. It is run by a prompt whose text begins with a slash and its name.

    Attributes:
        name: without the slash.
        input: what it takes; absent or ``None``: nothing.
    """

    name: str
    description: str
    input: AvailableCommandInput | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AvailableCommandsUpdate(Model):
    """The commands are known, or have changed.

    Attributes:
        available_commands: always all of them; they replace the earlier ones.
    """

    session_update: ClassVar[str] = "available_commands_update"

    available_commands: tuple[AvailableCommand, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
