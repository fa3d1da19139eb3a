"""What a Harn agent offers beyond ACP: :class:`HarnCapabilities`, as :attr:`Agreement.harn`.

Each member is optional: what is absent or of the wrong type is not offered, and the latter is told as a problem. The
lists of kinds and fields are for what to show by default; what is known is decoded whether it is listed or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from acp_host.wire.harn.members import Members

__all__ = ["HarnCapabilities", "harn_capabilities"]


@frozen(kw_only=True)
class HarnCapabilities:
    """What an agent says of itself under ``agentCapabilities._meta.harn`` and in Harn's further capabilities.

    Attributes:
        schema_compatibility: the schema of ACP that it follows, in words.
        extension_contract: address of the text that describes the extensions.
        session_update_extensions: kinds of ``session/update`` that it sends beyond ACP's.
        tool_fields: what it says of tool calls under ``_meta.harn``.
        content_fields: likewise of content.
        prompt_result_fields: likewise of a prompt's result.
        staged_writes_fields: what it says of all writes that are staged.
        staged_write_fields: likewise of each.
        sandbox_confinement: how it is confined, as sent; ``None`` if not said.
        extension_methods: its further methods, and what it says of each.
        agent_event_kinds: kinds of ``_harn/agentEvent`` that it sends.
        host_operations: capability → operations that it can ask a host for; not what this host has.
        inject_modes: the modes of ``session/inject``; empty where it does not take that.
        replaces_injects: what waits to be injected can be replaced.
        host_event_kinds: what ``session/inject_host_event`` takes.
        host_event_delivery: when that can be delivered.
        remind_modes: the modes of ``session/remind``, where it lists them.
        lists_pending: it lists what waits to be injected.
        revokes_reminders: reminders that wait can be revoked.
        cancels_tool_calls: ``session/cancel_tool_call`` works.
        rolls_back: ``session/rollback`` works.
        redoes: ``session/redo`` works.
        restores_tool_calls: ``session/restore_tool_call`` works.
        plan_conflict_code: code of the error for a plan document that has changed meanwhile.
        raw: ``_meta.harn`` as sent.
        problems: what had the wrong type.
    """

    schema_compatibility: str | None = None
    extension_contract: str | None = None
    session_update_extensions: tuple[str, ...] = ()
    tool_fields: tuple[str, ...] = ()
    content_fields: tuple[str, ...] = ()
    prompt_result_fields: tuple[str, ...] = ()
    staged_writes_fields: tuple[str, ...] = ()
    staged_write_fields: tuple[str, ...] = ()
    sandbox_confinement: Mapping[str, Any] | None = None
    extension_methods: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    agent_event_kinds: tuple[str, ...] = ()
    host_operations: Mapping[str, tuple[str, ...]] = field(factory=dict)
    inject_modes: tuple[str, ...] = ()
    replaces_injects: bool = False
    host_event_kinds: tuple[str, ...] = ()
    host_event_delivery: tuple[str, ...] = ()
    remind_modes: tuple[str, ...] = ()
    lists_pending: bool = False
    revokes_reminders: bool = False
    cancels_tool_calls: bool = False
    rolls_back: bool = False
    redoes: bool = False
    restores_tool_calls: bool = False
    plan_conflict_code: int | None = None
    raw: Mapping[str, Any] = field(factory=dict, repr=False)
    problems: tuple[str, ...] = ()


def harn_capabilities(offer: Any) -> HarnCapabilities:
    """Return the typed form of a Harn agent's ``agentCapabilities``, given as wire JSON."""
    root = Members(offer, "$.result.agentCapabilities")
    told = root.member("_meta").member("harn")
    session, offered = root.member("session"), root.member("sessionCapabilities").raw
    inject, remind, event = session.member("inject"), session.member("remind"), session.member("injectHostEvent")
    methods = told.member("extensionMethods")
    operations = told.member("hostCapabilityOperations")
    return HarnCapabilities(
        schema_compatibility=told.text("schemaCompatibility"),
        extension_contract=told.text("extensionContract"),
        session_update_extensions=told.texts("sessionUpdateExtensions"),
        tool_fields=told.texts("toolLifecycleExtensionFields"),
        content_fields=told.texts("contentExtensionFields"),
        prompt_result_fields=told.texts("promptResultExtensionFields"),
        staged_writes_fields=told.texts("stagedWritesPendingFields"),
        staged_write_fields=told.texts("stagedWriteFields"),
        sandbox_confinement=told.member("sandboxConfinement").raw or None,
        extension_methods={name: methods.member(name).raw for name in methods.raw},
        agent_event_kinds=methods.member("_harn/agentEvent").texts("kinds"),
        host_operations={name: operations.texts(name) for name in operations.raw},
        inject_modes=inject.texts("modes"),
        replaces_injects=inject.member("pending").flag("replace") is True,
        host_event_kinds=event.texts("kinds"),
        host_event_delivery=event.texts("delivery"),
        remind_modes=remind.texts("modes"),
        lists_pending=remind.member("pending").flag("list") is True,
        revokes_reminders=remind.member("pending").flag("revoke") is True,
        cancels_tool_calls=_offers(offered, "cancelToolCall"),
        rolls_back=_offers(offered, "rollback"),
        redoes=_offers(offered, "redo"),
        restores_tool_calls=_offers(offered, "restoreToolCall"),
        plan_conflict_code=_code(methods.member("session/plan_document/mutate").member("conflict")),
        raw=told.raw,
        problems=tuple(dict.fromkeys(root.problems)),
    )


def _offers(capabilities: Mapping[str, Any], name: str) -> bool:
    """Tell whether a capability is offered: an object says yes by being there."""
    value = capabilities.get(name)
    return value is True or isinstance(value, Mapping)


def _code(conflict: Members) -> int | None:
    """Return the code of an error; such codes are negative, as a rule."""
    code = conflict.raw.get("code")
    return code if isinstance(code, int) and not isinstance(code, bool) else None
