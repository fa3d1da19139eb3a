from __future__ import annotations

import itertools
from typing import Any

import pytest

from acp_host.testing._reminder_shelf import AgentReminder, ReminderShelf, Withdrawal

NUMBERS = itertools.count(1)


def reminder(id: str = "", **fields: Any) -> AgentReminder:
    id = id or f"r{next(NUMBERS)}"
    return AgentReminder(id=id, body=f"body of {id}", **fields)


def shelf(*reminders: AgentReminder) -> ReminderShelf:
    shelf = ReminderShelf()
    for each in reminders:
        shelf.put(each)
    return shelf


def ids(reminders: Any) -> list[str]:
    return [each.id for each in reminders]


def test_a_reminder_is_shown_with_every_request_from_the_next_one_on() -> None:
    here = shelf(reminder("a"))
    assert ids(here.show()) == ["a"]
    here.put(reminder("b"))
    assert ids(here.show()) == ids(here.show()) == ["a", "b"]
    assert here.waiting == []


def test_what_is_for_the_audit_only_is_recorded_when_the_turn_ends() -> None:
    here = shelf(reminder("a", mode="audit_only", ttl_turns=1))
    assert here.show() == ()
    assert here.turn_ended() == []
    assert (ids(here.recorded), here.waiting, here.show()) == (["a"], [], ())
    assert here.revoke("a") == Withdrawal.ALREADY_DELIVERED


@pytest.mark.parametrize(("ttl", "turns"), [(1, 1), (2, 2), (3, 3)])
def test_turns_count_from_the_first_one_in_which_it_is_shown(ttl: int, turns: int) -> None:
    here = shelf(reminder("a", ttl_turns=ttl), reminder("b"))
    assert here.turn_ended() == [], "it came after the last request of the turn"
    for _ in range(turns - 1):
        here.show()
        assert here.turn_ended() == []
    assert ids(here.show()) == ["a", "b"]
    assert ids(here.turn_ended()) == ["a"]
    assert ids(here.show()) == ["b"]


def test_the_newest_with_a_key_is_shown() -> None:
    here = shelf(*(reminder(id, dedupe_key=key) for id, key in (("a", "k"), ("b", "k"), ("c", "other"), ("d", None))))
    assert ids(here.waiting) == ["a", "b", "c", "d"]
    assert ids(here.show()) == ["b", "c", "d"]
    here.put(reminder("e", dedupe_key="other"))
    assert ids(here.show()) == ["b", "d", "e"]


def test_older_ones_are_dropped_wherever_they_are() -> None:
    here = shelf(reminder("a", dedupe_key="k"))
    here.show()
    newest = reminder("c", dedupe_key="k")
    here.put(reminder("b", dedupe_key="k"))
    here.put(newest)
    assert ids(here.drop_older(newest)) == ["a", "b"]
    assert ids(here.show()) == ["c"]
    assert here.drop_older(reminder("d")) == [], "without a key nothing is replaced"


def test_a_compaction_takes_what_was_shown_and_is_not_to_be_kept() -> None:
    here = shelf(reminder("a"), reminder("b", preserve_on_compact=True))
    here.show()
    here.put(reminder("c"))
    assert ids(here.compact()) == ["a"]
    assert ids(here.show()) == ["b", "c"]


@pytest.mark.parametrize(("tag", "cleared"), [(None, ["a", "b", "c"]), ("x", ["a", "c"]), ("y", [])])
def test_clear(tag: str | None, cleared: list[str]) -> None:
    here = shelf(reminder("a", tags=("x",)), reminder("b"))
    here.show()
    here.put(reminder("c", tags=("w", "x")))
    assert ids(here.clear(tag)) == cleared
    assert sorted([*ids(here.show()), *cleared]) == ["a", "b", "c"]


def test_only_what_waits_can_be_taken_back() -> None:
    here = shelf(reminder("a"))
    here.show()
    here.put(reminder("b"))
    results = [here.revoke(id) for id in ("a", "b", "b", "c")]
    assert results == ["already_delivered", "revoked", "already_revoked", "unknown_reminder_id"]
    here.put(reminder("b"))
    assert ids(here.show()) == ["a", "b"], "the host may use an id again"


@pytest.mark.parametrize(("mode", "interrupts"), [("interrupt_immediate", True), ("finish_step", False)])
def test_what_interrupts(mode: str, interrupts: bool) -> None:
    here = shelf(reminder("a", mode=mode))
    assert here.wants_interrupt is interrupts
    here.show()
    assert not here.wants_interrupt


def test_a_session_inherits_what_goes_to_all() -> None:
    here = shelf(*(reminder(word, propagate=word, ttl_turns=2) for word in ("all", "session", "none")))
    here.show()
    here.turn_ended()
    there = here.inherited("s", lambda: "copy")
    [copy] = there.show()
    assert (copy.id, copy.body, copy.source, copy.originating_agent_id) == ("copy", "body of all", "inherited", "s")
    assert there.turn_ended() == [], "its turns count anew"
    assert ids(here.show()) == ["all", "session", "none"]


@pytest.mark.parametrize(
    ("hint", "role"),
    [("system", "system"), ("developer", "developer"), ("user_block", "user"), ("ephemeral_cache", "user")],
)
def test_roles(hint: str, role: str) -> None:
    assert reminder(role_hint=hint).rendered_role == role
