"""``session/update`` of version 2: everything that the agent streams.

A message is told in chunks or as a whole: each chunk of a message adds to it, and a :class:`MessageUpsert` takes the
place of what was there. Chunks are those of version 1 with an id that is always there, so that whoever reads them need
not know the version.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from acp_host.wire import updates as v1
from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import MessageId, SessionId
from acp_host.wire.notices import Notice
from acp_host.wire.plans import PlanRemoved
from acp_host.wire.updates import UnknownSessionUpdate
from acp_host.wire.usage import UsageUpdate
from acp_host.wire.v2.commands import AvailableCommandsUpdate
from acp_host.wire.v2.compaction import CompactionSummaryChunk, CompactionUpdate
from acp_host.wire.v2.config_options import ConfigOptionUpdate
from acp_host.wire.v2.content import ContentBlock
from acp_host.wire.v2.plans import PlanUpdate
from acp_host.wire.v2.state_update import SessionStateUpdate
from acp_host.wire.v2.subagents import SessionMessage, SessionMessageChunk, SubagentUpdate
from acp_host.wire.v2.terminals import TerminalOutputChunk, TerminalUpdate
from acp_host.wire.v2.tool_calls import ToolCallContentChunk, ToolCallUpdate

__all__ = [
    "AgentMessage",
    "AgentMessageChunk",
    "AgentThought",
    "AgentThoughtChunk",
    "ContentChunk",
    "MessageUpsert",
    "SessionInfoUpdate",
    "SessionUpdate",
    "UpdateSessionNotification",
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


@model
class SessionInfoUpdate(v1.SessionInfoUpdate):
    """Something about the session itself has changed. Absent leaves an attribute as it was, ``None`` clears it.

    Attributes:
        meta: changes the members that it names; those that are ``None`` in it are removed.
    """


SessionUpdate: TypeAlias = (
    UserMessageChunk
    | UserMessage
    | AgentMessageChunk
    | AgentMessage
    | AgentThoughtChunk
    | AgentThought
    | SessionStateUpdate
    | ToolCallContentChunk
    | ToolCallUpdate
    | TerminalUpdate
    | TerminalOutputChunk
    | PlanUpdate
    | PlanRemoved
    | AvailableCommandsUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | SubagentUpdate
    | SessionMessage
    | SessionMessageChunk
    | UnknownSessionUpdate
)
"""One thing that the agent tells about a session."""
tagged_union(
    "SessionUpdate",
    tag="sessionUpdate",
    variants={
        "user_message_chunk": UserMessageChunk,
        "user_message": UserMessage,
        "agent_message_chunk": AgentMessageChunk,
        "agent_message": AgentMessage,
        "agent_thought_chunk": AgentThoughtChunk,
        "agent_thought": AgentThought,
        "state_update": SessionStateUpdate,
        "tool_call_content_chunk": ToolCallContentChunk,
        "tool_call_update": ToolCallUpdate,
        "terminal_update": TerminalUpdate,
        "terminal_output_chunk": TerminalOutputChunk,
        "plan_update": PlanUpdate,
        "plan_removed": PlanRemoved,
        "available_commands_update": AvailableCommandsUpdate,
        "config_option_update": ConfigOptionUpdate,
        "session_info_update": SessionInfoUpdate,
        "usage_update": UsageUpdate,
        "notice": Notice,
        "compaction_update": CompactionUpdate,
        "compaction_summary_chunk": CompactionSummaryChunk,
        "subagent_update": SubagentUpdate,
        "session_message": SessionMessage,
        "session_message_chunk": SessionMessageChunk,
    },
    unknown=UnknownSessionUpdate,
)


@model
class UpdateSessionNotification(Model):
    """An update and the session it is about (``session/update``)."""

    session_id: SessionId
    update: SessionUpdate
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
