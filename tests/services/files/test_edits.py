"""The difference of two texts: it makes one of the other, is small, and says where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.services.files import Position, TextEdit, apply_edits, edits, text_edits

texts = st.text(alphabet="ab\r\n", max_size=40) | st.lists(st.sampled_from(["a\n", "b\r\n", "é😀\n", "\n"])).map(
    "".join
)


@given(texts, texts)
def test_edits_make_the_new_text_of_the_old(old: str, new: str) -> None:
    assert apply_edits(old, text_edits(old, new)) == new


@given(texts, texts)
def test_edits_are_in_order_apart_and_none_is_idle(old: str, new: str) -> None:
    end = 0
    for edit in text_edits(old, new):
        assert end <= edit.start.offset <= edit.end.offset
        assert old[edit.start.offset : edit.end.offset] != edit.new_text
        end = edit.end.offset


@given(texts, texts)
def test_positions_agree_with_offsets(old: str, new: str) -> None:
    lines = old.split("\n")
    for edit in text_edits(old, new):
        for place in (edit.start, edit.end):
            before = lines[: place.line]
            assert place.offset == sum(len(line) + 1 for line in before) + place.character
            assert place.character <= len(lines[place.line])


@given(texts, texts)
def test_no_edit_begins_or_ends_inside_of_a_line_ending(old: str, new: str) -> None:
    for edit in text_edits(old, new):
        for place in (edit.start.offset, edit.end.offset):
            assert not (place and old[place - 1 : place + 1] == "\r\n")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("same", "same", []),
        ("", "new\n", [((0, 0, 0), (0, 0, 0), "new\n")]),
        ("old\n", "", [((0, 0, 0), (1, 0, 4), "")]),
        ("one two three\n", "one 2 three\n", [((0, 4, 4), (0, 7, 7), "2")]),
        ("a\nb\nc\n", "a\nB\nc\nd\n", [((1, 0, 2), (1, 1, 3), "B"), ((3, 0, 6), (3, 0, 6), "d\n")]),
        ("a\r\nb", "a\nb", [((0, 1, 1), (1, 0, 3), "\n")]),
    ],
)
def test_edits_are_small(old: str, new: str, expected: list[tuple[object, object, str]]) -> None:
    assert text_edits(old, new) == tuple(
        TextEdit(Position(*start), Position(*end), text) for start, end, text in expected
    )


def test_texts_that_are_too_different_are_one_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = "head\n" + "a\nx\n" * 10 + "tail\n", "head\n" + "b\nx\n" * 10 + "tail\n"
    assert len(text_edits(old, new)) == 10
    monkeypatch.setattr(edits, "_MAX_COMPARED", 10)
    [edit] = text_edits(old, new)
    assert (edit.start.line, edit.end.line) == (1, 19)
    assert apply_edits(old, [edit]) == new


def test_lines_that_are_everywhere_do_not_cost_the_square_of_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in comparisons: 2,000 lines, of which every second is the same, against as many others."""
    looks = 0

    class Counting(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal looks
            looks += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    lines = edits._lines
    monkeypatch.setattr(edits, "_lines", lambda text: [Counting(line) for line in lines(text)])
    old = "".join("}\n" if number % 2 else f"old {number % 10}\n" for number in range(2000))
    new = "".join("}\n" if number % 3 else f"new {number % 10}\n" for number in range(2000))
    assert apply_edits(old, text_edits(old, new)) == new
    assert looks < 100_000
