"""What the reference agent can be made to offer or not: :data:`FEATURES`, and the capabilities that tell a host."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from attrs import frozen

from acp_host.errors import InvalidInput
from acp_host.state.reminder_entry import ReminderMode
from acp_host.testing._reminder_wire import PROPAGATE, ROLE_HINTS
from acp_host.wire._model import UNSET
from acp_host.wire.capabilities import (
    AgentAuthCapabilities,
    AgentCapabilities,
    AuthStatusCapabilities,
    ClientCapabilities,
    LogoutCapabilities,
    McpCapabilities,
    PromptCapabilities,
    ProvidersCapabilities,
    SessionAdditionalDirectoriesCapabilities,
    SessionArchiveCapabilities,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionDeleteCapabilities,
    SessionForkCapabilities,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SessionStatusCapabilities,
    SessionSystemPromptCapabilities,
    SessionSystemPromptModeCapabilities,
    SessionSystemPromptOverrideCapabilities,
    SessionTitleCapabilities,
)
from acp_host.wire.converters import unstructure

__all__ = ["FEATURES", "Feature", "agent_capabilities", "chosen_features", "offered", "reminder_capabilities"]


@frozen
class Feature:
    """Something that an agent need not offer.

    Attributes:
        methods: the wire methods that come with it.
        stable: whether it is in the stable schema.
        asked_for: whether it is offered only where it is asked for.
    """

    methods: tuple[str, ...] = ()
    stable: bool = True
    asked_for: bool = False


FEATURES: Mapping[str, Feature] = {
    "image": Feature(),
    "audio": Feature(),
    "embeddedContext": Feature(),
    "additionalDirectories": Feature(),
    "load": Feature(("session/load",)),
    "list": Feature(("session/list",)),
    "resume": Feature(("session/resume",)),
    "close": Feature(("session/close",)),
    "delete": Feature(("session/delete",)),
    "logout": Feature(("logout",)),
    "systemPrompt": Feature(stable=False),
    "fork": Feature(("session/fork",), stable=False),
    "archive": Feature(("session/archive", "session/unarchive"), stable=False),
    "status": Feature(("session/status",), stable=False),
    "title": Feature(("session/set_title",), stable=False),
    "authStatus": Feature(("auth/status",), stable=False),
    "providers": Feature(("providers/list", "providers/set", "providers/disable"), stable=False),
    "mcp": Feature(stable=False),
    "initialize_again": Feature(asked_for=True),
    "old_options": Feature(("session/set_model",), stable=False, asked_for=True),
    # As in the RFC; the two that follow go with Harn's ways too.
    "reminders": Feature(("session/inject_reminder",), stable=False),
    "reminder_updates": Feature(stable=False),
    "reminder_queue": Feature(("session/pending_injections", "session/revoke_reminder"), stable=False),
    "harn_reminders": Feature(("session/remind",), stable=False, asked_for=True),
    "harn_decorations": Feature(stable=False, asked_for=True),
    "harn_no_bridge": Feature(stable=False, asked_for=True),
    "harn_old": Feature(stable=False, asked_for=True),
}
"""Everything optional by the word that its capability has on the wire, or one like it."""

_OF_REMINDERS = frozenset({"reminder_updates", "reminder_queue"})


def chosen_features(*, unstable: bool, without: Collection[str], also: Collection[str] = ()) -> frozenset[str]:
    """Return the features that are offered.

    Args:
        unstable: offer drafts.
        without: features to leave out.
        also: features to offer that are offered only where they are asked for.

    Raises:
        InvalidInput: ``without`` or ``also`` names something that is none.
    """
    unknown = sorted({*without, *also} - FEATURES.keys())
    if unknown:
        raise InvalidInput(f"{', '.join(unknown)}: no feature of the reference agent; it has {', '.join(FEATURES)}")
    chosen = {
        name
        for name, feature in FEATURES.items()
        if name in also or (name not in without and not feature.asked_for and (unstable or feature.stable))
    }
    return frozenset(chosen if chosen & {"reminders", "harn_reminders"} else chosen - _OF_REMINDERS)


def agent_capabilities(features: frozenset[str]) -> AgentCapabilities:
    """Return what the host is told at ``initialize``."""
    has = features.__contains__
    override = SessionSystemPromptModeCapabilities(override=SessionSystemPromptOverrideCapabilities())
    return AgentCapabilities(
        load_session=has("load"),
        prompt_capabilities=PromptCapabilities(
            image=has("image"), audio=has("audio"), embedded_context=has("embeddedContext")
        ),
        mcp_capabilities=McpCapabilities(acp=True) if has("mcp") else UNSET,
        session_capabilities=SessionCapabilities(
            list=SessionListCapabilities() if has("list") else UNSET,
            delete=SessionDeleteCapabilities() if has("delete") else UNSET,
            additional_directories=(
                SessionAdditionalDirectoriesCapabilities() if has("additionalDirectories") else UNSET
            ),
            system_prompt=SessionSystemPromptCapabilities(mode=override) if has("systemPrompt") else UNSET,
            fork=SessionForkCapabilities() if has("fork") else UNSET,
            archive=SessionArchiveCapabilities() if has("archive") else UNSET,
            status=SessionStatusCapabilities() if has("status") else UNSET,
            title=SessionTitleCapabilities() if has("title") else UNSET,
            resume=SessionResumeCapabilities() if has("resume") else UNSET,
            close=SessionCloseCapabilities() if has("close") else UNSET,
        ),
        auth=AgentAuthCapabilities(
            status=AuthStatusCapabilities() if has("authStatus") else UNSET,
            logout=LogoutCapabilities() if has("logout") else UNSET,
        ),
        providers=ProvidersCapabilities() if has("providers") else UNSET,
        meta={"harn": {"sessionUpdateExtensions": ["reminder_emitted"]}} if has("harn_reminders") else UNSET,
        extra=reminder_capabilities(features),
    )


def reminder_capabilities(features: frozenset[str]) -> Mapping[str, Any]:
    """Return the members of the capabilities that the schema does not know: the RFC's, and Harn's of newer builds."""
    capabilities: dict[str, Any] = {}
    if "reminders" in features:
        emit = "reminder_updates" in features
        capabilities["reminders"] = {
            "inject": True,
            "emit": emit,
            "propagate": list(PROPAGATE),
            "roleHints": list(ROLE_HINTS),
        }
    if "harn_reminders" in features and "harn_old" not in features:
        queue = "reminder_queue" in features
        pending = {"list": queue, "revoke": queue}
        capabilities["session"] = {"remind": {"modes": [str(mode) for mode in ReminderMode], "pending": pending}}
    return capabilities


def offered(client: ClientCapabilities, capability: str) -> bool:
    """Tell whether a host offers a capability, by its wire path, e.g. ``clientCapabilities.fs.readTextFile``."""
    value: Any = {"clientCapabilities": unstructure(client)}
    for name in capability.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value is True or isinstance(value, Mapping)
