"""What each side says it can do, exchanged at ``initialize``.

Owns every ``…Capabilities`` type of the handshake, for host and agent. It does not decide what may be used: that is the
``Agreement``'s work. Most of these types are *markers*: the object being there means yes, however empty it is, and
absent or ``null`` means no.

Specification: Initialization.
"""

from __future__ import annotations

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field

__all__ = [
    "AgentAuthCapabilities",
    "AgentCapabilities",
    "AuthCapabilities",
    "AuthStatusCapabilities",
    "BooleanConfigOptionCapabilities",
    "ClientCapabilities",
    "ClientSessionCapabilities",
    "CompactionCapabilities",
    "ElicitationCapabilities",
    "ElicitationFormCapabilities",
    "ElicitationUrlCapabilities",
    "FileSystemCapabilities",
    "LogoutCapabilities",
    "McpCapabilities",
    "NoticeCapabilities",
    "PlanCapabilities",
    "PromptCapabilities",
    "ProvidersCapabilities",
    "SessionAdditionalDirectoriesCapabilities",
    "SessionArchiveCapabilities",
    "SessionCapabilities",
    "SessionCloseCapabilities",
    "SessionConfigOptionsCapabilities",
    "SessionDeleteCapabilities",
    "SessionForkCapabilities",
    "SessionListCapabilities",
    "SessionResumeCapabilities",
    "SessionStatusCapabilities",
    "SessionSystemPromptCapabilities",
    "SessionSystemPromptModeCapabilities",
    "SessionSystemPromptOverrideCapabilities",
    "SessionTitleCapabilities",
    "SubagentCapabilities",
]


# What the host offers.


@model
class FileSystemCapabilities(Model):
    """Which file requests the host answers.

    Attributes:
        read_text_file: ``fs/read_text_file``; absent means false.
        write_text_file: ``fs/write_text_file``; absent means false.
    """

    read_text_file: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    write_text_file: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class BooleanConfigOptionCapabilities(Model):
    """Marker: the host can show on/off options and set them with a boolean value."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionConfigOptionsCapabilities(Model):
    """Which kinds of configuration options the host handles besides lists to choose from."""

    boolean: BooleanConfigOptionCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CompactionCapabilities(Model):
    """Marker: the host follows compactions of the conversation by their ids."""


@model
class NoticeCapabilities(Model):
    """Marker: the host can put a short live message in front of the user."""


@model
class ClientSessionCapabilities(Model):
    """What the host handles inside a session beyond the basic updates."""

    compaction: CompactionCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    config_options: SessionConfigOptionsCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    notices: NoticeCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SubagentCapabilities(Model):
    """Unstable. Marker: the host understands child sessions, their states and the messages between sessions."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class PlanCapabilities(Model):
    """Unstable. Marker: the host takes plans by id (``plan_update`` and ``plan_removed``)."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AuthCapabilities(Model):
    """Which ways to sign in need something from the host, and are there.

    Attributes:
        terminal: the host can run the agent's own command once more in an interactive terminal, so the agent may list
            sign-in methods of that type; absent means false.
    """

    terminal: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ElicitationFormCapabilities(Model):
    """Marker: the host can show a form and return its answers."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ElicitationUrlCapabilities(Model):
    """Marker: the host can send the user to a web page."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ElicitationCapabilities(Model):
    """In which modes the agent may ask the user for input."""

    form: ElicitationFormCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    url: ElicitationUrlCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ClientCapabilities(Model):
    """Everything that the host offers to the agent.

    Attributes:
        terminal: all ``terminal/*`` requests; absent means false.
        subagents: Unstable.
        plan: Unstable.
        elicitation: absent or ``null``: the agent may not ask the user at all.
    """

    fs: FileSystemCapabilities | Unset = wire_field(default=UNSET, default_on_error=True)
    terminal: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    session: ClientSessionCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    subagents: SubagentCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    plan: PlanCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    auth: AuthCapabilities | Unset = wire_field(default=UNSET, default_on_error=True)
    elicitation: ElicitationCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


# What the agent offers.


@model
class PromptCapabilities(Model):
    """Which content a prompt may hold besides text and resource links, which every agent takes.

    Attributes:
        image: image blocks; absent means false.
        audio: audio blocks; absent means false.
        embedded_context: blocks with the content of a resource in them; absent means false.
    """

    image: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    audio: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    embedded_context: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class McpCapabilities(Model):
    """How the agent can reach MCP servers besides starting them as a process, which every agent can.

    Attributes:
        http: over HTTP; absent means false.
        sse: over HTTP with server-sent events; absent means false.
        acp: through this connection (``mcp/message``); absent means false. Unstable.
    """

    http: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    sse: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    acp: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionListCapabilities(Model):
    """Marker: ``session/list`` works."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionDeleteCapabilities(Model):
    """Marker: ``session/delete`` works."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionAdditionalDirectoriesCapabilities(Model):
    """Marker: a session can have more roots than its working directory."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionSystemPromptOverrideCapabilities(Model):
    """Unstable. Marker: the host's system prompt may take the place of the agent's own."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionSystemPromptModeCapabilities(Model):
    """Unstable. Ways to use the host's system prompt besides appending it, which is always there."""

    override: SessionSystemPromptOverrideCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionSystemPromptCapabilities(Model):
    """Unstable. Marker: the requests that start a session take a system prompt, at least to append it.

    Attributes:
        mode: further modes; absent or ``null`` means ``append`` only.
    """

    mode: SessionSystemPromptModeCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionForkCapabilities(Model):
    """Unstable. Marker: ``session/fork`` works."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionArchiveCapabilities(Model):
    """Unstable. Marker: ``session/archive``, ``session/unarchive`` and the list's archive filter work."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionStatusCapabilities(Model):
    """Unstable. Marker: ``session/status`` works."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionTitleCapabilities(Model):
    """Unstable. Marker: ``session/set_title`` works. Agents report titles without it."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionResumeCapabilities(Model):
    """Marker: ``session/resume`` works."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionCloseCapabilities(Model):
    """Marker: ``session/close`` works."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionCapabilities(Model):
    """What the agent does with sessions besides starting them and taking prompts.

    ``session/load`` is not here: it has its own flag in :class:`AgentCapabilities`.

    Attributes:
        system_prompt: Unstable.
        fork: Unstable.
        archive: Unstable.
        status: Unstable.
        title: Unstable.
    """

    list: SessionListCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    delete: SessionDeleteCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    additional_directories: SessionAdditionalDirectoriesCapabilities | None | Unset = wire_field(
        default=UNSET, default_on_error=True
    )
    system_prompt: SessionSystemPromptCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    fork: SessionForkCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    archive: SessionArchiveCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    status: SessionStatusCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    title: SessionTitleCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    resume: SessionResumeCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    close: SessionCloseCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AuthStatusCapabilities(Model):
    """Unstable. Marker: ``auth/status`` works."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class LogoutCapabilities(Model):
    """Marker: ``logout`` works."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AgentAuthCapabilities(Model):
    """What the agent does about signing in besides ``authenticate``.

    Attributes:
        status: Unstable.
    """

    status: AuthStatusCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    logout: LogoutCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ProvidersCapabilities(Model):
    """Unstable. Marker: ``providers/*`` works."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AgentCapabilities(Model):
    """Everything that the agent offers to the host.

    Attributes:
        load_session: ``session/load`` works; absent means false.
        providers: Unstable.
    """

    load_session: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    prompt_capabilities: PromptCapabilities | Unset = wire_field(default=UNSET, default_on_error=True)
    mcp_capabilities: McpCapabilities | Unset = wire_field(default=UNSET, default_on_error=True)
    session_capabilities: SessionCapabilities | Unset = wire_field(default=UNSET, default_on_error=True)
    auth: AgentAuthCapabilities | Unset = wire_field(default=UNSET, default_on_error=True)
    providers: ProvidersCapabilities | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
