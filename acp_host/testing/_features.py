"""What the reference agent can be made to offer or not: :data:`FEATURES`, and the capabilities that tell a host."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from attrs import frozen

from acp_host.errors import InvalidInput
from acp_host.wire._model import UNSET
from acp_host.wire.capabilities import (
    AgentAuthCapabilities,
    AgentCapabilities,
    AuthStatusCapabilities,
    ClientCapabilities,
    LogoutCapabilities,
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

__all__ = ["FEATURES", "Feature", "agent_capabilities", "chosen_features", "offered"]


@frozen
class Feature:
    """Something that an agent need not offer.

    Attributes:
        methods: the wire methods that come with it.
        stable: whether it is in the stable schema.
    """

    methods: tuple[str, ...] = ()
    stable: bool = True


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
}
"""Everything optional by the word that its capability has on the wire, or one like it."""


def chosen_features(*, unstable: bool, without: Collection[str]) -> frozenset[str]:
    """Return the features that are offered.

    Raises:
        InvalidInput: ``without`` names something that is none.
    """
    unknown = sorted(set(without) - FEATURES.keys())
    if unknown:
        raise InvalidInput(f"{', '.join(unknown)}: no feature of the reference agent; it has {', '.join(FEATURES)}")
    return frozenset(name for name, feature in FEATURES.items() if name not in without and (unstable or feature.stable))


def agent_capabilities(features: frozenset[str]) -> AgentCapabilities:
    """Return what the host is told at ``initialize``."""
    has = features.__contains__
    override = SessionSystemPromptModeCapabilities(override=SessionSystemPromptOverrideCapabilities())
    return AgentCapabilities(
        load_session=has("load"),
        prompt_capabilities=PromptCapabilities(
            image=has("image"), audio=has("audio"), embedded_context=has("embeddedContext")
        ),
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
    )


def offered(client: ClientCapabilities, capability: str) -> bool:
    """Tell whether a host offers a capability, by its wire path, e.g. ``clientCapabilities.fs.readTextFile``."""
    value: Any = {"clientCapabilities": unstructure(client)}
    for name in capability.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value is True or isinstance(value, Mapping)
