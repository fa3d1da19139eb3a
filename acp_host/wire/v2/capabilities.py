"""What each side says it can do in version 2, exchanged at ``initialize``.

As in version 1, most of these types are *markers*: the object being there means yes, however empty it is. Notices,
compactions, plans, subagents and switches need no capability of the host any more, and files and terminals of the host
are gone.

Specification: Initialization.
"""

from __future__ import annotations

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.capabilities import (
    AuthStatusCapabilities,
    ElicitationCapabilities,
    ProvidersCapabilities,
    SessionAdditionalDirectoriesCapabilities,
    SessionArchiveCapabilities,
    SessionDeleteCapabilities,
    SessionForkCapabilities,
    SessionStatusCapabilities,
    SessionSystemPromptCapabilities,
    SessionTitleCapabilities,
)

__all__ = [
    "AgentAuthCapabilities",
    "AgentCapabilities",
    "ClientAuthCapabilities",
    "ClientCapabilities",
    "McpAcpCapabilities",
    "McpCapabilities",
    "McpHttpCapabilities",
    "McpStdioCapabilities",
    "PromptAudioCapabilities",
    "PromptCapabilities",
    "PromptEmbeddedContextCapabilities",
    "PromptImageCapabilities",
    "SessionCapabilities",
    "TerminalAuthCapabilities",
]


# What the host offers.


@model
class TerminalAuthCapabilities(Model):
    """Marker: the host can run the agent's own command once more in an interactive terminal, for its login."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ClientAuthCapabilities(Model):
    """Which ways to sign in need something from the host, and are there."""

    terminal: TerminalAuthCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ClientCapabilities(Model):
    """Everything that the host offers to the agent.

    Attributes:
        elicitation: absent or ``null``: the agent may not ask the user at all.
    """

    auth: ClientAuthCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    elicitation: ElicitationCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


# What the agent offers.


@model
class PromptImageCapabilities(Model):
    """Marker: a prompt may hold image blocks."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class PromptAudioCapabilities(Model):
    """Marker: a prompt may hold audio blocks."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class PromptEmbeddedContextCapabilities(Model):
    """Marker: a prompt may hold blocks with the content of a resource in them."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class PromptCapabilities(Model):
    """Which content a prompt may hold besides text and resource links, which every agent takes."""

    image: PromptImageCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    audio: PromptAudioCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    embedded_context: PromptEmbeddedContextCapabilities | None | Unset = wire_field(
        default=UNSET, default_on_error=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class McpStdioCapabilities(Model):
    """Marker: the agent can start MCP servers as processes."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class McpHttpCapabilities(Model):
    """Marker: the agent can reach MCP servers over HTTP."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class McpAcpCapabilities(Model):
    """Unstable. Marker: the agent can reach MCP servers through this connection (``mcp/message``)."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class McpCapabilities(Model):
    """How the agent can reach MCP servers; absent means that it takes none.

    Attributes:
        acp: Unstable.
    """

    stdio: McpStdioCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    http: McpHttpCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    acp: McpAcpCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionCapabilities(Model):
    """What the agent does with sessions besides starting, listing, resuming, prompting, cancelling and closing them.

    Attributes:
        prompt: absent or ``null``: text and resource links only.
        mcp: absent or ``null``: no MCP servers.
        system_prompt: Unstable.
        fork: Unstable.
        archive: Unstable.
        status: Unstable.
        title: Unstable.
    """

    prompt: PromptCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    mcp: McpCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    delete: SessionDeleteCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    additional_directories: SessionAdditionalDirectoriesCapabilities | None | Unset = wire_field(
        default=UNSET, default_on_error=True
    )
    system_prompt: SessionSystemPromptCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    fork: SessionForkCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    archive: SessionArchiveCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    status: SessionStatusCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    title: SessionTitleCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AgentAuthCapabilities(Model):
    """What the agent does about signing in besides ``auth/login`` and ``auth/logout``.

    Attributes:
        status: Unstable.
    """

    status: AuthStatusCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AgentCapabilities(Model):
    """Everything that the agent offers to the host.

    Attributes:
        session: that it has sessions; absent or ``null``: it does not say so.
        providers: Unstable.
    """

    session: SessionCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    auth: AgentAuthCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    providers: ProvidersCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
