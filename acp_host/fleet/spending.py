"""What agents have spent: :class:`Spent`, and a :class:`Ledger` of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve, field, frozen

from acp_host.amounts import amount_text
from acp_host.automation.limits import Budget, same_currency
from acp_host.automation.result import RunResult

__all__ = ["Ledger", "Spent", "exceeded", "left_of", "unreported"]


@frozen(kw_only=True)
class Spent:
    """What was spent, as far as agents say.

    Attributes:
        tokens: tokens that models have read and written.
        cost: money, by currency.
    """

    tokens: int = 0
    cost: Mapping[str, float] = field(factory=dict)

    @classmethod
    def of(cls, run: RunResult) -> Spent:
        """Return what a run has spent."""
        tokens = run.usage.total_tokens if run.usage is not None else 0
        return cls(tokens=tokens, cost={} if run.cost is None else {run.cost.currency: run.cost.amount})

    @classmethod
    def total(cls, parts: Iterable[Spent]) -> Spent:
        """Return the sum."""
        total = cls()
        for part in parts:
            total = total + part
        return total

    def __add__(self, other: Spent) -> Spent:
        currencies = sorted({*self.cost, *other.cost})
        cost = {currency: self.cost.get(currency, 0.0) + other.cost.get(currency, 0.0) for currency in currencies}
        return Spent(tokens=self.tokens + other.tokens, cost=cost)

    def __sub__(self, other: Spent) -> Spent:
        """Return what is left of it without a part of it."""
        cost = {currency: amount - other.cost.get(currency, 0.0) for currency, amount in self.cost.items()}
        return Spent(tokens=self.tokens - other.tokens, cost=cost)

    def at_least(self, other: Spent) -> Spent:
        """Return the larger of two reports about the same."""
        cost = {currency: max(self.cost.get(currency, 0.0), amount) for currency, amount in other.cost.items()}
        return Spent(tokens=max(self.tokens, other.tokens), cost={**self.cost, **cost})

    def amount(self, currency: str | None) -> float:
        """Return the cost in a currency; ``None``: of all of them, as if they were one."""
        return sum(amount for of, amount in self.cost.items() if currency is None or same_currency(of, currency))

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {"tokens": self.tokens, "cost": dict(self.cost)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Spent:
        """Return what :meth:`to_json` has written."""
        return cls(tokens=int(data["tokens"]), cost={str(name): float(each) for name, each in data["cost"].items()})


class Ledger:
    """What the attempts of a fleet have spent, by job; adding to it costs the same however many there are.

    Attributes:
        total: of all jobs.
    """

    def __init__(self) -> None:
        self.total = Spent()
        self._by_job: dict[str, dict[int, Spent]] = {}

    def note(self, job: str, attempt: int, spent: Spent) -> Spent | None:
        """Take a report on an attempt; return what it has spent now, or ``None`` where that is nothing new."""
        attempts = self._by_job.setdefault(job, {})
        before = attempts.get(attempt, Spent())
        now = before.at_least(spent)
        if now == before:
            return None
        attempts[attempt] = now
        self.total = self.total + (now - before)
        return now

    def of(self, job: str) -> Spent:
        """Return what all attempts of a job have spent."""
        return Spent.total(self._by_job.get(job, {}).values())


def exceeded(budget: Budget, spent: Spent) -> str | None:
    """Return which limit of a budget is exceeded, as a sentence; ``None``: none is."""
    if budget.tokens is not None and spent.tokens > budget.tokens:
        return f"the budget of tokens is exceeded: {spent.tokens:,} of {budget.tokens:,}"
    amount = spent.amount(budget.currency)
    if budget.cost is not None and amount > budget.cost:
        unit = f" {budget.currency}" if budget.currency else ""
        return f"the budget of cost is exceeded: {amount_text(amount)}{unit} of {amount_text(budget.cost)}{unit}"
    return None


def unreported(budget: Budget, parts: Iterable[Spent]) -> tuple[str, ...]:
    """Return which limits of a budget are about something that is missing in what was spent by some of the jobs.

    A cost in another currency is no cost that the limit is about. Some of ``tokens``, ``cost``.
    """
    parts = tuple(parts)
    tokens = budget.tokens is not None and any(not part.tokens for part in parts)
    cost = budget.cost is not None and not all(part.cost and all(map(budget.counts, part.cost)) for part in parts)
    return tuple(name for name, missing in (("tokens", tokens), ("cost", cost)) if missing)


def left_of(budget: Budget, spent: Spent) -> Budget | None:
    """Return what is left of a budget for another attempt; ``None``: nothing."""
    tokens = None if budget.tokens is None else budget.tokens - spent.tokens
    cost = None if budget.cost is None else budget.cost - spent.amount(budget.currency)
    if (tokens is not None and tokens <= 0) or (cost is not None and cost <= 0):
        return None
    return evolve(budget, tokens=tokens, cost=cost)
