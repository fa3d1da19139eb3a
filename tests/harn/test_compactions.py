"""How an agent makes do with its context."""

from __future__ import annotations

from acp_host.state.entries import CompactionEntry
from acp_host.state.harn.compactions import MAX_COMPACTIONS, Compaction, Projection
from tests.harn.harness import Desk, named, updates


def entries(desk: Desk) -> list[CompactionEntry]:
    return [entry for entry in desk.state.snapshot().transcript if isinstance(entry, CompactionEntry)]


def test_a_compaction_is_an_entry_of_the_transcript_that_loses_nothing() -> None:
    desk = Desk().fold({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}})
    desk.take(*updates("derived_namespaced_updates.json", "transcript_compacted"))
    assert len(desk.state.snapshot().transcript) == 1 + 1
    (entry,) = entries(desk)
    assert (entry.compaction_id, entry.status, entry.summary) == ("c-1", "completed", ())
    (compaction,) = desk.harn.compactions
    assert (compaction.receipt_id, compaction.mode, compaction.archived_messages) == ("c-1", "auto", 12)
    assert compaction.extra["resolvedThresholdTokens"] == 80000
    assert compaction.words == "the agent has put the conversation so far into fewer words: 81000 tokens became 9000"
    desk.assert_exact()


def test_that_it_came_says_enough() -> None:
    desk = Desk().take(*[{"sessionUpdate": "transcript_compacted"}] * 2)
    assert [*desk.harn.compactions] == [Compaction()] * 2
    assert len(entries(desk)) == 2
    assert desk.harn.compactions.entries[0].words.endswith("fewer words")


def test_the_fewer_words_are_shown_if_they_are_words() -> None:
    desk = Desk().take(*(named("transcript_compacted", recap=recap) for recap in ("We met.", {"x": 1}, "")))
    assert ["".join(part.text for part in entry.summary) for entry in entries(desk)] == ["We met.", "", ""]
    assert [each.recap for each in desk.harn.compactions] == ["We met.", {"x": 1}, ""]


def test_a_projection() -> None:
    desk = Desk().take(*updates("derived_namespaced_updates.json", "transcript_projected"))
    projection = Projection(
        policy="tool_result_age",
        reason="budget",
        prefix_hash="ab12",
        kept_count=20,
        dropped_count=4,
        redacted_count=1,
        reclaimed_tokens=512,
        safety_blocked=False,
    )
    assert [*desk.harn.projections] == [projection]
    assert len(desk.state.snapshot().transcript) == 0
    desk.assert_exact()


def test_they_are_bounded() -> None:
    desk = Desk().take(*[named("transcript_compacted")] * (MAX_COMPACTIONS + 1))
    assert len(desk.harn.compactions) == MAX_COMPACTIONS
