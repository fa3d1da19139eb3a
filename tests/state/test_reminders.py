from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import InvalidState
from acp_host.state import reminder_events as events
from acp_host.state.changes import ChangeKind, ChangeSet
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.reminder_entry import ReminderEntry, ReminderFault
from acp_host.state.reminders import RemindersPanel


class Panel:
    """A panel with one observer."""

    def __init__(self, **options: Any) -> None:
        self.clock = ManualClock(10.0)
        self.scheduler = ManualScheduler(self.clock)
        self.panel = RemindersPanel(self.scheduler, self.clock, **options)
        self.seen: list[ChangeSet] = []
        self.panel.changed.connect(self.seen.append)

    def __call__(self, *fed: Any) -> Panel:
        """Feed events as one delivery."""
        for event in fed:
            self.panel.apply(event)
        self.scheduler.flush()
        return self

    def made(self, body: str = "text", *, sent_id: bool = False, **fields: Any) -> str:
        entry_id = self.panel.next_id()
        self(
            events.ReminderMade(entry_id, body, fields.pop("mode", "finish_step"), **fields),
            events.ReminderSending(entry_id, "remind", sent_id=entry_id if sent_id else None),
        )
        return entry_id

    def accepted(self, reminder_id: str | None = None, body: str = "text", **fields: Any) -> str:
        entry_id = self.made(body, **fields)
        self(events.ReminderAccepted(entry_id, "remind", reminder_id))
        return entry_id

    def turn(self) -> None:
        self(events.RemindersTurnStarted(), events.RemindersTurnEnded())

    def entry(self, reminder_id: str) -> ReminderEntry:
        entry = self.panel.get(reminder_id)
        assert entry is not None
        return entry

    def status(self, reminder_id: str) -> str:
        return str(self.entry(reminder_id).status)

    def last(self) -> list[tuple[Any, ChangeKind]]:
        return [(change.key, change.kind) for change in self.seen[-1].changes]

    def ids(self) -> list[str]:
        return [entry.id for entry in self.panel.entries]


def emitted(reminder_id: str, body: str = "text", **fields: Any) -> events.ReminderEmitted:
    return events.ReminderEmitted(reminder_id, body, **fields)


def fault(message: str = "no") -> ReminderFault:
    return ReminderFault(message=message)


# --- statuses ---------------------------------------------------------------------------------------------------------


def test_a_reminder_from_the_wish_to_its_end():
    panel = Panel()
    entry_id = panel.made(tags=("a",), dedupe_key="k", ttl_turns=3, propagate="all")
    assert (panel.status(entry_id), panel.entry(entry_id).rung) == ("sending", "remind")
    panel(events.ReminderAccepted(entry_id, "remind", "r-1"))
    assert (panel.status(entry_id), panel.entry(entry_id).reminder_id) == ("pending", "r-1")
    panel(events.RemindersTurnStarted(), emitted("r-1", fired_at_turn=4, rendered_role="system", source="host"))
    entry = panel.entry("r-1")
    assert (entry.status, entry.times_emitted, entry.fired_at_turn, entry.rendered_role) == ("emitted", 1, 4, "system")
    assert (entry.first_turn, entry.last_turn, entry.origin, entry.source) == (0, 1, "host", "host")
    panel(events.ReminderExpired("r-1", "ttl_expired", 6))
    entry = panel.entry(entry_id)
    assert (entry.status, entry.expiry_phase, entry.expired_at_turn) == ("expired", "ttl_expired", 6)
    assert (entry.active, panel.panel.active, panel.panel.counts) == (False, (), {"expired": 1})


@pytest.mark.parametrize(
    ("phase", "status"),
    [
        ("ttl_expired", "expired"),
        ("ttl", "expired"),
        ("cleared", "cleared"),
        ("compacted_out", "compacted_out"),
        ("compaction", "compacted_out"),
        ("evaporated", "expired"),
        ("", "expired"),
    ],
)
def test_ends_that_the_agent_tells_of(phase, status):
    panel = Panel()
    entry_id = panel.accepted("r-1")
    panel(events.ReminderExpired("r-1", phase))
    assert (panel.status(entry_id), panel.entry(entry_id).expiry_phase) == (status, phase)


@pytest.mark.parametrize("status", ["queued", "sidebar", "suppressed", "failed", "uncertain"])
def test_where_the_host_puts_a_reminder(status):
    panel = Panel()
    entry_id = panel.made()
    panel(events.ReminderPlaced(entry_id, status, "somewhere", fault()))
    entry = panel.entry(entry_id)
    assert (entry.status, entry.rung, entry.error, entry.active) == (
        status,
        "somewhere",
        fault(),
        status not in ("failed", "suppressed"),
    )


@pytest.mark.parametrize("place", ["queued", "sidebar"])
@pytest.mark.parametrize("end", ["expired", "dismissed", "revoked"])
def test_ends_in_the_hosts_hands(place, end):
    panel = Panel()
    entry_id = panel.made()
    panel(events.ReminderPlaced(entry_id, place), events.ReminderEnded(entry_id, end))
    assert (panel.status(entry_id), panel.entry(entry_id).active) == (end, False)


def test_a_suppressed_reminder_can_be_revoked():
    panel = Panel()
    entry_id = panel.made()
    panel(events.ReminderPlaced(entry_id, "suppressed"), events.ReminderEnded(entry_id, "revoked"))
    assert panel.status(entry_id) == "revoked"


def test_a_queued_reminder_goes_out_with_a_prompt():
    panel = Panel()
    entry_id = panel.made()
    panel(events.ReminderPlaced(entry_id, "queued"))
    panel(events.ReminderSending(entry_id, "prefixed_user_message"))
    assert panel.status(entry_id) == "sending"
    panel(events.ReminderAccepted(entry_id, "prefixed_user_message", emitted=True))
    assert (panel.status(entry_id), panel.entry(entry_id).times_emitted) == ("emitted", 1)


@pytest.mark.parametrize(
    "later",
    [
        lambda i: emitted("r-1"),
        lambda i: emitted("r-1", decoration=True),
        lambda i: events.ReminderAccepted(i, "remind", "r-1"),
        lambda i: events.RemindersListed((events.ListedReminder("r-1"),)),
        lambda i: events.RemindersTurnEnded(),
        lambda i: events.ReminderExpired("r-1", "cleared"),
    ],
)
@pytest.mark.parametrize("end", ["deduped", "expired", "cleared", "compacted_out", "revoked"])
def test_nothing_brings_an_ended_reminder_back(end, later):
    panel = Panel()
    entry_id = panel.accepted("r-1")
    panel(
        {
            "deduped": events.ReminderDeduped("r-2", "k", ("r-1",)),
            "expired": events.ReminderExpired("r-1", "ttl_expired"),
            "cleared": events.ReminderExpired("r-1", "cleared"),
            "compacted_out": events.ReminderExpired("r-1", "compacted_out"),
            "revoked": events.ReminderEnded(entry_id, "revoked"),
        }[end]
    )
    assert panel.status(entry_id) == end
    panel(later(entry_id))
    assert panel.entry(entry_id).status not in ("pending", "emitted")
    assert not panel.entry(entry_id).active


@pytest.mark.parametrize("end", ["failed", "suppressed"])
def test_what_failed_stays_so_and_still_counts_what_is_said_about_it(end):
    panel = Panel()
    entry_id = panel.made(sent_id=True)
    panel(events.ReminderPlaced(entry_id, end), emitted(entry_id), events.ReminderExpired(entry_id, "cleared"))
    assert (panel.status(entry_id), panel.entry(entry_id).times_emitted) == (end, 1)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        (emitted("r-1"), "emitted"),
        (events.ReminderExpired("r-1", "cleared"), "cleared"),
        (events.ReminderDeduped("r-2", "k", ("r-1",)), "deduped"),
        (events.RemindersListed((events.ListedReminder("r-1"),)), "pending"),
    ],
)
def test_what_was_uncertain_is_settled_by_word_of_it(word, status):
    panel = Panel()
    entry_id = panel.made()
    panel(events.ReminderPlaced(entry_id, "uncertain"), events.ReminderAccepted(entry_id, "remind", "r-1"))
    panel(word)
    assert panel.status(entry_id) == status


# --- emissions --------------------------------------------------------------------------------------------------------


def test_each_emission_counts_once():
    panel = Panel()
    entry_id = panel.accepted("r-1")
    panel(events.RemindersTurnStarted())
    for decoration in (True, False, True):
        panel(emitted("r-1", decoration=decoration))
    assert panel.entry(entry_id).times_emitted == 1
    panel(emitted("r-1"))
    assert panel.entry(entry_id).times_emitted == 2
    panel(events.RemindersTurnEnded(), events.RemindersTurnStarted(), emitted("r-1", decoration=True))
    assert panel.entry(entry_id).times_emitted == 3
    assert len(panel.ids()) == 1


def test_the_agents_own_reminders_are_in_the_panel_too():
    panel = Panel()
    panel(
        emitted(
            "r-1",
            "refresh",
            tags=("t",),
            source="stdlib_provider",
            provider_id="p",
            ttl_turns=2,
            authority="advisory",
            role_hint="developer",
            rendered_role="user",
            dedupe_key="k",
            meta={"x": 1},
        )
    )
    entry = panel.entry("r-1")
    assert (entry.body, entry.tags, entry.origin, entry.source) == ("refresh", ("t",), "provider", "stdlib_provider")
    assert (entry.provider_id, entry.ttl_turns, entry.authority, entry.rendered_role) == ("p", 2, "advisory", "user")
    assert (entry.role_hint, entry.dedupe_key, entry.meta, entry.rung) == ("developer", "k", {"x": 1}, None)
    assert (entry.status, entry.active, entry.id) == ("emitted", True, "agent-1")


@pytest.mark.parametrize("source", ["hook", "inherited", "in_pipeline", "host", "bridge", "_x", None])
def test_an_unknown_source_is_kept(source):
    panel = Panel()
    panel(emitted("r-1", source=source))
    assert (panel.entry("r-1").origin, panel.entry("r-1").source) == (source, source)


# --- which entry ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["host", "bridge", None])
def test_an_emission_before_the_answer_belongs_to_the_oldest_that_agrees(source):
    panel = Panel()
    first, second = panel.made(), panel.made()
    panel(emitted("r-1", " text\n", source=source))
    assert (panel.status(first), panel.status(second)) == ("emitted", "sending")
    panel(events.ReminderAccepted(first, "remind", "r-1"))
    assert (panel.entry(first).reminder_id, panel.entry(first).aliases, panel.ids()) == ("r-1", (), [first, second])


@pytest.mark.parametrize(
    "update",
    [
        emitted("r-1", source="provider"),
        emitted("r-1", "other", source="host"),
        emitted("r-1", source="host", dedupe_key="other"),
    ],
)
def test_what_does_not_agree_is_a_reminder_of_the_agents_own(update):
    panel = Panel()
    entry_id = panel.made(dedupe_key="k")
    panel(update)
    assert (panel.status(entry_id), panel.ids()) == ("sending", [entry_id, "agent-1"])


def test_without_an_open_request_nothing_is_assumed():
    panel = Panel()
    entry_id = panel.accepted()
    panel(emitted("r-1", source="host"))
    assert (panel.status(entry_id), len(panel.ids())) == ("pending", 2)


def test_an_answer_moves_an_id_that_the_wrong_entry_had():
    panel = Panel()
    first, second = panel.made(), panel.made()
    panel(emitted("r-2", source="host"))
    panel(events.ReminderAccepted(first, "remind", "r-1"))
    assert (panel.status(first), panel.status(second)) == ("pending", "emitted")
    panel(events.ReminderAccepted(second, "remind", "r-2"))
    assert (panel.entry(first).reminder_id, panel.entry(first).times_emitted) == ("r-1", 0)
    assert (panel.entry(second).reminder_id, panel.entry(second).times_emitted) == ("r-2", 1)
    assert panel.entry(first).aliases == panel.entry(second).aliases == ()


def test_the_right_entry_takes_an_id_from_the_wrong_one():
    panel = Panel()
    first, second = panel.made(), panel.made()
    panel(emitted("r-2", source="host"))
    panel(events.ReminderAccepted(second, "remind", "r-2"))
    assert (panel.status(first), panel.status(second)) == ("sending", "emitted")


def test_an_id_that_nobody_else_can_have_becomes_an_alias():
    panel = Panel()
    entry_id = panel.made()
    panel(emitted("r-7", source="host"))
    panel(events.ReminderAccepted(entry_id, "remind", "r-1"))
    entry = panel.entry("r-7")
    assert (entry.id, entry.reminder_id, entry.aliases, entry.times_emitted) == (entry_id, "r-1", ("r-7",), 1)
    assert panel.last() == [(entry_id, ChangeKind.MERGED)]
    panel(emitted("r-1"))
    assert panel.entry(entry_id).times_emitted == 2


def test_a_second_entry_becomes_part_of_the_one_that_was_sent():
    panel = Panel()
    entry_id = panel.made("as sent")
    panel(emitted("r-1", "as rendered", source="host"))
    assert panel.ids() == [entry_id, "agent-1"]
    panel(events.ReminderAccepted(entry_id, "remind", "r-1"))
    assert panel.last() == [(entry_id, ChangeKind.MERGED)]
    assert panel.ids() == [entry_id]
    entry = panel.entry("agent-1")
    assert (entry.id, entry.body, entry.status, entry.times_emitted) == (entry_id, "as sent", "emitted", 1)
    assert (entry.reminder_id, entry.aliases) == ("r-1", ("agent-1",))


def test_a_second_entry_that_nobody_saw_leaves_no_trace_in_the_changes():
    panel = Panel()
    entry_id = panel.made("as sent")
    panel(emitted("r-1", "as rendered", source="host"), events.ReminderAccepted(entry_id, "remind", "r-1"))
    assert panel.last() == [(entry_id, ChangeKind.MERGED)]
    assert len(panel.seen) == panel.panel.version


def test_one_id_for_two_reminders_goes_to_the_newer():
    panel = Panel()
    first = panel.accepted("r-1", "one")
    second = panel.accepted("r-1", "two")
    panel(emitted("r-1"))
    assert (panel.status(first), panel.entry(first).estimated) == ("pending", True)
    assert (panel.status(second), panel.entry("r-1").id) == ("emitted", second)


# --- dedupe -----------------------------------------------------------------------------------------------------------


def test_a_replaced_reminder_gives_its_place_to_the_new_one_in_one_change():
    panel = Panel()
    old, other, new = panel.accepted("r-1"), panel.accepted("r-2"), panel.accepted("r-3")
    panel.seen.clear()
    panel(events.ReminderDeduped("r-3", "k", ("r-1", "unknown")))
    assert len(panel.seen) == 1
    assert panel.ids() == [old, new, other]
    assert (panel.entry(old).replaced_by, panel.entry(new).replaces) == (new, (old,))
    assert [entry.id for entry in panel.panel.active] == [new, other]


def test_a_dedupe_before_the_answer_is_understood_by_its_key():
    panel = Panel()
    old = panel.accepted("r-1", dedupe_key="k")
    new = panel.made("newer", dedupe_key="k")
    panel(events.ReminderDeduped("r-2", "k", ("r-1",)))
    assert (panel.status(old), panel.entry(old).replaced_by, panel.ids()) == ("deduped", new, [old, new])
    panel(events.ReminderAccepted(new, "remind", "r-2"))
    assert (panel.status(new), panel.entry(new).replaces, panel.entry(new).aliases) == ("pending", (old,), ())


def test_a_dedupe_of_ids_that_are_not_known_yet_is_remembered():
    panel = Panel()
    panel(events.ReminderDeduped("r-2", "k", ("r-1",)))
    assert [(entry.reminder_id, entry.status) for entry in panel.panel.entries] == [("r-2", "pending")]
    panel(emitted("r-1", "late", source="provider"))
    assert (panel.status("r-1"), panel.entry("r-1").replaced_by) == ("deduped", panel.entry("r-2").id)


def test_reminders_that_replace_each_other_do_no_harm():
    panel = Panel()
    panel.accepted("r-1")
    panel.accepted("r-2")
    panel(events.ReminderDeduped("r-1", "k", ("r-2", "r-1")), events.ReminderDeduped("r-2", "k", ("r-1",)))
    assert panel.panel.counts == {"deduped": 2}


def test_a_long_chain_of_replacements_stays_in_its_place():
    panel = Panel(history=20)
    first = panel.accepted("r-0")
    other = panel.accepted("x")
    for number in range(1, 60):
        panel.accepted(f"r-{number}")
        panel(events.ReminderDeduped(f"r-{number}", "k", (f"r-{number - 1}",)))
    active = [entry.reminder_id for entry in panel.panel.active]
    assert active == ["r-59", "x"]
    assert panel.panel.get(first) is None
    assert panel.status(other) == "pending"


# --- ends that come early, twice, or for nobody -----------------------------------------------------------------------


def test_an_end_before_the_answer_waits_for_it():
    panel = Panel()
    entry_id = panel.made()
    panel(events.ReminderExpired("r-1", "cleared"))
    assert panel.ids() == [entry_id]
    panel(events.ReminderAccepted(entry_id, "remind", "r-1"))
    assert (panel.status(entry_id), panel.ids()) == ("cleared", [entry_id])


@pytest.mark.parametrize(
    "answer",
    [
        lambda i: events.ReminderAccepted(i, "remind", "r-2"),
        lambda i: events.ReminderRefused(i, fault()),
        lambda i: events.ReminderPlaced(i, "uncertain"),
    ],
)
def test_an_end_that_no_answer_explains_is_an_entry_of_its_own(answer):
    panel = Panel()
    entry_id = panel.made()
    panel(events.ReminderExpired("r-1", "cleared"))
    panel(answer(entry_id), *([events.ReminderPlaced(entry_id, "sidebar")] if "Refused" in repr(answer) else []))
    panel(events.ReminderPlaced(entry_id, "failed"))
    assert (panel.status("r-1"), len(panel.ids())) == ("cleared", 2)


def test_an_end_that_comes_twice_changes_nothing_the_second_time():
    panel = Panel()
    entry_id = panel.accepted("r-1")
    panel(events.ReminderExpired("r-1", "cleared"))
    before = panel.entry(entry_id)
    panel(events.ReminderExpired("r-1", "cleared"))
    assert panel.entry(entry_id) == before


def test_the_end_of_an_unknown_reminder_is_an_entry_without_text():
    panel = Panel()
    panel(events.ReminderExpired("r-4", "compacted_out"))
    assert (panel.status("r-4"), panel.entry("r-4").body, panel.entry("r-4").active) == ("compacted_out", "", False)
    panel(emitted("r-4", "its text"))
    assert (panel.status("r-4"), panel.entry("r-4").body, len(panel.ids())) == ("compacted_out", "its text", 1)


# --- turns and estimates ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [None, emitted("r-1")])
def test_what_the_agent_does_not_tell_is_estimated(word):
    panel = Panel()
    entry_id = panel.accepted("r-1")
    if word is not None:
        panel(word)
    status = panel.status(entry_id)
    assert panel.entry(entry_id).active
    panel.turn()
    entry = panel.entry(entry_id)
    assert (entry.status, entry.estimated, entry.active) == (status, True, False)
    panel(emitted("r-1"))
    entry = panel.entry(entry_id)
    assert (entry.status, entry.estimated, entry.active) == ("emitted", False, True)


def test_an_estimate_goes_by_the_number_of_turns():
    panel = Panel()
    entry_id = panel.accepted("r-1", ttl_turns=2)
    panel.turn()
    assert (panel.entry(entry_id).ttl_left, panel.entry(entry_id).active) == (1, True)
    panel.turn()
    assert (panel.entry(entry_id).ttl_left, panel.entry(entry_id).estimated) == (0, True)


def test_an_agent_that_tells_is_believed():
    panel = Panel()
    panel(events.RemindersReported(True))
    entry_id = panel.accepted("r-1", ttl_turns=1)
    panel.turn()
    panel.turn()
    entry = panel.entry(entry_id)
    assert (entry.status, entry.estimated, entry.active, entry.ttl_left) == ("pending", False, True, 0)


def test_of_what_is_for_the_audit_only_no_agent_tells():
    panel = Panel()
    panel(events.RemindersReported(True))
    entry_id = panel.accepted("r-1", mode="audit_only")
    panel.turn()
    entry = panel.entry(entry_id)
    assert (entry.status, entry.estimated, entry.active) == ("pending", True, False)


@pytest.mark.parametrize("rung", ["steering", "prefixed_user_message"])
def test_what_is_in_the_conversation_is_past_when_its_turn_is(rung):
    panel = Panel()
    panel(events.RemindersReported(True))
    entry_id = panel.made()
    panel(events.ReminderAccepted(entry_id, rung, emitted=True))
    panel.turn()
    entry = panel.entry(entry_id)
    assert (entry.status, entry.active, entry.estimated) == ("emitted", False, True)


def test_turns_do_not_touch_what_waits():
    panel = Panel()
    ids = [panel.made(), panel.made(), panel.made(), panel.made()]
    panel(
        events.ReminderPlaced(ids[0], "queued"),
        events.ReminderPlaced(ids[1], "sidebar"),
        events.ReminderPlaced(ids[2], "uncertain"),
    )
    panel.turn()
    assert all(panel.entry(entry_id).active for entry_id in ids)


# --- replays ----------------------------------------------------------------------------------------------------------


def test_a_replay_rebuilds_the_panel_and_nothing_becomes_active():
    panel = Panel()
    panel(events.RemindersReplayed(), emitted("r-1", replayed=True), emitted("r-1", replayed=True))
    entry = panel.entry("r-1")
    assert (entry.status, entry.replayed, entry.active, entry.times_emitted) == ("emitted", True, False, 2)
    panel(events.ReminderExpired("r-2", "cleared", replayed=True), events.ReminderDeduped("r-3", "k", (), True))
    assert all(entry.replayed and not entry.active for entry in panel.panel.entries)
    panel(emitted("r-1"))
    entry = panel.entry("r-1")
    assert (entry.replayed, entry.active, entry.times_emitted) == (False, True, 3)


def test_a_replay_of_what_was_seen_live_counts_nothing_twice():
    panel = Panel()
    entry_id = panel.accepted("r-1")
    panel(events.RemindersTurnStarted(), emitted("r-1"), emitted("r-1"))
    for _ in range(2):
        panel(events.RemindersReplayed(), emitted("r-1", replayed=True), emitted("r-1", replayed=True))
        assert panel.entry(entry_id).times_emitted == 2
    panel(events.RemindersReplayed(), *[emitted("r-1", replayed=True)] * 3)
    assert panel.entry(entry_id).times_emitted == 3
    assert not panel.entry(entry_id).replayed


def test_history_is_taken_for_what_is_uncertain_and_not_for_what_is_being_sent():
    panel = Panel()
    sending, uncertain = panel.made(), panel.made()
    panel(events.ReminderPlaced(uncertain, "uncertain"))
    panel(events.RemindersReplayed(), emitted("r-1", source="host", replayed=True))
    assert (panel.status(sending), panel.status(uncertain)) == ("sending", "emitted")


# --- the agent's list -------------------------------------------------------------------------------------------------


def test_the_agents_list():
    panel = Panel()
    here, gone = panel.accepted("r-1"), panel.accepted("r-2")
    uncertain = panel.made("lost")
    panel(events.ReminderPlaced(uncertain, "uncertain"))
    rows = (
        events.ListedReminder("r-1", "text"),
        events.ListedReminder("r-3", "lost", source="bridge"),
        events.ListedReminder("r-4", "foreign", source="hook", ttl_turns=2, mode="audit_only"),
    )
    later = panel.accepted("r-5")
    panel(events.RemindersListed(rows, frozenset({here, gone, uncertain})))
    assert (panel.status(here), panel.entry(here).active) == ("pending", True)
    assert (panel.status(gone), panel.entry(gone).active, panel.entry(gone).estimated) == ("pending", False, True)
    assert (panel.status(uncertain), panel.entry(uncertain).reminder_id) == ("pending", "r-3")
    foreign = panel.entry("r-4")
    assert (foreign.status, foreign.mode, foreign.ttl_left, foreign.origin) == ("pending", "audit_only", 2, "hook")
    assert panel.entry(later).active


# --- bounds, sharing, queries -----------------------------------------------------------------------------------------


def test_history_is_bounded_and_what_is_active_never_leaves():
    panel = Panel(history=3)
    active = panel.accepted("x", ttl_turns=9)
    for number in range(10):
        panel.accepted(f"r-{number}")
        panel(events.ReminderExpired(f"r-{number}", "cleared"))
    assert panel.ids() == [active, "rmd-9", "rmd-10", "rmd-11"]
    assert panel.last() == [("rmd-11", ChangeKind.CHANGED), ("rmd-8", ChangeKind.REMOVED)]


@pytest.mark.parametrize(
    "again",
    [
        events.ReminderExpired("r-0", "cleared"),
        events.ReminderDeduped("r-0", "k", ()),
        events.ReminderDeduped("r-9", None, ("r-0",)),
        emitted("r-0", replayed=True),
    ],
)
def test_what_has_left_does_not_return(again):
    panel = Panel(history=1)
    panel.accepted("r-0")
    panel(events.ReminderExpired("r-0", "cleared"))
    panel.accepted("r-1")
    panel(events.ReminderExpired("r-1", "cleared"))
    panel.accepted("r-9")
    before = panel.ids()
    panel(again)
    assert panel.ids() == before


def test_estimated_entries_are_history_too():
    panel = Panel(history=2)
    for number in range(5):
        panel.accepted(f"r-{number}")
    panel.turn()
    assert panel.ids() == ["rmd-4", "rmd-5"]


def test_ids_of_nobody_are_remembered_within_bounds():
    panel = Panel()
    for number in range(50):
        panel(events.ReminderDeduped("w", "k", tuple(f"d-{number}-{index}" for index in range(100))))
    book = panel.panel._book
    assert len(book._facts) <= 1_001


def test_events_for_entries_that_have_left_are_ignored():
    panel = Panel(history=0)
    entry_id = panel.made()
    panel(events.ReminderPlaced(entry_id, "failed"))
    panel(events.ReminderAccepted(entry_id, "remind", "r-1"), events.ReminderReplaced("x", "y"))
    assert panel.ids() == []


def test_an_unchanged_entry_is_the_same_object():
    panel = Panel()
    first, second = panel.accepted("r-1"), panel.accepted("r-2")
    before = panel.panel.snapshot()
    panel(emitted("r-2"))
    after = panel.panel.snapshot()
    assert after.entries[0] is before.entries[0]
    assert after.entries[1] is not before.entries[1]
    assert [panel.entry(entry_id) for entry_id in (first, second)] == list(after.entries)


def test_queries():
    panel = Panel()
    first = panel.accepted("r-1", tags=("a", "b"), dedupe_key="k")
    panel(emitted("r-2", source="stdlib_provider"))
    find = panel.panel.find
    assert [entry.id for entry in find(tag="b")] == [first]
    assert [entry.id for entry in find(key="k", status="pending")] == [first]
    assert [entry.id for entry in find(origin="provider")] == ["agent-1"]
    assert [entry.id for entry in find(origin="stdlib_provider")] == ["agent-1"]
    assert find(status="deduped") == ()
    assert panel.panel.counts == {"pending": 1, "emitted": 1}
    assert panel.panel.status_of(first) == "pending"
    assert panel.panel.status_of("x") is None


def test_local_ids_are_none_of_the_agents():
    panel = Panel()
    panel(emitted("rmd-1", "of an earlier run", replayed=True))
    assert panel.panel.next_id() == "rmd-2"


def test_times():
    panel = Panel()
    entry_id = panel.accepted("r-1")
    panel.clock.advance(5)
    panel(emitted("r-1"))
    entry = panel.entry(entry_id)
    assert (entry.created, entry.changed) == (10.0, 15.0)


@pytest.mark.parametrize("command", ["revoke", "dismiss"])
def test_without_a_connection_nothing_can_be_done(command):
    with pytest.raises(InvalidState):
        getattr(Panel().panel, command)("rmd-1")
    with pytest.raises(InvalidState):
        Panel().panel.clear()


HOST_IDS, AGENT_IDS = [f"rmd-{number}" for number in range(1, 6)], ["r-1", "r-2", "r-3", "rmd-1", "agent-1"]
HOST, AGENT = st.sampled_from(HOST_IDS), st.sampled_from(AGENT_IDS)
EVENTS = st.lists(
    st.one_of(
        st.just("made"),
        st.builds(events.ReminderSending, HOST, st.just("remind"), sent_id=st.none() | HOST),
        st.builds(events.ReminderAccepted, HOST, st.just("remind"), st.none() | AGENT),
        st.builds(events.ReminderReplaced, HOST, HOST),
        st.builds(events.ReminderEnded, HOST, st.just("revoked")),
        st.builds(events.ReminderEmitted, AGENT, st.sampled_from(["text", "other"]), source=st.just("host")),
        st.builds(events.ReminderDeduped, AGENT, st.just("k"), st.lists(AGENT, max_size=2).map(tuple)),
        st.builds(events.ReminderExpired, AGENT, st.just("cleared")),
        st.just(events.RemindersTurnStarted()),
        st.just(events.RemindersTurnEnded()),
    ),
    max_size=25,
)


@given(EVENTS, st.sets(st.integers(0, 25)))
def test_the_order_is_the_same_however_often_somebody_looks(fed: list[Any], looks: set[int]) -> None:
    """What was shown before is only brought up to date; that must come to what making all of it anew comes to."""
    panel = Panel(history=2).panel
    for number, event in enumerate(fed):
        panel.apply(events.ReminderMade(panel.next_id(), "text", "finish_step") if event == "made" else event)
        if number in looks:
            panel.snapshot()
    shown = panel.snapshot().entries
    panel._book._is_arranged = False
    assert shown == panel._book.freeze()


def test_what_one_takes_the_place_of_may_turn_out_when_the_other_that_took_it_has_left() -> None:
    panel = Panel(history=2)
    panel.made()
    panel.accepted("r-9")
    panel(events.ReminderDeduped("r-1", "k", ("r-3",)), events.ReminderDeduped("r-2", "k", ("r-3",)))
    panel(events.ReminderExpired("r-2", "cleared"))
    panel.turn()
    panel(emitted("r-1"), emitted("r-9"))
    assert panel.ids() == ["rmd-1", "rmd-2", "agent-1"]
    panel(events.ReminderAccepted("rmd-1", "remind", "r-3"))
    assert panel.ids() == ["rmd-1", "agent-1", "rmd-2"]


def test_what_a_snapshot_costs_does_not_grow_with_the_entries() -> None:
    panel = Panel()
    for _ in range(3):
        panel.made()
    panel.panel._book._arrange = None  # what goes through all entries is not needed
    for number in range(3):
        panel.accepted(f"r-{number}")
    assert panel.ids() == [f"rmd-{number}" for number in range(1, 7)]
