"""Text that grows by small pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.state.text import SEGMENT, TextBuilder
from acp_host.wire.text import join_text

PIECES = st.lists(
    st.one_of(
        st.text(max_size=5),
        st.builds(str.__mul__, st.sampled_from(["a", "é", "😀", "\ud83d", "\ude00"]), st.integers(0, SEGMENT + 2)),
    ),
    max_size=12,
)


@given(PIECES)
def test_segments_are_the_pieces_put_together(pieces):
    builder = TextBuilder()
    for piece in pieces:
        builder.append(piece)
    assert join_text(builder.segments()) == join_text(pieces)


@given(PIECES)
def test_a_segment_never_changes_once_another_follows(pieces):
    builder, seen = TextBuilder(), ()
    for piece in pieces:
        builder.append(piece)
        segments = builder.segments()
        for before, now in zip(seen[:-1], segments, strict=False):
            assert before is now
        assert len(segments) >= len(seen)
        seen = segments


@given(PIECES)
def test_closed_segments_have_their_length_and_only_the_last_is_shorter(pieces):
    builder = TextBuilder()
    for piece in pieces:
        builder.append(piece)
    *closed, last = builder.segments() or ("",)
    assert all(len(segment) in (SEGMENT - 1, SEGMENT) for segment in closed)
    assert len(last) <= SEGMENT


@given(PIECES, PIECES)
def test_a_builder_made_from_segments_goes_on_where_the_other_stopped(before, after):
    one = TextBuilder()
    for piece in before:
        one.append(piece)
    other = TextBuilder(one.segments())
    for piece in after:
        one.append(piece)
        other.append(piece)
    assert other.segments() == one.segments()


@given(PIECES, st.sets(st.integers(0, 12)))
def test_looking_in_between_changes_nothing(pieces, looks):
    watched, unwatched = TextBuilder(), TextBuilder()
    for number, piece in enumerate(pieces):
        watched.append(piece)
        unwatched.append(piece)
        if number in looks:
            watched.segments()
    assert watched.segments() == unwatched.segments()


@pytest.mark.parametrize("before", [0, 1, SEGMENT - 2, SEGMENT - 1, SEGMENT, 2 * SEGMENT - 1])
def test_the_halves_of_a_character_meet_wherever_they_were_cut(before):
    builder = TextBuilder()
    for piece in ("a" * before, "\ud83d", "\ude00", "b"):
        builder.append(piece)
        builder.segments()
    assert "".join(builder.segments()) == "a" * before + "😀b"
    for segment in builder.segments():
        segment.encode()  # no half is left at either end


def test_a_half_at_the_very_end_of_a_full_segment_waits_in_the_next_one():
    builder = TextBuilder()
    builder.append("a" * (SEGMENT - 1) + "\ud83d")
    assert [len(segment) for segment in builder.segments()] == [SEGMENT - 1, 1]


def test_nothing_said_is_no_segment():
    assert TextBuilder().segments() == ()
    assert TextBuilder(("abc",)).segments() == ("abc",)
