"""What is kept of a command's output, against a model that keeps everything."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from acp_host.services._output import OutputBuffer


def newest(text: str, limit: int) -> str:
    """The longest end of ``text`` that takes no more than ``limit`` bytes: the model."""
    return next(text[start:] for start in range(len(text) + 1) if len(text[start:].encode()) <= limit)


printed = st.lists(
    st.one_of(
        st.binary(max_size=12),
        st.text("aé€😀\n", max_size=6).map(str.encode),
        st.sampled_from([b"\xf0\x9f", b"\x98\x80", b"\xe2", b"\x82\xac", b"\xff", b"\r\n"]),
    ),
    max_size=30,
)


@given(printed, st.integers(0, 40))
@example([b"\xe2", b"\x82", b"\xac"], 3)
@example([b"\xe2", b"\x82", b"\xac"], 2)
@example([b"a" * 100], 0)
def test_the_newest_whole_characters_are_kept(chunks: list[bytes], limit: int) -> None:
    buffer = OutputBuffer(limit)
    told = "".join([*(buffer.feed(chunk) for chunk in chunks), buffer.feed(b"", final=True)])
    whole = b"".join(chunks).decode(errors="replace")
    assert told == whole
    assert buffer.text() == newest(whole, limit)
    assert buffer.truncated == (buffer.text() != whole)


@given(printed, st.integers(0, 40), st.integers(0, 30))
def test_the_end_of_one_output_takes_nothing_from_the_next(chunks: list[bytes], limit: int, cut: int) -> None:
    """What a command has left in the background may print after its end was told."""
    buffer = OutputBuffer(limit)
    for number, chunk in enumerate(chunks):
        buffer.feed(chunk, final=number == cut)
    buffer.feed(b"", final=True)
    before, after = b"".join(chunks[: cut + 1]), b"".join(chunks[cut + 1 :])
    assert buffer.text() == newest(before.decode(errors="replace") + after.decode(errors="replace"), limit)


@given(printed, st.integers(0, 40))
def test_memory_is_bounded_by_the_limit(chunks: list[bytes], limit: int) -> None:
    buffer = OutputBuffer(limit)
    for chunk in chunks:
        buffer.feed(chunk)
        assert len(buffer._kept) <= 2 * limit


@given(st.lists(printed, min_size=1, max_size=4), st.integers(0, 40))
def test_how_the_output_was_cut_into_pieces_makes_no_difference(pieces: list[list[bytes]], limit: int) -> None:
    data = b"".join(chunk for chunks in pieces for chunk in chunks)
    whole, single = OutputBuffer(limit), OutputBuffer(limit)
    whole.feed(data)
    for index in range(len(data)):
        single.feed(data[index : index + 1])
    assert (whole.text(), whole.truncated) == (single.text(), single.truncated)
