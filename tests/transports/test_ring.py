"""The bounded end of a stream, and its lines."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.transports._ring import MAX_LINE, ByteRing, LineDecoder


@given(st.lists(st.binary(max_size=40)), st.integers(1, 50), st.integers(0, 60))
def test_a_ring_keeps_the_end(chunks: list[bytes], limit: int, asked: int) -> None:
    ring = ByteRing(limit)
    for chunk in chunks:
        ring.append(bytes(byte & 0x7F for byte in chunk))
        assert len(ring._data) <= 3 * limit
    whole = bytes(byte & 0x7F for byte in b"".join(chunks))
    assert ring.total == len(whole)
    assert ring.text() == whole[-limit:].decode()
    kept = min(asked, limit)
    assert ring.text(asked) == (whole[-kept:].decode() if kept else "")


@pytest.mark.parametrize("limit", range(1, 9))
def test_a_character_cut_at_the_front_is_left_out(limit: int) -> None:
    ring = ByteRing(limit)
    ring.append("éé€😀".encode())
    assert ring.text() in "éé€😀"
    assert "�" not in ring.text()


def test_invalid_text_is_replaced() -> None:
    ring = ByteRing(100)
    ring.append(b"a\xffb\xe2\x82")
    assert ring.text() == "a\ufffdb\ufffd"


@given(st.text(alphabet="aé€😀\r\n"), st.lists(st.integers(1, 5)))
def test_lines_do_not_depend_on_how_the_stream_is_split(text: str, sizes: list[int]) -> None:
    data, decoder, lines = text.encode(), LineDecoder(), []
    for size in sizes:
        lines += decoder.feed(data[:size])
        data = data[size:]
    lines += decoder.feed(data)
    lines += decoder.feed(b"", final=True)
    assert lines == [line for line in re.split("[\r\n]+", text) if line]


def test_lines_are_bounded() -> None:
    decoder = LineDecoder()
    pieces = list(decoder.feed(b"x" * (3 * MAX_LINE + 5)))
    assert [len(piece) for piece in pieces] == [MAX_LINE, MAX_LINE, MAX_LINE, 5]
    assert list(decoder.feed(b"y\n")) == ["y"]


def test_a_character_left_open_at_the_end_is_replaced() -> None:
    decoder = LineDecoder()
    assert list(decoder.feed(b"a\xe2\x82")) == []
    assert list(decoder.feed(b"", final=True)) == ["a\ufffd"]
