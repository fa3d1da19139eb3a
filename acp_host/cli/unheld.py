"""Limits that could not be held, in words: :func:`unheld_limits`, and :func:`unheld_cost` while there is time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from acp_host.amounts import amount_text
from acp_host.automation.limits import Budget

__all__ = ["unheld_cost", "unheld_limits"]


def unheld_cost(budget: Budget, currencies: Iterable[str]) -> str | None:
    """Return what is to be said of costs that are reported in these currencies; ``None``: the limit is about them."""
    others = [currency for currency in currencies if not budget.counts(currency)]
    if budget.cost is None or not others:
        return None
    limit = f"{amount_text(budget.cost)} {budget.currency}"
    return f"the limit of {limit} cannot be held: the cost is reported in {', '.join(others)}"


def unheld_limits(budget: Budget, unreported: Sequence[str], spent: Mapping[str, float]) -> list[str]:
    """Return what is to be said at the end.

    Args:
        budget: the limits.
        unreported: the names of those that could not be held.
        spent: what was reported, by currency.
    """
    others = {currency: amount for currency, amount in spent.items() if not budget.counts(currency)}
    names, told = list(unreported), []
    if "cost" in names and others and budget.cost is not None:
        names.remove("cost")
        limit = f"{amount_text(budget.cost)} {budget.currency}"
        costs = ", ".join(f"{amount_text(amount)} {currency}" for currency, amount in others.items())
        told.append(f"the limit of {limit} was not held: the cost was reported as {costs}")
    if names:
        told.append(f"not reported, and so not watched: {', '.join(names)}")
    return told
