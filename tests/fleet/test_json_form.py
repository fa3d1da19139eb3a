"""Results, summaries and reports as JSON, and the schema of that."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from acp_host import InvalidInput, RunResult
from acp_host.automation.result import RunCost, RunOutcome
from acp_host.fleet import (
    Budget,
    ChangedFile,
    CopyKind,
    FleetReport,
    FleetSummary,
    Job,
    JobOutcomeKind,
    JobResult,
    Spent,
    Timeouts,
    Violation,
)
from acp_host.fleet.schema import fleet_schema, problem_with
from acp_host.services.working_copy import DifferenceKind
from tests.fleet.surroundings import SOURCES_ONLY

FULL = JobResult(
    job=Job(
        "Fix it",
        "/project",
        id="one",
        permissions=SOURCES_ONLY,
        budget=Budget(tokens=9, cost=1.5, currency="USD", turns=2),
        timeouts=Timeouts(start=1, idle=2.5, total=3),
        remind="Be brief",
        record="/talk.jsonl",
    ),
    outcome=RunOutcome(kind=JobOutcomeKind.COMPLETED),
    attempt=1,
    run=RunResult(outcome=RunOutcome(kind=JobOutcomeKind.COMPLETED), cost=RunCost(amount=1.0, currency="USD")),
    files=(
        ChangedFile(path="a", kind=DifferenceKind.MODIFIED, patch=b"plain", allowed=True),
        ChangedFile(path="b", kind=DifferenceKind.CREATED, patch=b"\xff"),
    ),
    files_problem="too many",
    violations=(Violation(path="c", kind="deleted"),),
    spent=Spent(tokens=7, cost={"USD": 1.0}),
    source="/project",
    copy_kind=CopyKind.WORKTREE,
    commit="0" * 40,
    kept="/copy",
    recording="/talk.jsonl",
    host="here",
)
BARE = JobResult(job=Job("p", "/d", id="two"), outcome=RunOutcome(kind=JobOutcomeKind.NOT_RUN))
SUMMARY = FleetSummary(
    jobs=2, outcomes={"completed": 1, "not_run": 1}, spent=FULL.spent, unreported=("cost",), stopped="Ctrl-C"
)


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value.to_json()))


@pytest.mark.parametrize("result", [FULL, BARE], ids=["full", "bare"])
def test_results_come_back_and_fit_the_schema(result: JobResult) -> None:
    assert problem_with(plain(result), "result") is None
    assert problem_with({"type": "result", **plain(result)}) is None
    assert JobResult.from_json(plain(result)) == result


def test_summaries_and_reports_come_back_and_fit_the_schema() -> None:
    report = FleetReport(results=(FULL, BARE), summary=SUMMARY)
    assert problem_with({"type": "summary", **plain(SUMMARY)}) is None
    assert problem_with(plain(report), "report") is None
    assert FleetSummary.from_json(plain(SUMMARY)) == SUMMARY
    assert FleetReport.from_json(plain(report)) == report


def test_what_a_later_library_has_added_is_left_out() -> None:
    data = plain(FULL)
    for part in (data, data["job"], data["job"]["budget"], data["outcome"], data["files"][0], data["violations"][0]):
        part["later"] = 1
    assert JobResult.from_json(data) == FULL
    assert FleetSummary.from_json({**plain(SUMMARY), "later": 1}) == SUMMARY


def test_a_summary_of_an_earlier_library_can_be_read() -> None:
    data = plain(SUMMARY)
    del data["unreported"]
    assert FleetSummary.from_json(data).unreported == ()


def _without(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda data: data.pop(name)


@pytest.mark.parametrize(
    "spoil",
    [
        _without("version"),
        _without("files"),
        lambda data: data.update(version=7),
        lambda data: data.update(attempt="first"),
        lambda data: data["outcome"].update(kind="lost"),
        lambda data: data["run"].update(text=None),
        lambda data: data["files"][0].update(patchBase64="eA=="),
        lambda data: data["files"][1].update(patchBase64="é"),
        lambda data: data["job"].update(permissions="= no TOML"),
        lambda data: data["spent"].update(cost={"USD": "much"}),
    ],
)
def test_what_is_no_result_is_refused(spoil: Callable[[dict[str, Any]], Any]) -> None:
    data = copy.deepcopy(plain(FULL))
    spoil(data)
    with pytest.raises(InvalidInput, match="this is no result of a job"):
        JobResult.from_json(data)


@pytest.mark.parametrize("wrong", [None, [], {}, {"version": 7}])
def test_what_is_no_summary_or_report_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="this is no summary of a fleet"):
        FleetSummary.from_json(wrong)
    with pytest.raises(InvalidInput, match="this is no report of a fleet"):
        FleetReport.from_json(wrong)


def test_the_schema_is_one_and_stands_for_itself() -> None:
    schema = fleet_schema()
    Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schema).is_valid({"type": "result", **plain(FULL)}), "with nothing else at hand"
    for wrong in ({}, plain(FULL), {"type": "result"}, {"type": "summary", **plain(FULL)}):
        assert problem_with(wrong) is not None, wrong
    stored = Path(__file__).parents[2] / "acp_host/fleet/schemas/fleet-1.schema.json"
    alone = json.loads(stored.read_text("utf-8"))
    assert {**schema, "$defs": {name: schema["$defs"][name] for name in alone["$defs"]}} == alone
