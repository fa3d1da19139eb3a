"""Which rungs may take a reminder, and how patient the host is: :class:`ReminderPolicy`."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from acp_host.errors import ReminderInvalid
from acp_host.state.reminder_entry import Rung
from acp_host.state.reminder_marker import MARKER, Marker
from acp_host.wire._model import UNSET, Unset

__all__ = ["IDLE_TIMEOUT", "OnAmbiguous", "ReminderPolicy"]

IDLE_TIMEOUT = 10.0
"""Seconds that an agent may take to answer while no turn runs, unless the policy says otherwise."""


class OnAmbiguous(StrEnum):
    """What to do with a reminder of which nobody knows whether the agent has it."""

    HOLD = "hold"
    """Wait for word of it."""
    NEXT = "next"
    """Go to the next rung, and accept that the model may see it twice."""


def _rungs(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ReminderInvalid(f"rungs is a sequence of rungs, not {value!r}", field="rungs")
    rungs = tuple(value)
    for rung in rungs:
        if not isinstance(rung, str) or not rung:
            raise ReminderInvalid(f"each of rungs is a name, not {rung!r}", field="rungs", allowed=tuple(Rung))
    if len(set(rungs)) != len(rungs):
        raise ReminderInvalid(f"rungs names one twice: {', '.join(rungs)}", field="rungs")
    # Suppressed is where everything ends that nothing else takes.
    return (*(rung for rung in rungs if rung != Rung.SUPPRESSED), Rung.SUPPRESSED)


def _require(instance: Any, attribute: Any, value: Any) -> None:
    if value is not None and (not isinstance(value, str) or not value or value == Rung.SUPPRESSED):
        allowed = tuple(rung for rung in Rung if rung is not Rung.SUPPRESSED)
        raise ReminderInvalid(f"require is the name of a rung, not {value!r}", field="require", allowed=allowed)


def _timeout(instance: Any, attribute: Any, value: Any) -> None:
    if value is None or isinstance(value, Unset):
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ReminderInvalid(f"timeout is a number of seconds above 0, not {value!r}", field="timeout")


def _on_ambiguous(instance: Any, attribute: Any, value: Any) -> None:
    allowed = tuple(OnAmbiguous)
    if value not in allowed:
        text = f"on_ambiguous is one of {', '.join(allowed)}, not {value!r}"
        raise ReminderInvalid(text, field="on_ambiguous", allowed=allowed)


def _marker(value: Any) -> Any:
    return Marker(value) if isinstance(value, str) else value


def _is_marker(instance: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, Marker):
        raise ReminderInvalid(f"marker is a Marker or the host's name, not {value!r}", field="marker")


@frozen(kw_only=True)
class ReminderPolicy:
    """How a reminder may travel.

    Attributes:
        rungs: the rungs to try, in order: members of :class:`~acp_host.state.reminder_entry.Rung` or names of custom
            ones. ``suppressed`` is always the last one, named or not.
        require: the one rung to use; where it does not take the reminder,
            :class:`~acp_host.errors.ReminderNotDelivered` is raised and no other is tried.
        timeout: seconds that the agent may take to answer; ``None`` for no limit. Left out: 10 seconds while no turn
            runs, and no limit while one does, since some agents answer behind the running prompt.
        on_ambiguous: what to do when it is not known whether the agent has the reminder; one of :class:`OnAmbiguous`.
        marker: how the reminder is marked on rungs that speak in the user's role; a text is the host's name in it.
        strict: a rung that could take the reminder only with something changed is not used.

    Raises:
        ReminderInvalid: a value is wrong; names the field and the values that are allowed.
    """

    rungs: tuple[str, ...] = field(default=(Rung.INJECT_REMINDER, Rung.REMIND, Rung.SIDEBAR), converter=_rungs)
    require: str | None = field(default=None, validator=_require)
    timeout: float | None | Unset = field(default=UNSET, validator=_timeout)
    on_ambiguous: str = field(default=OnAmbiguous.HOLD, validator=_on_ambiguous)
    marker: Marker = field(default=MARKER, converter=_marker, validator=_is_marker)
    strict: bool = False
