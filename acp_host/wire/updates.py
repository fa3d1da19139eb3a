"""``session/update``: everything that the agent streams.

This module joins the kinds of update into :data:`SessionUpdate`; most of them are declared with their topic. Reading
one is the hot path of the library.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.commands import AvailableCommandsUpdate
from acp_host.wire.compaction import CompactionSummaryChunk, CompactionUpdate
from acp_host.wire.config_options import ConfigOptionUpdate, CurrentModeUpdate
from acp_host.wire.content import ContentBlock
from acp_host.wire.ids import MessageId, SessionId
from acp_host.wire.notices import Notice
from acp_host.wire.plans import Plan, PlanRemoved, PlanUpdate
from acp_host.wire.subagents import SessionMessage, SessionMessageChunk, SubagentUpdate
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.usage import UsageUpdate

__all__ = [
    "AgentMessageChunk",
    "AgentThoughtChunk",
    "ContentChunk",
    "SessionInfoUpdate",
    "SessionNotification",
    "SessionUpdate",
    "UnknownSessionUpdate",
    "UserMessageChunk",
]


@model
class ContentChunk(Model):
    """The next piece of a message; its three subclasses say whose.

    Attributes:
        message_id: chunks of one message share it, and another one begins another message. Absent or ``None``: the
            agent does not name its messages.
    """

    content: ContentBlock
    message_id: MessageId | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UserMessageChunk(ContentChunk):
    """The next piece of what the user said; mostly while a session is loaded."""

    session_update: ClassVar[str] = "user_message_chunk"


@model
class AgentMessageChunk(ContentChunk):
    """The next piece of what the agent says."""

    session_update: ClassVar[str] = "agent_message_chunk"


@model
class AgentThoughtChunk(ContentChunk):
    """The next piece of what the agent thinks."""

    session_update: ClassVar[str] = "agent_thought_chunk"


@model
class SessionInfoUpdate(Model):
    """Something about the session itself has changed. Absent leaves an attribute as it was, ``None`` clears it.

    Attributes:
        title: what to call the session.
        updated_at: when something last happened in it, in ISO 8601.
    """

    session_update: ClassVar[str] = "session_info_update"

    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    updated_at: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownSessionUpdate(Unknown):
    """An update of a kind that this version does not know."""


SessionUpdate: TypeAlias = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCall
    | ToolCallUpdate
    | Plan
    | PlanUpdate
    | PlanRemoved
    | AvailableCommandsUpdate
    | CurrentModeUpdate
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
        "agent_message_chunk": AgentMessageChunk,
        "agent_thought_chunk": AgentThoughtChunk,
        "tool_call": ToolCall,
        "tool_call_update": ToolCallUpdate,
        "plan": Plan,
        "plan_update": PlanUpdate,
        "plan_removed": PlanRemoved,
        "available_commands_update": AvailableCommandsUpdate,
        "current_mode_update": CurrentModeUpdate,
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
class SessionNotification(Model):
    """An update and the session it is about (``session/update``)."""

    session_id: SessionId
    update: SessionUpdate
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
