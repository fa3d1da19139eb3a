"""Limits on what a session may cost: :func:`budget_params`, for ``session/set_budget``."""

from __future__ import annotations

import enum
import math
from typing import Any, Final, Literal

from acp_host.errors import InvalidInput

__all__ = ["UNCHANGED", "Unchanged", "budget_params"]


class Unchanged(enum.Enum):
    """The type of :data:`UNCHANGED`."""

    UNCHANGED = "UNCHANGED"

    def __bool__(self) -> Literal[False]:
        return False


UNCHANGED: Final = Unchanged.UNCHANGED
"""A limit stays as it is; ``None`` takes it away."""


def budget_params(cost_usd: float | Unchanged | None, tokens: int | Unchanged | None) -> dict[str, Any]:
    """Return the parameters of the notification.

    Raises:
        InvalidInput: a limit is no number of at least 0, or none is to change.
    """
    if isinstance(cost_usd, Unchanged) and isinstance(tokens, Unchanged):
        raise InvalidInput("neither limit is to change")
    params: dict[str, Any] = {}
    if not isinstance(cost_usd, Unchanged):
        if cost_usd is not None and not (_is_number(cost_usd) and math.isfinite(cost_usd) and cost_usd >= 0):
            raise InvalidInput(f"cost_usd is a number of dollars of at least 0, or None, not {cost_usd!r}")
        params["llm_cost_usd"] = cost_usd
    if not isinstance(tokens, Unchanged):
        if tokens is not None and not (isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0):
            raise InvalidInput(f"tokens is an integer of at least 0, or None, not {tokens!r}")
        params["llm_tokens"] = tokens
    return params


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
