from __future__ import annotations

import pytest

from acp_host.errors import (
    AcpError,
    AuthRequired,
    ConnectionClosed,
    ConnectionLost,
    InvalidInput,
    InvalidParams,
    MalformedResponse,
    OutcomeUnknown,
    ReminderNotDelivered,
    ResourceNotFound,
)
from acp_host.reminders import SHIPPED, Declined, Offer, OnAmbiguous, ReminderPolicy, RungRequest, Taken, WireRung
from acp_host.state.reminder_entry import Rung
from tests.reminders.harness import BOTH, HARN, NONE, RFC, STEERING, Harness

NEXT = ReminderPolicy(on_ambiguous=OnAmbiguous.NEXT)


# --- an answer --------------------------------------------------------------------------------------------------------


def test_a_reminder_goes_by_the_best_rung():
    harness = Harness(BOTH, sidebar=True)
    entry_id = harness.remind(dedupe_key="f", ttl_turns=2, tags=["a"])
    assert harness.methods == ["session/inject_reminder"]
    assert harness.status(entry_id) == "sending"
    assert entry_id not in harness.settled
    harness.answer({"reminderId": "r-9", "dedupedCount": 2})
    receipt = harness.receipt(entry_id)
    assert (receipt.rung, receipt.status, receipt.reminder_id, receipt.deduped_count) == (
        "inject_reminder",
        "pending",
        "r-9",
        2,
    )
    assert [(step.rung, step.available) for step in receipt.plan] == [
        ("inject_reminder", True),
        ("remind", True),
        ("sidebar", True),
        ("suppressed", True),
    ]
    assert [(attempt.rung, attempt.outcome) for attempt in receipt.attempts] == [("inject_reminder", "taken")]
    assert harness.entry("r-9").id == entry_id


def test_method_not_found_is_learned_and_the_next_rung_follows():
    harness = Harness(RFC, sidebar=True)
    first = harness.remind()
    harness.fail(-32601)
    # It offered reminders, so that the other spelling may work.
    assert harness.methods == ["session/inject_reminder", "session/remind"]
    harness.fail(-32601)
    assert harness.status(first) == "sidebar"
    assert [attempt.outcome for attempt in harness.receipt(first).attempts] == ["absent", "absent"]
    second = harness.remind("another")
    assert len(harness.requests) == 2
    assert harness.receipt(second).rung == "sidebar"


@pytest.mark.parametrize(
    ("code", "message", "data"),
    [
        (-32603, "internal", None),
        (-32600, "no_active_turn", None),
        (-32000, "the model failed", {"schema": "x"}),
        (-32000, "the model failed", "text"),
        (-32004, "no active bridge", None),
        (-32700, "parse error", None),
        (-1, "anything", None),
        (7, "anything", None),
    ],
)
def test_any_other_error_leads_to_the_next_rung_and_is_kept(code, message, data):
    harness = Harness(BOTH, sidebar=True)
    entry_id = harness.remind()
    harness.fail(code, message, data)
    assert harness.methods[-1] == "session/remind"
    harness.fail(code, message, data)
    receipt = harness.receipt(entry_id)
    assert (receipt.rung, receipt.status) == ("sidebar", "sidebar")
    assert [(attempt.outcome, attempt.error.code) for attempt in receipt.attempts] == [("declined", code)] * 2
    assert harness.entry(entry_id).error.message == message
    assert not harness.learned.absent


@pytest.mark.parametrize(
    ("code", "message", "data", "kind"),
    [
        (-32602, "body is bad", None, InvalidParams),
        (-32602, "session/remind: HARN-RMD-002: malformed", None, InvalidParams),
        (-32603, "HARN-RMD-042", None, AcpError),
        (-32002, "no such session", None, ResourceNotFound),
        (-32004, "Session Not Found: s-1", None, AcpError),
        (-32000, "auth_required", {"authMethods": []}, AuthRequired),
    ],
)
def test_what_no_rung_below_could_mend_is_raised(code, message, data, kind):
    harness = Harness(BOTH, sidebar=True)
    entry_id = harness.remind()
    harness.fail(code, message, data)
    assert harness.methods == ["session/inject_reminder"]
    assert isinstance(harness.settled[entry_id].error, kind)
    entry = harness.entry(entry_id)
    assert (entry.status, entry.error.code) == ("failed", code)
    assert not entry.active


def test_the_agents_own_code_is_on_the_entry():
    harness = Harness(HARN)
    entry_id = harness.remind()
    harness.fail(-32602, "session/remind: HARN-RMD-005: unknown propagate")
    assert harness.entry(entry_id).error.rmd == "HARN-RMD-005"


def test_a_cancelled_request_is_not_delivered_and_goes_no_further():
    harness = Harness(BOTH, sidebar=True)
    entry_id = harness.remind()
    harness.fail(-32800)
    assert harness.settled[entry_id].error is None
    assert (harness.receipt(entry_id).status, harness.methods) == ("failed", ["session/inject_reminder"])


@pytest.mark.parametrize("result", [None, {}, {"reminderId": 7}, {"reminderId": ""}, [], "r-1"])
def test_an_odd_answer_of_an_agent_that_advertised_the_method(result):
    harness = Harness(RFC, sidebar=True)
    entry_id = harness.remind()
    harness.answer(result)
    receipt = harness.receipt(entry_id)
    assert (receipt.status, receipt.rung, receipt.reminder_id) == ("pending", "inject_reminder", None)
    assert len(harness.diagnostics) == 1
    assert harness.methods == ["session/inject_reminder"]


@pytest.mark.parametrize("result", [None, {}, {"reminderId": None}])
def test_an_odd_answer_at_a_rung_that_was_chosen_by_name(result):
    harness = Harness({"_meta": {"harn": {}}}, sidebar=True)
    entry_id = harness.remind()
    harness.answer(result)
    assert harness.receipt(entry_id).rung == "sidebar"
    assert harness.receipt(entry_id).attempts[0].outcome == "absent"
    harness.remind()
    assert harness.methods == ["session/remind"]


@pytest.mark.parametrize("count", ["2", -1, True, None])
def test_a_strange_count_is_left_out(count):
    harness = Harness(RFC)
    entry_id = harness.remind()
    harness.answer({"reminderId": "r-1", "dedupedCount": count})
    assert harness.receipt(entry_id).deduped_count is None


# --- ids --------------------------------------------------------------------------------------------------------------


def test_remind_sends_the_local_id_as_id():
    harness = Harness(HARN)
    entry_id = harness.remind()
    assert harness.params["id"] == entry_id
    harness.emitted(entry_id, source="bridge", body="said in other words")
    assert (harness.status(entry_id), len(harness.panel.entries)) == ("emitted", 1)


def test_an_id_that_is_refused_is_left_out_and_that_is_learned():
    harness = Harness(HARN)
    entry_id = harness.remind()
    harness.fail(-32602, "session/remind: HARN-RMD-001: unknown reminder option(s): id")
    assert harness.methods == ["session/remind"] * 2
    assert "id" not in harness.params
    harness.answer({"reminderId": "r-1"})
    assert harness.receipt(entry_id).reminder_id == "r-1"
    harness.remind()
    assert "id" not in harness.params


@pytest.mark.parametrize(
    "message",
    [
        "session/remind: HARN-RMD-001: unknown reminder option(s): dedupe_key",
        "session/remind: HARN-RMD-002: id is bad",
        "session/remind: HARN-RMD-001: unknown reminder option(s): idea, kid",
    ],
)
def test_other_rejections_are_not_sent_again(message):
    harness = Harness(HARN)
    entry_id = harness.remind()
    harness.fail(-32602, message)
    assert len(harness.requests) == 1
    assert isinstance(harness.settled[entry_id].error, InvalidParams)


def test_an_id_refused_twice_is_raised():
    harness = Harness(HARN)
    entry_id = harness.remind()
    for _ in range(2):
        harness.fail(-32602, "HARN-RMD-001: unknown reminder option(s): id")
    assert isinstance(harness.settled[entry_id].error, InvalidParams)
    assert len(harness.requests) == 2


# --- silence ----------------------------------------------------------------------------------------------------------


def test_while_no_turn_runs_the_agent_has_ten_seconds():
    harness = Harness(BOTH, sidebar=True)
    entry_id = harness.remind()
    assert list(harness.timers.values()) == [10.0]
    harness.time_out()
    assert (harness.receipt(entry_id).status, harness.methods) == ("uncertain", ["session/inject_reminder"])
    assert harness.entry(entry_id).active


def test_while_a_turn_runs_there_is_no_timeout_and_afterwards_there_is():
    harness = Harness(HARN)
    harness.prompt()
    entry_id = harness.remind()
    assert not harness.timers
    assert harness.status(entry_id) == "sending"
    harness.end_turn()
    assert list(harness.timers.values()) == [10.0]
    harness.answer({"reminderId": entry_id})
    assert not harness.timers
    assert harness.receipt(entry_id).status == "pending"


def test_a_timer_that_runs_out_in_a_turn_begins_anew_after_it():
    harness = Harness(RFC)
    entry_id = harness.remind()
    harness.prompt()
    harness.time_out()
    assert harness.status(entry_id) == "sending"
    harness.end_turn()
    assert list(harness.timers.values()) == [10.0]


@pytest.mark.parametrize("in_turn", [False, True])
def test_a_timeout_of_the_policys_own_holds_always(in_turn):
    harness = Harness(RFC)
    if in_turn:
        harness.prompt()
    entry_id = harness.remind(policy=ReminderPolicy(timeout=3))
    assert list(harness.timers.values()) == [3]
    harness.time_out()
    assert harness.status(entry_id) == "uncertain"


def test_no_timeout_at_all():
    harness = Harness(RFC)
    harness.remind(policy=ReminderPolicy(timeout=None))
    harness.turn()
    assert not harness.timers


def test_an_answer_stops_the_timer():
    harness = Harness(RFC)
    harness.remind()
    harness.answer({"reminderId": "r"})
    assert not harness.timers


@pytest.mark.parametrize(
    ("how", "status", "sent"),
    [
        (lambda h: h.answer({"reminderId": "r-1"}), "pending", 1),
        (lambda h: h.fail(-32800), "failed", 1),
        (lambda h: h.fail(-32602), "failed", 1),
        (lambda h: h.fail(-32603), "sending", 2),
        (lambda h: h.fail(-32601), "sending", 2),
        (lambda h: h.emitted("r-1", source="host"), "emitted", 1),
    ],
)
def test_what_settles_what_was_uncertain(how, status, sent):
    harness = Harness(BOTH)
    entry_id = harness.remind()
    harness.time_out()
    how(harness)
    assert (harness.status(entry_id), len(harness.requests)) == (status, sent)


def test_a_late_answer_after_an_update_only_adds_the_id():
    harness = Harness(RFC)
    entry_id = harness.remind()
    harness.time_out()
    harness.emitted("r-1")
    harness.answer({"reminderId": "r-1"})
    assert (harness.status(entry_id), harness.entry(entry_id).reminder_id) == ("emitted", "r-1")
    assert len(harness.panel.entries) == 1


def test_a_policy_may_go_on_when_nobody_knows():
    harness = Harness(BOTH, sidebar=True)
    entry_id = harness.remind(policy=NEXT)
    harness.time_out()
    assert harness.methods == ["session/inject_reminder", "session/remind"]
    harness.time_out()
    assert harness.status(entry_id) == "sidebar"
    # The first attempt arrived after all.
    harness.answer({"reminderId": "r-1"})
    assert (harness.status(entry_id), harness.entry(entry_id).rung) == ("pending", "inject_reminder")
    assert not harness.delivery.dismiss(entry_id)
    harness.fail(-32603)
    assert harness.status(entry_id) == "pending"


def test_going_on_never_ends_with_the_claim_that_nothing_was_sent():
    harness = Harness(RFC)
    entry_id = harness.remind(policy=NEXT)
    harness.time_out()
    assert (harness.receipt(entry_id).status, harness.suppressed) == ("uncertain", [])


@pytest.mark.parametrize(
    "error", [OutcomeUnknown("session/inject_reminder", ConnectionLost("gone")), MalformedResponse("garbage")]
)
def test_what_is_no_answer_is_ambiguous(error):
    harness = Harness(BOTH, sidebar=True)
    entry_id = harness.remind()
    harness.fail(error)
    assert (harness.receipt(entry_id).status, len(harness.requests)) == ("uncertain", 1)
    assert harness.receipt(entry_id).attempts[0].outcome == "ambiguous"


def test_what_was_never_written_goes_to_the_next_rung():
    harness = Harness(RFC, sidebar=True)
    entry_id = harness.remind()
    harness.fail(ConnectionClosed("closed"))
    assert (harness.receipt(entry_id).status, harness.receipt(entry_id).attempts[0].outcome) == ("sidebar", "not_sent")


# --- the caller goes away ---------------------------------------------------------------------------------------------


def test_a_cancelled_caller_withdraws_the_request():
    harness = Harness(BOTH, sidebar=True)
    entry_id = harness.remind(policy=NEXT)
    harness.delivery.caller_cancelled(entry_id)
    harness.run()
    assert (harness.withdrawn, harness.status(entry_id), harness.timers) == ([1], "uncertain", {})
    assert len(harness.requests) == 1


@pytest.mark.parametrize(
    ("how", "status"),
    [
        (lambda h: h.answer({"reminderId": "r-1"}), "pending"),
        (lambda h: h.fail(-32800), "failed"),
        (lambda h: h.fail(-32603), "failed"),
        (lambda h: h.fail(-32602, "HARN-RMD-001: id"), "failed"),
    ],
)
def test_a_withdrawn_request_goes_down_no_further(how, status):
    harness = Harness(HARN, sidebar=True)
    entry_id = harness.remind()
    harness.delivery.caller_cancelled(entry_id)
    harness.run()
    how(harness)
    assert (harness.status(entry_id), len(harness.requests)) == (status, 1)


def test_cancelling_what_has_come_to_rest_changes_nothing():
    harness = Harness(RFC)
    entry_id = harness.remind()
    harness.answer({"reminderId": "r"})
    harness.delivery.caller_cancelled(entry_id)
    harness.run()
    assert (harness.withdrawn, harness.status(entry_id)) == ([], "pending")


# --- requirements -----------------------------------------------------------------------------------------------------


def test_a_required_rung_that_is_not_there_raises_before_anything_happens():
    harness = Harness(NONE, sidebar=True)
    with pytest.raises(ReminderNotDelivered, match="inject_reminder") as caught:
        harness.remind(policy=ReminderPolicy(require="inject_reminder"))
    assert (caught.value.rung, caught.value.reminder_id, harness.panel.entries) == ("inject_reminder", None, ())


def test_a_required_rung_that_refuses_raises_instead_of_falling():
    harness = Harness(BOTH, sidebar=True)
    entry_id = harness.remind(policy=ReminderPolicy(require="inject_reminder"))
    harness.fail(-32603, "broken")
    error = harness.settled[entry_id].error
    assert isinstance(error, ReminderNotDelivered)
    assert (error.reminder_id, error.reason, error.__cause__.code) == (entry_id, "broken", -32603)
    assert (harness.status(entry_id), len(harness.requests)) == ("failed", 1)


def test_a_required_rung_is_used_although_a_better_one_is_there():
    harness = Harness(BOTH)
    harness.remind(policy=ReminderPolicy(require="remind"))
    assert harness.methods == ["session/remind"]


def test_a_required_rung_of_which_nobody_knows_raises_nothing():
    harness = Harness(RFC)
    entry_id = harness.remind(policy=ReminderPolicy(require="inject_reminder", on_ambiguous="next"))
    harness.time_out()
    assert (harness.receipt(entry_id).status, harness.settled[entry_id].error) == ("uncertain", None)


def test_a_rung_that_nobody_registered_is_an_error():
    with pytest.raises(InvalidInput, match="pigeon"):
        Harness(RFC).remind(policy=ReminderPolicy(rungs=("pigeon",)))


# --- the lower rungs --------------------------------------------------------------------------------------------------


def test_without_any_rung_it_is_suppressed():
    harness = Harness(NONE)
    entry_id = harness.remind()
    assert (harness.receipt(entry_id).rung, harness.receipt(entry_id).status) == ("suppressed", "suppressed")
    assert (harness.suppressed, harness.requests) == ([entry_id], [])


@pytest.mark.parametrize("rung", [Rung.SIDEBAR, Rung.PREFIXED_USER_MESSAGE, Rung.STEERING])
def test_audit_only_is_shown_to_nobody(rung):
    harness = Harness(NONE, sidebar=True, meta=STEERING)
    harness.prompt()
    entry_id = harness.remind(mode="audit_only", policy=ReminderPolicy(rungs=(Rung.INJECT_REMINDER, Rung.REMIND, rung)))
    assert harness.receipt(entry_id).rung == "suppressed"


def test_audit_only_goes_to_agents():
    harness = Harness(RFC)
    harness.remind(mode="audit_only")
    assert harness.params["mode"] == "audit_only"


@pytest.mark.parametrize(
    ("outcome", "status", "rung", "diagnostics"),
    [
        ("injected", "emitted", "steering", 0),
        ("startedNewTurn", "emitted", "steering", 1),
        ("promptRequired", "sidebar", "sidebar", 0),
        ("failed", "sidebar", "sidebar", 0),
        ("something", "pending", "steering", 1),
    ],
)
def test_steering(outcome, status, rung, diagnostics):
    harness = Harness(NONE, sidebar=True, meta=STEERING)
    policy = ReminderPolicy(rungs=(Rung.STEERING, Rung.SIDEBAR))
    harness.prompt()
    entry_id = harness.remind(policy=policy)
    assert harness.methods == ["_session/steering"]
    harness.answer({"outcome": outcome})
    assert (harness.status(entry_id), harness.entry(entry_id).rung) == (status, rung)
    assert len(harness.diagnostics) == diagnostics
    assert "steering" not in harness.learned.absent


def test_steering_is_offered_only_while_a_turn_runs():
    harness = Harness(NONE, sidebar=True, meta=STEERING)
    entry_id = harness.remind(policy=ReminderPolicy(rungs=(Rung.STEERING, Rung.SIDEBAR)))
    assert harness.receipt(entry_id).rung == "sidebar"


def test_an_emission_under_the_hosts_own_id_weighs_more_than_an_error():
    harness = Harness(HARN, sidebar=True)
    entry_id = harness.remind()
    harness.emitted(entry_id, source="bridge")
    harness.fail(-32603)
    assert (harness.receipt(entry_id).status, harness.receipt(entry_id).rung) == ("emitted", "remind")


def test_an_emission_that_was_only_like_it_does_not():
    harness = Harness(RFC, sidebar=True)
    entry_id = harness.remind()
    harness.emitted("r-77", source="host")
    assert harness.status(entry_id) == "emitted"
    harness.fail(-32603)
    assert harness.status(entry_id) == "sidebar"
    other = harness.entry("r-77")
    assert (other.id != entry_id, other.status, other.origin) == (True, "emitted", "host")


# --- keys -------------------------------------------------------------------------------------------------------------


def test_what_a_silent_agent_says_it_dropped_is_estimated():
    harness = Harness({"reminders": {"inject": True}})
    old = harness.remind("old", dedupe_key="k", ttl_turns=9)
    harness.answer({"reminderId": "r-1"})
    new = harness.remind("new", dedupe_key="k")
    harness.answer({"reminderId": "r-2", "dedupedCount": 1})
    entry = harness.entry(old)
    assert (entry.status, entry.estimated, entry.active, entry.replaced_by) == ("pending", True, False, new)
    harness.emitted("r-1", body="old")
    assert harness.entry(old).active


def test_the_newest_one_is_replaced_whichever_was_answered_last():
    harness = Harness({"reminders": {"inject": True}})
    first, second = harness.remind("first", dedupe_key="k"), harness.remind("second", dedupe_key="k")
    harness.answer({"reminderId": "r-2"}, token=2)
    harness.answer({"reminderId": "r-1"}, token=1)
    third = harness.remind("third", dedupe_key="k")
    harness.answer({"reminderId": "r-3", "dedupedCount": 1})
    assert [harness.entry(each).replaced_by for each in (first, second)] == [None, third]


@pytest.mark.parametrize(("capabilities", "count"), [(RFC, 1), ({"reminders": {"inject": True}}, 0), (HARN, None)])
def test_otherwise_the_older_one_stays(capabilities, count):
    harness = Harness(capabilities)
    old = harness.remind("old", dedupe_key="k")
    harness.answer({"reminderId": "r-1"})
    harness.remind("new", dedupe_key="k")
    harness.answer({"reminderId": "r-2", "dedupedCount": count})
    assert (harness.entry(old).active, harness.entry(old).replaced_by) == (True, None)


# --- custom rungs -----------------------------------------------------------------------------------------------------


def pigeon(*, request=None, read=None, advertised=True) -> WireRung:
    return WireRung(
        name="pigeon",
        check=lambda reminder, situation: Offer(available=True, reason="it flies", advertised=advertised),
        request=request
        or (lambda reminder, outgoing: RungRequest(method="_pigeon", params={"to": outgoing.session_id})),
        read=read or (lambda result: Taken(emitted=True) if result == "coo" else None),
    )


def with_pigeon(rung: WireRung) -> tuple[Harness, str]:
    harness = Harness(NONE, sidebar=True, rungs={**SHIPPED, "pigeon": rung})
    return harness, harness.remind(policy=ReminderPolicy(rungs=("pigeon", Rung.SIDEBAR)))


def test_a_custom_rung_delivers():
    harness, entry_id = with_pigeon(pigeon())
    assert (harness.methods, harness.params) == (["_pigeon"], {"to": "s-1"})
    harness.answer("coo")
    assert (harness.receipt(entry_id).rung, harness.status(entry_id)) == ("pigeon", "emitted")


@pytest.mark.parametrize(("advertised", "rung", "status"), [(True, "pigeon", "pending"), (False, "sidebar", "sidebar")])
def test_an_answer_without_the_outcome_that_a_custom_rung_names(advertised, rung, status):
    harness, entry_id = with_pigeon(pigeon(advertised=advertised))
    harness.answer("moo")
    assert (harness.receipt(entry_id).rung, harness.status(entry_id)) == (rung, status)


def test_a_custom_rung_that_declines():
    harness, entry_id = with_pigeon(pigeon(read=lambda result: Declined("it rains")))
    harness.answer("coo")
    receipt = harness.receipt(entry_id)
    assert (receipt.rung, receipt.attempts[0].error.message, harness.learned.absent) == ("sidebar", "it rains", {})


def test_a_custom_rung_that_cannot_write():
    def request(reminder, outgoing):
        raise ValueError("no ink")

    harness, entry_id = with_pigeon(pigeon(request=request))
    assert (harness.receipt(entry_id).rung, harness.requests) == ("sidebar", [])
    assert "no ink" in harness.diagnostics[0].message


def test_a_custom_rung_that_cannot_read():
    harness, entry_id = with_pigeon(pigeon(read=lambda result: result["x"]))
    harness.answer("coo")
    assert harness.status(entry_id) == "pending"
    assert "cannot read" in harness.diagnostics[0].message
