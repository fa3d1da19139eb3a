"""The rungs that send something and ship with the library: :data:`SHIPPED`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.quirks import QuirkKind
from acp_host.reminders.fitting import fit_mode, fit_propagate, fit_role_hint
from acp_host.reminders.model import Reminder
from acp_host.reminders.rungs import Declined, Offer, Outgoing, RungRequest, Situation, Taken, WireRung
from acp_host.reminders.sends import inject_params, remind_params, steering_params
from acp_host.state.reminder_entry import Rung

__all__ = ["INJECT_REMINDER", "REMIND", "SHIPPED", "STEERING"]

# --- session/inject_reminder ------------------------------------------------------------------------------------------


def _check_inject(reminder: Reminder, situation: Situation) -> Offer:
    if situation.agreement.offer("reminders.inject") is not True:
        return Offer(available=False, reason="the agent does not offer reminders.inject")
    offered = situation.agreement.offer("reminders.propagate")
    propagate, why_not = fit_propagate(reminder.propagate, offered)
    if why_not is not None:
        return Offer(available=False, reason=why_not)
    role_hint = fit_role_hint(reminder.role_hint, situation.agreement.offer("reminders.roleHints"))
    return Offer(available=True, reason="the agent offers reminders.inject", adjustments=(*propagate, *role_hint))


def _inject(reminder: Reminder, outgoing: Outgoing) -> RungRequest:
    return RungRequest(method="session/inject_reminder", params=inject_params(reminder, outgoing))


def _read_id(result: Any) -> Taken | None:
    if not isinstance(result, Mapping):
        return None
    agent_id, count = result.get("reminderId"), result.get("dedupedCount")
    if not isinstance(agent_id, str) or not agent_id:
        return None
    counted = isinstance(count, int) and not isinstance(count, bool) and count >= 0
    return Taken(reminder_id=agent_id, deduped_count=count if counted else None)


INJECT_REMINDER = WireRung(
    name=Rung.INJECT_REMINDER, check=_check_inject, request=_inject, read=_read_id, takes_audit_only=True
)
"""``session/inject_reminder``."""


# --- session/remind ---------------------------------------------------------------------------------------------------


def _check_remind(reminder: Reminder, situation: Situation) -> Offer:
    agreement = situation.agreement
    advertised = agreement.supports("session.remind")
    if advertised:
        reason = "the agent offers session.remind"
    elif isinstance(agreement.offer("_meta.harn"), Mapping):
        reason = "the agent has Harn's extensions"
    elif agreement.quirk(QuirkKind.WORKS_UNADVERTISED, "session/remind") is not None:
        reason = f"it works with {agreement.agent_name}, though it is not offered"
    elif agreement.offer("reminders.inject") is True and Rung.INJECT_REMINDER in situation.learned.absent:
        reason = "the agent offers reminders, but does not know session/inject_reminder"
    else:
        return Offer(available=False, reason="the agent does not offer session.remind")
    adjustments, why_not = fit_mode(reminder.mode, agreement.offer("session.remind.modes"))
    if why_not is not None:
        return Offer(available=False, reason=why_not)
    return Offer(available=True, reason=reason, adjustments=adjustments, advertised=advertised)


def _remind(reminder: Reminder, outgoing: Outgoing) -> RungRequest:
    sent_id = None if outgoing.learned.refuses_id else outgoing.entry_id
    return RungRequest(method="session/remind", params=remind_params(reminder, outgoing, sent_id), sent_id=sent_id)


REMIND = WireRung(name=Rung.REMIND, check=_check_remind, request=_remind, read=_read_id, takes_audit_only=True)
"""``session/remind``, as Harn has it."""


# --- _session/steering ------------------------------------------------------------------------------------------------


def _check_steering(reminder: Reminder, situation: Situation) -> Offer:
    steering = situation.agreement.meta.get("steering")
    if not isinstance(steering, Mapping) or steering.get("supported") is not True:
        return Offer(available=False, reason="the agent does not offer steering")
    if not situation.turn_running:
        return Offer(available=False, reason="no turn is running that could be steered")
    return Offer(available=True, reason="the agent offers steering, and a turn is running")


def _steer(reminder: Reminder, outgoing: Outgoing) -> RungRequest:
    return RungRequest(method="_session/steering", params=steering_params(reminder, outgoing))


def _read_steering(result: Any) -> Taken | Declined | None:
    outcome = result.get("outcome") if isinstance(result, Mapping) else None
    match outcome:
        case "injected":
            return Taken(emitted=True)
        case "startedNewTurn":
            return Taken(emitted=True, problem="the reminder started a turn of its own, which nobody asked for")
        case "promptRequired" | "failed":
            return Declined(f"the agent answered {outcome}")
        case _:
            return None


STEERING = WireRung(name=Rung.STEERING, check=_check_steering, request=_steer, read=_read_steering)
"""``_session/steering``: marked text in the user's role, put into the running turn."""

SHIPPED: Mapping[str, WireRung] = {rung.name: rung for rung in (INJECT_REMINDER, REMIND, STEERING)}
"""The rungs that send something and ship with the library, by name."""
