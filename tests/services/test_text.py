"""Windows of lines against a simple model, and encodings there and back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.services._text import decode, line_window

# Everything that some tool takes for a line end, beside ordinary text.
texts = st.text(alphabet=st.sampled_from("ab\n\r\x0b\x0c\x1c\x85\u2028é😀"), max_size=60)


def lines_of(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


@given(text=texts, line=st.integers(1, 70), limit=st.none() | st.integers(0, 70))
def test_a_window_is_the_joined_lines_of_the_model(text: str, line: int, limit: int | None) -> None:
    stop = None if limit is None else line - 1 + limit
    assert line_window(text, line, limit) == "".join(lines_of(text)[line - 1 : stop])


@pytest.mark.parametrize(
    ("line", "limit", "window"),
    [
        (1, None, "one\r\ntwo\n\nfour"),
        (0, 1, "one\r\n"),
        (2, 1, "two\n"),
        (3, 1, "\n"),
        (4, 9, "four"),
        (5, None, ""),
        (2**32 - 1, 2**32 - 1, ""),
        (1, 0, ""),
        (2, 2, "two\n\n"),
    ],
)
def test_windows_by_example(line: int, limit: int | None, window: str) -> None:
    assert line_window("one\r\ntwo\n\nfour", line, limit) == window


def test_consecutive_windows_make_up_the_text() -> None:
    text = "a\n\nb\r\nc"
    assert "".join(line_window(text, line, 1) for line in range(1, 6)) == text


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@given(text=texts)
def test_an_encoding_is_kept_there_and_back(codec: str, text: str) -> None:
    stored = text.encode(codec)
    content, encoding = decode(stored)
    assert content == text
    assert encoding.encode(content) == stored


@pytest.mark.parametrize("codec", ["utf-16-be", "utf-32-be"])
def test_big_endian_text_is_known_by_its_mark(codec: str) -> None:
    stored = "\ufeffgrün".encode(codec)
    content, encoding = decode(stored)
    assert (content, encoding.encode(content)) == ("grün", stored)


def test_a_mark_that_the_agent_writes_itself_is_not_doubled() -> None:
    _, encoding = decode(b"\xef\xbb\xbfold")
    assert encoding.encode("\ufeffnew") == b"\xef\xbb\xbfnew"


@pytest.mark.parametrize("stored", ["grün".encode("latin-1"), b"\x89PNG\r\n", b"\xff\xfeodd", b"\xed\xa0\x80"])
def test_what_is_no_text_is_refused(stored: bytes) -> None:
    with pytest.raises(UnicodeDecodeError):
        decode(stored)


@pytest.mark.parametrize("stored", [b"", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_half_a_surrogate_pair_cannot_be_stored(stored: bytes) -> None:
    _, encoding = decode(stored)
    with pytest.raises(UnicodeEncodeError):
        encoding.encode("half \ud83d")
