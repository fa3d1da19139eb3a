"""The ladder for reminders, as text, as a table and as JSON: what :func:`acp_host.reminders.plan` says, for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import asdict
from rich.text import Text

from acp_host.cli.printer import plain
from acp_host.protocol.negotiation import Agreement
from acp_host.reminders import Reminder, ReminderPolicy, Step, plan
from acp_host.state.reminder_entry import Adjustment, Rung

__all__ = ["adjustment_text", "in_default_policy", "ladder_json", "plain_ladder", "plan_text"]

_WIDEST = max(len(rung) for rung in Rung)


def plain_ladder(agreement: Agreement, *, sidebar: bool) -> list[Step]:
    """Return every rung that this library knows, for a reminder that asks for nothing in particular.

    Args:
        agreement: what was agreed with the agent.
        sidebar: whether a person sees the reminders panel.
    """
    return plan(agreement, Reminder("anything"), ReminderPolicy(rungs=tuple(Rung)), sidebar=sidebar)


def in_default_policy(rung: str) -> bool:
    """Tell whether a rung is used without being asked for."""
    return rung in ReminderPolicy().rungs


def ladder_json(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """Return the ladder as JSON, in order; ``default`` tells whether a rung is used without being asked for."""
    return [
        {
            "rung": str(step.rung),
            "available": step.available,
            "reason": step.reason,
            "default": in_default_policy(step.rung),
            "adjustments": [asdict(adjustment) for adjustment in step.adjustments],
        }
        for step in steps
    ]


def plan_text(steps: Iterable[Step]) -> Text:
    """Return a plan, a rung on each line, with what would be changed below it."""
    lines = []
    for step in steps:
        style = "" if step.available else "dim"
        lines.append(plain(f"{step.rung.ljust(_WIDEST)}  {'yes' if step.available else 'no ':3}  {step.reason}", style))
        lines += [plain(f"    {adjustment_text(each)}", "yellow") for each in step.adjustments]
    return Text("\n").join(lines)


def adjustment_text(adjustment: Adjustment) -> str:
    """Return in words what would be changed for a rung."""
    instead = "left out" if adjustment.sent is None else f"sent as {adjustment.sent}"
    return f"{adjustment.field} {adjustment.asked} is {instead}: {adjustment.reason}"
