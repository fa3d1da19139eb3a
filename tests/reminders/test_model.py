from __future__ import annotations

import attrs
import pytest

from acp_host.errors import InvalidInput, ReminderInvalid
from acp_host.reminders import OnAmbiguous, Reminder, ReminderPolicy
from acp_host.reminders.model import reminder_of
from acp_host.state.reminder_entry import Rung
from acp_host.state.reminder_marker import Marker


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("body", "", ()),
        ("body", " \n", ()),
        ("body", None, ()),
        ("body", b"x", ()),
        ("tags", "one", ()),
        ("tags", 7, ()),
        ("tags", ["a", " "], ()),
        ("tags", ["a", 1], ()),
        ("dedupe_key", "", ()),
        ("dedupe_key", 3, ()),
        ("ttl_turns", 0, ()),
        ("ttl_turns", -1, ()),
        ("ttl_turns", True, ()),
        ("ttl_turns", 1.5, ()),
        ("preserve_on_compact", "yes", ("True", "False")),
        ("propagate", "some", ("none", "session", "all")),
        ("role_hint", "user", ("system", "developer", "user_block", "ephemeral_cache")),
        ("mode", "queue", ("interrupt_immediate", "finish_step", "audit_only")),
        ("mode", 1, ("interrupt_immediate", "finish_step", "audit_only")),
        ("authority", "law", ("contract", "corrective", "advisory")),
        ("meta", [], ()),
        ("meta", {"x": object()}, ()),
        ("meta", {1: 2}, ()),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(field, value, allowed):
    with pytest.raises(ReminderInvalid, match=field) as caught:
        Reminder(**{"body": "text", field: value})
    assert (caught.value.field, caught.value.allowed) == (field, allowed)
    assert isinstance(caught.value, InvalidInput)
    assert all(word in str(caught.value) for word in allowed)


def test_a_reminder_is_tidied():
    reminder = Reminder("text", tags=[" a ", "b", "a"])
    assert (reminder.tags, reminder.mode) == (("a", "b"), "finish_step")
    assert Reminder("text", mode=None).mode == "finish_step"
    assert attrs.evolve(reminder, ttl_turns=1).ttl_turns == 1


def test_the_old_word_for_audit_only_is_still_taken():
    with pytest.warns(DeprecationWarning, match="audit_only"):
        assert Reminder("text", mode="wait_for_completion").mode == "audit_only"


def test_a_text_and_fields_or_a_reminder_and_changes():
    assert reminder_of("text", {"ttl_turns": 2}) == Reminder("text", ttl_turns=2)
    reminder = Reminder("text", tags=["a"])
    assert reminder_of(reminder, {}) is reminder
    assert reminder_of(reminder, {"ttl_turns": 2}) == Reminder("text", tags=["a"], ttl_turns=2)
    with pytest.raises(ReminderInvalid, match="dedupe_key") as caught:
        reminder_of("text", {"dedupeKey": "k"})
    assert caught.value.field == "dedupeKey"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rungs", "sidebar"),
        ("rungs", (1,)),
        ("rungs", ("",)),
        ("rungs", 3),
        ("rungs", (Rung.SIDEBAR, "sidebar")),
        ("require", 1),
        ("require", ""),
        ("require", "suppressed"),
        ("timeout", 0),
        ("timeout", -1.0),
        ("timeout", "10"),
        ("timeout", True),
        ("timeout", float("nan")),
        ("on_ambiguous", "again"),
        ("marker", 5),
    ],
)
def test_a_wrong_policy_is_named(field, value):
    with pytest.raises(ReminderInvalid, match=field) as caught:
        ReminderPolicy(**{field: value})
    assert caught.value.field == field


def test_suppressed_is_always_last():
    assert ReminderPolicy(rungs=()).rungs == ("suppressed",)
    assert ReminderPolicy(rungs=["suppressed", "x"]).rungs == ("x", "suppressed")
    assert ReminderPolicy().rungs == ("inject_reminder", "remind", "sidebar", "suppressed")


def test_the_host_can_be_named_in_the_policy():
    assert ReminderPolicy(marker="My Editor").marker == Marker("My Editor")
    assert ReminderPolicy(on_ambiguous="next").on_ambiguous == OnAmbiguous.NEXT
