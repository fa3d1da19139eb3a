"""What agents that work for others elsewhere say of themselves and of their work, typed and read tolerantly.

Their protocol is A2A; the members are those of the schemas :data:`OFFER_SCHEMA` and :data:`HANDOFF_SCHEMA`. Nothing
here sends anything, see :mod:`acp_host.harn.external_agents`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from attrs import field, frozen

from acp_host.wire._model import NO_EXTRA
from acp_host.wire.harn.members import Members

__all__ = [
    "DISPATCH",
    "FAILURE",
    "HANDOFF_SCHEMA",
    "OFFER_SCHEMA",
    "PLAN",
    "Budget",
    "Checkpoint",
    "ExternalAgentOffer",
    "WorkReport",
    "offer_of",
    "read_budget",
    "read_checkpoint",
    "read_work",
]

OFFER_SCHEMA: Final = "harn.external_agent.v1"
HANDOFF_SCHEMA: Final = "harn.external_agent.handoff.v1"
PLAN: Final = "_harn/externalAgent.plan"
DISPATCH: Final = "_harn/externalAgent.dispatch"
FAILURE: Final = "external_agent_error"
"""What ``error`` says of a result that is none."""

_NEEDED = ("budget_cap", "idempotency", "reviewable_handoff", "dispatch")


@frozen(kw_only=True)
class ExternalAgentOffer:
    """What an Agent Card promises of delegated work; what it does not promise is ``False``.

    Attributes:
        pre_dispatch_checkpoint: it tells a plan before it begins.
        budget_cap: it keeps to a budget.
        idempotency: the same key twice is one piece of work.
        reviewable_handoff: what it hands back can be looked through.
        dispatch: it takes work.
        operations: the methods that it lists; empty where it lists none.
        raw: the object as sent.
    """

    pre_dispatch_checkpoint: bool = False
    budget_cap: bool = False
    idempotency: bool = False
    reviewable_handoff: bool = False
    dispatch: bool = False
    operations: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default=NO_EXTRA, repr=False)

    @property
    def missing(self) -> tuple[str, ...]:
        """What it does not promise, and must before it is given any work."""
        missing = [name for name in _NEEDED if not getattr(self, name)]
        if self.operations and DISPATCH not in self.operations:
            missing.append(DISPATCH)
        return tuple(missing)

    @property
    def plans(self) -> bool:
        """Whether it can be asked for a plan."""
        return PLAN in self.operations if self.operations else self.pre_dispatch_checkpoint


def offer_of(card: Any) -> ExternalAgentOffer | None:
    """Return what an Agent Card promises, at the first of its three places; ``None`` where it is at none of them.

    One of another schema is none of this; one that names no schema is.
    """
    root = Members(card, "$")
    capabilities = root.member("capabilities")
    for place in (capabilities, capabilities.member("_meta").member("harn"), root.member("_meta").member("harn")):
        told = place.member("externalAgent")
        if told and told.raw.get("schema", OFFER_SCHEMA) == OFFER_SCHEMA:
            flags = {name: told.flag(name) is True for name in ("pre_dispatch_checkpoint", *_NEEDED)}
            return ExternalAgentOffer(**flags, operations=told.texts("operations"), raw=told.raw)
    return None


@frozen(kw_only=True)
class Budget:
    """Amounts: what may be used, or what was; ``None`` where nothing is said.

    Attributes:
        usd: US dollars.
        tokens: tokens of models.
        seconds: time.
        tool_calls: calls of tools.
    """

    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None
    tool_calls: int | None = None

    def to_wire(self) -> dict[str, float]:
        """Return the amounts that are said, as what was used is written."""
        given = {name: getattr(self, name) for name in _AMOUNTS}
        return {name: amount for name, amount in given.items() if amount is not None}

    def caps_to_wire(self) -> dict[str, float]:
        """Return them as limits are written, seconds as a whole number."""
        caps = self.to_wire()
        if (seconds := caps.get("seconds")) is not None:
            caps["seconds"] = max(1, math.floor(seconds)) if seconds > 0 else 0
        return {f"max_{name}": cap for name, cap in caps.items()}

    def exceeded_by(self, used: Budget) -> tuple[str, ...]:
        """Return which amounts were used beyond what this allows."""
        caps, amounts = self.to_wire(), used.to_wire()
        return tuple([name for name, cap in caps.items() if amounts.get(name, 0) > cap])


_AMOUNTS = ("usd", "tokens", "seconds", "tool_calls")


def read_budget(told: Members) -> Budget:
    """Return amounts: a limit is written as ``max_usd``, what was used as ``usd``; older versions have other names."""

    def amount(name: str, *others: str) -> float | None:
        names = (name, f"max_{name}", *others)
        return next((found for each in names if (found := told.number(each)) is not None), None)

    tokens, calls = amount("tokens", "token_count"), amount("tool_calls")
    return Budget(
        usd=amount("usd", "cost_usd", "dollars"),
        tokens=None if tokens is None else int(tokens),
        seconds=amount("seconds", "duration_seconds"),
        tool_calls=None if calls is None else int(calls),
    )


@frozen(kw_only=True)
class Checkpoint:
    """A plan to look at before any work is paid for.

    Attributes:
        checkpoint_id: its id.
        plan: the plan, as sent: text, or an object.
        expected_scope: what it is going to touch, as sent.
        evidence_refs: what it rests on, as sent.
        metadata: what else is said.
        is_local: it is this side's own plan; the agent has told none.
        raw: all of it as sent.
    """

    checkpoint_id: str
    plan: Any = None
    expected_scope: Any = None
    evidence_refs: tuple[Any, ...] = ()
    metadata: Mapping[str, Any] = NO_EXTRA
    is_local: bool = False
    raw: Mapping[str, Any] = field(default=NO_EXTRA, repr=False)


def read_checkpoint(value: Any) -> Checkpoint | None:
    """Return a checkpoint, or the one that stands in an object; ``None`` where there is none: no id, or no plan.

    What it says of its own approval is not read: that is not for the agent to say.
    """
    told = Members(value, "$.result")
    told = told.member("checkpoint") if "checkpoint" in told.raw else told
    checkpoint_id, plan = told.text("checkpoint_id") or told.text("id"), told.raw.get("plan") or told.raw.get("summary")
    if not checkpoint_id or not plan:
        return None
    refs = told.raw.get("evidence_refs")
    return Checkpoint(
        checkpoint_id=checkpoint_id,
        plan=plan,
        expected_scope=told.raw.get("expected_scope"),
        evidence_refs=tuple(refs) if isinstance(refs, list | tuple) else (),
        metadata=told.member("metadata").raw,
        raw=told.raw,
    )


@frozen(kw_only=True)
class WorkReport:
    """What an agent hands back of its work, to be looked through.

    Attributes:
        handoff: what it says of it, as sent; empty where it says nothing.
        artifacts: what it has made, as sent.
        patch: the change as a diff, if there is one.
        receipts: proofs of what was done, as sent.
        budget_used: what it says to have used.
        status: its word for how it went, if it says one.
        problems: what had the wrong type.
        raw: all of it as sent.
    """

    handoff: Mapping[str, Any] = NO_EXTRA
    artifacts: tuple[Mapping[str, Any], ...] = ()
    patch: str | None = None
    receipts: tuple[Any, ...] = ()
    budget_used: Budget = field(factory=Budget)
    status: str | None = None
    problems: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default=NO_EXTRA, repr=False)


def read_work(value: Any) -> WorkReport | None:
    """Return what an agent hands back; ``None`` where there is nothing in it that could be looked through."""
    told = Members(value, "$.result")
    used = next((each for each in _places_of_usage(told) if each), told.member("budget_used"))
    receipts = told.raw.get("receipts")
    report = WorkReport(
        handoff=told.member("handoff").raw,
        artifacts=tuple([artifact.raw for artifact in told.members("artifacts")]),
        patch=told.text("patch") or told.text("diff"),
        receipts=tuple(receipts) if isinstance(receipts, list | tuple) else (),
        budget_used=read_budget(used),
        status=told.text("status"),
        problems=tuple(dict.fromkeys(told.problems)),
        raw=told.raw,
    )
    return report if report.handoff or report.artifacts or report.patch or report.receipts else None


def _places_of_usage(told: Members) -> tuple[Members, ...]:
    budget = told.raw.get("budget")
    within = told.member("budget").member("used") if isinstance(budget, Mapping) else told.member("budget_used")
    return told.member("budget_used"), within, told.member("usage")
