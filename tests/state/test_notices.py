"""Notices: which become toasts, for how long, what is counted and kept, and what a flood cannot do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import InvalidInput
from acp_host.state.changes import Change, ChangeKind, ChangeSet
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.json_form import to_json
from acp_host.state.notice_entries import (
    Notice,
    NoticeLook,
    NoticeReceived,
    NoticesSnapshot,
    NoticeState,
    Suppression,
)
from acp_host.state.notice_preferences import NoticePreferences, Politeness, RateLimit, SeverityPreferences
from acp_host.state.notices import NoticeCenter
from acp_host.wire.converters import structure
from acp_host.wire.updates import SessionUpdate

VISIBLE, DISMISSED, TIMED_OUT = NoticeState.VISIBLE, NoticeState.DISMISSED, NoticeState.TIMED_OUT
UNLIMITED = NoticePreferences(
    info=SeverityPreferences(duration=6.0, rate_limit=None),
    warning=SeverityPreferences(rate_limit=None),
    error=SeverityPreferences(rate_limit=None, politeness=Politeness.ASSERTIVE),
    other=SeverityPreferences(rate_limit=None),
)


class Desk:
    """A notice center with a clock to move and short ways to say things."""

    def __init__(self, preferences: NoticePreferences | None = None, agent_name: str = "Claude") -> None:
        self.clock = ManualClock(1_000.0)
        self.scheduler = ManualScheduler(self.clock)
        self.center = NoticeCenter(self.scheduler, self.clock, agent_name=agent_name, preferences=preferences)

    def say(self, title: str, severity: str = "info", description: str | None = None, **options: Any) -> None:
        self.center.apply(NoticeReceived("s1", severity, title, description, **options))

    def wait(self, seconds: float) -> None:
        """Let time pass, and everything happen in its time."""
        end = self.clock.now() + seconds
        while (due := self.scheduler.next_due) is not None and due <= end:
            self.clock.advance(max(due - self.clock.now(), 0.0))
            self.scheduler.flush()
        self.clock.advance(end - self.clock.now())

    @property
    def snapshot(self) -> NoticesSnapshot:
        return self.center.snapshot()

    @property
    def toasts(self) -> list[tuple[str, int]]:
        return [(toast.title, toast.count) for toast in self.snapshot.toasts]

    @property
    def states(self) -> dict[str, NoticeState | None]:
        return {entry.id: entry.state for entry in self.snapshot.history}

    @property
    def reasons(self) -> list[Suppression | None]:
        return [entry.suppressed_by for entry in self.snapshot.history]


@pytest.fixture
def desk() -> Desk:
    return Desk()


# --- from the wire ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "event"),
    [
        ({}, NoticeReceived("s1", "info", "Look", None, None)),
        ({"description": None, "_meta": None}, NoticeReceived("s1", "info", "Look", None, None)),
        (
            {"description": "there", "_meta": {"a": 1}},
            NoticeReceived("s1", "info", "Look", "there", {"a": 1}),
        ),
        ({"severity": "_acme"}, NoticeReceived("s1", "_acme", "Look")),
        ({"severity": "critical"}, NoticeReceived("s1", "critical", "Look")),
    ],
)
def test_the_event_for_a_notice_on_the_wire(wire: dict[str, Any], event: NoticeReceived) -> None:
    update = structure({"sessionUpdate": "notice", "severity": "info", "title": "Look"} | wire, SessionUpdate)
    assert NoticeReceived.from_wire("s1", update) == event
    assert NoticeReceived.from_wire("s1", update, during_replay=True, offered=False) == NoticeReceived(
        "s1", event.severity, event.title, event.description, event.meta, during_replay=True, offered=False
    )


# --- the entry --------------------------------------------------------------------------------------------------------


def test_an_entry_says_what_came_and_how_to_show_it(desk: Desk) -> None:
    desk.say("Fallback", "warning", "Config\nunreadable", meta={"a": [1]})
    (toast,) = desk.snapshot.toasts
    assert (toast.id, toast.session_id, toast.agent_name) == ("notice-1", "s1", "Claude")
    assert (toast.severity, toast.title, toast.description) == ("warning", "Fallback", "Config\nunreadable")
    assert (toast.display_title, toast.display_description) == ("Fallback", "Config\nunreadable")
    assert (toast.meta, toast.received, toast.last_received) == ({"a": [1]}, 1_000.0, 1_000.0)
    assert (toast.count, toast.state, toast.toast_id) == (1, VISIBLE, "notice-1")
    assert (toast.suppressed_by, toast.during_replay) == (None, False)
    assert desk.snapshot.history == (toast,)


@pytest.mark.parametrize(
    ("severity", "duration", "politeness", "look"),
    [
        ("info", 6.0, Politeness.POLITE, NoticeLook.INFO),
        ("warning", None, Politeness.POLITE, NoticeLook.WARNING),
        ("error", None, Politeness.ASSERTIVE, NoticeLook.ERROR),
        ("_acme", None, Politeness.POLITE, NoticeLook.NEUTRAL),
        ("critical", None, Politeness.POLITE, NoticeLook.NEUTRAL),
        ("ERROR", None, Politeness.POLITE, NoticeLook.NEUTRAL),
    ],
)
def test_how_each_severity_is_presented(
    desk: Desk, severity: str, duration: float | None, politeness: Politeness, look: NoticeLook
) -> None:
    desk.say("x", severity)
    (toast,) = desk.snapshot.toasts
    shown = toast.presentation
    assert (toast.severity, shown.duration, shown.politeness, shown.look) == (severity, duration, politeness, look)
    desk.wait(5.9)
    assert len(desk.toasts) == 1
    desk.wait(0.2)
    assert len(desk.toasts) == (0 if duration else 1)
    assert desk.states == {"notice-1": TIMED_OUT if duration else VISIBLE}


def test_text_of_the_agent_is_made_harmless_for_display_and_kept_as_it_came() -> None:
    desk = Desk(agent_name="Evil\x1b[2J\n agent" + "x" * 200)
    title, description = "a\x1b]0;pwned\x07\nb" + "c" * 500, "<b>\r\n\u202e\x00" + "d\n" * 5_000
    desk.say(title, "error", description)
    (toast,) = desk.snapshot.toasts
    assert (toast.title, toast.description) == (title, description)
    assert toast.display_title.startswith("a\\x1b]0;pwned\\x07 bccc")
    assert len(toast.display_title) == 200
    assert toast.display_description is not None
    assert toast.display_description.startswith("<b>\n\\u202e\\x00d\nd")
    assert (toast.display_description.count("\n"), toast.display_description[-1]) == (19, "…")
    assert toast.agent_name.startswith("Evil\\x1b[2J agentxxx")
    assert len(toast.agent_name) == 80


def test_a_megabyte_is_bounded_for_display_and_costs_little(desk: Desk) -> None:
    desk.say("x" * 1_000_000, "error", "y" * 1_000_000)
    (toast,) = desk.snapshot.toasts
    assert (len(toast.title), len(toast.display_title)) == (1_000_000, 200)
    assert toast.display_description is not None
    assert len(toast.display_description) == 1_000


def test_the_json_form(desk: Desk) -> None:
    desk.say("Fallback", "_acme", "more", meta={"a": 1})
    form = to_json(desk.snapshot)
    entry = {
        "id": "notice-1",
        "sessionId": "s1",
        "agentName": "Claude",
        "severity": "_acme",
        "title": "Fallback",
        "description": "more",
        "displayTitle": "Fallback",
        "displayDescription": "more",
        "_meta": {"a": 1},
        "received": 1_000.0,
        "lastReceived": 1_000.0,
        "count": 1,
        "state": "visible",
        "presentation": {"duration": None, "politeness": "polite", "look": "neutral"},
        "toastId": "notice-1",
        "suppressedBy": None,
        "duringReplay": False,
    }
    counts = {"total": 1, "shown": 1, "coalesced": 0, "suppressed": 0, "displaced": 0}
    assert form == {"toasts": [entry], "history": [entry], **counts}


# --- repeats ----------------------------------------------------------------------------------------------------------


def test_repeats_within_five_seconds_of_the_last_are_one_toast_and_each_is_in_the_history(desk: Desk) -> None:
    for seconds in (0, 4, 5, 5):
        desk.wait(seconds)
        desk.say("again", "warning", "why")
    (toast,) = desk.snapshot.toasts
    assert (toast.id, toast.count, toast.received, toast.last_received) == ("notice-1", 4, 1_000.0, 1_014.0)
    assert [(entry.id, entry.count, entry.toast_id, entry.received) for entry in desk.snapshot.history] == [
        ("notice-1", 1, "notice-1", 1_000.0),
        ("notice-2", 1, "notice-1", 1_004.0),
        ("notice-3", 1, "notice-1", 1_009.0),
        ("notice-4", 1, "notice-1", 1_014.0),
    ]
    desk.wait(5.1)
    desk.say("again", "warning", "why")
    assert desk.toasts == [("again", 4), ("again", 1)]
    desk.say("again", "warning", "why")
    assert desk.toasts == [("again", 4), ("again", 2)], "the last of its kind"


@pytest.mark.parametrize(
    "other",
    [{"title": "other"}, {"severity": "warning"}, {"severity": "_x"}, {"description": None}, {"session_id": "s2"}],
)
def test_what_differs_is_another_toast(desk: Desk, other: dict[str, Any]) -> None:
    event = NoticeReceived("s1", "error", "again", "why", {"n": 1})
    desk.center.apply(event)
    desk.center.apply(evolve(event, **other))
    assert len(desk.toasts) == 2
    desk.center.apply(evolve(event, meta={"n": 2}))
    assert [count for _, count in desk.toasts] == [2, 1], "meta is nothing that a user sees"


def test_a_repeat_keeps_a_toast_on_the_screen_as_long_as_a_new_one(desk: Desk) -> None:
    for _ in range(4):
        desk.say("again")
        desk.wait(4)
    assert desk.toasts == [("again", 4)]
    desk.wait(1.9)
    assert desk.toasts == [("again", 4)]
    desk.wait(0.2)
    assert desk.toasts == []
    assert set(desk.states.values()) == {TIMED_OUT}


def test_a_toast_that_was_dismissed_does_not_come_back_for_the_rest_of_its_burst(desk: Desk) -> None:
    desk.say("again", "error")
    desk.center.dismiss("notice-1")
    for _ in range(3):
        desk.wait(4)
        desk.say("again", "error")
    assert desk.toasts == []
    assert set(desk.states.values()) == {DISMISSED}
    assert (desk.snapshot.coalesced, desk.snapshot.suppressed) == (3, 0)
    desk.wait(5.1)
    desk.say("again", "error")
    assert desk.toasts == [("again", 1)]


def test_a_repeat_of_a_dismissed_toast_changes_the_history_only(desk: Desk) -> None:
    sets: list[ChangeSet] = []
    desk.say("again")
    desk.center.dismiss("notice-1")
    desk.scheduler.flush()
    desk.center.changed.connect(sets.append)
    for _ in range(50):
        desk.say("again")
    desk.wait(1)
    assert len(sets) == 1
    assert not sets[0].touches("toasts")
    assert not desk.center._dismissed[0].members


def test_of_two_alike_on_the_screen_the_later_one_counts_when_the_other_is_gone(desk: Desk) -> None:
    desk.say("again", "error")
    desk.wait(5.1)
    for title in ("again", "b", "c", "d", "e"):
        desk.say(title, "error")
    assert [title for title, _ in desk.toasts] == ["again", "b", "c", "d", "e"]
    desk.say("again", "error")
    assert desk.toasts[0] == ("again", 2)


def test_a_toast_that_left_by_itself_comes_back() -> None:
    desk = Desk(NoticePreferences(info=SeverityPreferences(duration=2.0)))
    desk.say("again")
    desk.wait(3)
    desk.say("again")
    assert desk.toasts == [("again", 1)]
    assert desk.states == {"notice-1": TIMED_OUT, "notice-2": VISIBLE}


def test_coalescing_can_be_turned_off() -> None:
    desk = Desk(NoticePreferences(coalesce_within=None))
    desk.say("again")
    desk.say("again")
    assert desk.toasts == [("again", 1), ("again", 1)]


def test_at_most_so_many_dismissed_toasts_are_remembered(desk: Desk) -> None:
    desk.center.preferences = UNLIMITED
    for number in range(300):
        desk.say(f"{number}", "error")
        assert desk.center.dismiss(f"notice-{number + 1}")
    assert len(desk.center._kinds) <= 100
    desk.say("299", "error")
    assert desk.toasts == []
    desk.say("0", "error")
    assert desk.toasts == [("0", 1)]


# --- room -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("severities", "left"),
    [
        ("iiiiii", "23456"),
        ("wwwwww", "23456"),
        ("eiwiwe", "13456"),
        ("weeewi", "12345"),
        ("wwwwii", "12346"),
        ("iwwwwwi", "23456"),
        ("iiwwwwww", "45678"),
        ("wiwiwiwiw", "13579"),
    ],
)
def test_the_oldest_that_would_leave_anyway_makes_room(desk: Desk, severities: str, left: str) -> None:
    words = {"i": "info", "w": "warning", "e": "error"}
    for number, letter in enumerate(severities, 1):
        desk.say(str(number), words[letter])
        assert len(desk.toasts) <= 5
    assert "".join(title for title, _ in desk.toasts) == left
    assert all(
        (state is VISIBLE) is (number in left) for number, state in zip("123456789", desk.states.values(), strict=False)
    )


def test_one_that_would_not_stay_takes_no_place_from_those_that_do(desk: Desk) -> None:
    for number in range(5):
        desk.say(str(number), "error")
    desk.say("ephemeral", "info")
    assert desk.reasons[-1] is Suppression.NO_ROOM
    assert desk.snapshot.history[-1].state is None
    assert (desk.snapshot.displaced, desk.snapshot.suppressed) == (0, 1)
    desk.center.dismiss("notice-2")
    desk.say("ephemeral", "info")
    assert desk.toasts[-1] == ("ephemeral", 1)


def test_a_limit_of_none_at_all() -> None:
    desk = Desk(NoticePreferences(max_toasts=0))
    desk.say("x", "error")
    desk.say("y", "info")
    assert desk.toasts == []
    assert desk.reasons == [Suppression.NO_ROOM] * 2


# --- what is not shown ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"during_replay": True}, Suppression.REPLAY),
        ({"offered": False}, Suppression.NOT_OFFERED),
        ({"during_replay": True, "offered": False}, Suppression.NOT_OFFERED),
    ],
)
def test_replayed_and_unasked_for_notices_are_in_the_history_only(
    desk: Desk, options: dict[str, bool], why: Suppression
) -> None:
    desk.say("old", "error", **options)
    assert desk.toasts == []
    (entry,) = desk.snapshot.history
    assert (entry.suppressed_by, entry.state, entry.toast_id) == (why, None, None)
    assert entry.during_replay is options.get("during_replay", False)
    assert not desk.center.dismiss(entry.id)
    desk.say("old", "error")
    assert desk.toasts == [("old", 1)], "a live one is no repeat of it"
    desk.say("old", "error", **options)
    assert desk.toasts == [("old", 1)]


def test_replayed_notices_are_shown_if_the_application_asks_for_it() -> None:
    desk = Desk(NoticePreferences(toast_replayed=True))
    desk.say("old", "error", during_replay=True)
    assert desk.toasts == [("old", 1)]
    assert desk.snapshot.toasts[0].during_replay
    desk.say("never", "error", during_replay=True, offered=False)
    assert desk.toasts == [("old", 1)]


def test_preferences_per_severity() -> None:
    desk = Desk(
        NoticePreferences(
            info=SeverityPreferences(show=False),
            warning=SeverityPreferences(duration=1.5, politeness=Politeness.ASSERTIVE),
            other=SeverityPreferences(duration=3.0),
            extensions={"_quiet": SeverityPreferences(show=False)},
        )
    )
    for severity in ("info", "warning", "error", "_loud", "_quiet"):
        desk.say(severity, severity)
    assert [title for title, _ in desk.toasts] == ["warning", "error", "_loud"]
    assert desk.reasons == [Suppression.PREFERENCES, None, None, None, Suppression.PREFERENCES]
    assert desk.snapshot.toasts[0].presentation.politeness is Politeness.ASSERTIVE
    desk.wait(2)
    assert [title for title, _ in desk.toasts] == ["error", "_loud"]
    desk.wait(2)
    assert [title for title, _ in desk.toasts] == ["error"]


def test_new_preferences_hold_for_what_comes_and_limits_at_once(desk: Desk) -> None:
    for number in range(5):
        desk.say(str(number), "info")
    desk.center.preferences = NoticePreferences(info=SeverityPreferences(show=False), max_toasts=2, max_history=3)
    assert [title for title, _ in desk.toasts] == ["3", "4"]
    assert [entry.title for entry in desk.snapshot.history] == ["2", "3", "4"]
    desk.say("5", "info")
    assert [title for title, _ in desk.toasts] == ["3", "4"]
    assert desk.center.preferences.max_toasts == 2


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: SeverityPreferences(duration=0), "duration"),
        (lambda: SeverityPreferences(duration=float("nan")), "duration"),
        (lambda: SeverityPreferences(duration=float("inf")), "duration"),
        (lambda: NoticePreferences(max_toasts=-1), "max_toasts"),
        (lambda: NoticePreferences(max_history=-1), "max_history"),
        (lambda: NoticePreferences(coalesce_within=-1), "coalesce_within"),
        (lambda: RateLimit(burst=0), "burst"),
        (lambda: RateLimit(per_second=-1), "per_second"),
    ],
)
def test_preferences_that_mean_nothing_are_refused(make: Callable[[], Any], names: str) -> None:
    with pytest.raises(InvalidInput, match=names):
        make()


# --- rate and flood ---------------------------------------------------------------------------------------------------


def test_the_rate_limit_lets_a_burst_through_and_then_so_many_per_second() -> None:
    limit = RateLimit(burst=3, per_second=0.5)
    desk = Desk(NoticePreferences(error=SeverityPreferences(rate_limit=limit), max_toasts=100))
    for number in range(10):
        desk.say(f"a{number}", "error")
    assert [title for title, _ in desk.toasts] == ["a0", "a1", "a2"]
    assert desk.reasons.count(Suppression.RATE_LIMIT) == 7
    desk.say("a1", "error")
    assert desk.toasts[1] == ("a1", 2), "a repeat needs no allowance"
    desk.say("calm", "warning")
    assert desk.toasts[-1] == ("calm", 1), "each severity has its own"
    desk.wait(4)
    for number in range(10):
        desk.say(f"b{number}", "error")
    assert [title for title, _ in desk.toasts][4:] == ["b0", "b1"]
    desk.wait(1_000)
    for number in range(10):
        desk.say(f"c{number}", "error")
    assert [title for title, _ in desk.toasts][6:] == ["c0", "c1", "c2"]


def test_invented_severities_share_one_allowance(desk: Desk) -> None:
    for number in range(1_000):
        desk.say(f"{number}", f"_severity{number}")
    assert desk.snapshot.shown == 20
    assert len(desk.center._allowances) == 1
    desk.say("real", "error")
    assert desk.toasts[-1] == ("real", 1)


def test_a_clock_that_is_set_back_neither_opens_the_gates_nor_shuts_them(desk: Desk) -> None:
    for number in range(25):
        desk.say(f"a{number}", "error")
    desk.clock.advance(-3_600)
    desk.say("b", "error")
    assert desk.snapshot.shown == 20
    desk.wait(1)
    desk.say("c", "error")
    assert desk.snapshot.shown == 21


@pytest.mark.parametrize("severity", ["info", "error", "_x"])
@pytest.mark.parametrize("preferences", [None, UNLIMITED])
@pytest.mark.parametrize("distinct", [1, 7, 10_000])
def test_ten_thousand_in_one_burst(severity: str, preferences: NoticePreferences | None, distinct: int) -> None:
    desk = Desk(preferences)
    sets: list[ChangeSet] = []
    desk.center.changed.connect(sets.append)
    for number in range(10_000):
        desk.say(f"title {number % distinct}", severity)
    desk.scheduler.flush()
    (changes,) = sets
    snapshot = changes.snapshot
    assert len(snapshot.toasts) == min(distinct, 5)
    assert [entry.id for entry in snapshot.history] == [f"notice-{number}" for number in range(9_001, 10_001)]
    assert snapshot.total == snapshot.shown + snapshot.coalesced + snapshot.suppressed == 10_000
    assert snapshot.shown - snapshot.displaced == len(snapshot.toasts)
    if preferences is None:
        assert snapshot.shown <= 20
    if distinct == 1:
        assert snapshot.toasts[0].count == 10_000
    assert len(changes.keys("toasts")) == len(snapshot.toasts), "who came and went in between is no news"
    assert len(changes.changes) == 1_000 + len(snapshot.toasts) + 1


def test_the_cost_of_a_notice_does_not_grow() -> None:
    def seconds(count: int) -> float:
        desk = Desk(UNLIMITED)
        begin = time.thread_time()
        for number in range(count):
            desk.say(f"{number % 3_000}", "info")
        return (time.thread_time() - begin) / count

    few = min(seconds(2_000) for _ in range(5))
    assert min(seconds(20_000) for _ in range(2)) < 6 * few


def test_nothing_grows_with_the_number_of_notices() -> None:
    desk = Desk(UNLIMITED)
    for number in range(5_000):
        desk.say(f"{number}", "info")
        desk.say("always the same", "error")
    center = desk.center
    sizes = [len(center._toasts), len(center._passing), len(center._kinds), len(center._dismissed)]
    assert max(sizes) <= 5
    assert len(center._history) + len(center._unfiled) <= 2_001
    desk.scheduler.flush()
    assert len(center._history) == 1_000
    assert sum(len(toast.members) for toast in center._toasts.values()) <= 1_000


# --- what a user does -------------------------------------------------------------------------------------------------


def test_dismissing_a_toast(desk: Desk) -> None:
    desk.say("a", "error")
    desk.say("b", "info")
    desk.say("a", "error")
    assert desk.center.dismiss("notice-1")
    assert desk.toasts == [("b", 1)]
    assert desk.states == {"notice-1": DISMISSED, "notice-2": VISIBLE, "notice-3": DISMISSED}
    assert not desk.center.dismiss("notice-1")
    assert not desk.center.dismiss("notice-99")
    desk.wait(100)
    assert desk.states["notice-2"] is TIMED_OUT


def test_any_notice_that_a_toast_shows_dismisses_it(desk: Desk) -> None:
    for _ in range(3):
        desk.say("a", "error")
    assert desk.center.dismiss("notice-2")
    assert desk.toasts == []


def test_a_toast_can_be_dismissed_when_the_history_has_forgotten_it() -> None:
    desk = Desk(NoticePreferences(max_history=2))
    for title in ("a", "b", "c", "d"):
        desk.say(title, "error")
    assert [entry.title for entry in desk.snapshot.history] == ["c", "d"]
    assert len(desk.toasts) == 4
    assert desk.center.dismiss("notice-1")
    assert [title for title, _ in desk.toasts] == ["b", "c", "d"]
    assert desk.states == {"notice-3": VISIBLE, "notice-4": VISIBLE}


def test_dismissing_all(desk: Desk) -> None:
    for title in ("a", "b", "c"):
        desk.say(title, "info")
    assert desk.center.dismiss_all() == 3
    assert desk.center.dismiss_all() == 0
    assert desk.toasts == []
    assert set(desk.states.values()) == {DISMISSED}
    assert desk.scheduler.next_due == desk.clock.now(), "only the delivery is due, no timeout"
    desk.scheduler.flush()
    assert desk.scheduler.next_due is None


def test_timeouts_stand_still_while_they_are_paused(desk: Desk) -> None:
    desk.say("a")
    desk.wait(4)
    desk.center.pause_timeouts()
    assert desk.center.timeouts_paused
    desk.wait(60)
    desk.center.pause_timeouts()
    desk.say("b")
    desk.wait(60)
    assert [title for title, _ in desk.toasts] == ["a", "b"]
    desk.center.resume_timeouts()
    desk.center.resume_timeouts()
    assert not desk.center.timeouts_paused
    desk.wait(1.9)
    assert [title for title, _ in desk.toasts] == ["a", "b"]
    desk.wait(0.2)
    assert [title for title, _ in desk.toasts] == ["b"]
    desk.center.pause_timeouts()
    desk.wait(100)
    desk.center.resume_timeouts()
    desk.wait(3.8)
    assert [title for title, _ in desk.toasts] == ["b"]
    desk.wait(0.2)
    assert desk.toasts == []


def test_a_repeat_while_timeouts_are_paused(desk: Desk) -> None:
    desk.say("a")
    desk.wait(5)
    desk.center.pause_timeouts()
    desk.say("a")
    desk.wait(50)
    desk.center.resume_timeouts()
    desk.wait(5.9)
    assert desk.toasts == [("a", 2)]
    desk.wait(0.2)
    assert desk.toasts == []


@pytest.mark.parametrize("jump", [-3_600.0, 3_600.0])
@pytest.mark.parametrize(("notices", "periods"), [(1, 1), (2, 2)])
def test_a_clock_that_is_set_does_not_keep_a_toast_for_an_hour(jump: float, notices: int, periods: int) -> None:
    clock, own = ManualClock(10_000.0), ManualClock()
    scheduler = ManualScheduler(own)  # its timers go by their own time, as those of an event loop do
    center = NoticeCenter(scheduler, clock)
    for _ in range(notices):
        center.apply(NoticeReceived("s1", "info", "a"))
    clock.advance(jump)
    for _ in range(periods):
        own.advance(6.0)
        clock.advance(6.0)
        scheduler.flush()
    assert center.snapshot().toasts == ()


# --- sharing and change sets ------------------------------------------------------------------------------------------


def test_an_entry_that_did_not_change_is_the_same_object(desk: Desk) -> None:
    desk.say("a", "error")
    desk.say("b", "error")
    before = desk.snapshot
    desk.say("b", "error")
    after = desk.snapshot
    assert after.toasts[0] is before.toasts[0]
    assert after.toasts[1] is not before.toasts[1]
    assert all(new is old for new, old in zip(after.history, before.history, strict=False))
    desk.center.dismiss("notice-1")
    last = desk.snapshot
    assert [new is old for new, old in zip(last.history, after.history, strict=True)] == [False, True, True]
    assert before.toasts[1].count == 1


def test_change_sets_say_what_happened(desk: Desk) -> None:
    sets: list[ChangeSet] = []
    desk.center.changed.connect(sets.append)
    desk.say("a", "error")
    desk.scheduler.flush()
    desk.say("a", "error")
    desk.scheduler.flush()
    desk.center.dismiss("notice-1")
    desk.scheduler.flush()
    counts = Change("counts", None, ChangeKind.CHANGED)
    assert [changes.changes for changes in sets] == [
        (Change("toasts", "notice-1", ChangeKind.ADDED), Change("history", "notice-1", ChangeKind.ADDED), counts),
        (Change("toasts", "notice-1", ChangeKind.CHANGED), Change("history", "notice-2", ChangeKind.ADDED), counts),
        (
            Change("toasts", "notice-1", ChangeKind.REMOVED),
            Change("history", "notice-1", ChangeKind.CHANGED),
            Change("history", "notice-2", ChangeKind.CHANGED),
            counts,
        ),
    ]


def test_a_timeout_is_a_delivery_of_its_own(desk: Desk) -> None:
    sets: list[ChangeSet] = []
    desk.say("a")
    desk.scheduler.flush()
    desk.center.changed.connect(sets.append)
    desk.wait(7)
    assert [changes.keys("toasts") for changes in sets] == [("notice-1",)]


# --- laws -------------------------------------------------------------------------------------------------------------

EVENTS = st.builds(
    NoticeReceived,
    session_id=st.just("s1"),
    severity=st.sampled_from(["info", "warning", "error", "_x", "_y"]),
    title=st.sampled_from(["a", "b", "c", "d"]),
    description=st.sampled_from([None, "", "more"]),
    during_replay=st.sampled_from([False, False, False, True]),
    offered=st.sampled_from([True, True, True, False]),
)
STEPS = st.lists(
    st.one_of(
        EVENTS,
        EVENTS,
        st.floats(0.0, 8.0).map(lambda seconds: ("wait", seconds)),
        st.integers(1, 30).map(lambda number: ("dismiss", f"notice-{number}")),
        st.sampled_from([("dismiss all",), ("pause",), ("resume",)]),
    ),
    max_size=40,
)
PREFERENCES = st.builds(
    NoticePreferences,
    info=st.builds(SeverityPreferences, duration=st.sampled_from([1.0, 6.0]), rate_limit=st.none()),
    warning=st.builds(SeverityPreferences, rate_limit=st.builds(RateLimit, burst=st.integers(1, 3))),
    max_toasts=st.integers(0, 4),
    max_history=st.integers(0, 12),
    coalesce_within=st.sampled_from([None, 0.0, 5.0]),
    toast_replayed=st.booleans(),
)


def take(desk: Desk, step: Any) -> None:
    match step:
        case NoticeReceived():
            desk.center.apply(step)
        case ("wait", seconds):
            desk.wait(seconds)
        case ("dismiss", notice_id):
            desk.center.dismiss(notice_id)
        case ("dismiss all",):
            desk.center.dismiss_all()
        case ("pause",):
            desk.center.pause_timeouts()
        case _:
            desk.center.resume_timeouts()


@given(PREFERENCES, STEPS)
def test_what_holds_at_all_times(preferences: NoticePreferences, steps: list[Any]) -> None:
    desk = Desk(preferences)
    events: list[NoticeReceived] = []
    for step in steps:
        events += [step] if isinstance(step, NoticeReceived) else []
        take(desk, step)
        snapshot = desk.snapshot
        assert len(snapshot.toasts) <= preferences.max_toasts
        assert snapshot.total == len(events) == snapshot.shown + snapshot.coalesced + snapshot.suppressed
        kept = events[len(events) - len(snapshot.history) :]
        assert len(kept) == min(len(events), preferences.max_history)
        assert [(entry.severity, entry.title, entry.description) for entry in snapshot.history] == [
            (event.severity, event.title, event.description) for event in kept
        ]
        on_screen = {toast.id: toast for toast in snapshot.toasts}
        assert len(on_screen) == len(snapshot.toasts)
        for entry in snapshot.history:
            assert (entry.toast_id is None) is (entry.state is None) is (entry.suppressed_by is not None)
            assert (entry.state is VISIBLE) is (entry.toast_id in on_screen)
            assert entry.count == 1
        for toast in snapshot.toasts:
            shown = [entry for entry in snapshot.history if entry.toast_id == toast.id]
            assert toast.state is VISIBLE
            assert len(shown) <= toast.count
            assert len(shown) == toast.count or len(snapshot.history) == preferences.max_history
            assert all(entry.title == toast.title for entry in shown)


@given(PREFERENCES, STEPS, st.lists(st.sampled_from(["", "look", "deliver"]), min_size=40, max_size=40))
def test_folding_in_pieces_is_folding_in_one_go(
    preferences: NoticePreferences, steps: list[Any], between: list[str]
) -> None:
    whole, pieces = Desk(preferences), Desk(preferences)
    for step, then in zip(steps, between, strict=False):
        take(whole, step)
        take(pieces, step)
        if then == "look":
            pieces.center.snapshot()
        elif then == "deliver":
            pieces.scheduler.flush()
    whole.wait(0)
    pieces.wait(0)
    assert whole.snapshot == pieces.snapshot


@given(PREFERENCES, STEPS, st.lists(st.booleans(), min_size=40, max_size=40))
def test_a_copy_kept_from_change_sets_is_the_snapshot(
    preferences: NoticePreferences, steps: list[Any], deliver: list[bool]
) -> None:
    """A front-end that takes over only what a change set names has all that there is, and is told nothing twice."""
    desk = Desk(preferences)
    copy: dict[str, dict[Any, Notice]] = {"toasts": {}, "history": {}}

    def follow(changes: ChangeSet) -> None:
        for section, entries in copy.items():
            present = {entry.id: entry for entry in getattr(changes.snapshot, section)}
            for change in changes.changes:
                if change.section == section:
                    assert (change.key in entries) is (change.kind is not ChangeKind.ADDED)
                    if change.kind is ChangeKind.REMOVED:
                        del entries[change.key]
                    else:
                        entries[change.key] = present[str(change.key)]
            assert entries == present

    failures: list[Exception] = []
    desk.center.changed.connect(guarded(follow, failures))
    for step, now in zip(steps, deliver, strict=False):
        take(desk, step)
        if now:
            desk.scheduler.flush()
    desk.scheduler.flush()
    assert failures == []


def guarded(observer: Callable[[ChangeSet], None], failures: list[Exception]) -> Callable[[ChangeSet], None]:
    def call(changes: ChangeSet) -> None:
        try:
            observer(changes)
        except Exception as error:
            failures.append(error)

    return call
