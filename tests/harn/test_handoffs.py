"""Work that a Harn agent hands on, from the wire to the state."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state.harn.handoffs import MAX_HANDOFFS, Handoff, HandoffTarget
from tests.harn.harness import Desk, named, read, updates


def told(handoff_id: str = "h-1", **handoff: Any) -> dict[str, Any]:
    return named("handoff", handoffId=handoff_id, handoff=handoff)


def test_a_handoff_with_all_that_there_is_to_it() -> None:
    desk = Desk().take(*updates("session_update_extensions.json", "handoff"))
    (handoff,) = desk.harn.handoffs.values()
    assert (handoff.handoff_id, handoff.artifact_id) == ("handoff-1", "artifact-1")
    assert handoff.target == HandoffTarget(kind="persona", id="review_captain", label="review_captain")
    assert (handoff.source_persona, handoff.reason) == ("merge_captain", "Merge queue requires review")
    assert handoff.created_at == "2026-04-28T00:00:00Z"
    assert desk.problems == []
    desk.assert_exact()


def test_every_member_is_read() -> None:
    lists = (
        "evidence_refs",
        "open_questions",
        "blocked_on",
        "requested_capabilities",
        "allowed_side_effects",
        "files_or_entities_touched",
        "receipt_links",
    )
    values = ("budget_remaining", "deadline_checkback", "confidence", "route_decision", "metadata")
    texts = ("kind", "source_persona", "task", "reason", "parent_run_id", "created_at")
    said: dict[str, Any] = {
        **{name: [name, {"deep": [1]}] for name in lists},
        **{name: {"of": name} for name in values},
        **{name: name for name in texts},
        "target_persona_or_human": {"kind": "human", "uri": "mailto:a@b", "further": 1},
        "id": "h-1",
        "_type": "handoff_artifact",
        "further": 2,
    }
    desk = Desk().take(told(**said))
    handoff = desk.harn.handoffs["h-1"]
    for name in (*lists, *values, *texts):
        found = getattr(handoff, name)
        assert (list(found) if isinstance(found, tuple) else found) == said[name]
    assert handoff.target == HandoffTarget(kind="human", uri="mailto:a@b", extra={"further": 1})
    assert handoff.extra == {"further": 2}
    desk.assert_exact()
    assert desk.front_end["harn"]["handoffs"]["h-1"]["evidenceRefs"] == said["evidence_refs"]


def test_what_comes_again_takes_its_place() -> None:
    desk = Desk().take(told(task="one"), told("h-2"), told(task="two"))
    assert {key: each.task for key, each in desk.harn.handoffs.items()} == {"h-1": "two", "h-2": None}


@pytest.mark.parametrize("members", [{"handoff": {}}, {"handoffId": "h"}, {"handoffId": "h", "handoff": "x"}])
def test_without_an_id_or_the_object_there_is_none(members: dict[str, Any]) -> None:
    report = read(named("handoff", **members))
    assert report is not None
    assert report.events == ()
    assert report.problems


def test_what_is_wrong_in_it_is_left_out_and_named() -> None:
    desk = Desk().take(told(id="other", task=3, blocked_on="x", target_persona_or_human=[]))
    assert desk.harn.handoffs["h-1"] == Handoff(handoff_id="h-1")
    assert desk.problems[0] == "the handoff h-1 calls itself other"
    assert len(desk.problems) == 4


def test_handoffs_are_bounded() -> None:
    desk = Desk().take(*(told(f"h{number}") for number in range(MAX_HANDOFFS + 1)))
    assert len(desk.harn.handoffs) == MAX_HANDOFFS
    assert "h0" not in desk.harn.handoffs
