"""The life of a session: starting, finding, naming, putting away and ending one.

Owns the ``session/*`` requests about a session as a whole. What happens inside one is elsewhere: prompts in
:mod:`acp_host.wire.prompt`, updates in :mod:`acp_host.wire.updates`, modes and options in
:mod:`acp_host.wire.config_options`.

Specification: Session Setup, Session List.
"""

from __future__ import annotations

from enum import StrEnum

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.config_options import SessionConfigOption, SessionModeState
from acp_host.wire.content import ContentBlock
from acp_host.wire.ids import SessionId
from acp_host.wire.mcp import McpServer

__all__ = [
    "ArchiveSessionRequest",
    "ArchiveSessionResponse",
    "CloseSessionRequest",
    "CloseSessionResponse",
    "DeleteSessionRequest",
    "DeleteSessionResponse",
    "ForkSessionRequest",
    "ForkSessionResponse",
    "ListSessionsRequest",
    "ListSessionsResponse",
    "LoadSessionRequest",
    "LoadSessionResponse",
    "NewSessionRequest",
    "NewSessionResponse",
    "ResumeSessionRequest",
    "ResumeSessionResponse",
    "SessionArchiveFilter",
    "SessionInfo",
    "SessionStatus",
    "SessionStatusRequest",
    "SessionStatusResponse",
    "SetSessionTitleRequest",
    "SetSessionTitleResponse",
    "SystemPrompt",
    "SystemPromptMode",
    "UnarchiveSessionRequest",
    "UnarchiveSessionResponse",
]


# Starting one.


class SystemPromptMode(StrEnum):
    """Unstable. What a system prompt does to the agent's own. An agent refuses a mode that it does not know."""

    APPEND = "append"
    """It is added; every agent that takes system prompts can do this."""
    OVERRIDE = "override"
    """It takes the place of the agent's own instructions; tools, permissions and options stay as they are."""


@model
class SystemPrompt(Model):
    """Unstable. Instructions from the host for a whole session.

    Attributes:
        mode: one of :class:`SystemPromptMode` or another word.
        content: text blocks only, and at least one.
    """

    mode: SystemPromptMode | str
    content: tuple[ContentBlock, ...]
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class NewSessionRequest(Model):
    """Parameters of ``session/new``.

    Attributes:
        cwd: the working directory; absolute.
        mcp_servers: servers for the agent to connect to.
        additional_directories: further roots that the session may work in; absolute. Absent means none. Only for
            agents with that capability.
        system_prompt: absent or ``null``: the agent's own. Only for agents with that capability. Unstable.
    """

    cwd: str
    mcp_servers: tuple[McpServer, ...] = wire_field(default_on_null=True)
    additional_directories: tuple[str, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    system_prompt: SystemPrompt | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class NewSessionResponse(Model):
    """Result of ``session/new``.

    Attributes:
        modes: the modes to choose from and the current one, of an agent that has modes.
        config_options: all options with their current values, of an agent that has options.
    """

    session_id: SessionId
    modes: SessionModeState | None | Unset = wire_field(default=UNSET, default_on_error=True)
    config_options: tuple[SessionConfigOption, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class LoadSessionRequest(Model):
    """Parameters of ``session/load``: take up a session again, its conversation replayed as updates.

    Attributes:
        mcp_servers: servers for the agent to connect to.
        cwd: the session's working directory; absolute.
        additional_directories: all further roots from here on, whatever they were before; absent means none.
        system_prompt: best the one that the session was started with. Unstable.
    """

    mcp_servers: tuple[McpServer, ...] = wire_field(default_on_null=True)
    cwd: str
    session_id: SessionId
    additional_directories: tuple[str, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    system_prompt: SystemPrompt | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class LoadSessionResponse(Model):
    """Result of ``session/load``; the attributes are those of :class:`NewSessionResponse`."""

    modes: SessionModeState | None | Unset = wire_field(default=UNSET, default_on_error=True)
    config_options: tuple[SessionConfigOption, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ResumeSessionRequest(Model):
    """Parameters of ``session/resume``: take up a session again without a replay.

    Attributes:
        cwd: the session's working directory; absolute.
        additional_directories: all further roots from here on, whatever they were before; absent means none.
        mcp_servers: servers for the agent to connect to; absent means none.
        system_prompt: best the one that the session was started with. Unstable.
    """

    session_id: SessionId
    cwd: str
    additional_directories: tuple[str, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    mcp_servers: tuple[McpServer, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    system_prompt: SystemPrompt | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ResumeSessionResponse(Model):
    """Result of ``session/resume``; the attributes are those of :class:`NewSessionResponse`."""

    modes: SessionModeState | None | Unset = wire_field(default=UNSET, default_on_error=True)
    config_options: tuple[SessionConfigOption, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ForkSessionRequest(Model):
    """Unstable. Parameters of ``session/fork``: a new session that starts with the conversation of another.

    Attributes:
        session_id: the session to start from; it stays as it is.
        cwd: the new session's working directory; absolute.
        additional_directories: further roots of the new session; absent means none.
        mcp_servers: servers for the agent to connect to; absent means none.
        system_prompt: best the one that the other session was started with.
    """

    session_id: SessionId
    cwd: str
    additional_directories: tuple[str, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    mcp_servers: tuple[McpServer, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    system_prompt: SystemPrompt | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ForkSessionResponse(Model):
    """Unstable. Result of ``session/fork``; the id is the new session's, the rest as in :class:`NewSessionResponse`."""

    session_id: SessionId
    modes: SessionModeState | None | Unset = wire_field(default=UNSET, default_on_error=True)
    config_options: tuple[SessionConfigOption, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


# Finding one.


class SessionArchiveFilter(StrEnum):
    """Unstable. Which sessions to list. An agent refuses a word that it does not know."""

    EXCLUDE = "exclude"
    """Those that are not archived; also what no filter means."""
    INCLUDE = "include"
    """All of them."""
    ONLY = "only"
    """Those that are archived."""


@model
class ListSessionsRequest(Model):
    """Parameters of ``session/list``: one page of the sessions that the agent knows.

    Attributes:
        cwd: only sessions of this working directory; absolute.
        cursor: the ``next_cursor`` of the page before, with the same filters as there.
        archived: one of :class:`SessionArchiveFilter` or another word. Only for agents that can archive. Unstable.
    """

    cwd: str | None | Unset = wire_field(default=UNSET)
    cursor: str | None | Unset = wire_field(default=UNSET)
    archived: SessionArchiveFilter | str | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionInfo(Model):
    """One entry of the list.

    Attributes:
        cwd: the working directory; absolute.
        additional_directories: all further roots, in order; absent means none.
        updated_at: time of the last activity, in ISO 8601.
        archived: absent or ``null``: not told. Unstable.
    """

    session_id: SessionId
    cwd: str
    additional_directories: tuple[str, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
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
    next_cursor: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


class SessionStatus(StrEnum):
    """Unstable. Whether the agent has a session in memory. Read any other value as ``saved``."""

    OPEN = "open"
    """It is in memory, for this connection or another one."""
    SAVED = "saved"
    """It can be loaded or resumed."""


@model
class SessionStatusRequest(Model):
    """Unstable. Parameters of ``session/status``, which changes nothing."""

    session_id: SessionId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionStatusResponse(Model):
    """Unstable. Result of ``session/status``; it can be outdated by the time it is read.

    Attributes:
        status: one of :class:`SessionStatus` or another word.
    """

    status: SessionStatus | str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


# Naming one.


@model
class SetSessionTitleRequest(Model):
    """Unstable. Parameters of ``session/set_title``, for any session of the list, open or not."""

    session_id: SessionId
    title: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SetSessionTitleResponse(Model):
    """Unstable. Result of ``session/set_title``.

    Attributes:
        title: as stored, so the one to show; the agent may have shortened or trimmed what was asked for.
    """

    title: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


# Putting one away, and ending it.


@model
class ArchiveSessionRequest(Model):
    """Unstable. Parameters of ``session/archive``: hide a session from the list; its work is cancelled, it is kept."""

    session_id: SessionId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ArchiveSessionResponse(Model):
    """Unstable. Result of ``session/archive``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnarchiveSessionRequest(Model):
    """Unstable. Parameters of ``session/unarchive``: show a session in the list again, without opening it."""

    session_id: SessionId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnarchiveSessionResponse(Model):
    """Unstable. Result of ``session/unarchive``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CloseSessionRequest(Model):
    """Parameters of ``session/close``: cancel the session's work and free what it holds."""

    session_id: SessionId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CloseSessionResponse(Model):
    """Result of ``session/close``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class DeleteSessionRequest(Model):
    """Parameters of ``session/delete``: remove a session from the list for good."""

    session_id: SessionId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class DeleteSessionResponse(Model):
    """Result of ``session/delete``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
