from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.state.reminder_events import ListedReminder, ReminderDeduped, ReminderEmitted, ReminderExpired
from acp_host.translate.reminders import ListedMessage, translate_pending, translate_reminder
from acp_host.wire.content import TextContent
from acp_host.wire.converters import structure
from acp_host.wire.updates import SessionUpdate, UnknownSessionUpdate

FIELDS = {
    "reminderId": "r-9",
    "body": "Build finished.",
    "tags": ["build"],
    "dedupeKey": "build",
    "source": "host",
    "providerId": "p",
    "firedAtTurn": 4,
}
EMITTED = ReminderEmitted(
    "r-9", "Build finished.", ("build",), dedupe_key="build", source="host", provider_id="p", fired_at_turn=4
)


def read(update: dict[str, Any], **options: Any):
    return translate_reminder(structure(update, SessionUpdate), **options)


def test_the_fields_at_the_top():
    report = read({"sessionUpdate": "reminder_emitted", **FIELDS})
    assert (report.event, report.problem, report.is_update) == (EMITTED, None, True)


def test_the_same_in_meta():
    report = read({"sessionUpdate": "reminder_emitted", "_meta": {"harn": {"reminder": FIELDS}}})
    assert (report.event, report.is_update) == (EMITTED, True)


def test_meta_wins_and_the_top_fills_gaps():
    nested = {"reminderId": "r-9", "body": "Build finished."}
    report = read(
        {"sessionUpdate": "reminder_emitted", **FIELDS, "body": "other", "_meta": {"harn": {"reminder": nested}}}
    )
    assert report.event == EMITTED


def test_harns_own_fields():
    nested = {
        "reminderId": "r-1",
        "tags": ["workspace"],
        "body": "Read it again.",
        "roleHint": "system",
        "authority": "advisory",
        "renderedRole": "user",
        "source": "stdlib_provider",
        "ttlTurns": 2,
        "originatingAgentId": "parent",
    }
    report = read({"sessionUpdate": "reminder_emitted", "_meta": {"harn": {"reminder": nested}}})
    assert report.event == ReminderEmitted(
        "r-1",
        "Read it again.",
        ("workspace",),
        source="stdlib_provider",
        role_hint="system",
        authority="advisory",
        rendered_role="user",
        ttl_turns=2,
        originating_agent_id="parent",
    )


@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "tool_call_update", "toolCallId": "t-2", "status": "in_progress"},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}},
        {"sessionUpdate": "something_new", "x": 1},
    ],
)
def test_a_decoration_of_another_update(update):
    nested = {"reminderId": "r-3", "body": "decorated", "tags": [], "source": "hook"}
    report = read({**update, "_meta": {"harn": {"reminder": nested}}})
    assert report.event == ReminderEmitted("r-3", "decorated", source="hook", decoration=True)
    assert not report.is_update
    assert read(update) is None
    assert read({**update, "_meta": {"harn": {"reminder": None}}}) is None


def test_deduped_and_expired():
    deduped = {"reminderId": "r-9", "dedupeKey": "build", "droppedReminderIds": ["r-7", 8, "r-8", ""]}
    assert read({"sessionUpdate": "reminder_deduped", **deduped}).event == ReminderDeduped(
        "r-9", "build", ("r-7", "r-8")
    )
    nested = {"sessionUpdate": "reminder_deduped", "_meta": {"harn": {"reminder": deduped}}}
    assert read(nested).event == ReminderDeduped("r-9", "build", ("r-7", "r-8"))
    expired = {"reminderId": "r-9", "phase": "ttl_expired", "expiredAtTurn": 6}
    assert read({"sessionUpdate": "reminder_expired", **expired}).event == ReminderExpired("r-9", "ttl_expired", 6)
    bare = {"sessionUpdate": "reminder_expired", "reminderId": "r-9"}
    assert read(bare).event == ReminderExpired("r-9", "")


@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "reminder_emitted"},
        {"sessionUpdate": "reminder_emitted", "reminderId": "r"},
        {"sessionUpdate": "reminder_emitted", "body": "b"},
        {"sessionUpdate": "reminder_emitted", "reminderId": 7, "body": "b"},
        {"sessionUpdate": "reminder_emitted", "reminderId": "r", "body": ["b"]},
        {"sessionUpdate": "reminder_emitted", "reminderId": " ", "body": "b"},
        {"sessionUpdate": "reminder_deduped", "dedupeKey": "k"},
        {"sessionUpdate": "reminder_expired", "phase": "cleared"},
        {"sessionUpdate": "reminder_emitted", "reminderId": "r", "body": "b", "_meta": {"harn": {"reminder": []}}},
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "_meta": {"harn": {"reminder": "r"}}},
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "_meta": {"harn": {"reminder": {"body": "b"}}}},
    ],
)
def test_what_cannot_be_used_is_named(update):
    report = read(update)
    assert report.event is None
    assert report.problem


@pytest.mark.parametrize("meta", [None, "text", [], {"harn": "text"}, {"harn": None}, {"other": {}}])
def test_an_odd_meta_is_no_matter(meta):
    assert read({"sessionUpdate": "reminder_emitted", **FIELDS, "_meta": meta}).event.reminder_id == "r-9"


def test_what_is_not_said_properly_is_left_out():
    odd = {"tags": "t", "dedupeKey": 1, "source": [], "firedAtTurn": True, "ttlTurns": 0, "roleHint": {}}
    event = read({"sessionUpdate": "reminder_emitted", "reminderId": "r", "body": "b", **odd}).event
    assert event == ReminderEmitted("r", "b")


def test_further_meta_is_kept():
    meta = {"x": 1, "harn": {"reminder": FIELDS, "replayed": False, "y": 2}}
    assert read({"sessionUpdate": "reminder_emitted", "_meta": meta}).event.meta == {"x": 1, "harn": {"y": 2}}


@pytest.mark.parametrize("kind", ["reminder_emitted", "reminder_deduped", "reminder_expired"])
def test_replays(kind):
    update = {"sessionUpdate": kind, **FIELDS, "_meta": {"harn": {"replayed": True}}}
    assert read(update).event.replayed
    assert read({"sessionUpdate": kind, **FIELDS}, replayed=True).event.replayed
    live = {"sessionUpdate": kind, **FIELDS, "_meta": {"harn": {"replayed": 1}}}
    assert not read(live).event.replayed


def test_the_agents_list():
    reminder = {
        "kind": "reminder",
        "id": "r-1",
        "reminderId": "r-1",
        "mode": "finish_step",
        "position": 0,
        "body": "x",
        "tags": ["t"],
        "dedupeKey": None,
        "ttlTurns": 2,
        "preserveOnCompact": False,
        "propagate": "session",
        "roleHint": "system",
        "source": "bridge",
        "firedAtTurn": 0,
        "originatingAgentId": None,
    }
    user = {"kind": "user", "id": "u-1", "mode": "finish_step", "content": "hi"}
    pending = translate_pending({"pendingCount": 3, "injections": [reminder, user, {"kind": "new"}, 5]})
    assert pending.reminders == (
        ListedReminder(
            "r-1",
            "x",
            ("t",),
            source="bridge",
            mode="finish_step",
            propagate="session",
            preserve_on_compact=False,
            role_hint="system",
            ttl_turns=2,
            fired_at_turn=0,
        ),
    )
    assert (pending.others, pending.problem) == (({"kind": "new"}, 5), None)
    assert pending.messages == (ListedMessage("u-1", "steer", (TextContent("hi"),)),)
    assert pending.event(frozenset({"rmd-1"})).asked == {"rmd-1"}


@pytest.mark.parametrize("result", [None, {}, [], {"injections": None}, {"injections": [{"kind": "reminder"}]}])
def test_an_odd_list(result):
    pending = translate_pending(result)
    assert pending.reminders == ()
    assert pending.problem


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["_meta", "harn", "reminder", "reminderId", "body", "tags", "injections", "kind", "replayed"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.sampled_from(["reminder_emitted", "reminder_deduped", "reminder_expired", "x"]),
    st.dictionaries(st.sampled_from(["_meta", "reminderId", "body", "tags", "droppedReminderIds", "phase"]), JSON),
    JSON,
)
def test_nothing_that_an_agent_sends_raises(kind, members, result):
    update = UnknownSessionUpdate(kind, {"sessionUpdate": kind, **members})
    translate_reminder(update)
    translate_pending(result)
