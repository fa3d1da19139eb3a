"""Hints that an agent does not know, fitted to what it knows: pure functions, each returning the adjustments.

Fitting may weaken what was asked and never strengthen it: a reminder must not reach further, or interrupt more, than
its author wanted.
"""

from __future__ import annotations

from typing import Any

from acp_host.state.reminder_entry import Adjustment, Propagate, ReminderMode, RoleHint

__all__ = ["fit_mode", "fit_propagate", "fit_role_hint"]

_WIDTH = tuple(Propagate)
"""Narrowest first."""

_Adjustments = tuple[Adjustment, ...]


def fit_role_hint(asked: str | None, offered: Any) -> _Adjustments:
    """Drop a role hint that the agent does not know; ``offered`` is ``reminders.roleHints`` as sent."""
    known = _words(offered, default=(RoleHint.SYSTEM,))
    if asked is None or asked in known:
        return ()
    reason = f"the agent knows only {_listed(known)}"
    return (Adjustment(field="role_hint", asked=asked, sent=None, reason=reason),)


def fit_propagate(asked: str | None, offered: Any) -> tuple[_Adjustments, str | None]:
    """Narrow the propagation to what the agent knows.

    Args:
        asked: the reminder's own; ``None`` leaves it to the agent.
        offered: ``reminders.propagate`` as sent.

    Returns:
        The adjustments, and why there is no way to fit it, if there is none.
    """
    known = _words(offered, default=(Propagate.SESSION,))
    if asked is None or asked in known:
        return (), None
    narrower = [width for width in _WIDTH[: _WIDTH.index(Propagate(asked))] if width in known]
    reason = f"the agent knows only {_listed(known)}"
    if not narrower:
        return (), f"propagate {asked} cannot be had: {reason}"
    return (Adjustment(field="propagate", asked=asked, sent=narrower[-1], reason=reason),), None


def fit_mode(asked: str, offered: Any) -> tuple[_Adjustments, str | None]:
    """Fit the mode to ``session.remind.modes`` as sent; returns like :func:`fit_propagate`.

    An interruption can become the end of a step. No other mode does for another one: the model would be interrupted
    against the author's will, or would never see the reminder.
    """
    known = _words(offered, default=tuple(ReminderMode))
    if asked in known:
        return (), None
    reason = f"the agent knows only {_listed(known)}"
    if asked == ReminderMode.INTERRUPT_IMMEDIATE and ReminderMode.FINISH_STEP in known:
        return (Adjustment(field="mode", asked=asked, sent=ReminderMode.FINISH_STEP, reason=reason),), None
    return (), f"mode {asked} cannot be had: {reason}"


def _words(offered: Any, default: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a list in a capability; what is no list counts as absent."""
    return tuple(word for word in offered if isinstance(word, str)) if isinstance(offered, list) else default


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(words) or "none"
