"""Subagents: sessions that belong to another session, and the messages between them. All of it is unstable.

A parent's session announces a child with a :class:`SubagentUpdate`; what the child does then arrives under the child's
own session id. :data:`StateUpdate` says what a child is doing, each time as a whole.
"""

from __future__ import annotations

import enum
from typing import ClassVar, TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.content import ContentBlock
from acp_host.wire.ids import MessageId, SessionId
from acp_host.wire.rpc_error import Error
from acp_host.wire.usage import Usage

__all__ = [
    "ErrorStopReason",
    "IdleStateUpdate",
    "IdleStopReason",
    "RequiresActionStateUpdate",
    "RunningStateUpdate",
    "SessionCancelCapabilities",
    "SessionMessage",
    "SessionMessageChunk",
    "StateUpdate",
    "SubagentSessionCapabilities",
    "SubagentUpdate",
    "UnknownState",
    "UnknownStateUpdate",
]


@model
class SessionCancelCapabilities(Model):
    """A subagent's work can be cancelled; being there is what counts. Unstable."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SubagentSessionCapabilities(Model):
    """What the host may do to one subagent's session, whatever it may do to others. Unstable.

    Attributes:
        cancel: its work can be cancelled, and the session goes on; absent and ``None`` mean that it cannot.
    """

    cancel: SessionCancelCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


class IdleStopReason(enum.StrEnum):
    """Why a subagent stopped working: the reasons of a turn, and that something failed.

    Words that begin with ``_`` are an agent's own.
    """

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"
    ERROR = "error"


@model
class RunningStateUpdate(Model):
    """The subagent is working. Unstable."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ErrorStopReason(Model):
    """What an idle state has to say more when its reason is ``error``. Unstable.

    Attributes:
        error: the failure; absent and ``None`` both mean that it is not told.
    """

    error: Error | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class IdleStateUpdate(Model):
    """The subagent has stopped and can be given more to do; its session is not over. Unstable.

    Attributes:
        stop_reason: why it stopped; absent, ``None`` and what is not a string all mean that it is not told.
        error: the failure, where the reason is ``error``; see :class:`ErrorStopReason`.
        usage: tokens of the work that ended; absent and ``None`` both mean that they are not told.
    """

    stop_reason: IdleStopReason | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    error: Error | None | Unset = wire_field(default=UNSET, default_on_error=True)
    usage: Usage | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class RequiresActionStateUpdate(Model):
    """The subagent waits for the user. Unstable."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownStateUpdate(Model):
    """The agent says that it cannot tell what the subagent is doing (``state: "unknown"``). Unstable.

    What was known before is no longer confirmed; nothing has ended. A state that *this version* does not know is an
    :class:`UnknownState`.
    """

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownState(Unknown):
    """A state that this version does not know."""


StateUpdate: TypeAlias = (
    RunningStateUpdate | IdleStateUpdate | RequiresActionStateUpdate | UnknownStateUpdate | UnknownState
)
"""What a subagent is doing; replaces the state before it as a whole. Unstable."""
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
class SubagentUpdate(Model):
    """This session owns a subagent, or something about it has changed. Unstable.

    The first one for a session id announces it. Absent leaves an attribute as it was, ``None`` clears it.

    Attributes:
        session_id: the subagent's own session.
        title: what the user sees; not necessarily unique.
        description: what the subagent is for.
        capabilities: what the host may do to it; replaces the earlier ones. Never told, or cleared: nothing.
        state: what it is doing. ``None`` means that this is no longer known, not that it is idle.
        cwd: its working directory, absolute; while not set, its parent's.
        additional_directories: its further roots, absolute; an empty tuple means that it has none. While not set, its
            parent's.
        meta: absent leaves it as it was, ``None`` clears it.
    """

    session_update: ClassVar[str] = "subagent_update"

    session_id: SessionId
    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    capabilities: SubagentSessionCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    state: StateUpdate | None | Unset = wire_field(default=UNSET, default_on_error=True)
    cwd: str | None | Unset = UNSET
    additional_directories: tuple[str, ...] | None | Unset = UNSET
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionMessage(Model):
    """A message between two sessions, as one of them sees it. Unstable.

    Sent again, with the same ``message_id``, when something changes: absent leaves an attribute as it was, ``None``
    clears it. The two sessions name the message differently, and each may tell the other's name for it.

    Attributes:
        message_id: its id in the transcript of the session that this update is for.
        sender_message_id: its id in the sender's transcript, told to the recipient.
        recipient_message_id: its id in the recipient's transcript, told to the sender.
        content: replaces all content so far; an empty tuple clears it too.
    """

    session_update: ClassVar[str] = "session_message"

    message_id: MessageId
    sender_session_id: SessionId | None | Unset = wire_field(default=UNSET, default_on_error=True)
    recipient_session_id: SessionId | None | Unset = wire_field(default=UNSET, default_on_error=True)
    sender_message_id: MessageId | None | Unset = wire_field(default=UNSET, default_on_error=True)
    recipient_message_id: MessageId | None | Unset = wire_field(default=UNSET, default_on_error=True)
    content: tuple[ContentBlock, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionMessageChunk(Model):
    """One more block of a message between two sessions. Unstable.

    It may come before the :class:`SessionMessage` that says who wrote to whom.
    """

    session_update: ClassVar[str] = "session_message_chunk"

    message_id: MessageId
    content: ContentBlock
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
