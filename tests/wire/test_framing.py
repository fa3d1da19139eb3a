"""Bytes in, lines out: the same whatever the pieces in which the bytes come."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_host.wire.framing import HEAD_SIZE, TAIL_SIZE, LineFramer, Oversized

BOM = b"\xef\xbb\xbf"
MAXIMUM = 40
LONG = b"0123456789" * 5
CONTENT = "日本語 — ﷽ \uffff".encode()

CASES: dict[str, tuple[bytes, list[bytes | Oversized]]] = {
    "nothing": (b"", []),
    "one line": (b'{"a":1}\n', [b'{"a":1}']),
    "several lines": (b"one\ntwo\nthree\n", [b"one", b"two", b"three"]),
    "no newline at the end": (b"one\ntwo", [b"one", b"two"]),
    "only a line without newline": (b"one", [b"one"]),
    "blank lines": (b"\n\none\n\n\ntwo\n\n", [b"one", b"two"]),
    "CRLF": (b"one\r\n\r\ntwo\r\n", [b"one", b"two"]),
    "CRLF without a last newline": (b"one\r\ntwo\r", [b"one", b"two"]),
    "CR doubled by a text-mode pipe": (b"one\r\r\n\r\r\ntwo\r\r\n", [b"one", b"two"]),
    "CR inside a line": (b"10%\r20%\rdone\n", [b"10%\r20%\rdone"]),
    "mixed line ends": (b"one\r\ntwo\nthree\r\n", [b"one", b"two", b"three"]),
    "BOM at the start": (BOM + b"one\ntwo\n", [b"one", b"two"]),
    "BOM before a later line": (b"one\n" + BOM + b"two\n", [b"one", b"two"]),
    "BOM before every line": ((BOM + b"one\r\n") * 3, [b"one"] * 3),
    "BOM alone": (BOM, []),
    "BOM on a blank line": (BOM + b"\r\none\n", [b"one"]),
    "BOM inside a line is content": (b"a" + BOM + b"b\n", [b"a" + BOM + b"b"]),
    "two BOMs: the second is content": (BOM + BOM + b"a\n", [BOM + b"a"]),
    "characters whose encoding begins like a BOM": ("，：\ufffd\n".encode(), ["，：\ufffd".encode()]),
    "half a BOM": (b"\xef\xbb\n\xefa\n", [b"\xef\xbb", b"\xefa"]),
    "multi-byte characters": (CONTENT + b"\n" + CONTENT + b"\n", [CONTENT, CONTENT]),
    "bytes that are no text": (b"\x00\xff\xfe\n\x80\n", [b"\x00\xff\xfe", b"\x80"]),
    "spaces are content": (b"  \n", [b"  "]),
    "as long as allowed": (LONG[:MAXIMUM] + b"\n" + LONG[:MAXIMUM], [LONG[:MAXIMUM]] * 2),
    "one byte too long": (LONG[: MAXIMUM + 1] + b"\n", [Oversized(41, LONG[:41], LONG[:41])]),
    "too long, then recovery": (b"a\n" + LONG + b"\nb\n", [b"a", Oversized(50, LONG, LONG), b"b"]),
    "too long twice": ((LONG + b"\n") * 2, [Oversized(50, LONG, LONG)] * 2),
    "too long, without newline": (b"a\n" + LONG, [b"a", Oversized(50, LONG, LONG)]),
    "the CR counts": (LONG[:MAXIMUM] + b"\r\n", [Oversized(41, LONG[:MAXIMUM] + b"\r", LONG[:MAXIMUM] + b"\r")]),
    "many lines in more than the maximum": (b"0123456789\n" * 9, [b"0123456789"] * 9),
    "blank lines in more than the maximum": (b"\n\r\n" * 30 + b"a\n", [b"a"]),
}


def lines_of(pieces: Iterable[bytes], maximum: int = MAXIMUM) -> list[bytes | Oversized]:
    framer = LineFramer(max_message_size=maximum)
    lines = [line for piece in pieces for line in framer.feed(piece)]
    return [*lines, *framer.eof()]


def cut(stream: bytes, points: Iterable[int]) -> list[bytes]:
    marks = [0, *sorted(points), len(stream)]
    return [stream[start:end] for start, end in itertools.pairwise(marks)]


@pytest.mark.parametrize("name", CASES)
def test_lines_are_the_same_for_every_way_to_cut_the_stream(name: str) -> None:
    stream, expected = CASES[name]
    assert lines_of([stream]) == expected
    assert lines_of(cut(stream, range(1, len(stream)))) == expected
    for point in range(len(stream) + 1):
        assert lines_of([stream[:point], stream[point:]]) == expected, point


def expected_lines(stream: bytes, maximum: int) -> list[bytes | Oversized]:
    lines: list[bytes | Oversized] = []
    for raw in stream.split(b"\n"):
        if len(raw) > maximum:
            lines.append(Oversized(len(raw), raw[:HEAD_SIZE], raw[-TAIL_SIZE:]))
        elif line := raw.removeprefix(BOM).rstrip(b"\r"):
            lines.append(line)
    return lines


PIECES = st.sampled_from([b"\n", b"\r", b"\r\n", BOM, b"\xef", b"{", b'{"a":1}', b"x" * 30, LONG, b"y" * 3000, CONTENT])
STREAMS = st.lists(PIECES | st.binary(max_size=12), max_size=30).map(b"".join)


@given(STREAMS, st.lists(st.integers(0, 4000), max_size=12), st.sampled_from([0, 1, 12, MAXIMUM, 2000, 2**20]))
@example(b"", [], 0)
@example(BOM + b"a\n", [1, 2], 2**20)
def test_lines_are_those_of_a_plain_split(stream: bytes, points: list[int], maximum: int) -> None:
    pieces = cut(stream, [min(point, len(stream)) for point in points])
    assert lines_of(pieces, maximum) == expected_lines(stream, maximum)


def test_lines_come_out_as_soon_as_they_end() -> None:
    framer = LineFramer()
    assert list(framer.feed(b'{"a"')) == []
    assert list(framer.feed(b":1}")) == []
    assert list(framer.feed(b'\n{"b":2}\n{"c')) == [b'{"a":1}', b'{"b":2}']
    assert list(framer.feed(b'":3}\n')) == [b'{"c":3}']
    assert list(framer.eof()) == []


def test_after_the_end_a_new_stream_may_begin() -> None:
    framer = LineFramer(max_message_size=10)
    framer.feed(b"x" * 11)
    assert list(framer.eof()) == [Oversized(11, b"x" * 11, b"x" * 11)]
    assert list(framer.eof()) == []
    assert list(framer.feed(b"again\n")) == [b"again"]


def test_the_default_maximum_takes_lines_of_many_megabytes() -> None:
    line = b'{"text":"' + b"a" * 10_000_000 + b'"}'
    stream = line + b"\nnext\n"
    assert lines_of([stream[at : at + 65536] for at in range(0, len(stream), 65536)], 64 * 2**20) == [line, b"next"]
    assert list(LineFramer().feed(stream)) == [line, b"next"]


def test_a_long_line_in_small_pieces_is_looked_at_once() -> None:
    # Looking at the whole line again for every piece would take hours.
    framer, piece = LineFramer(), b"x" * 64
    for _ in range(500_000):
        assert not framer.feed(piece)
    (line,) = framer.feed(b"\n")
    assert line == b"x" * 32_000_000


def peak_of_feeding(framer: LineFramer, piece: bytes, times: int) -> int:
    tracemalloc.start()
    try:
        for _ in range(times):
            framer.feed(piece)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_line_that_is_too_long_takes_no_more_memory_than_the_maximum() -> None:
    framer = LineFramer(max_message_size=2**20)
    assert peak_of_feeding(framer, b"x" * 65536, 1000) < 3 * 2**20
    skipped, after = framer.feed(b"end\nnext\n")
    assert skipped == Oversized(65536 * 1000 + 3, b"x" * HEAD_SIZE, b"x" * (TAIL_SIZE - 3) + b"end")
    assert after == b"next"


def test_many_small_pieces_take_no_more_memory_than_their_bytes() -> None:
    assert peak_of_feeding(LineFramer(), b"xy", 100_000) < 2**20
