from __future__ import annotations

import pytest

from acp_host.reminders import SHIPPED, Learned, Offer, Reminder, ReminderPolicy, RungRequest, WireRung, plan
from acp_host.reminders.planning import LARGEST_HELD
from acp_host.state.reminder_entry import Rung
from tests.reminders.harness import BOTH, HARN, NONE, RFC, STEERING, agreed

EVERYTHING = ReminderPolicy(
    rungs=(Rung.INJECT_REMINDER, Rung.REMIND, Rung.STEERING, Rung.SIDEBAR, Rung.PREFIXED_USER_MESSAGE)
)


def available(agreement, reminder=None, policy=None, learned=None, **options):
    steps = plan(agreement, reminder or Reminder("text"), policy, learned, **options)
    assert all(step.reason for step in steps)
    return [step.rung for step in steps if step.available]


@pytest.mark.parametrize(
    ("capabilities", "name", "rungs"),
    [
        ({}, "agent", []),
        (RFC, "agent", ["inject_reminder"]),
        ({"reminders": {"inject": False}}, "agent", []),
        ({"reminders": {"inject": {}}}, "agent", []),
        ({"reminders": {"inject": "true"}}, "agent", []),
        ({"reminders": True}, "agent", []),
        ({"reminders": None}, "agent", []),
        ({"session": {"remind": {}}}, "agent", ["remind"]),
        ({"session": {"remind": True}}, "agent", ["remind"]),
        ({"session": {"remind": None}}, "agent", []),
        ({"session": []}, "agent", []),
        ({"_meta": {"harn": {}}}, "agent", ["remind"]),
        ({"_meta": {"harn": "yes"}}, "agent", []),
        ({}, "harn", ["remind"]),
        ({}, "harness", []),
        (BOTH, "agent", ["inject_reminder", "remind"]),
    ],
)
def test_which_rungs_an_agent_has(capabilities, name, rungs):
    assert available(agreed(capabilities, name=name)) == [*rungs, "suppressed"]


def test_a_plan_names_every_rung_of_the_policy_in_order():
    steps = plan(agreed(NONE), Reminder("text"), EVERYTHING)
    assert tuple(step.rung for step in steps) == EVERYTHING.rungs
    assert [step.rung for step in plan(agreed(NONE), Reminder("text"))] == list(ReminderPolicy().rungs)


def test_what_was_learned_counts():
    agreement = agreed(BOTH)
    assert available(agreement, learned=Learned({"inject_reminder": "gone"})) == ["remind", "suppressed"]
    assert available(agreement, learned=Learned({"remind": "gone"})) == ["inject_reminder", "suppressed"]
    # It offers reminders and does not know the method: perhaps it knows the older one.
    assert available(agreed(RFC), learned=Learned({"inject_reminder": "gone"})) == ["remind", "suppressed"]
    both = Learned({"inject_reminder": "gone", "remind": "gone"})
    assert available(agreed(RFC), learned=both) == ["suppressed"]


def test_the_lower_rungs_need_somebody_or_somebodys_consent():
    assert available(agreed(NONE), sidebar=True) == ["sidebar", "suppressed"]
    assert available(agreed(NONE), policy=EVERYTHING) == ["prefixed_user_message", "suppressed"]
    steering = agreed(NONE, meta=STEERING)
    assert available(steering, turn_running=True) == ["suppressed"]
    assert available(steering, policy=EVERYTHING, turn_running=True)[0] == "steering"
    assert "steering" not in available(steering, policy=EVERYTHING)
    for odd in ({}, {"steering": True}, {"steering": {"supported": 1}}):
        assert "steering" not in available(agreed(NONE, meta=odd), policy=EVERYTHING, turn_running=True)


def test_without_a_connection_nothing_can_be_sent():
    assert available(agreed(BOTH), sidebar=True, connected=False) == ["sidebar", "suppressed"]


def test_a_required_rung_is_the_only_one():
    policy = ReminderPolicy(require="remind")
    assert available(agreed(BOTH), policy=policy, sidebar=True) == ["remind"]
    assert available(agreed(RFC), policy=policy, sidebar=True) == []
    elsewhere = ReminderPolicy(rungs=(Rung.SIDEBAR,), require="inject_reminder")
    assert available(agreed(RFC), policy=elsewhere, sidebar=True) == ["inject_reminder"]


# --- fitting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hints", "asked", "sent"),
    [
        (None, "system", "system"),
        (None, "developer", None),
        (["developer"], "developer", "developer"),
        (["developer"], "system", None),
        ([], "system", None),
        ("system", "developer", None),
        (["user_block", 7], "user_block", "user_block"),
    ],
)
def test_role_hints_are_dropped_where_they_are_not_known(hints, asked, sent):
    reminders = {"inject": True} | ({} if hints is None else {"roleHints": hints})
    step = plan(agreed({"reminders": reminders}), Reminder("text", role_hint=asked))[0]
    assert step.available
    changed = {adjustment.field: adjustment.sent for adjustment in step.adjustments}
    assert changed == ({} if sent == asked else {"role_hint": None})


@pytest.mark.parametrize(
    ("known", "asked", "sent"),
    [
        (None, "session", "session"),
        (None, "all", "session"),
        (None, "none", "unavailable"),
        (["all", "session", "none"], "all", "all"),
        (["none", "all"], "session", "none"),
        (["none", "session"], "all", "session"),
        (["all"], "session", "unavailable"),
        (["all"], "none", "unavailable"),
        ([], "all", "unavailable"),
        ({}, "all", "session"),
        (["everything", "none"], "all", "none"),
        (["none"], None, None),
    ],
)
def test_propagation_is_narrowed_and_never_widened(known, asked, sent):
    reminders = {"inject": True} | ({} if known is None else {"propagate": known})
    step = plan(agreed({"reminders": reminders}), Reminder("text", propagate=asked))[0]
    if sent == "unavailable":
        assert (step.available, step.adjustments) == (False, ())
        return
    assert step.available
    assert [(a.field, a.asked, a.sent) for a in step.adjustments] == (
        [] if sent == asked else [("propagate", asked, sent)]
    )


@pytest.mark.parametrize(
    ("modes", "asked", "sent"),
    [
        (None, "interrupt_immediate", "interrupt_immediate"),
        (["finish_step"], "interrupt_immediate", "finish_step"),
        (["finish_step"], "finish_step", "finish_step"),
        (["finish_step"], "audit_only", "unavailable"),
        (["interrupt_immediate"], "finish_step", "unavailable"),
        (["audit_only"], "finish_step", "unavailable"),
        (["audit_only"], "interrupt_immediate", "unavailable"),
        ([], "finish_step", "unavailable"),
        ("all", "finish_step", "finish_step"),
    ],
)
def test_modes_are_fitted_to_session_remind(modes, asked, sent):
    remind = {} if modes is None else {"modes": modes}
    step = plan(agreed({"session": {"remind": remind}}), Reminder("text", mode=asked))[1]
    assert step.available == (sent != "unavailable")
    assert [a.sent for a in step.adjustments] == ([] if sent in (asked, "unavailable") else [sent])


def test_session_remind_takes_every_hint():
    reminder = Reminder("text", role_hint="ephemeral_cache", propagate="none")
    assert plan(agreed(HARN), reminder)[1].adjustments == ()


def test_a_strict_policy_uses_no_rung_that_would_change_something():
    reminder = Reminder("text", role_hint="developer")
    strict = ReminderPolicy(strict=True)
    assert available(agreed(BOTH), reminder, strict) == ["remind", "suppressed"]
    assert available(agreed(BOTH), Reminder("text"), strict)[0] == "inject_reminder"
    step = plan(agreed(RFC), reminder, strict)[0]
    assert (step.available, "role_hint" in step.reason, len(step.adjustments)) == (False, True, 1)


def test_audit_only_goes_to_the_agents_record_or_nowhere():
    reminder = Reminder("text", mode="audit_only")
    options = {"policy": EVERYTHING, "sidebar": True, "turn_running": True}
    assert available(agreed(BOTH, meta=STEERING), reminder, **options) == ["inject_reminder", "remind", "suppressed"]


@pytest.mark.parametrize("rung", [Rung.SIDEBAR, Rung.PREFIXED_USER_MESSAGE])
def test_what_is_too_long_is_not_held(rung):
    policy = ReminderPolicy(rungs=(rung,))
    assert available(agreed(NONE), Reminder("x" * LARGEST_HELD), policy, sidebar=True) == [rung, "suppressed"]
    assert available(agreed(NONE), Reminder("é" * LARGEST_HELD), policy, sidebar=True) == ["suppressed"]


# --- custom rungs -----------------------------------------------------------------------------------------------------


def pigeon(check=None, **options):
    return WireRung(
        name="pigeon",
        check=check or (lambda reminder, situation: Offer(available=True, reason="it flies")),
        request=lambda reminder, outgoing: RungRequest(method="_pigeon", params={}),
        read=lambda result: None,
        **options,
    )


def test_a_custom_rung_stands_where_the_policy_puts_it():
    rungs = {**SHIPPED, "pigeon": pigeon()}
    policy = ReminderPolicy(rungs=("pigeon", Rung.INJECT_REMINDER))
    assert available(agreed(RFC), policy=policy, rungs=rungs) == ["pigeon", "inject_reminder", "suppressed"]
    assert available(agreed(RFC), policy=policy) == ["inject_reminder", "suppressed"]
    silent = Reminder("text", mode="audit_only")
    assert "pigeon" not in available(agreed(RFC), silent, policy, rungs=rungs)
    discreet = {"pigeon": pigeon(takes_audit_only=True)}
    assert "pigeon" in available(agreed(RFC), silent, policy, rungs=discreet)


def test_a_check_that_raises_makes_its_rung_unavailable():
    def check(reminder, situation):
        raise ValueError("no wind")

    step = plan(agreed(NONE), Reminder("text"), ReminderPolicy(rungs=("pigeon",)), rungs={"pigeon": pigeon(check)})[0]
    assert (step.available, "no wind" in step.reason) == (False, True)
