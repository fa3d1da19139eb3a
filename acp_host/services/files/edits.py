"""The difference of two texts as small edits: :func:`text_edits`, :func:`apply_edits`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from attrs import frozen

__all__ = ["Position", "TextEdit", "apply_edits", "text_edits"]

_MAX_COMPARED = 4_000_000
"""How many pairs of lines are compared at most; beyond, all between the first and the last difference is one edit."""


@frozen(order=True)
class Position:
    """A place between two characters of a text. A character is a Unicode code point.

    Attributes:
        line: which line, counted from 0; a line ends with a line feed.
        character: how many characters of that line are before it.
        offset: how many characters of the text are before it.
    """

    line: int
    character: int
    offset: int


@frozen
class TextEdit:
    """Something that takes the place of a part of a text.

    Attributes:
        start: where the part begins.
        end: where it ends; ``start`` if something is inserted.
        new_text: what takes its place; empty if the part is deleted.
    """

    start: Position
    end: Position
    new_text: str


def text_edits(old: str, new: str) -> tuple[TextEdit, ...]:
    """Return what makes ``new`` of ``old``: edits in order and without overlap, all of them in terms of ``old``."""
    if old == new:
        return ()
    old_lines, new_lines = _lines(old), _lines(new)
    bounds = [0, *accumulate(map(len, old_lines))]
    starts = bounds if old.endswith("\n") or not old else bounds[:-1]
    edits = []
    for first, stop, lines in _differences(old_lines, new_lines):
        start, end, text = _trimmed(old, bounds[first], bounds[stop], "".join(lines))
        edits.append(TextEdit(_position(starts, start), _position(starts, end), text))
    return tuple(edits)


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """Return a text after edits as :func:`text_edits` gives them.

    >>> apply_edits("one\\ntwo\\n", text_edits("one\\ntwo\\n", "one\\n2\\n"))
    'one\\n2\\n'
    """
    parts, position = [], 0
    for edit in edits:
        parts += [text[position : edit.start.offset], edit.new_text]
        position = edit.end.offset
    return "".join([*parts, text[position:]])


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def _differences(old: list[str], new: list[str]) -> Iterator[tuple[int, int, list[str]]]:
    """Return which lines of ``old`` make room for which others, in order."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    if (old_end - head) * (new_end - head) > _MAX_COMPARED:
        yield head, old_end, new[head:new_end]
        return
    # Lines that are everywhere, as closing brackets are, are no place to start from for it; they would cost seconds.
    matcher = SequenceMatcher(None, old[head:old_end], new[head:new_end])
    for kind, begin, end, new_begin, new_stop in matcher.get_opcodes():
        if kind != "equal":
            yield head + begin, head + end, new[head + new_begin : head + new_stop]


def _trimmed(old: str, start: int, end: int, text: str) -> tuple[int, int, str]:
    """Leave out of an edit what is the same at the beginning and the end of a part and of what takes its place."""
    head = _common(old[start:end], text)
    head -= _is_within_crlf(old, start + head) or _is_within_crlf(text, head)
    tail = _common(old[start + head : end][::-1], text[head:][::-1])
    tail -= _is_within_crlf(old, end - tail) or _is_within_crlf(text, len(text) - tail)
    return start + head, end - tail, text[head : len(text) - tail]


def _is_within_crlf(text: str, offset: int) -> bool:
    """Tell whether a place is inside of what editors take for one end of a line."""
    return text[offset - 1 : offset + 1] == "\r\n"


def _position(starts: list[int], offset: int) -> Position:
    line = bisect_right(starts, offset) - 1
    return Position(line, offset - starts[line], offset)


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many elements two sequences have in common at their beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(first), len(second)))
