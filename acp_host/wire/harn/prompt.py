"""How Harn says that a prompt ended: the verdict in its result, and what a failure carries.

The stop reason says why the agent stopped to speak; whether the work is done, only :class:`Terminal` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from acp_host.wire.harn.members import Members, harn_meta

__all__ = ["PROMPT_ERROR_SCHEMA", "PromptFailure", "Terminal", "TerminalClass", "TerminalKind", "prompt_failure"]

PROMPT_ERROR_SCHEMA = "harn.acp.prompt_error.v1"
"""``data.schema`` of the error of a prompt that failed."""


class TerminalKind(StrEnum):
    """What ended the agent's work."""

    NATURAL = "natural"
    """It is done: the only completion that is vouched for."""
    USER_CANCELLED = "user_cancelled"
    POLICY_BUDGET = "policy_budget"
    """A cap on iterations, tokens or cost."""
    COMPLETION_UNVERIFIED = "completion_unverified"
    """The agent said that it was done, and the check of that failed."""
    POLICY_NO_PROGRESS = "policy_no_progress"
    POLICY_THRASH = "policy_thrash"
    POLICY_GUARDRAIL = "policy_guardrail"
    POLICY_STOP = "policy_stop"
    PROVIDER_ERROR = "provider_error"
    RUNTIME_ERROR = "runtime_error"
    SUSPENDED = "suspended"
    """It is parked and may go on: neither finished nor failed."""
    UNKNOWN = "unknown"
    """Nobody knows."""


class TerminalClass(StrEnum):
    """What sort of failure ended a prompt; a word that is not here is handled as ``generic_throw``."""

    CONTEXT_OVERFLOW = "context_overflow"
    PROVIDER_MISCONFIGURED = "provider_misconfigured"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    PROVIDER_BILLING = "provider_billing"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    RESOURCE_BUSY = "resource_busy"
    TOOL_POLICY_REJECTED = "tool_policy_rejected"
    HOST_BRIDGE_UNIMPLEMENTED = "host_bridge_unimplemented"
    AGENT_LOOP_PROTOCOL_FAILURE = "agent_loop_protocol_failure"
    PARSE_DROPPED = "parse_dropped"
    GENERIC_THROW = "generic_throw"


@frozen(kw_only=True)
class Terminal:
    """The verdict on a turn: ``_meta.harn.terminal`` of a prompt's result.

    Attributes:
        kind: one of :class:`TerminalKind` or another word.
        reason: the producer's own word for it.
        owner: who ended it: ``agent``, ``user``, ``policy``, ``provider``, ``harness``, ``unknown`` or another word.
        terminal_class: one of :class:`TerminalClass` or another word, where something failed.
        message: for people.
        detail: more of it.
        raw: the object as sent.
    """

    kind: str
    reason: str | None = None
    owner: str | None = None
    terminal_class: str | None = None
    message: str | None = None
    detail: str | None = None
    raw: Mapping[str, Any] = field(factory=dict, repr=False)

    @staticmethod
    def of(meta: Any) -> tuple[Terminal | None, tuple[str, ...]]:
        """Return the verdict in the ``_meta`` of a prompt's result, or ``None``, and what was wrong with it."""
        told = harn_meta(meta).get("terminal")
        if told is None:
            return None, ()
        members = Members(told, "$.result._meta.harn.terminal")
        kind = members.text("kind")
        if not kind:
            problem = "a terminal without a kind counts as none at $.result._meta.harn.terminal"
            return None, (*members.problems, problem)
        verdict = Terminal(
            kind=kind,
            reason=members.text("reason"),
            owner=members.text("owner"),
            terminal_class=members.text("terminalClass"),
            message=members.text("message"),
            detail=members.text("detail"),
            raw=members.raw,
        )
        return verdict, tuple(members.problems)


@frozen(kw_only=True)
class PromptFailure:
    """Why a prompt failed: ``data`` of its error.

    Attributes:
        terminal_class: one of :class:`TerminalClass` or another word.
        category: a finer word, if said.
        kind: ``transient`` or ``terminal``, if said.
        reason: the producer's own word, if said.
        code: the provider's own code, if said.
        retryable: whether the same prompt may work later; ``None`` if not said.
        retry_after: seconds to wait before it; ``None`` if not said.
        provider: the model's provider, if said.
        model: the model, if said.
        raw: the object as sent.
    """

    terminal_class: str = TerminalClass.GENERIC_THROW
    category: str | None = None
    kind: str | None = None
    reason: str | None = None
    code: str | None = None
    retryable: bool | None = None
    retry_after: float | None = None
    provider: str | None = None
    model: str | None = None
    raw: Mapping[str, Any] = field(factory=dict, repr=False)


def prompt_failure(data: Any) -> PromptFailure | None:
    """Return what the ``data`` of an error says about a prompt that failed; ``None`` where it is of another kind."""
    if not isinstance(data, Mapping) or data.get("schema") != PROMPT_ERROR_SCHEMA:
        return None
    members = Members(data, "$.error.data")
    milliseconds = members.number("retryAfterMs")
    return PromptFailure(
        terminal_class=members.text("terminalClass") or TerminalClass.GENERIC_THROW,
        category=members.text("category"),
        kind=members.text("kind"),
        reason=members.text("reason"),
        code=members.text("code"),
        retryable=members.flag("retryable"),
        retry_after=None if milliseconds is None else milliseconds / 1000,
        provider=members.text("provider"),
        model=members.text("model"),
        raw=data,
    )
