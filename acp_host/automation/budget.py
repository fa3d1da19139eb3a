"""Watches what a run spends, as far as the agent says it: :class:`BudgetWatch`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.amounts import amount_text
from acp_host.automation.limits import Budget
from acp_host.automation.result import RunCost
from acp_host.host.outcome import TurnResult
from acp_host.host.session import Session
from acp_host.state.harn.model_calls import ModelCall
from acp_host.state.snapshot import SessionSnapshot
from acp_host.wire.usage import Cost, UsageUpdate

__all__ = ["BudgetWatch"]


class BudgetWatch:
    """Adds up what the attempts of a run spend.

    Args:
        budget: what they may spend.
        exceeded: called once, with what was exceeded, for people.
    """

    def __init__(self, budget: Budget, exceeded: Callable[[str], None]) -> None:
        self._budget = budget
        self._exceeded = exceeded
        self._is_over = False
        self._attempt = 0
        self._earlier_tokens = 0
        self._tokens: int | None = None
        self._earlier_cost: float = 0.0
        self._cost: Cost | None = None
        self._cost_before: float = 0.0
        self._calls: set[str] = set()
        self._reported: set[str] = set()
        self._in_another_currency = False

    @property
    def cost(self) -> RunCost | None:
        """What was spent so far, all attempts together; ``None`` as long as the agent does not say."""
        if self._cost is None:
            return None
        return RunCost(amount=self._earlier_cost + self._cost_of_attempt(), currency=self._cost.currency)

    @property
    def unreported(self) -> tuple[str, ...]:
        """What a limit is set for and was never reported; a cost, if any of it was reported in another currency."""
        limits = {"tokens": self._budget.tokens, "cost": self._budget.cost, "turns": self._budget.turns}
        held = self._reported - {"cost"} if self._in_another_currency else self._reported
        return tuple(name for name, limit in limits.items() if limit is not None and name not in held)

    def turn_begins(self, snapshot: SessionSnapshot) -> None:
        """Take what was spent in a session before its turn."""
        self._attempt += 1
        self._earlier_tokens += self._tokens or 0
        self._earlier_cost += self._cost_of_attempt()
        self._tokens = None
        self._cost_before = snapshot.usage.cost.amount if snapshot.usage.cost is not None else 0.0
        self._cost = snapshot.usage.cost

    def _cost_of_attempt(self) -> float:
        return 0.0 if self._cost is None else max(0.0, self._cost.amount - self._cost_before)

    def told(self, update: Any, session: Session) -> None:
        """Take an update of the turn; the state of its session may be further on by then."""
        if isinstance(update, UsageUpdate):
            self._note_tokens(update.used)
            if update.cost:
                self._note_cost(update.cost)
        elif self._budget.turns is not None:
            self._look(session.state.snapshot())

    def turn_ended(self, result: TurnResult, snapshot: SessionSnapshot) -> None:
        """Take what the agent says at the end of a turn."""
        self._look(snapshot)
        if result.usage is not None:
            self._note_tokens(result.usage.total_tokens)

    def _look(self, snapshot: SessionSnapshot) -> None:
        usage = snapshot.usage
        if usage.used is not None:
            self._note_tokens(usage.used)
        if usage.cost is not None:
            self._note_cost(usage.cost)
        if snapshot.harn is not None:
            self._note_calls(snapshot.harn.model_calls)

    def _note_tokens(self, spent: int) -> None:
        self._reported.add("tokens")
        self._tokens = max(spent, self._tokens or 0)
        self._hold("tokens", self._earlier_tokens + self._tokens, self._budget.tokens, "")

    def _note_cost(self, cost: Cost) -> None:
        if self._cost is None or self._cost.currency != cost.currency or cost.amount > self._cost.amount:
            self._cost = cost  # what was spent is never unspent, whatever an agent says
        if self._budget.counts(cost.currency):
            self._reported.add("cost")
            spent = self._earlier_cost + self._cost_of_attempt()
            self._hold("cost", spent, self._budget.cost, f" {cost.currency}")
        else:
            self._in_another_currency = True

    def _note_calls(self, calls: Mapping[str, ModelCall]) -> None:
        if calls:
            self._reported.add("turns")
            self._calls |= {f"{self._attempt}/{call_id}" for call_id in calls}
            self._hold("turns", len(self._calls), self._budget.turns, "")

    def _hold(self, what: str, spent: float, limit: float | None, unit: str) -> None:
        if limit is not None and spent > limit and not self._is_over:
            self._is_over = True
            self._exceeded(
                f"the budget of {what} is exceeded: {amount_text(spent)}{unit} of {amount_text(limit)}{unit}"
            )
