"""Jobs as values and in files."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from acp_host import InvalidInput, PermissionPolicy
from acp_host.fleet import Budget, Job, Timeouts, jobs_from, read_jobs
from acp_host.fleet.job import numbered
from tests.fleet.surroundings import SOURCES_ONLY

FULL = Job(
    "Fix it",
    "project",
    id="one",
    permissions=SOURCES_ONLY,
    budget=Budget(cost=1.5, currency="USD"),
    timeouts=Timeouts(total=60),
    remind="Be brief",
    record="talk.jsonl",
)


def test_it_can_be_pickled_and_written_as_json() -> None:
    assert pickle.loads(pickle.dumps(FULL)) == FULL
    assert Job.from_json(json.loads(json.dumps(FULL.to_json()))) == FULL
    assert Job.from_json(Job("p", "d").to_json()) == Job("p", "d")
    assert FULL.digest == Job.from_json(FULL.to_json()).digest != Job("Fix it", "project", id="one").digest


def test_jobs_get_ids_that_say_what_they_are() -> None:
    places = ["/a/web site/", "git@example.org:team/tool.git", "https://example.org/x.git", "/"]
    assert [job.id for job in numbered(jobs_from("Go", places))] == ["001-web-site", "002-tool", "003-x", "004-job"]
    with pytest.raises(InvalidInput, match="two jobs have the id a"):
        numbered([Job("p", "d", id="a"), Job("q", "e", id="a")])


@pytest.mark.parametrize(
    "given, problem",
    [
        ({"prompt": " "}, "takes a text"),
        ({"cwd": 7}, "takes a directory"),
        ({"cwd": "https://me:secret@example.org/a.git"}, "no URL with a password"),
        ({"id": "../up"}, "takes up to 100 letters"),
        ({"id": "."}, "takes up to 100 letters"),
        ({"permissions": "allow"}, "takes a PermissionPolicy"),
        ({"budget": 5}, "takes a Budget"),
        ({"remind": [""]}, "takes texts"),
    ],
)
def test_what_is_wrong_is_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        Job(**{"prompt": "p", "cwd": "d", **given})


def test_a_file_of_jobs_has_paths_relative_to_itself(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(SOURCES_ONLY.to_toml())
    lines = [
        {"prompt": "One", "cwd": "a", "permissions": "policy.toml", "budget": {"cost": 2}},
        {"prompt": "Two", "cwd": "https://example.org/b.git", "remind": "Hurry", "timeouts": {"total": 9}},
        {"prompt": "Three", "cwd": "c", "permissions": "read-only"},
    ]
    file = tmp_path / "jobs.jsonl"
    file.write_text("\n\n".join(map(json.dumps, lines)) + "\n")
    one, two, three = read_jobs(file)
    assert (one.cwd, one.permissions, one.budget) == (str(tmp_path / "a"), SOURCES_ONLY, Budget(cost=2))
    assert three.permissions == PermissionPolicy.read_only()
    assert (two.cwd, two.remind, two.timeouts) == ("https://example.org/b.git", ("Hurry",), Timeouts(total=9))


@pytest.mark.parametrize(
    "line, problem",
    [
        ("{", "line 2: Expecting"),
        ("[]", "line 2: a job is an object"),
        ('{"prompt": "p"}', "line 2: a job needs the member cwd"),
        ('{"prompt": "p", "cwd": "d", "dir": 1}', "line 2: a job has no member dir"),
        ('{"prompt": "p", "cwd": "d", "budget": {"dollars": 1}}', "line 2: a budget is an object"),
        ('{"prompt": "p", "cwd": "d", "permissions": "none.toml"}', "line 2: permissions of a job: .*none.toml can"),
        ('{"prompt": "p", "cwd": "d", "permissions": "ask"}', "line 2: permissions of a job cannot be ask"),
        ('{"prompt": "p", "cwd": "d", "timeouts": {"total": -1}}', "line 2: .*total"),
    ],
)
def test_a_line_that_is_no_job_is_named(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "jobs.jsonl").write_text(f'{{"prompt": "p", "cwd": "d"}}\n{line}\n')
    with pytest.raises(InvalidInput, match=problem):
        read_jobs(tmp_path / "jobs.jsonl")
