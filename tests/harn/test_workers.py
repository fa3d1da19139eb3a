"""The workers of a Harn agent, from the wire to the state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.state.harn.audit import MutationRecord
from acp_host.state.harn.workers import ENDED, MAX_WORKERS, STATUSES, Worker, WorkerReported
from tests.harn.harness import Desk, at_root, events_of, named, read, updates

EVENTS = {
    "WorkerSpawned": "running",
    "WorkerProgressed": "progressed",
    "WorkerWaitingForInput": "awaiting_input",
    "WorkerSuspended": "suspended",
    "WorkerResumed": "running",
    "WorkerCompleted": "completed",
    "WorkerFailed": "failed",
    "WorkerStopped": "stopped",
    "WorkerCancelled": "cancelled",
}


def told(status: str | None = None, worker_id: str = "wk", **members: Any) -> dict[str, Any]:
    said = {} if status is None else {"status": status}
    return named("worker_update", workerId=worker_id, **said, **members)


def worker(desk: Desk, worker_id: str = "wk") -> Worker:
    return desk.harn.workers[worker_id]


# --- reading ----------------------------------------------------------------------------------------------------------


def test_all_nine_events_of_the_fixtures() -> None:
    desk = Desk().take(*updates("derived_namespaced_updates.json", "worker_update"))
    assert [(each.event, each.status) for each in desk.harn.workers.values()] == list(EVENTS.items())
    assert [each.ended for each in desk.harn.workers.values()] == [status in ENDED for status in EVENTS.values()]
    assert desk.problems == []
    first = worker(desk, "wk-0")
    assert (first.name, first.task, first.mode) == ("rev", "Review", "delegated_stage")
    assert first.metadata == {"task": "Review", "started_at": "0193aa", "finished_at": None, "error": None}
    assert first.audit is not None
    assert (first.audit.session_id, first.audit.mutation_scope) == ("mut-1", "apply_workspace")
    assert first.audit.approval_policy is not None
    assert first.audit.approval_policy.require_approval == ("edit_*",)


def test_a_word_that_says_less_than_the_event_is_kept_beside_it() -> None:
    (report,) = events_of(told("levitating", event="WorkerCompleted", more=1))
    assert (report.status, report.ended, report.extra) == ("completed", True, {"status": "levitating", "more": 1})
    assert events_of(told("levitating", event="WorkerLevitated"))[0].extra == {}
    assert events_of(told("Done", event="WorkerCompleted"))[0].extra == {}


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_says_the_status_where_there_is_none(event: str) -> None:
    (report,) = events_of(told(event=event))
    assert (report.status, report.event, report.ended) == (EVENTS[event], event, EVENTS[event] in ENDED)


@pytest.mark.parametrize(
    "word, event",
    [
        ("worker_waiting_for_input", "WorkerWaitingForInput"),
        ("WORKERCOMPLETED", "WorkerCompleted"),
        ("worker_stopped", "WorkerStopped"),
    ],
)
def test_events_are_written_in_more_than_one_way(word: str, event: str) -> None:
    (report,) = events_of(told(event=word))
    assert report.event == event


@pytest.mark.parametrize(
    "word, status",
    [
        ("awaiting", "awaiting_input"),
        *((word, "completed") for word in ("done", "succeeded", "success", "ok")),
        *((word, "failed") for word in ("error", "errored", "timeout", "timed_out")),
        *((word, "cancelled") for word in ("canceled", "aborted")),
    ],
)
def test_statuses_have_other_names(word: str, status: str) -> None:
    (report,) = events_of(told(word))
    assert (report.status, report.ended) == (status, status in ENDED)


@pytest.mark.parametrize("terminal", [True, False, None])
def test_what_is_not_known_is_kept_and_lives_unless_the_agent_says_otherwise(terminal: bool | None) -> None:
    said = {} if terminal is None else {"terminal": terminal}
    (report,) = events_of(told("dreaming", event="WorkerDozedOff", **said))
    assert (report.status, report.event, report.ended) == ("dreaming", "WorkerDozedOff", bool(terminal))
    (report,) = events_of(told(event="WorkerDozedOff", **said))
    assert report.status == "WorkerDozedOff"


def test_a_known_status_counts_more_than_the_flag() -> None:
    report = read(told("completed", terminal=False))
    assert report is not None
    assert report.events[0].ended
    assert report.problems == ("terminal is false, though the worker is completed",)


@pytest.mark.parametrize("members", [{"workerId": "wk"}, {"status": "running"}, {"workerId": " ", "status": "running"}])
def test_without_an_id_or_without_anything_about_it_there_is_no_event(members: dict[str, Any]) -> None:
    report = read(named("worker_update", **members))
    assert report is not None
    assert report.events == ()
    assert len(report.problems) == 1


def test_the_older_form_says_the_same() -> None:
    for update in updates("derived_namespaced_updates.json", "worker_update"):
        assert events_of(at_root(update)) == events_of(update)


def test_the_bridges_form_says_the_same_of_the_worker() -> None:
    (update,) = updates("derived_unadvertised_bridge_frames.json", "worker_update")
    (report,) = events_of(update)
    assert (report.worker_id, report.name, report.status, report.event) == ("wk-0", "rev", "running", None)
    assert report.metadata == {
        "started_at": "0193aa",
        "finished_at": None,
        "snapshot_path": None,
        "run_id": "run-1",
        "run_path": ".harn-runs/run-1",
    }
    assert report.extra == {"script": "main.harn", "lifecycle": {"event": "running"}}


def test_rules_may_stand_in_the_metadata() -> None:
    (report,) = events_of(told("running", metadata={"audit": {"session_id": "inner", "mutation_scope": "read_only"}}))
    assert report.audit == MutationRecord(session_id="inner", mutation_scope="read_only")
    assert report.audit.is_read_only
    (report,) = events_of(told("running", audit={"run_id": "outer"}, metadata={"audit": {"run_id": "inner"}}))
    assert report.audit == MutationRecord(run_id="outer")


def test_members_of_the_wrong_type_cost_no_more_than_themselves() -> None:
    report = read(told("running", workerName=7, metadata=[], audit="x", terminal="no", further=1))
    assert report is not None
    assert len(report.problems) == 4
    assert report.events == (WorkerReported("wk", "running", extra={"further": 1}),)


# --- the lifecycle ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [*sorted(STATUSES), "dreaming"])
def test_the_first_that_is_told_may_be_anything(status: str) -> None:
    desk = Desk().take(told(status))
    assert worker(desk).status == status
    assert desk.problems == []


@pytest.mark.parametrize("before", sorted(STATUSES))
@pytest.mark.parametrize("after", [*sorted(STATUSES), "dreaming"])
def test_the_table_of_what_may_follow(before: str, after: str) -> None:
    desk = Desk().take(told(before), told(after))
    if before == after:
        fits = True
    elif before in ENDED:
        fits = False
    else:
        fits = before != "suspended" or after in ("running", "failed", "stopped", "cancelled", "dreaming")
    assert worker(desk).status == (after if fits else before)
    assert worker(desk).ended == (worker(desk).status in ENDED)
    assert len(desk.problems) == (0 if fits else 1)


def test_a_conflicting_end_is_reported_and_the_first_stays() -> None:
    desk = Desk().take(told("failed", event="WorkerFailed"), told("completed", workerName="late"))
    assert (worker(desk).status, worker(desk).event, worker(desk).name) == ("failed", "WorkerFailed", None)
    assert desk.problems == ["worker wk is failed; completed cannot follow that"]


def test_one_change_told_in_both_forms_is_one_change() -> None:
    (older,) = updates("derived_unadvertised_bridge_frames.json", "worker_update")
    present = next(updates("derived_namespaced_updates.json", "worker_update"))
    both = worker(Desk().take(present, older), "wk-0")
    assert both == worker(Desk().take(older, present), "wk-0")
    assert (both.status, both.event, both.metadata["run_id"]) == ("running", "WorkerSpawned", "run-1")


def test_the_same_again_changes_nothing() -> None:
    desk = Desk().take(told("running", metadata={"n": 1}))
    before = desk.state.snapshot()
    desk.take(told("running", metadata={"n": 1}))
    assert desk.state.snapshot() is before


def test_the_same_again_adds_what_is_new() -> None:
    desk = Desk().take(told("running", workerTask="Review", metadata={"a": 1, "b": 2}))
    desk.take(told("running", workerName="rev", metadata={"a": None, "b": 3, "c": None}))
    assert (worker(desk).name, worker(desk).task) == ("rev", "Review")
    assert worker(desk).metadata == {"a": 1, "b": 3, "c": None}


def test_an_unknown_end_stays() -> None:
    desk = Desk().take(told("melted", terminal=True), told("melted"), told("running"))
    assert (worker(desk).status, worker(desk).ended) == ("melted", True)
    assert len(desk.problems) == 1


def test_a_worker_knows_whom_it_works_for() -> None:
    desk = Desk().take(told("running", metadata={"parent_worker_id": "boss"}), told("running", "boss"))
    assert (worker(desk).parent_worker_id, worker(desk, "boss").parent_worker_id) == ("boss", None)


def test_those_that_have_ended_leave_first() -> None:
    desk = Desk().take(told("running", "old"), told("completed", "over"))
    desk.take(*(told("running", f"w{number}") for number in range(MAX_WORKERS - 1)))
    assert len(desk.harn.workers) == MAX_WORKERS
    assert "old" in desk.harn.workers
    assert "over" not in desk.harn.workers
    assert desk.problems == [], "what has ended leaves as a matter of course"
    desk.take(told("running", "another"))
    assert "old" not in desk.harn.workers
    assert desk.problems == [f"more than {MAX_WORKERS} workers: the oldest of them is forgotten"]
    desk.assert_exact()


REPORTS = st.builds(
    told,
    st.sampled_from([*sorted(STATUSES), "dreaming", None]),
    st.sampled_from(["a", "b"]),
    event=st.sampled_from([*EVENTS, "WorkerDozedOff"]),
    metadata=st.dictionaries(st.sampled_from(["error", "task"]), st.sampled_from(["x", "y", None])),
)


@given(st.lists(REPORTS, max_size=12))
def test_whatever_the_order_ends_are_final_and_deltas_exact(reports: list[dict[str, Any]]) -> None:
    desk = Desk()
    ended: dict[str, str] = {}
    for update in reports:
        desk.take(update)
        for worker_id, each in desk.harn.workers.items():
            assert each.ended == (each.status in ENDED)
            assert ended.get(worker_id, each.status) == each.status
            if each.ended:
                ended[worker_id] = each.status
        desk.assert_exact()


@given(st.lists(REPORTS, max_size=12))
def test_each_message_twice_is_as_good_as_once(reports: list[dict[str, Any]]) -> None:
    once, twice = Desk(), Desk()
    for update in reports:
        once.take(update)
        twice.take(update, at_root(update))
    assert once.state.snapshot().harn == twice.state.snapshot().harn
