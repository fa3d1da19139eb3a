"""The life of a session in version 2: starting, finding, resuming and ending one.

``session/load`` is gone: a session is resumed, and says with ``replayFrom`` from where its conversation is replayed.
The requests that are not here are as in version 1.

Specification: Session Setup, Session List.
"""

from __future__ import annotations

from typing import TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import SessionId
from acp_host.wire.session import ListSessionsRequest, SessionStatus, SessionStatusRequest, SystemPromptMode
from acp_host.wire.v2.commands import AvailableCommand
from acp_host.wire.v2.config_options import SessionConfigOption
from acp_host.wire.v2.content import AbsolutePath, ContentBlock
from acp_host.wire.v2.mcp import McpServer
from acp_host.wire.v2.state_update import StateUpdate

__all__ = [
    "ForkSessionRequest",
    "ForkSessionResponse",
    "ListSessionsRequest",
    "ListSessionsResponse",
    "NewSessionRequest",
    "NewSessionResponse",
    "ReplayFrom",
    "ReplayFromStart",
    "ResumeSessionRequest",
    "ResumeSessionResponse",
    "SessionInfo",
    "SessionListCursor",
    "SessionStatusRequest",
    "SessionStatusResponse",
    "SystemPrompt",
    "UnknownReplayFrom",
]

SessionListCursor: TypeAlias = str
"""A place in the list of sessions, named by the agent."""


# Starting one, and taking it up again.


@model
class SystemPrompt(Model):
    """Unstable. Instructions from the host for a whole session.

    Attributes:
        mode: one of :class:`~acp_host.wire.session.SystemPromptMode` or another word.
        content: text blocks only, and at least one.
    """

    mode: SystemPromptMode | str
    content: tuple[ContentBlock, ...]
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class NewSessionRequest(Model):
    """Parameters of ``session/new``.

    Attributes:
        additional_directories: further roots that the session may work in; absent means none. Only for agents with
            that capability.
        mcp_servers: servers for the agent to connect to; absent means none.
        system_prompt: absent or ``null``: the agent's own. Only for agents with that capability. Unstable.
    """

    cwd: AbsolutePath
    additional_directories: tuple[AbsolutePath, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    mcp_servers: tuple[McpServer, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    system_prompt: SystemPrompt | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class NewSessionResponse(Model):
    """Result of ``session/new``. What the session is doing is told by updates; until then it is idle.

    Attributes:
        config_options: all options with their current values; absent means none.
        available_commands: the commands at the start; absent means none.
    """

    session_id: SessionId
    config_options: tuple[SessionConfigOption, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    available_commands: tuple[AvailableCommand, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ReplayFromStart(Model):
    """Replay all that the agent has kept of the conversation."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownReplayFrom(Unknown):
    """A place to replay from that this version does not know."""


ReplayFrom: TypeAlias = ReplayFromStart | UnknownReplayFrom
"""From where a conversation is replayed, that place included."""
tagged_union("ReplayFrom", tag="type", variants={"start": ReplayFromStart}, unknown=UnknownReplayFrom)


@model
class ResumeSessionRequest(Model):
    """Parameters of ``session/resume``: take up a session again.

    Attributes:
        cwd: the session's working directory.
        additional_directories: all further roots from here on, whatever they were before; absent means none.
        mcp_servers: servers for the agent to connect to; absent means none.
        replay_from: absent or ``null``: without a replay.
        system_prompt: best the one that the session was started with. Unstable.
    """

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: tuple[AbsolutePath, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    mcp_servers: tuple[McpServer, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    replay_from: ReplayFrom | None | Unset = wire_field(default=UNSET)
    system_prompt: SystemPrompt | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ResumeSessionResponse(Model):
    """Result of ``session/resume``; the attributes are those of :class:`NewSessionResponse`."""

    config_options: tuple[SessionConfigOption, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    available_commands: tuple[AvailableCommand, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ForkSessionRequest(Model):
    """Unstable. Parameters of ``session/fork``: a new session that starts with the conversation of another.

    Attributes:
        session_id: the session to start from; it stays as it is.
        cwd: the new session's working directory.
        additional_directories: further roots of the new session; absent means none.
        mcp_servers: servers for the agent to connect to; absent means none.
        system_prompt: best the one that the other session was started with.
    """

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: tuple[AbsolutePath, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    mcp_servers: tuple[McpServer, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    system_prompt: SystemPrompt | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ForkSessionResponse(Model):
    """Unstable. Result of ``session/fork``; the id is the new session's, the rest as in :class:`NewSessionResponse`."""

    session_id: SessionId
    config_options: tuple[SessionConfigOption, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    available_commands: tuple[AvailableCommand, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


# Finding one.


@model
class SessionInfo(Model):
    """One entry of the list.

    Attributes:
        additional_directories: all further roots, in order; absent means none.
        updated_at: time of the last activity, in ISO 8601.
        archived: absent or ``null``: not told. Unstable.
    """

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: tuple[AbsolutePath, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    updated_at: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    archived: bool | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ListSessionsResponse(Model):
    """Result of ``session/list``.

    Attributes:
        next_cursor: to be sent for the next page; absent or ``null`` on the last one.
    """

    sessions: tuple[SessionInfo, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    next_cursor: SessionListCursor | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionStatusResponse(Model):
    """Unstable. Result of ``session/status``; it can be outdated by the time it is read.

    Attributes:
        status: one of :class:`~acp_host.wire.session.SessionStatus` or another word.
        state: what the session is doing; absent or ``null``: not told, and never to be read as idle.
    """

    status: SessionStatus | str
    state: StateUpdate | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
