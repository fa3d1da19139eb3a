"""The bounded output buffer against a model that keeps everything."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.services._output import OutputBuffer

outputs = st.text(alphabet=st.sampled_from("ab\né€😀"), max_size=40).map(str.encode)
hostile = st.binary(max_size=40) | st.lists(st.sampled_from([b"\xf0\x9f", b"\x98\x80", b"\xff", b"a"])).map(b"".join)


def newest(text: str, limit: int) -> str:
    """The longest end of ``text`` in whole characters that fits."""
    kept = ""
    for character in reversed(text):
        if len((character + kept).encode()) > limit:
            break
        kept = character + kept
    return kept


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@given(data=outputs | hostile, cuts=st.lists(st.integers(0, 200), max_size=8), limit=st.integers(0, 50))
def test_the_newest_characters_are_kept_however_the_bytes_arrive(data: bytes, cuts: list[int], limit: int) -> None:
    buffer = OutputBuffer(limit)
    for chunk in split(data, cuts):
        buffer.feed(chunk)
    buffer.feed(b"", final=True)
    whole = data.decode("utf-8", "replace")
    assert buffer.text() == newest(whole, limit)
    assert buffer.truncated == (len(whole.encode()) > limit)


def test_half_a_character_is_held_back_until_the_rest_or_the_end_comes() -> None:
    buffer = OutputBuffer(100)
    buffer.feed("é😀".encode()[:4])
    assert buffer.text() == "é"
    buffer.feed("é😀".encode()[4:])
    assert buffer.text() == "é😀"
    buffer.feed(b"\xf0\x9f", final=True)
    assert buffer.text() == "é😀\ufffd"


@pytest.mark.parametrize("size", [1, 999, 1000, 1001, 100_000])
def test_memory_stays_bounded_whatever_the_chunks(size: int) -> None:
    buffer = OutputBuffer(1000)
    for _ in range(300_000 // size):
        buffer.feed(b"x" * size)
        assert len(buffer._kept) <= 2000
    assert buffer.text() == "x" * 1000
    assert buffer.truncated
