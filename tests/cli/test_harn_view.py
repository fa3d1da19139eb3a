"""What a Harn agent tells, as lines."""

from __future__ import annotations

import io
from typing import Any, cast

import pytest

from acp_host.cli.harn_view import HarnView
from acp_host.cli.printer import Printer, make_console
from acp_host.host.session import Session
from tests.cli.agents import HOSTILE
from tests.cli.test_run import UNSAFE
from tests.harn.harness import Desk, named


class Shown(Desk):
    """A session's state, and the lines that were printed about it since one looked last."""

    def __init__(self) -> None:
        super().__init__()
        self.file = io.StringIO()
        HarnView(Printer(make_console(self.file)), cast(Session, self))

    def lines(self) -> list[str]:
        text = self.file.getvalue()
        self.file.seek(0)
        self.file.truncate()
        return [" ".join(line.split()) for line in text.splitlines()]


@pytest.fixture
def shown() -> Shown:
    return Shown()


def event(shown: Shown, **params: Any) -> list[str]:
    shown.hear("_harn/agentEvent", **params)
    return shown.lines()


def test_each_alert_is_a_line_and_nothing_else_of_the_loop_is(shown: Shown) -> None:
    assert event(shown, kind="loop_stuck") == ["alert the agent does not get on"]
    assert event(shown, kind="iteration_start") == []
    assert event(shown, kind="loop_stuck") == ["alert the agent does not get on"]
    again = event(shown, kind="mcp_auth_required", server="linear", replayed=True)
    assert again == ["alert the MCP server linear wants a login (told again)"]


def test_progress_is_a_line_where_it_says_something_new(shown: Shown) -> None:
    report = named("progress", phase="index", message="scanning", progress=1, total=4)
    shown.take(report).take(report)
    assert shown.lines() == ["progress index 25%: scanning"]
    shown.take(named("progress", message="on it"), named("progress", phase="narration", message="I look"))
    assert shown.lines() == ["progress work: on it", "narrates I look"]


def test_what_waits_to_be_written_plans_and_compactions(shown: Shown) -> None:
    writes = [{"path": "a.py"}, {"path": "b.py"}]
    shown.take(named("progress", kind="staged_writes_pending", pendingCount=3, pendingWrites=writes))
    document = {"document_id": "d", "comments": [1]}
    shown.take({"sessionUpdate": "plan", "entries": [], "harnPlanDocument": document})
    shown.take(named("transcript_compacted"))
    assert shown.lines() == [
        "staged 3 files wait to be written: a.py, b.py",
        "document d 1 comments",
        "compacted the agent has put the conversation so far into fewer words",
    ]


def test_what_has_the_same_name_in_two_topics_is_two_things(shown: Shown) -> None:
    worker = named("worker_update", workerId="index", status="running")
    shown.take(worker, named("progress", phase="index", message="m"), worker)
    shown.take(worker, named("progress", phase="index", message="m"))
    assert shown.lines() == ["worker index running", "progress index: m"]


def test_nothing_of_it_is_live(shown: Shown) -> None:
    event(shown, kind="boundary_failure", detail=HOSTILE)
    shown.take(named("progress", phase=HOSTILE, message=HOSTILE), named("progress", phase="narration", message=HOSTILE))
    assert not UNSAFE.search("".join(shown.lines()))
