"""How much of a transcript is kept in memory, and where the rest goes."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from acp_host.errors import InvalidInput
from acp_host.state import events
from acp_host.state.activity import QUIET
from acp_host.state.clock import ManualScheduler
from acp_host.state.json_form import to_json
from acp_host.state.memory import MemoryPolicy
from acp_host.state.session_state import SessionState
from acp_host.state.transcript import PAGE
from tests.state.session_events import LIVE, REPLAY, Folding, call, end, said, start, thought, update, user


class Shelf:
    """An archive in memory."""

    def __init__(self) -> None:
        self.entries: dict[int, Mapping[str, Any]] = {}
        self.full = False

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        if self.full:
            raise OSError("no space left")
        assert [entry["position"] for entry in entries] == list(
            range(len(self.entries), len(self.entries) + len(entries))
        )
        self.entries.update({entry["position"]: entry for entry in entries})

    def fetch(self, first: int, last: int) -> Sequence[Mapping[str, Any]]:
        return [self.entries[position] for position in range(first, last + 1) if position in self.entries]


def turns(*numbers: int) -> list[events.SessionEvent]:
    return [event for turn in numbers for event in (start(turn, f"Q{turn}"), said(f"A{turn}"), call("c"), end(turn))]


@pytest.mark.parametrize("keep", [0, -1])
def test_at_least_one_turn_is_kept(keep):
    with pytest.raises(InvalidInput):
        MemoryPolicy(keep_turns=keep)


def test_everything_is_kept_unless_told_otherwise():
    assert len(Folding(*turns(*range(50))).entries) == 150


class TestKeepingSomeTurns:
    def test_the_newest_are_kept_and_positions_stay(self):
        folding = Folding(*turns(1, 2, 3, 4, 5), memory=MemoryPolicy(keep_turns=2))
        assert folding.texts == ["u:Q4", "a:A4", "c#4", "u:Q5", "a:A5", "c#5"]
        assert folding.snapshot.transcript.first == 9
        assert [entry.position for entry in folding.entries] == list(range(9, 15))

    def test_the_running_turn_counts(self):
        folding = Folding(*turns(1, 2), start(3, "Q3"), memory=MemoryPolicy(keep_turns=1))
        assert folding.texts == ["u:Q2", "a:A2", "c#2", "u:Q3"]
        assert folding.fold(end(3)).texts == ["u:Q3"]

    def test_what_comes_between_turns_goes_with_the_turn_before(self):
        folding = Folding(*turns(1), said("late"), *turns(2), memory=MemoryPolicy(keep_turns=1))
        assert folding.texts == ["u:Q2", "a:A2", "c#2"]

    def test_observers_hear_of_it(self):
        folding, seen = Folding(memory=MemoryPolicy(keep_turns=1)), []
        folding.fold(*turns(1))
        folding.flush()
        folding.state.changed.connect(seen.append)
        folding.fold(*turns(2))
        folding.flush()
        assert seen[0].touches("transcript")
        assert seen[0].snapshot.transcript.first == 3

    def test_a_late_update_of_a_call_that_is_gone_is_a_new_call(self):
        folding = Folding(start(1), call("old"), end(1), *turns(2), memory=MemoryPolicy(keep_turns=1))
        folding.fold(update("old", status="completed"))
        assert folding.texts[-1] == "old"
        assert folding.entries[-1].provisional

    def test_a_late_piece_of_a_message_that_is_gone_is_a_new_message(self):
        folding = Folding(*turns(1), memory=MemoryPolicy(keep_turns=1))
        folding.fold(start(2), said("x", "m"), end(2), *turns(3), said("y", "m"))
        assert folding.texts == ["u:Q3", "a:A3", "c", "a:y"]

    def test_a_long_replay_is_trimmed_too(self):
        told = [event for n in range(5) for event in (user(f"Q{n}"), said(f"A{n}"))]
        folding = Folding(REPLAY, *told, LIVE, memory=MemoryPolicy(keep_turns=2))
        assert folding.texts == ["u:Q3", "a:A3", "u:Q4", "a:A4"]


class TestArchive:
    def test_what_leaves_goes_there_once_and_in_order(self):
        shelf = Shelf()
        whole = Folding(*turns(1, 2, 3, 4, 5))
        folding = Folding(*turns(1, 2, 3, 4, 5), memory=MemoryPolicy(keep_turns=2, archive=shelf))
        assert list(shelf.entries.values()) == [to_json(entry) for entry in whole.entries[:9]]
        assert len(folding.entries) == 6

    @pytest.mark.parametrize("first", [0, 5, 8, 9, 12, 14, 20, -3])
    @pytest.mark.parametrize("last", [-1, 0, 8, 9, 12, 14, 99])
    def test_fetching_joins_what_left_with_what_is_here(self, first, last):
        whole = Folding(*turns(1, 2, 3, 4, 5)).state
        parted = Folding(*turns(1, 2, 3, 4, 5), memory=MemoryPolicy(keep_turns=2, archive=Shelf())).state
        expected = [to_json(entry) for entry in whole.snapshot().transcript if first <= entry.position <= last]
        assert whole.fetch(first, last) == expected
        assert parted.fetch(first, last) == expected

    def test_without_an_archive_fetching_gives_what_is_here(self):
        folding = Folding(*turns(1, 2, 3), memory=MemoryPolicy(keep_turns=1))
        assert [entry["position"] for entry in folding.state.fetch(0, 99)] == [6, 7, 8]

    def test_one_that_fails_loses_nothing_and_stops_nothing(self):
        shelf, failures = Shelf(), []
        scheduler = ManualScheduler()
        state = SessionState(
            "s",
            scheduler,
            report=lambda observer, error: failures.append(error),
            memory=MemoryPolicy(keep_turns=1, archive=shelf),
        )
        shelf.full = True
        for event in turns(1, 2):
            state.apply(event)
        assert [str(error) for error in failures] == ["no space left"]
        assert len(state.snapshot().transcript) == 6
        shelf.full = False
        for event in turns(3):
            state.apply(event)
        assert len(shelf.entries) == 6
        assert len(state.snapshot().transcript) == 3


class TestPacking:
    """Turns that are over are kept compactly, bit by bit and between deliveries."""

    count = 12 * PAGE // 3

    def packed(self, folding: Folding) -> int:
        return sum(not isinstance(page._content, tuple) for page in folding.snapshot.transcript._pages)

    def wait(self, folding: Folding, flushes: int) -> None:
        """Let the session have as much time as it takes for itself after a turn."""
        folding.clock.advance(0.1)
        folding.flush(flushes)

    def test_soon_after_a_turn_one_page_per_flush(self):
        folding = Folding(*turns(*range(self.count)))
        folding.flush(10)
        assert self.packed(folding) == 0
        seen = []
        for _ in range(6):
            self.wait(folding, 1)
            seen.append(self.packed(folding))
        assert seen[-1] == 4
        assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(seen))

    def test_while_the_next_turn_runs_it_waits_for_the_end_of_that(self):
        folding = Folding(*turns(*range(self.count)), start(999))
        self.wait(folding, 10)
        assert self.packed(folding) == 0
        folding.fold(end(999))
        self.wait(folding, 10)
        assert self.packed(folding) == 4

    def test_where_turn_follows_turn_so_much_waits_and_no_more(self):
        folding = Folding(*turns(*range(4 * self.count)), start(9999))
        self.wait(folding, 60)
        assert self.packed(folding) == 48 - 8 - 16

    def test_the_running_turn_is_left_alone(self):
        talk = [event for _ in range(24 * PAGE) for event in (said("a"), thought("b"))]
        folding = Folding(*turns(1), start(2), *talk)
        self.wait(folding, 60)
        assert self.packed(folding) == 0
        folding.fold(end(2))
        self.wait(folding, 60)
        assert self.packed(folding) == 40

    def test_also_what_an_agent_does_between_turns_once_it_is_quiet(self):
        folding = Folding(*[event for _ in range(6 * PAGE) for event in (said("a"), thought("b"))])
        folding.flush(20)
        assert self.packed(folding) == 0
        for _ in range(2):
            folding.clock.advance(QUIET)
            folding.flush(10)
        self.wait(folding, 10)
        assert self.packed(folding) == 4

    def test_a_late_update_of_a_packed_call_is_folded_and_only_that_entry_is_another(self):
        folding = Folding(*turns(*range(self.count)))
        self.wait(folding, 10)
        assert self.packed(folding) == 4
        before = folding.entries
        assert before[2].key == "c"
        folding.fold(start(999), update("c", status="completed"), end(999))  # the newest with that id
        folding.flush(10)
        differs = [old.key for old, new in zip(before, folding.entries, strict=False) if old is not new]
        assert differs == [f"c#{self.count}"]

    def test_a_long_replay_is_packed(self):
        told = [event for n in range(self.count) for event in (user(f"Q{n}"), said("A"), call("c"))]
        folding = Folding(REPLAY, *told, LIVE)
        self.wait(folding, 10)
        assert self.packed(folding) == 4

    def test_looking_at_packed_entries_shows_what_was_folded(self):
        plain, packed = Folding(*turns(*range(self.count))), Folding(*turns(*range(self.count)))
        self.wait(packed, 10)
        assert self.packed(packed) == 4
        gc.collect()
        assert packed.entries == plain.entries
