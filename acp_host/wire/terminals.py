"""Commands that the agent runs through the host: ``terminal/*``.

Owns the messages, and the environment variable that MCP servers share with them. A terminal shown inside a tool call is
in :mod:`acp_host.wire.tool_calls`.

Specification: Terminals.
"""

from __future__ import annotations

from acp_host.wire._model import UNSET, JsonObject, Model, UInt, Unset, model, wire_field
from acp_host.wire.ids import SessionId, TerminalId

__all__ = [
    "CreateTerminalRequest",
    "CreateTerminalResponse",
    "EnvVariable",
    "KillTerminalRequest",
    "KillTerminalResponse",
    "ReleaseTerminalRequest",
    "ReleaseTerminalResponse",
    "TerminalExitStatus",
    "TerminalOutputRequest",
    "TerminalOutputResponse",
    "WaitForTerminalExitRequest",
    "WaitForTerminalExitResponse",
]


@model
class EnvVariable(Model):
    """A variable to set in the environment of a process."""

    name: str
    value: str = wire_field(secret=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TerminalExitStatus(Model):
    """How a command ended.

    Attributes:
        exit_code: ``null`` where a signal ended it.
        signal: the signal's name; ``null`` where it ended by itself.
    """

    exit_code: UInt | None | Unset = wire_field(default=UNSET, default_on_error=True)
    signal: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CreateTerminalRequest(Model):
    """Parameters of ``terminal/create``: start a command. The agent releases the terminal when it is done with it.

    Attributes:
        args: arguments of the command.
        env: set on top of the environment that the host gives to commands.
        cwd: absolute; absent or ``null``: the host chooses.
        output_byte_limit: how many bytes of output to keep, as UTF-8; older output goes first, in whole characters.
            Absent or ``null``: the host chooses.
    """

    session_id: SessionId
    command: str
    args: tuple[str, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    env: tuple[EnvVariable, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    cwd: str | None | Unset = wire_field(default=UNSET)
    output_byte_limit: UInt | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CreateTerminalResponse(Model):
    """Result of ``terminal/create``, sent without waiting for the command."""

    terminal_id: TerminalId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TerminalOutputRequest(Model):
    """Parameters of ``terminal/output``: what the command has printed, without waiting."""

    session_id: SessionId
    terminal_id: TerminalId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TerminalOutputResponse(Model):
    """Result of ``terminal/output``.

    Attributes:
        output: everything kept so far, not only what is new.
        truncated: whether older output was dropped to stay within the limit.
        exit_status: only once the command has ended.
    """

    output: str
    truncated: bool
    exit_status: TerminalExitStatus | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class WaitForTerminalExitRequest(Model):
    """Parameters of ``terminal/wait_for_exit``, answered when the command has ended."""

    session_id: SessionId
    terminal_id: TerminalId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class WaitForTerminalExitResponse(Model):
    """Result of ``terminal/wait_for_exit``; the attributes are those of :class:`TerminalExitStatus`."""

    exit_code: UInt | None | Unset = wire_field(default=UNSET, default_on_error=True)
    signal: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class KillTerminalRequest(Model):
    """Parameters of ``terminal/kill``: end the command; its output stays readable."""

    session_id: SessionId
    terminal_id: TerminalId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class KillTerminalResponse(Model):
    """Result of ``terminal/kill``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ReleaseTerminalRequest(Model):
    """Parameters of ``terminal/release``: end the command if it still runs, and forget the terminal's id.

    Tool calls that show the terminal keep showing what it printed.
    """

    session_id: SessionId
    terminal_id: TerminalId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ReleaseTerminalResponse(Model):
    """Result of ``terminal/release``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
