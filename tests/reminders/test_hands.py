"""The queue of the last rung, and the sidebar."""

from __future__ import annotations

import pytest

from acp_host.errors import ConnectionLost
from acp_host.reminders import ReminderPolicy, RevokeResult
from acp_host.reminders.holding import MOST_HELD
from acp_host.state.reminder_entry import Rung
from tests.reminders.harness import NONE, RFC, Harness

QUEUE = ReminderPolicy(rungs=(Rung.PREFIXED_USER_MESSAGE,))
SIDEBAR = ReminderPolicy(rungs=(Rung.SIDEBAR,))
GONE = ConnectionLost("gone")


def queued(harness: Harness, body: str = "text", **fields) -> str:
    entry_id = harness.remind(body, policy=QUEUE, **fields)
    assert harness.receipt(entry_id).rung == "prefixed_user_message"
    return entry_id


def shown(harness: Harness, body: str = "text", **fields) -> str:
    entry_id = harness.remind(body, policy=SIDEBAR, **fields)
    assert harness.receipt(entry_id).rung == "sidebar"
    return entry_id


# --- the prompt -------------------------------------------------------------------------------------------------------


def test_a_queued_reminder_leads_the_next_prompt_once():
    harness = Harness(NONE)
    first, second = queued(harness, "one", tags=["t"], dedupe_key="k"), queued(harness, "two")
    assert harness.requests == []
    leading = harness.delivery.lead_prompt()
    assert [(reminder.id, reminder.body) for reminder in leading] == [(first, "one"), (second, "two")]
    assert leading[0].block.text.startswith("[context from Editor, not typed by the user · rmd-1]\none\n")
    assert leading[0].block.meta["acp_host"]["reminder"] == {"id": first, "tags": ["t"], "dedupeKey": "k"}
    assert harness.delivery.is_leading
    harness.delivery.turn_started()
    assert harness.statuses() == {first: "sending", second: "sending"}
    harness.end_turn()
    assert harness.statuses() == {first: "emitted", second: "emitted"}
    assert not harness.delivery.is_leading
    assert harness.turn() == ()


def test_a_refused_prompt_puts_them_back_in_order_before_what_came_meanwhile():
    harness = Harness(NONE)
    first, second = queued(harness, "one"), queued(harness, "two")
    harness.prompt()
    third = queued(harness, "three")
    harness.end_turn("refused")
    assert harness.statuses() == {first: "queued", second: "queued", third: "queued"}
    assert harness.prompt() == (first, second, third)


def test_a_lost_prompt_leaves_them_uncertain_and_they_are_not_sent_again():
    harness = Harness(NONE)
    entry_id = queued(harness)
    harness.prompt()
    harness.end_turn("lost")
    assert (harness.status(entry_id), harness.entry(entry_id).active) == ("uncertain", True)
    assert harness.turn() == ()
    harness.delivery.seen_in_history([entry_id, "rmd-99"])
    assert harness.status(entry_id) == "emitted"


@pytest.mark.parametrize("resolved", ["accepted", "refused"])
def test_the_end_of_the_connection_changes_nothing_that_was_known(resolved):
    harness = Harness(NONE)
    entry_id = queued(harness)
    harness.prompt()
    getattr(harness.delivery, f"prompt_{resolved}")()
    harness.cut(GONE)
    assert harness.status(entry_id) == {"accepted": "emitted", "refused": "queued"}[resolved]


def test_what_is_held_outlives_the_connection():
    harness = Harness(NONE, sidebar=True)
    in_queue, in_sidebar = queued(harness), shown(harness)
    harness.cut(GONE)
    assert harness.statuses() == {in_queue: "queued", in_sidebar: "sidebar"}
    harness.reconnect()
    assert harness.prompt() == (in_queue,)


# --- keys -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hold", [queued, shown])
def test_a_newer_one_with_the_same_key_replaces_the_older_in_one_change(hold):
    harness = Harness(NONE, sidebar=True)
    old, other = hold(harness, "old", dedupe_key="k"), hold(harness, "other")
    changes = []
    harness.panel.changed.connect(changes.append)
    new = hold(harness, "new", dedupe_key="k")
    assert harness.receipt(new).deduped_count == 1
    assert [entry.id for entry in harness.panel.entries] == [old, new, other]
    assert (harness.status(old), harness.entry(old).replaced_by, harness.entry(new).replaces) == (
        "deduped",
        new,
        (old,),
    )
    assert len(changes) == 1


def test_a_newer_one_replaces_the_older_whichever_rung_it_takes():
    harness = Harness(RFC, sidebar=True)
    in_queue, in_sidebar = queued(harness, dedupe_key="k"), shown(harness, dedupe_key="k")
    assert harness.statuses() == {in_queue: "deduped", in_sidebar: "sidebar"}
    at_agent = harness.remind("new", dedupe_key="k")
    assert harness.status(in_sidebar) == "sidebar"
    harness.answer({"reminderId": "r-1"})
    assert (harness.status(in_sidebar), harness.status(at_agent)) == ("deduped", "pending")
    assert harness.prompt() == ()


def test_one_that_comes_back_gives_way_to_a_newer_one():
    harness = Harness(NONE)
    old = queued(harness, "old", dedupe_key="k")
    harness.prompt()
    new = queued(harness, "new", dedupe_key="k")
    harness.end_turn("refused")
    assert (harness.status(old), harness.entry(old).replaced_by) == ("deduped", new)
    assert harness.prompt() == (new,)


# --- turns ------------------------------------------------------------------------------------------------------------


def test_only_turns_that_began_later_count():
    harness = Harness(NONE, sidebar=True)
    harness.prompt()
    entry_id = shown(harness, ttl_turns=2)
    harness.end_turn()
    assert harness.entry(entry_id).ttl_left == 2
    harness.turn()
    assert (harness.status(entry_id), harness.entry(entry_id).ttl_left) == ("sidebar", 1)
    harness.turn()
    assert (harness.status(entry_id), harness.entry(entry_id).ttl_left) == ("expired", 0)
    assert not harness.delivery.dismiss(entry_id)


def test_a_turn_that_carried_it_and_failed_does_not_count():
    harness = Harness(NONE)
    entry_id = queued(harness, ttl_turns=1)
    for _ in range(3):
        harness.prompt()
        harness.end_turn("refused")
    assert (harness.status(entry_id), harness.entry(entry_id).ttl_left) == ("queued", 1)


def test_a_turn_without_a_prompt_counts_for_the_queue():
    harness = Harness(NONE)
    entry_id = queued(harness, ttl_turns=1)
    harness.delivery.turn_started()
    harness.delivery.turn_ended()
    harness.run()
    assert (harness.status(entry_id), harness.prompt()) == ("expired", ())


# --- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hold", [queued, shown])
def test_at_most_so_many_are_held(hold):
    harness = Harness(NONE, sidebar=True)
    ids = [hold(harness, str(number)) for number in range(MOST_HELD + 2)]
    assert [harness.status(entry_id) for entry_id in ids[:3]][:2] == ["expired", "expired"]
    assert all(harness.entry(entry_id).active for entry_id in ids[2:])
    assert len(harness.diagnostics) == 2


def test_at_most_so_much_is_held():
    harness = Harness(NONE)
    ids = [queued(harness, letter * 30_000) for letter in "abc"]
    assert [harness.status(entry_id) for entry_id in ids] == ["expired", "queued", "queued"]


def test_bounds_hold_for_what_comes_back():
    harness = Harness(NONE)
    early = [queued(harness, str(number)) for number in range(20)]
    harness.prompt()
    late = [queued(harness, str(number)) for number in range(20)]
    harness.end_turn("refused")
    assert harness.prompt() == tuple(early[8:] + late)
    assert harness.status(early[0]) == "expired"


# --- revoke and dismiss -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hold", [queued, shown])
def test_what_the_host_holds_is_revoked_at_once(hold):
    harness = Harness(NONE, sidebar=True)
    entry_id = hold(harness)
    assert harness.delivery.revoker.start(entry_id) == RevokeResult.REVOKED
    assert harness.delivery.revoker.start(entry_id) == RevokeResult.ALREADY_REVOKED
    assert (harness.status(entry_id), harness.prompt()) == ("revoked", ())


def test_what_is_on_its_way_is_delivered_unless_the_prompt_comes_back():
    harness = Harness(NONE)
    stays, comes_back = queued(harness), queued(harness, "other")
    harness.prompt()
    assert harness.delivery.revoker.start(comes_back) == RevokeResult.ALREADY_DELIVERED
    harness.end_turn("refused")
    assert harness.statuses() == {stays: "queued", comes_back: "revoked"}
    assert harness.turn() == (stays,)
    assert harness.delivery.revoker.start(stays) == RevokeResult.ALREADY_DELIVERED


def test_only_what_is_in_the_sidebar_can_be_dismissed():
    harness = Harness(NONE, sidebar=True)
    in_queue, in_sidebar = queued(harness), shown(harness)
    assert harness.delivery.dismiss(in_sidebar)
    assert not harness.delivery.dismiss(in_sidebar)
    assert not harness.delivery.dismiss(in_queue)
    assert harness.statuses() == {in_queue: "queued", in_sidebar: "dismissed"}
