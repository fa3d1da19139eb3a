"""The messages of version 2, as they are streamed.

A message is told in chunks or as a whole: each chunk of a message adds to it, and a :class:`MessageUpsert` takes the
place of what was there. Chunks are those of version 1 with an id that is always there, so that whoever reads them need
not know the version.
"""

from __future__ import annotations

from typing import ClassVar

from acp_host.wire import updates as v1
from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.ids import MessageId
from acp_host.wire.v2.content import ContentBlock

__all__ = [
    "AgentMessage",
    "AgentMessageChunk",
    "AgentThought",
    "AgentThoughtChunk",
    "ContentChunk",
    "MessageUpsert",
    "UserMessage",
    "UserMessageChunk",
]


@model
class ContentChunk(v1.ContentChunk):
    """The next piece of a message; its three subclasses say whose.

    Attributes:
        message_id: chunks of one message share it; chunks of several messages may take turns.
        meta: belongs to the chunk, not to the message.
    """

    content: ContentBlock
    message_id: MessageId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UserMessageChunk(ContentChunk, v1.UserMessageChunk):
    """The next piece of what the user said."""


@model
class AgentMessageChunk(ContentChunk, v1.AgentMessageChunk):
    """The next piece of what the agent says."""


@model
class AgentThoughtChunk(ContentChunk, v1.AgentThoughtChunk):
    """The next piece of what the agent thinks."""


@model
class MessageUpsert(Model):
    """A message as a whole; its three subclasses say whose. It is new, or the one with the same id has changed.

    Attributes:
        content: takes the place of all that was there, whether it came in chunks or not; absent leaves it as it was,
            ``None`` and an empty tuple clear it. Later chunks add to it.
        meta: changes the members that it names; those that are ``None`` in it are removed.
    """

    message_id: MessageId
    content: tuple[ContentBlock, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UserMessage(MessageUpsert):
    """What the user said, in its place in the conversation; a prompt of this host, or of another one."""

    session_update: ClassVar[str] = "user_message"


@model
class AgentMessage(MessageUpsert):
    """What the agent says."""

    session_update: ClassVar[str] = "agent_message"


@model
class AgentThought(MessageUpsert):
    """What the agent thinks."""

    session_update: ClassVar[str] = "agent_thought"
