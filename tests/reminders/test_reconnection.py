"""What the end of a connection, and the next one, mean for reminders."""

from __future__ import annotations

import pytest

from acp_host.errors import ConnectionLost, InvalidInput
from acp_host.reminders import (
    SHIPPED,
    Offer,
    Reminder,
    ReminderPolicy,
    RungRequest,
    Taken,
    WireRung,
)
from acp_host.state import reminder_events as events
from acp_host.state.reminder_entry import Rung
from tests.reminders.harness import BOTH, HARN, RFC, Harness

GONE = ConnectionLost("gone")
NEXT = ReminderPolicy(on_ambiguous="next")


def listed(harness: Harness, *rows: events.ListedReminder) -> None:
    asked = harness.delivery.held_by_agent()
    harness.delivery.listed(events.RemindersListed(rows, asked))
    harness.run()


def test_what_was_written_is_uncertain_and_waits():
    harness = Harness(BOTH, sidebar=True)
    entry_id = harness.remind()
    harness.cut(GONE)
    assert (harness.receipt(entry_id).status, harness.timers) == ("uncertain", {})
    harness.reconnect()
    harness.delivery.reconnection_settled()
    harness.run()
    assert (harness.status(entry_id), len(harness.requests)) == ("uncertain", 1)


def test_what_has_come_to_rest_stays():
    harness = Harness(BOTH, sidebar=True)
    entry_id = harness.remind()
    harness.answer({"reminderId": "r-1"})
    harness.cut(GONE)
    harness.reconnect()
    assert harness.status(entry_id) == "pending"


@pytest.mark.parametrize("row", [events.ListedReminder("rmd-1"), events.ListedReminder("r-1", "a.py changed")])
def test_the_agents_list_settles_what_is_on_it(row):
    harness = Harness(HARN)
    entry_id = harness.remind()
    harness.cut(GONE)
    harness.reconnect()
    listed(harness, row)
    assert (harness.status(entry_id), len(harness.panel.entries)) == ("pending", 1)


def test_what_is_not_on_the_list_never_arrived_if_no_turn_ran():
    harness = Harness(HARN)
    entry_id = harness.remind()
    harness.cut(GONE)
    harness.reconnect()
    listed(harness)
    assert (harness.status(entry_id), len(harness.requests)) == ("failed", 1)


@pytest.mark.parametrize("when", ["written in a turn", "a turn since"])
def test_what_may_have_been_used_stays_uncertain(when):
    harness = Harness(HARN)
    if when == "written in a turn":
        harness.prompt()
    entry_id = harness.remind()
    if when == "a turn since":
        harness.turn()
    harness.cut(GONE)
    harness.reconnect()
    listed(harness)
    assert harness.status(entry_id) == "uncertain"


def test_what_may_still_be_answered_stays_uncertain():
    harness = Harness(HARN)
    entry_id = harness.remind()
    harness.time_out()
    listed(harness)
    assert harness.status(entry_id) == "uncertain"
    harness.answer({"reminderId": "r-1"})
    assert harness.status(entry_id) == "pending"


def test_a_policy_that_accepts_two_goes_on_after_the_reconnection():
    harness = Harness(BOTH)
    entry_id = harness.remind(policy=NEXT)
    harness.cut(GONE)
    # Without a connection there is no rung to go to.
    assert (harness.status(entry_id), len(harness.requests)) == ("uncertain", 1)
    harness.reconnect()
    harness.delivery.reconnection_settled()
    harness.run()
    assert harness.methods[1:] == ["session/remind"]
    harness.answer({"reminderId": entry_id})
    assert harness.status(entry_id) == "pending"


def test_without_a_connection_the_user_is_told_where_the_policy_accepts_two():
    harness = Harness(RFC, sidebar=True)
    entry_id = harness.remind(policy=NEXT)
    harness.cut(GONE)
    assert harness.status(entry_id) == "sidebar"


def test_what_was_learned_is_learned_anew():
    harness = Harness(RFC, sidebar=True)
    harness.remind()
    harness.fail(-32601)
    harness.fail(-32601)
    harness.cut(GONE)
    harness.reconnect()
    harness.remind()
    assert harness.methods[-1] == "session/inject_reminder"


def test_a_replay_settles_what_was_uncertain():
    harness = Harness(RFC)
    entry_id = harness.remind()
    harness.cut(GONE)
    harness.reconnect()
    harness.delivery.replay_started()
    harness.emitted("r-1", source="host", replayed=True)
    assert (harness.status(entry_id), harness.entry(entry_id).replayed) == ("emitted", False)


def test_the_agents_word_on_its_lifecycle_is_that_of_the_new_connection():
    harness = Harness(RFC)
    entry_id = harness.remind()
    harness.answer({"reminderId": "r-1"})
    harness.cut(GONE)
    harness.reconnect({"reminders": {"inject": True}})
    harness.turn()
    assert harness.entry(entry_id).estimated


# --- the connection ends at any moment --------------------------------------------------------------------------------

RUNGS = {
    "inject_reminder": (RFC, {}),
    "remind": (HARN, {}),
    "steering": ({}, {"steering": {"supported": True}}),
    "sidebar": ({}, {}),
    "prefixed_user_message": ({}, {}),
    "suppressed": ({}, {}),
}


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("moment", ["before", "written", "said", "answered", "after the turn"])
@pytest.mark.parametrize("on_ambiguous", ["hold", "next"])
def test_nothing_is_sent_twice_and_nothing_is_lost(rung, moment, on_ambiguous):
    capabilities, meta = RUNGS[rung]
    harness = Harness(capabilities, meta=meta, sidebar=rung == "sidebar")
    policy = ReminderPolicy(rungs=() if rung == "suppressed" else (rung,), on_ambiguous=on_ambiguous, timeout=None)
    if rung == "steering":
        harness.prompt()
    if moment == "before":
        harness.cut(GONE)
    entry_id = harness.remind(policy=policy)
    carried = harness.prompt() if moment != "before" and rung != "steering" else ()
    if moment == "said":
        harness.emitted("r-1", source="host")
        if carried:
            harness.delivery.prompt_accepted()
    if moment in ("answered", "after the turn"):
        if harness.open:
            harness.answer({"reminderId": "r-1", "outcome": "injected"})
        if carried:
            harness.delivery.prompt_accepted()
    if moment == "after the turn":
        harness.end_turn()
    harness.cut(GONE)
    harness.reconnect()
    harness.delivery.replay_started()
    if harness.requests and moment != "written":
        harness.emitted("r-1", source="host", replayed=True)
    listed(harness)
    harness.delivery.reconnection_settled()
    led = harness.turn()

    assert len(harness.requests) <= 1
    assert len((*carried, *led)) <= 1
    assert entry_id in harness.settled
    entry = harness.entry(entry_id)
    if rung == "sidebar":
        assert entry.status == "sidebar"
    elif rung == "suppressed" or (moment == "before" and rung != "prefixed_user_message"):
        assert (entry.status, harness.requests) == ("suppressed", [])
    elif moment == "written":
        assert entry.status in ("uncertain", "failed")
        assert entry.error is not None
    else:
        assert entry.status in ("pending", "emitted")


# --- what the new connection brings -----------------------------------------------------------------------------------


def pigeon() -> WireRung:
    return WireRung(
        name="pigeon",
        check=lambda reminder, situation: Offer(available=True, reason="it flies"),
        request=lambda reminder, outgoing: RungRequest(method="_pigeon", params={"from": outgoing.host}),
        read=lambda result: Taken(emitted=True),
    )


def test_its_sidebar_is_in_force():
    harness = Harness(RFC, sidebar=False)
    policy = ReminderPolicy(rungs=(Rung.SIDEBAR,))
    assert harness.receipt(harness.remind(policy=policy)).rung == "suppressed"
    harness.cut(GONE)
    harness.reconnect(sidebar=True)
    assert harness.receipt(harness.remind(policy=policy)).rung == "sidebar"
    harness.cut(GONE)
    harness.reconnect(sidebar=False)
    assert harness.receipt(harness.remind(policy=policy)).rung == "suppressed"


def test_its_rungs_and_its_name_for_the_host_are_in_force():
    harness = Harness(RFC)
    policy = ReminderPolicy(rungs=("pigeon",))
    with pytest.raises(InvalidInput):
        harness.remind(policy=policy)
    harness.cut(GONE)
    harness.reconnect(rungs={**SHIPPED, "pigeon": pigeon()}, host="Notebook")
    assert harness.delivery.plan(Reminder("x"), policy)[0].available
    harness.remind(policy=policy)
    assert harness.requests[-1].params == {"from": "Notebook"}
    harness.remind(policy=ReminderPolicy(rungs=(Rung.PREFIXED_USER_MESSAGE,)))
    (leading,) = harness.delivery.lead_prompt()
    assert "context from Notebook" in leading.block.text
    harness.cut(GONE)
    harness.reconnect(rungs=SHIPPED)
    with pytest.raises(InvalidInput):
        harness.remind(policy=policy)
