"""Deltas lead exactly from one snapshot's JSON form to the next."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import jsonpatch
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from acp_host.state import events
from acp_host.state.changes import Change, ChangeKind, ChangeSet
from acp_host.state.deltas import DeltaMaker
from acp_host.state.json_form import to_json
from acp_host.state.memory import MemoryPolicy
from acp_host.state.snapshot import TerminalView
from acp_host.state.terminal_output import MAX_SEGMENTS
from acp_host.state.text import SEGMENT
from acp_host.wire.content import TextContent
from acp_host.wire.subagents import SubagentUpdate
from tests.state.session_events import LIVE, REPLAY, Folding, call, end, image, said, start, text, update, user
from tests.state.strategies import BATCHES


class Viewer:
    """A front-end in another process: it has JSON and gets deltas."""

    def __init__(self, folding: Folding) -> None:
        snapshot = folding.snapshot
        self.maker = DeltaMaker(snapshot)
        self.document = _copy(to_json(snapshot))
        self.latest: Any = None
        self.sizes: list[int] = []
        self.operations: list[dict[str, Any]] = []
        folding.state.changed.connect(self.take)

    def take(self, changes: ChangeSet) -> None:
        self.operations = self.maker.delta(changes)
        wire = json.dumps(self.operations)
        self.sizes.append(len(wire))
        self.document = jsonpatch.JsonPatch(json.loads(wire)).apply(self.document, in_place=True)
        self.latest = changes.snapshot

    @property
    def paths(self) -> list[str]:
        return [f"{operation['op']} {operation['path']}" for operation in self.operations]


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def exact(value: Any) -> str:
    """Return JSON in a form in which 1, 1.0 and true are three different things."""
    return json.dumps(value, sort_keys=True)


def folded(*batches: Iterable[events.SessionEvent], memory: MemoryPolicy | None = None) -> tuple[Folding, Viewer]:
    folding = Folding(memory=memory)
    viewer = Viewer(folding)
    for batch in batches:
        folding.fold(*batch)
        folding.flush()
    return folding, viewer


@given(BATCHES, st.sampled_from([None, MemoryPolicy(keep_turns=1), MemoryPolicy(keep_turns=2)]))
def test_patches_applied_are_the_snapshot(batches, memory):
    folding, viewer = folded(*batches, memory=memory)
    assert exact(viewer.document) == exact(to_json(folding.snapshot))


@given(BATCHES)
def test_each_delta_leads_to_its_own_snapshot(batches):
    folding = Folding()
    viewer = Viewer(folding)
    folding.state.changed.connect(
        lambda changes: states.append((exact(viewer.document), exact(to_json(changes.snapshot))))
    )
    states: list[tuple[str, str]] = []
    for batch in batches:
        folding.fold(*batch)
        folding.flush()
    for applied, expected in states:
        assert applied == expected


@given(BATCHES, st.lists(st.integers(1, 4), min_size=8, max_size=8))
def test_change_sets_that_were_merged_lead_to_the_last_snapshot(batches, sizes):
    folding, waiting = Folding(), []
    snapshot = folding.snapshot
    maker, document = DeltaMaker(snapshot), _copy(to_json(snapshot))
    folding.state.changed.connect(waiting.append)
    for batch, size in zip(batches, sizes, strict=False):
        folding.fold(*batch)
        folding.flush()
        if len(waiting) >= size:
            document = _apply_merged(maker, document, waiting)
    document = _apply_merged(maker, document, waiting)
    assert exact(document) == exact(to_json(folding.snapshot))


def _apply_merged(maker: DeltaMaker, document: Any, waiting: list[ChangeSet]) -> Any:
    if not waiting:
        return document
    merged = waiting[0]
    for changes in waiting[1:]:
        merged = changes.after(merged)
    waiting.clear()
    return jsonpatch.JsonPatch(_copy(maker.delta(merged))).apply(document, in_place=True)


@given(BATCHES, BATCHES)
def test_a_viewer_may_come_at_any_time_even_between_deliveries(before, after):
    folding = Folding()
    for batch in before:
        folding.flush()
        folding.fold(*batch)
    viewer = Viewer(folding)
    folding.flush()
    for batch in after:
        folding.fold(*batch)
        folding.flush()
    assert exact(viewer.document) == exact(to_json(folding.snapshot))


class TestSize:
    """No delta grows with what it is about."""

    LIMIT = SEGMENT + 300

    def grow(self, chunk: Any, pieces: int = 4_000, size: int = 30) -> Viewer:
        folding, viewer = folded([start()])
        for _ in range(pieces):
            folding.fold(chunk("x" * size))
            folding.flush()
        assert exact(viewer.document) == exact(to_json(folding.snapshot))
        return viewer

    @pytest.mark.parametrize(
        "chunk",
        [
            said,
            lambda words: said(words, "m"),
            lambda words: events.CompactionSummaryAdded("k", text(words)),
            lambda words: events.SessionMessageReported("m", appended=text(words)),
        ],
        ids=["message", "message with id", "compaction summary", "session message"],
    )
    def test_of_growing_text_only_the_tail_is_sent(self, chunk):
        sizes = self.grow(chunk).sizes
        assert max(sizes) < self.LIMIT
        whole_segments = SEGMENT // 30
        assert max(sizes[-whole_segments:]) <= max(sizes[: whole_segments + 5]) + 20  # the numbers have more digits

    def test_of_a_message_of_many_blocks_only_the_new_one_is_sent(self):
        folding, viewer = folded([start()])
        for _ in range(300):
            folding.fold(said(image()))
            folding.flush()
        assert max(viewer.sizes[-100:]) < 300
        assert exact(viewer.document) == exact(to_json(folding.snapshot))

    def test_one_big_piece_is_sent_once(self):
        _, viewer = folded([start(), said("a" * 10)], [said("b" * 100_000)], [said("c")])
        assert viewer.sizes[1] < 110_000
        assert viewer.sizes[2] < self.LIMIT

    def test_two_messages_at_once_are_followed_both(self):
        folding, viewer = folded([start(), said("a" * 50_000, "m1"), said("b" * 50_000, "m2")])
        for _ in range(5):
            folding.fold(said("a", "m1"), said("b", "m2"))
            folding.flush()
        assert max(viewer.sizes[-5:]) < 2 * self.LIMIT

    def test_a_viewer_that_comes_late_follows_at_once(self):
        folding = Folding(start(), said("a" * 50_000))
        folding.flush()
        viewer = Viewer(folding)
        folding.fold(said("b"))
        folding.flush()
        assert viewer.sizes[0] < self.LIMIT

    def test_of_a_tool_call_only_what_was_said_is_sent(self):
        _, viewer = folded([start(), call("c", raw_input={"text": "x" * 50_000})], [update("c", status="completed")])
        assert viewer.paths == ["replace /transcript/entries/1/status", "replace /version"]

    def test_the_end_of_a_turn_names_what_it_changes(self):
        _, viewer = folded([start(), call("c1", status="completed"), call("c2"), said("x" * 9_000)], [end()])
        assert viewer.paths == [
            "replace /transcript/entries/2/unfinished",
            "replace /turn",
            "replace /version",
        ]

    def test_the_oldest_entries_go_one_by_one_and_a_replayed_transcript_at_once(self):
        _, viewer = folded([start(1), said("a"), end(1)], [start(2)], [end(2)], memory=MemoryPolicy(keep_turns=1))
        assert viewer.paths[:3] == [
            "remove /transcript/entries/0",
            "remove /transcript/entries/0",
            "replace /transcript/first",
        ]
        _, viewer = folded([start(1), said("a"), end(1)], [REPLAY, user("b"), LIVE])
        assert viewer.paths[:3] == [
            "replace /transcript/entries",
            "replace /transcript/first",
            "add /transcript/entries/-",
        ]


class TestForms:
    def test_growing_text_is_replaced_at_its_last_segment_and_new_segments_are_added(self):
        _, viewer = folded([start(), said("ab")], [said("c")], [said("d" * SEGMENT)])
        where = "/transcript/entries/1/parts/0/segments"
        assert viewer.paths == [f"replace {where}/0", f"add {where}/-", "replace /version"]
        assert viewer.document["transcript"]["entries"][1]["parts"][0]["segments"] == [
            "abc" + "d" * (SEGMENT - 3),
            "ddd",
        ]

    def test_a_full_segment_is_not_sent_again(self):
        _, viewer = folded([start(), said("a" * SEGMENT)], [said("b")])
        assert viewer.paths[0] == "add /transcript/entries/1/parts/0/segments/-"

    def test_a_block_after_text_and_text_after_it_are_parts(self):
        _, viewer = folded([start(), said("a")], [said("b"), said(image()), said("c")])
        assert viewer.paths[:3] == [
            "replace /transcript/entries/1/parts/0/segments/0",
            "add /transcript/entries/1/parts/-",
            "add /transcript/entries/1/parts/-",
        ]

    def test_a_prompts_id_is_all_that_is_sent_of_its_echo(self):
        _, viewer = folded([start(1, "Hi")], [user("Hi", "u")])
        assert viewer.paths == ["replace /transcript/entries/0/messageId", "replace /version"]

    def test_a_summary_that_was_replaced_is_sent_whole(self):
        def summary(words: str) -> events.CompactionReported:
            return events.CompactionReported("k", "in_progress", (TextContent(words),))

        _, viewer = folded([summary("a" * SEGMENT + "b")], [summary("c" * SEGMENT + "d")])
        assert viewer.paths == ["replace /transcript/entries/0/summary", "replace /version"]

    def test_keys_are_escaped(self):
        _, viewer = folded([events.SubagentReported(SubagentUpdate("a/b~c"))])
        assert viewer.paths == ["add /subagents/a~1b~0c", "replace /version"]
        assert list(viewer.document["subagents"]) == ["a/b~c"]

    def test_the_output_of_a_command_is_patched_at_its_end(self):
        def printed(words: str, **more: Any) -> events.TerminalReported:
            return events.TerminalReported("a/b", "ls", printed=words, **more)

        _, viewer = folded([printed("ab")], [printed("c")])
        assert viewer.operations[0] == {"op": "replace", "path": "/terminals/a~1b/output/0", "value": "abc"}
        folding, viewer = folded([printed("x" * SEGMENT * MAX_SEGMENTS)], [printed("y"), printed("z")])
        where = "/terminals/a~1b"
        assert viewer.paths == [
            f"remove {where}/output/0",
            f"add {where}/output/-",
            f"replace {where}/truncated",
            "replace /version",
        ]
        folding.fold(printed("v" * SEGMENT, ended=True, exit_code=0)).flush()
        assert viewer.paths[:2] == [f"remove {where}/output/0", f"replace {where}/output/{MAX_SEGMENTS - 2}"]
        assert viewer.document == to_json(folding.snapshot)
        assert viewer.sizes[-1] < 2 * SEGMENT + 1000
        folding.fold(printed("w" * SEGMENT * (MAX_SEGMENTS + 1))).flush()
        assert viewer.paths[0] == f"replace {where}/output"
        assert viewer.document == to_json(folding.snapshot)

    @given(st.lists(st.integers(0, 3 * SEGMENT), max_size=8), st.integers(1, 6))
    def test_the_output_of_a_command_is_exact_however_it_comes(self, sizes, kept):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("acp_host.state.terminal_output.MAX_SEGMENTS", kept)
            folding, viewer = folded(*([events.TerminalReported("t", "ls", printed="x" * size)] for size in sizes))
        assert viewer.document == to_json(folding.snapshot)

    def test_items_by_key_are_added_replaced_and_removed_if_the_viewer_has_them(self):
        one, two = (TerminalView(terminal_id="t", command=command) for command in ("ls", "ls -l"))
        states = [evolve(Folding().snapshot, terminals=terminals) for terminals in ({}, {"t": one}, {"t": two}, {}, {})]
        maker, document = DeltaMaker(states[0]), _copy(to_json(states[0]))
        for state, kind in zip(states[1:], ("added", "changed", "removed", "removed"), strict=True):
            changes = ChangeSet(1, (Change("terminals", "t", ChangeKind(kind)),), state)
            document = jsonpatch.JsonPatch(_copy(maker.delta(changes))).apply(document)
            assert exact(document) == exact(to_json(state))

    def test_numbers_and_booleans_that_python_takes_for_equal_are_told_apart(self):
        folding, viewer = folded(
            [call("c", raw_output=1)], [update("c", raw_output=True)], [update("c", raw_output=1.0)]
        )
        assert exact(viewer.document) == exact(to_json(folding.snapshot))
