"""Work that a Harn agent gives to an agent elsewhere, as it tells of it: :class:`ExternalDelegation`.

Such work is planned by the other agent first, and begins when a person has approved the plan; what comes of it is for
review. Nothing here approves anything; to give such work away is the business of :mod:`acp_host.harn.external_agents`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.wire._model import NO_EXTRA
from acp_host.wire.harn.external_agents import Budget, Checkpoint, WorkReport

__all__ = ["BUDGET_EXCEEDED", "CHECKPOINT_REQUIRED", "FAILED", "REPLAYED", "ExternalDelegation"]

CHECKPOINT_REQUIRED = "checkpoint_required"
REPLAYED = "replayed"
BUDGET_EXCEEDED = "budget_exceeded"
FAILED = "failed"
_UNITS = {"usd": "USD", "tokens": "tokens", "seconds": "s", "tool_calls": "tool calls"}


@value
class ExternalDelegation:
    """What has become of work that was given to an agent elsewhere. All but the status may be missing.

    Attributes:
        status: :data:`CHECKPOINT_REQUIRED` (a plan waits for approval), ``completed``, :data:`REPLAYED` (it was done
            before, and not again), :data:`BUDGET_EXCEEDED` (it is done, for more than was allowed: to be reviewed),
            :data:`FAILED`, or another word.
        task: what was to be done.
        target: by whom.
        idempotency_key: names the work, so that it is done once.
        checkpoint: the plan.
        budget: how much may be used.
        budget_used: how much was.
        report: what is handed back, for review.
        diff: what was changed, as text.
        error: what went wrong, for people.
        error_kind: ``invalid_request``, ``discovery``, ``denied``, ``timeout``, ``cancelled``, ``transport``,
            ``protocol``, or another word.
        error_category: of which sort that is among all failures, e.g. ``transient_network``.
        raw: all of it, as sent.
    """

    status: str
    task: str | None = None
    target: str | None = None
    idempotency_key: str | None = None
    checkpoint: Checkpoint | None = None
    budget: Budget | None = None
    budget_used: Budget | None = None
    report: WorkReport | None = None
    diff: str | None = None
    error: str | None = None
    error_kind: str | None = None
    error_category: str | None = None
    raw: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def wants_approval(self) -> bool:
        """Whether a person has to approve the plan before anything happens."""
        return self.status == CHECKPOINT_REQUIRED

    @property
    def wants_review(self) -> bool:
        """Whether a person should look at what was done, although it is done."""
        return self.status == BUDGET_EXCEEDED

    @property
    def words(self) -> str:
        """What to show of it, in a few lines."""
        who = self.target or "an external agent"
        used, allowed = _amounts("used", self.budget_used), _amounts("allowed", self.budget)
        if self.status == CHECKPOINT_REQUIRED:
            plan = None if self.checkpoint is None else self.checkpoint.plan
            return _lines(f"{who} asks to approve its plan", plan if isinstance(plan, str) else "", allowed)
        if self.status == BUDGET_EXCEEDED:
            return _lines(f"{who} has used more than it may: review its work", used, allowed)
        if self.status == REPLAYED:
            return _lines(f"{who} had done this before; it was not done again", used)
        if self.status == FAILED:
            return _lines(f"{who} has not done it", self.error or self.error_kind or "")
        return _lines(f"{who}: {self.status.replace('_', ' ')}", used, self.error or "")


def _amounts(what: str, budget: Budget | None) -> str:
    amounts = {} if budget is None else budget.to_wire()
    told = ", ".join(f"{amount} {_UNITS[name]}" for name, amount in amounts.items())
    return f"{what}: {told}" if told else ""


def _lines(*lines: str) -> str:
    return "\n".join(line for line in lines if line)
