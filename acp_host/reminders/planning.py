"""Which rungs can take a reminder, and in what order they are tried: :func:`plan`. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, field, frozen

from acp_host.protocol.negotiation import Agreement
from acp_host.reminders.model import Reminder
from acp_host.reminders.policy import ReminderPolicy
from acp_host.reminders.rungs import Learned, Offer, Situation, WireRung
from acp_host.reminders.shipped import SHIPPED
from acp_host.state.reminder_entry import Adjustment, ReminderMode, Rung

__all__ = ["LARGEST_HELD", "Step", "plan", "plan_in"]

LARGEST_HELD = 64 * 2**10
"""Longest reminder that the host itself can hold, in bytes; also the most that it holds at once, of one kind."""


@frozen(kw_only=True)
class Step:
    """One rung of the ladder.

    Attributes:
        rung: its name.
        available: whether it can take the reminder.
        reason: why, or why not; for people.
        adjustments: what would be changed.
        advertised: the agent itself said that it knows the method.
    """

    rung: str
    available: bool
    reason: str
    adjustments: tuple[Adjustment, ...] = field(default=())
    advertised: bool = True


def plan(
    agreement: Agreement,
    reminder: Reminder,
    policy: ReminderPolicy | None = None,
    learned: Learned | None = None,
    *,
    sidebar: bool = False,
    turn_running: bool = False,
    connected: bool = True,
    rungs: Mapping[str, WireRung] = SHIPPED,
) -> list[Step]:
    """Return the steps in the order in which they are tried; the first one that is available comes first.

    Args:
        agreement: what was agreed with the agent.
        reminder: the reminder.
        policy: how it may travel; ``None`` for the default.
        learned: what the connection has taught; ``None`` for nothing yet.
        sidebar: whether a person sees the panel.
        turn_running: whether a turn of the session runs.
        connected: whether the agent can be reached.
        rungs: the rungs that send something, by name.
    """
    situation = Situation(
        agreement=agreement,
        learned=learned or Learned(),
        sidebar=sidebar,
        turn_running=turn_running,
        connected=connected,
    )
    return plan_in(situation, reminder, policy or ReminderPolicy(), rungs)


def plan_in(
    situation: Situation, reminder: Reminder, policy: ReminderPolicy, rungs: Mapping[str, WireRung] = SHIPPED
) -> list[Step]:
    """Return the steps for a situation; otherwise as :func:`plan`."""
    names = policy.rungs
    if policy.require is not None and policy.require not in names:
        names = (policy.require, *names)
    return [_step(name, situation, reminder, policy, rungs) for name in names]


def _step(
    name: str, situation: Situation, reminder: Reminder, policy: ReminderPolicy, rungs: Mapping[str, WireRung]
) -> Step:
    if policy.require is not None and name != policy.require:
        offer = Offer(available=False, reason=f"the policy requires {policy.require}")
    elif name == Rung.SUPPRESSED:
        offer = Offer(available=True, reason="the end of the ladder: nothing is sent")
    elif reminder.mode == ReminderMode.AUDIT_ONLY and not (name in rungs and rungs[name].takes_audit_only):
        offer = Offer(available=False, reason="no model and no user is to see an audit_only reminder")
    elif name == Rung.SIDEBAR:
        offer = _held(Offer(available=situation.sidebar, reason=_SIDEBAR[situation.sidebar]), reminder)
    elif name == Rung.PREFIXED_USER_MESSAGE:
        offer = _held(Offer(available=True, reason="the policy allows it, marked, before the next prompt"), reminder)
    else:
        offer = _sent(name, situation, reminder, rungs)
    if policy.strict and offer.available and offer.adjustments:
        changed = ", ".join(adjustment.field for adjustment in offer.adjustments)
        offer = evolve(offer, available=False, reason=f"{changed} would have to be changed, and the policy is strict")
    return Step(
        rung=name,
        available=offer.available,
        reason=offer.reason,
        adjustments=offer.adjustments,
        advertised=offer.advertised,
    )


_SIDEBAR = {True: "a person sees the panel", False: "no person sees the panel"}


def _held(offer: Offer, reminder: Reminder) -> Offer:
    if offer.available and len(reminder.body.encode("utf-8", "surrogatepass")) > LARGEST_HELD:
        return Offer(available=False, reason=f"the body is longer than {LARGEST_HELD // 1024} KiB")
    return offer


def _sent(name: str, situation: Situation, reminder: Reminder, rungs: Mapping[str, WireRung]) -> Offer:
    if name not in rungs:
        return Offer(available=False, reason="no rung of this name is registered")
    if not situation.connected:
        return Offer(available=False, reason="the agent cannot be reached")
    if name in situation.learned.absent:
        return Offer(available=False, reason=situation.learned.absent[name])
    try:
        return rungs[name].check(reminder, situation)
    except Exception as error:  # a custom rung is the application's code
        return Offer(available=False, reason=f"its check failed: {type(error).__name__}: {error}")
