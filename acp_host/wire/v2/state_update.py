"""What a session is doing, in version 2: each time told as a whole, with the work that goes on beside it.

:data:`StateUpdate` is the state by itself, as a subagent's is told; as an update of the session it is a
:class:`SessionStateUpdate`.
"""

from __future__ import annotations

import enum
from typing import ClassVar, TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import SessionId, TerminalId, ToolCallId
from acp_host.wire.rpc_error import Error
from acp_host.wire.subagents import IdleStopReason, UnknownState
from acp_host.wire.usage import Usage

__all__ = [
    "BackgroundSubagent",
    "BackgroundTerminal",
    "BackgroundToolCall",
    "BackgroundWork",
    "IdleStateUpdate",
    "RequiresActionStateUpdate",
    "RunningStateUpdate",
    "SessionStateUpdate",
    "StateKind",
    "StateUpdate",
    "UnknownBackgroundWork",
    "UnknownStateUpdate",
]


class StateKind(enum.StrEnum):
    """What a session is doing. Words that begin with ``_`` are an agent's own.

    ``unknown``: the agent cannot tell; what was known before is no longer confirmed, and nothing has ended. Unstable.
    """

    RUNNING = "running"
    IDLE = "idle"
    REQUIRES_ACTION = "requires_action"
    UNKNOWN = "unknown"


@model
class BackgroundTerminal(Model):
    """A terminal that goes on beside the session's work."""

    terminal_id: TerminalId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class BackgroundToolCall(Model):
    """A tool call that goes on beside the session's work, without a terminal."""

    tool_call_id: ToolCallId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class BackgroundSubagent(Model):
    """A subagent's session in which something goes on. Unstable."""

    session_id: SessionId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownBackgroundWork(Unknown):
    """Work of a kind that this version does not know; it goes on all the same."""


BackgroundWork: TypeAlias = BackgroundTerminal | BackgroundToolCall | BackgroundSubagent | UnknownBackgroundWork
"""Something that goes on beside the session's work."""
tagged_union(
    "BackgroundWork",
    tag="type",
    variants={"terminal": BackgroundTerminal, "tool_call": BackgroundToolCall, "subagent": BackgroundSubagent},
    unknown=UnknownBackgroundWork,
)


@model
class RunningStateUpdate(Model):
    """The session's work is in progress.

    Attributes:
        background: what goes on beside it, all of it; absent and ``None``: not told.
    """

    background: tuple[BackgroundWork, ...] | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class IdleStateUpdate(Model):
    """The session does nothing and takes another prompt.

    Attributes:
        stop_reason: why the work has ended, or, told again, why the last one did; absent and ``None``: not told.
        error: the failure, where the reason is ``error``.
        usage: tokens of the work that has ended. Unstable.
        background: what goes on all the same; absent and ``None``: not told.
    """

    stop_reason: IdleStopReason | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    error: Error | None | Unset = wire_field(default=UNSET, default_on_error=True)
    usage: Usage | None | Unset = wire_field(default=UNSET, default_on_error=True)
    background: tuple[BackgroundWork, ...] | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class RequiresActionStateUpdate(Model):
    """The session's work cannot go on before the user has done something.

    Attributes:
        background: what goes on beside it, all of it; absent and ``None``: not told.
    """

    background: tuple[BackgroundWork, ...] | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownStateUpdate(Model):
    """The agent cannot tell what the session is doing (``state: "unknown"``). Unstable.

    A state that *this version* does not know is an :class:`~acp_host.wire.subagents.UnknownState`.

    Attributes:
        background: what goes on beside it, all of it; absent and ``None``: not told.
    """

    background: tuple[BackgroundWork, ...] | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


StateUpdate: TypeAlias = (
    RunningStateUpdate | IdleStateUpdate | RequiresActionStateUpdate | UnknownStateUpdate | UnknownState
)
"""What a session is doing; replaces the state before it as a whole."""
tagged_union(
    "StateUpdate",
    tag="state",
    variants={
        "running": RunningStateUpdate,
        "idle": IdleStateUpdate,
        "requires_action": RequiresActionStateUpdate,
        "unknown": UnknownStateUpdate,
    },
    unknown=UnknownState,
)


@model
class SessionStateUpdate(Model):
    """What the session is doing, as one of its updates: every :data:`StateUpdate` in one class.

    Attributes:
        state: one of :class:`StateKind` or another word; what such a state has of its own is in ``extra``.
        stop_reason: see :class:`IdleStateUpdate`; so are ``error`` and ``usage``.
        background: what goes on beside the session's work, all of it; absent and ``None``: not told.
    """

    session_update: ClassVar[str] = "state_update"

    state: StateKind | str
    stop_reason: IdleStopReason | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    error: Error | None | Unset = wire_field(default=UNSET, default_on_error=True)
    usage: Usage | None | Unset = wire_field(default=UNSET, default_on_error=True)
    background: tuple[BackgroundWork, ...] | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
