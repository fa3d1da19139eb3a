"""Where entries are kept, and what readers get of it."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.state.builders import MessageBuilder
from acp_host.state.entries import MessageEntry, Speaker, TextPart, ToolCallEntry, UnknownEntry
from acp_host.state.transcript import PAGE, Transcript, TranscriptStore
from tests.state.session_events import text

KEPT_OPEN = 8 * PAGE  # entries at the end that are never packed


def entry(position: int, words: str = "") -> MessageEntry:
    return MessageEntry(
        position=position, speaker=Speaker.USER, parts=(TextPart(segments=(words or f"entry {position}",)),)
    )


def filled(count: int) -> TranscriptStore:
    store = TranscriptStore()
    for position in range(count):
        assert store.add(entry(position)) == position
    return store


def packed(count: int) -> TranscriptStore:
    store = filled(count)
    while store.pack_one(store.end):
        pass
    gc.collect()
    return store


@functools.cache
def _whole(make: Callable[[int], TranscriptStore], count: int) -> Transcript:
    return make(count).freeze()


def writing(store: TranscriptStore) -> MessageBuilder:
    builder = MessageBuilder(store.end, Speaker.ASSISTANT, None, None, False)
    builder.parts.add(text("so far"))
    store.add(builder)
    return builder


@pytest.mark.parametrize("make", [filled, packed])
class TestSequence:
    """A transcript is a sequence, whether or not its pages are packed."""

    count = KEPT_OPEN + 2 * PAGE + 3

    def test_it_has_a_length_and_is_iterated_in_both_directions(self, make):
        transcript = make(self.count).freeze()
        assert len(transcript) == self.count
        assert [entry.position for entry in transcript] == list(range(self.count))
        assert [entry.position for entry in reversed(transcript)] == list(reversed(range(self.count)))

    @pytest.mark.parametrize("index", [0, 5, PAGE - 1, PAGE, -1, -PAGE, 2 * PAGE + 1])
    def test_it_is_indexed_from_both_ends(self, make, index):
        transcript = make(self.count).freeze()
        assert transcript[index].position == range(self.count)[index]

    @pytest.mark.parametrize("index", [count, -count - 1])
    def test_an_index_outside_is_an_error(self, make, index):
        with pytest.raises(IndexError):
            make(self.count).freeze()[index]

    @given(cut=st.slices(count))
    def test_it_is_sliced_as_a_list_is(self, make, cut):
        transcript = _whole(make, self.count)
        assert [entry.position for entry in transcript[cut]] == list(range(self.count))[cut]

    def test_with_the_oldest_gone_places_count_from_the_first_kept_and_positions_stay(self, make):
        store = make(self.count)
        store.drop_before(PAGE + 5)
        transcript = store.freeze()
        kept = list(range(PAGE + 5, self.count))
        assert transcript.first == PAGE + 5
        assert len(transcript) == len(kept)
        assert [entry.position for entry in transcript] == kept
        assert [entry.position for entry in reversed(transcript)] == kept[::-1]
        assert transcript[0].position == PAGE + 5
        assert transcript[-1].position == kept[-1]
        assert [entry.position for entry in transcript[100:130]] == kept[100:130]
        assert transcript.at(PAGE + 4) is None
        assert transcript.at(PAGE + 5) is transcript[0]
        assert transcript.at(self.count) is None

    def test_two_looks_at_one_entry_see_the_same_object(self, make):
        transcript = make(self.count).freeze()
        assert transcript[3] is transcript.at(3) is transcript[3 - self.count] is next(iter(transcript[3:4]))


def test_an_empty_transcript_is_one():
    transcript = TranscriptStore().freeze()
    assert list(transcript) == [] == list(reversed(transcript))
    assert transcript[:] == ()
    with pytest.raises(IndexError):
        transcript[-1]


class TestSharing:
    def test_a_snapshot_is_the_same_object_until_something_changes(self):
        store = filled(3)
        before = store.freeze()
        assert store.freeze() is before
        store.add(entry(3))
        assert store.freeze() is not before

    def test_pages_without_a_change_are_shared(self):
        store = filled(3 * PAGE)
        before = store.freeze()
        store.put(PAGE + 1, entry(PAGE + 1, "other"))
        after = store.freeze()
        shared = [old is new for old, new in zip(before._pages, after._pages, strict=True)]
        assert shared == [True, False, True]

    def test_entries_without_a_change_are_the_same_objects(self):
        store = filled(3 * PAGE)
        before = tuple(store.freeze())
        store.put(PAGE + 1, entry(PAGE + 1, "other"))
        differs = [old.position for old, new in zip(before, store.freeze(), strict=True) if old is not new]
        assert differs == [PAGE + 1]

    def test_a_snapshot_never_changes(self):
        store = TranscriptStore()
        builder = writing(store)
        before = store.freeze()
        builder.parts.add(text(" and more"))
        store.touch(0)
        store.add(entry(1))
        store.drop_before(1)
        assert [entry.text for entry in before] == ["so far"]
        assert [entry.text for entry in store.freeze()] == ["entry 1"]

    def test_closing_what_has_not_changed_since_someone_looked_keeps_the_object(self):
        store = TranscriptStore()
        writing(store)
        before = store.freeze()
        store.close(0)
        assert store.freeze()[0] is before[0]
        assert isinstance(store.get(0), MessageEntry)

    def test_closing_what_has_changed_keeps_the_change(self):
        store = TranscriptStore()
        builder = writing(store)
        store.freeze()
        builder.parts.add(text(" and more"))
        store.touch(0)
        store.close(0)
        builder.parts.add(text(" ignored"))
        assert store.freeze()[0].text == "so far and more"


class TestPacking:
    count = KEPT_OPEN + 3 * PAGE

    def test_old_full_pages_are_packed_and_the_newest_are_not(self):
        store = filled(self.count)
        done = 0
        while store.pack_one(store.end):
            done += 1
        assert done == 3

    def test_nothing_from_the_running_turn_on_is_packed(self):
        store = filled(self.count)
        assert store.pack_one(2 * PAGE - 1)
        assert not store.pack_one(2 * PAGE - 1)

    def test_what_somebody_still_holds_is_the_same_object_again(self):
        store = filled(self.count)
        held = store.freeze()[5]
        while store.pack_one(store.end):
            pass
        gc.collect()
        assert store.freeze()[5] is held
        assert store.freeze()[6] is store.freeze()[6]

    def test_packing_changes_no_snapshot_and_frees_memory_for_all_of_them(self):
        store = filled(self.count)
        snapshot = store.freeze()
        before = sum(isinstance(thing, MessageEntry) for thing in gc.get_objects())
        while store.pack_one(store.end):
            pass
        gc.collect()
        assert before - sum(isinstance(thing, MessageEntry) for thing in gc.get_objects()) == 3 * PAGE
        assert store.freeze() is snapshot
        assert [entry.position for entry in snapshot] == list(range(self.count))

    def test_what_nobody_holds_is_freed_again_after_a_look(self):
        store = packed(self.count)
        before = sum(isinstance(thing, MessageEntry) for thing in gc.get_objects())
        list(store.freeze())
        gc.collect()
        # Two pages may stay unpacked after a look.
        assert sum(isinstance(thing, MessageEntry) for thing in gc.get_objects()) - before <= 2 * PAGE

    def test_an_older_snapshot_goes_on_to_show_what_it_showed(self):
        store = packed(self.count)
        before = store.freeze()
        store.put(7, entry(7, "other"))
        assert before[7].text == "entry 7"
        assert store.freeze()[7].text == "other"
        assert store.freeze()[8] is before[8]

    def test_a_page_that_was_changed_late_is_packed_again(self):
        store = packed(self.count)
        store.put(7, entry(7, "other"))
        assert store.pack_one(store.end)
        assert store.freeze()[7].text == "other"
        while store.pack_one(store.end):
            pass
        assert [entry.position for entry in store.freeze()] == list(range(self.count))

    def test_only_reading_leaves_a_page_packed(self):
        store = packed(self.count)
        assert store.get(7) == entry(7)
        store.close(7)
        assert not store.pack_one(store.end)

    def test_a_page_in_which_something_is_being_written_waits(self):
        store = packed(self.count)
        builder = MessageBuilder.of(store.get(7))
        store.put(7, builder)
        assert not store.pack_one(store.end)
        builder.parts.add(text(" and more"))
        store.touch(7)
        assert store.freeze()[7].text == "entry 7 and more"
        store.close(7)
        assert store.pack_one(store.end)
        assert store.freeze()[7].text == "entry 7 and more"

    def test_entries_of_every_kind_come_out_as_they_went_in(self):
        store = TranscriptStore()
        call = ToolCallEntry(position=0, key="c", tool_call_id="c", raw_input={"a": [1, None, "\ud83d"]}, turn=1)
        store.add(call)
        store.add(UnknownEntry(position=1, tag="x", data={"sessionUpdate": "x"}))
        for position in range(2, self.count):
            store.add(entry(position))
        expected = store.freeze()[:3]
        while store.pack_one(store.end):
            pass
        unheld = store.freeze()
        copies = [type(old)(**{slot: getattr(old, slot) for slot in _slots(old)}) for old in expected]
        del expected, call
        gc.collect()
        assert list(unheld[:3]) == copies

    def test_what_is_nested_too_deeply_to_pack_stays_as_it_is_and_stops_nothing(self):
        deep: list = []
        for _ in range(1_000):  # the decoder of messages accepts this depth
            deep = [deep]
        store = TranscriptStore()
        store.add(UnknownEntry(position=0, tag="x", data={"deep": deep}))
        for position in range(1, self.count):
            store.add(entry(position))
        while store.pack_one(store.end):
            pass
        transcript = store.freeze()
        assert transcript[0].data["deep"] is deep
        assert len(transcript) == self.count

    def test_the_oldest_can_go_whether_packed_or_not(self):
        store = packed(self.count)
        for first in (1, PAGE - 1, PAGE, 2 * PAGE + 5, self.count - 1, self.count):
            store.drop_before(first)
            assert [entry.position for entry in store.freeze()] == list(range(first, self.count))
        assert store.add(entry(self.count)) == self.count
        assert [entry.position for entry in store.freeze()] == [self.count]
        assert store.get(0) is None
        store.close(0)
        store.drop_before(3)
        assert store.first == self.count


def _slots(entry):
    return [slot for slot in type(entry).__slots__ if not slot.startswith("__")]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(1, 200)),
            st.tuples(st.just("put"), st.integers(0, 2_000)),
            st.tuples(st.just("drop"), st.integers(0, 2_000)),
            st.tuples(st.just("pack"), st.integers(0, 2_500)),
            st.tuples(st.just("look"), st.just(0)),
        ),
        max_size=25,
    )
)
def test_whatever_is_done_a_store_holds_what_a_list_would(steps):
    store, model, first = filled(KEPT_OPEN + PAGE), [f"entry {n}" for n in range(KEPT_OPEN + PAGE)], 0
    for step, number in steps:
        if step == "add":
            for _ in range(number):
                store.add(entry(store.end))
                model.append(f"entry {len(model)}")
        elif step == "put" and first <= number < len(model):
            store.put(number, entry(number, "other"))
            model[number] = "other"
        elif step == "drop":
            store.drop_before(number)
            first = max(first, min(number, len(model)))
        elif step == "pack":
            store.pack_one(number)
        else:
            store.freeze()
        assert len(store.freeze()) == len(model) - first
    assert [entry.text for entry in store.freeze()] == model[first:]
