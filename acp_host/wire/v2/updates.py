"""``session/update`` of version 2: everything that the agent streams."""

from __future__ import annotations

from typing import TypeAlias

from acp_host.wire import updates as v1
from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import SessionId
from acp_host.wire.notices import Notice
from acp_host.wire.plans import PlanRemoved
from acp_host.wire.updates import UnknownSessionUpdate
from acp_host.wire.usage import UsageUpdate
from acp_host.wire.v2.commands import AvailableCommandsUpdate
from acp_host.wire.v2.compaction import CompactionSummaryChunk, CompactionUpdate
from acp_host.wire.v2.config_options import ConfigOptionUpdate
from acp_host.wire.v2.messages import (
    AgentMessage,
    AgentMessageChunk,
    AgentThought,
    AgentThoughtChunk,
    ContentChunk,
    MessageUpsert,
    UserMessage,
    UserMessageChunk,
)
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
