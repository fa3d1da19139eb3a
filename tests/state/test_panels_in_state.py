"""The panels as parts of a session's state: in the snapshot, in change sets, and in the deltas."""

from __future__ import annotations

from typing import Any

import jsonpatch
from hypothesis import given
from hypothesis import strategies as st

from acp_host.state import events
from acp_host.state.changes import ChangeSet
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.deltas import DeltaMaker
from acp_host.state.json_form import to_json
from acp_host.state.notice_entries import NoticeReceived
from acp_host.state.notices import NoticeCenter
from acp_host.state.session_state import SessionState


class Desk:
    """A state with a notice center in it, and a front-end that is fed with deltas."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.scheduler = ManualScheduler(self.clock)
        self.state = SessionState("s", self.scheduler)
        self.notices = NoticeCenter(self.scheduler, self.clock, agent_name="Agent")
        self.state.attach(notices=self.notices)
        self.scheduler.flush()
        snapshot = self.state.snapshot()
        self.front_end: Any = to_json(snapshot)
        self._maker = DeltaMaker(snapshot)
        self.operations: list[Any] = []
        self.state.changed.connect(self._changed)

    def _changed(self, changes: ChangeSet) -> None:
        self.operations = self._maker.delta(changes)
        self.front_end = jsonpatch.apply_patch(self.front_end, self.operations)

    def notice(self, title: str, severity: str = "info") -> None:
        self.notices.apply(NoticeReceived(session_id="s", severity=severity, title=title))


def test_a_notice_changes_the_state_it_is_a_part_of() -> None:
    desk = Desk()
    desk.notice("disk is full", "error")
    desk.scheduler.flush()
    assert [toast.title for toast in desk.state.snapshot().notices.toasts] == ["disk is full"]
    assert desk.front_end == to_json(desk.state.snapshot())


def test_one_notice_among_many_is_a_small_delta() -> None:
    desk = Desk()
    for number in range(300):
        desk.notice(f"number {number}")
    desk.scheduler.flush()
    desk.notice("one more")
    desk.scheduler.flush()
    assert len(desk.operations) < 20
    assert desk.front_end == to_json(desk.state.snapshot())


def test_a_delivery_of_the_state_names_every_notice_that_came_before_it() -> None:
    desk = Desk()
    sets: list[ChangeSet] = []
    desk.state.changed.connect(sets.append)
    desk.state.apply(events.UsageReported(1, 2))  # so that the state's delivery is due before that of its notices
    for _ in range(3):
        desk.notice("the same, so that only the first opens a toast")
    desk.scheduler.flush()
    desk.scheduler.flush()
    (changes,) = sets
    assert set(changes.keys("notices")) == {"notice-1", "notice-2", "notice-3", "counts"}
    assert desk.front_end == to_json(desk.state.snapshot())


def test_somebody_who_watches_the_state_watches_its_notices() -> None:
    scheduler = ManualScheduler()
    state, notices = SessionState("s", scheduler), NoticeCenter(scheduler, ManualClock(), agent_name="Agent")
    state.attach(notices=notices)
    assert not notices.is_observed
    with state.changed.connect(lambda changes: None):
        assert notices.is_observed
    assert not notices.is_observed


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("notice"), st.sampled_from("abc"), st.sampled_from(["info", "error"])),
        st.tuples(st.just("wait"), st.floats(0, 8), st.just("")),
        st.tuples(st.just("dismiss"), st.integers(0, 5), st.just("")),
        st.tuples(st.just("deliver"), st.just(0), st.just("")),
    ),
    max_size=30,
)


@given(STEPS)
def test_the_deltas_are_exact(steps: list[tuple[str, Any, str]]) -> None:
    desk = Desk()
    for what, value, severity in steps:
        if what == "notice":
            desk.notice(value, severity)
        elif what == "wait":
            desk.clock.advance(value)
            desk.scheduler.flush()
        elif what == "dismiss" and (toasts := desk.notices.snapshot().toasts):
            desk.notices.dismiss(toasts[value % len(toasts)].id)
        else:
            desk.scheduler.flush()
    desk.scheduler.flush()
    desk.scheduler.flush()
    assert desk.front_end == to_json(desk.state.snapshot())
