from __future__ import annotations

from acp_host.reminders import Learned, Outgoing, Reminder
from acp_host.reminders.shipped import INJECT_REMINDER, REMIND, STEERING
from acp_host.state.reminder_entry import Adjustment
from acp_host.state.reminder_marker import Marker

FULL = Reminder(
    "text",
    tags=["a"],
    dedupe_key="k",
    ttl_turns=2,
    preserve_on_compact=False,
    propagate="all",
    role_hint="developer",
    mode="interrupt_immediate",
    authority="advisory",
    meta={"x": 1, "harn": {"origin": "watcher"}},
)


def outgoing(**changes):
    return Outgoing(**{"session_id": "s-1", "entry_id": "rmd-7", "host": "Editor"} | changes)


def test_inject_reminder_is_spelled_in_camel_case():
    request = INJECT_REMINDER.request(FULL, outgoing())
    assert (request.method, request.sent_id) == ("session/inject_reminder", None)
    assert request.params == {
        "sessionId": "s-1",
        "body": "text",
        "tags": ["a"],
        "dedupeKey": "k",
        "ttlTurns": 2,
        "preserveOnCompact": False,
        "propagate": "all",
        "roleHint": "developer",
        "mode": "interrupt_immediate",
        "_meta": {"x": 1, "harn": {"origin": "watcher", "authority": "advisory"}},
    }


def test_remind_is_spelled_in_snake_case():
    request = REMIND.request(FULL, outgoing())
    assert (request.method, request.sent_id) == ("session/remind", "rmd-7")
    assert request.params == {
        "sessionId": "s-1",
        "mode": "interrupt_immediate",
        "body": "text",
        "tags": ["a"],
        "dedupe_key": "k",
        "ttl_turns": 2,
        "preserve_on_compact": False,
        "propagate": "all",
        "role_hint": "developer",
        "authority": "advisory",
        "id": "rmd-7",
        "_meta": {"x": 1, "harn": {"origin": "watcher"}},
    }


def test_what_is_not_set_is_left_out_and_the_mode_always_goes_along():
    bare = Reminder("text")
    assert INJECT_REMINDER.request(bare, outgoing()).params == {
        "sessionId": "s-1",
        "body": "text",
        "mode": "finish_step",
    }
    learned = Learned(refuses_id=True)
    request = REMIND.request(bare, outgoing(learned=learned))
    assert request.params == {"sessionId": "s-1", "body": "text", "mode": "finish_step"}
    assert request.sent_id is None


def test_adjustments_are_what_is_sent():
    adjustments = (
        Adjustment(field="role_hint", asked="developer", sent=None, reason=""),
        Adjustment(field="propagate", asked="all", sent="session", reason=""),
        Adjustment(field="mode", asked="interrupt_immediate", sent="finish_step", reason=""),
    )
    params = REMIND.request(FULL, outgoing(adjustments=adjustments)).params
    assert ("role_hint" in params, params["propagate"], params["mode"]) == (False, "session", "finish_step")


def test_steering_sends_one_marked_block():
    request = STEERING.request(Reminder("text", tags=["a"], meta={"x": 1}), outgoing(marker=Marker("My Host")))
    assert request.method == "_session/steering"
    assert request.params == {
        "sessionId": "s-1",
        "prompt": [
            {
                "type": "text",
                "text": "[context from My Host, not typed by the user · rmd-7]\ntext\n[end of context rmd-7]",
                "_meta": {"acp_host": {"reminder": {"id": "rmd-7", "tags": ["a"]}}},
            }
        ],
        "_meta": {"x": 1, "steering": {"idleBehavior": "promptRequired"}},
    }
