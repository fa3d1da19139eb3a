"""Prompts in version 2: the answer says that the user's message has its place; what comes of it is told by updates."""

from __future__ import annotations

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.ids import MessageId, SessionId
from acp_host.wire.v2.content import ContentBlock

__all__ = ["CancelSessionNotification", "PromptRequest", "PromptResponse"]


@model
class PromptRequest(Model):
    """The user's message (``session/prompt``). It is answered when the message has its place in the conversation.

    Attributes:
        prompt: text and resource links go to every agent, other blocks only where its prompt capabilities say so.
    """

    session_id: SessionId
    prompt: tuple[ContentBlock, ...]
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class PromptResponse(Model):
    """The message has its place in the conversation; the turn may not have begun yet.

    Attributes:
        message_id: of the user's message; the update that echoes it, before this answer or after it, has the same.
    """

    message_id: MessageId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CancelSessionNotification(Model):
    """Stop what a session does in the foreground, and drop its prompts that have no place yet (``session/cancel``)."""

    session_id: SessionId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
