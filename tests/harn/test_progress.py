"""How far an agent has come: phases, narration, staged writes, patches."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state import events
from acp_host.state.harn.progress import MAX_PHASES, Progress
from acp_host.state.harn.staged_writes import MAX_STAGED, StagedWrite, StagedWrites
from acp_host.state.harn.text_patches import TextPatch
from tests.harn.harness import Desk, named, updates


def told(**members: Any) -> dict[str, Any]:
    return named("progress", **members)


def staged(**members: Any) -> dict[str, Any]:
    return told(phase="fs_staging", kind="staged_writes_pending", **members)


def test_the_variants() -> None:
    desk = Desk().take(*updates("derived_namespaced_updates.json", "progress"))
    assert desk.harn.progress == {
        "index": Progress(message="scanning", phase="index", done=3, total=10, data={"dir": "src"}),
    }
    write = StagedWrite(path="/repo/a.py", kind="modify", byte_delta=3, snapshot_id="tool-9")
    message = "staged writes pending"
    assert desk.harn.staged_writes == StagedWrites(count=1, total_bytes=7, writes=(write,), message=message)
    message = "safe_text_patch: applied"
    patch = TextPatch(path="/repo/a.py", result="applied", hunks=2, bytes_written=120, message=message)
    assert [*desk.harn.text_patches] == [patch]
    assert desk.problems == []
    desk.assert_exact()


def test_of_a_phase_the_newest_is_kept() -> None:
    desk = Desk().take(told(phase="a", message="1", progress=1), told(phase="b", message="x"))
    before = desk.harn.progress["b"]
    desk.hear("progress", phase="a", message="2", progress=1.5, total=3)
    assert desk.paths == ["add /harn/progress/a"]
    assert desk.harn.progress["a"].share == 0.5
    assert desk.harn.progress["b"] is before


@pytest.mark.parametrize("done, total, share", [(None, 3, None), (1, 0, None), (1, None, None), (5, 3, 1), (-1, 3, 0)])
def test_the_share_is_one_or_none(done: Any, total: Any, share: Any) -> None:
    assert Progress(message="", done=done, total=total).share == share
    assert Progress(message="", done=1, total=-3).share is None


def test_a_new_turn_begins_without_any() -> None:
    desk = Desk().take(told(phase="a", message="1"), told(phase="narration", message="I look around"))
    desk.apply(events.TurnStarted(1, (), ()))
    desk.deliver()
    assert desk.harn.progress == {}
    assert [line.message for line in desk.harn.narration] == ["I look around"]
    desk.assert_exact()


def test_what_is_not_known_of_a_variant_is_kept() -> None:
    desk = Desk().take(told(message="m", kind="other", more=1))
    assert desk.harn.progress[""] == Progress(message="m", extra={"kind": "other", "more": 1})


def test_staged_writes_take_the_place_of_those_before() -> None:
    desk = Desk().take(staged(pendingWrites=[{"path": "a"}, {"kind": "x"}, 7]))
    assert desk.harn.staged_writes == StagedWrites(count=2, writes=(StagedWrite(path="a"),))
    assert desk.problems == [
        "pendingWrites is not an array of objects: [{'path': 'a'}, {'kind': 'x'}, 7]",
        "a staged write has no path",
    ]
    desk.take(staged(pendingCount=0, pendingWrites=[]))
    assert desk.harn.staged_writes == StagedWrites(count=0)
    desk.assert_exact()


def test_they_are_bounded() -> None:
    desk = Desk().take(staged(pendingWrites=[{"path": str(number)} for number in range(MAX_STAGED + 1)]))
    assert desk.harn.staged_writes is not None
    assert (desk.harn.staged_writes.count, len(desk.harn.staged_writes.writes)) == (MAX_STAGED + 1, MAX_STAGED)
    desk.take(*(told(phase=str(number), message="m") for number in range(MAX_PHASES + 1)))
    assert len(desk.harn.progress) == MAX_PHASES


def test_a_patch_that_does_not_fit() -> None:
    members = {"path": "a", "result": "conflict", "hunksCount": 2, "failedHunkIndex": 1}
    desk = Desk().take(told(kind="safe_text_patch_result", phase="safe_text_patch", **members))
    assert [*desk.harn.text_patches] == [TextPatch(path="a", result="conflict", hunks=2, failed_hunk=1)]
