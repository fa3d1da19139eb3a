"""Terminals of version 2: commands that the agent runs by itself, as it tells of them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from acp_host.wire._model import UNSET, JsonObject, Limit, Model, Unset, model, wire_field
from acp_host.wire.ids import SessionId, TerminalId
from acp_host.wire.v2.content import AbsolutePath

__all__ = [
    "CancelTerminalRequest",
    "CancelTerminalResponse",
    "TerminalCancelCapabilities",
    "TerminalCapabilities",
    "TerminalExitStatus",
    "TerminalOutput",
    "TerminalOutputChunk",
    "TerminalSize",
    "TerminalUpdate",
]


@model
class TerminalOutput(Model):
    """Everything that a terminal has printed, as far as it is to be kept.

    Attributes:
        data: the bytes in base64.
    """

    data: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TerminalExitStatus(Model):
    """A command has ended, and how; absent and ``None`` both mean that it is not told.

    Attributes:
        exit_code: as the platform has it; may be negative.
        signal: the name of the signal that ended it, such as ``SIGTERM``.
    """

    exit_code: int | None | Unset = wire_field(default=UNSET, default_on_error=True)
    signal: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TerminalSize(Model):
    """The size that a command was run with, in characters."""

    cols: Annotated[int, Limit(minimum=1)]
    rows: Annotated[int, Limit(minimum=1)]
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TerminalCancelCapabilities(Model):
    """A terminal can be cancelled; being there is what counts."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TerminalCapabilities(Model):
    """What the host may do to a terminal at present.

    Attributes:
        cancel: end its command with ``terminal/cancel``; absent and ``None`` mean that it may not.
    """

    cancel: TerminalCancelCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TerminalUpdate(Model):
    """A terminal is new or has changed. Absent leaves an attribute as it was, ``None`` clears it.

    Attributes:
        command: what runs.
        cwd: where.
        output: replaces all that was printed before.
        exit_status: being there means that the command has ended.
        size: what the output is laid out for.
        capabilities: replaces the earlier ones; a new terminal has none.
        meta: changes the members that it names; those that are ``None`` in it are removed.
    """

    session_update: ClassVar[str] = "terminal_update"

    terminal_id: TerminalId
    command: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    cwd: AbsolutePath | None | Unset = wire_field(default=UNSET, default_on_error=True)
    output: TerminalOutput | None | Unset = wire_field(default=UNSET, default_on_error=True)
    exit_status: TerminalExitStatus | None | Unset = wire_field(default=UNSET, default_on_error=True)
    size: TerminalSize | None | Unset = wire_field(default=UNSET, default_on_error=True)
    capabilities: TerminalCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TerminalOutputChunk(Model):
    """What a terminal has printed next.

    Attributes:
        data: the bytes in base64, each chunk by itself; a character or an escape sequence may go on in the next one.
        meta: belongs to the chunk, not to the terminal.
    """

    session_update: ClassVar[str] = "terminal_output_chunk"

    terminal_id: TerminalId
    data: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CancelTerminalRequest(Model):
    """End one terminal's command (``terminal/cancel``), where its capabilities say that it may be.

    The answer says that the wish was taken; the command has ended when an update says so.
    """

    session_id: SessionId
    terminal_id: TerminalId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CancelTerminalResponse(Model):
    """The agent is about to end the terminal's command."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
