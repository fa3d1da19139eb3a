"""Subagents in version 2: as in version 1, with version 2's states and content. All of it is unstable."""

from __future__ import annotations

from typing import ClassVar

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.ids import MessageId, SessionId
from acp_host.wire.subagents import SubagentSessionCapabilities
from acp_host.wire.v2.content import AbsolutePath, ContentBlock
from acp_host.wire.v2.state_update import StateUpdate

__all__ = ["SessionMessage", "SessionMessageChunk", "SubagentUpdate"]


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
        cwd: its working directory; while not set, its parent's.
        additional_directories: its further roots; an empty tuple means that it has none. While not set, its parent's.
        meta: absent leaves it as it was, ``None`` clears it.
    """

    session_update: ClassVar[str] = "subagent_update"

    session_id: SessionId
    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    capabilities: SubagentSessionCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    state: StateUpdate | None | Unset = wire_field(default=UNSET, default_on_error=True)
    cwd: AbsolutePath | None | Unset = UNSET
    additional_directories: tuple[AbsolutePath, ...] | None | Unset = UNSET
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
