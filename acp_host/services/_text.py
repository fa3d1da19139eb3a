"""Text of a file, as an agent sees it: bytes to text and back, and windows of lines.

Owns which encodings are read (UTF-8, and UTF-16 or UTF-32 where a byte order mark says so) and what a line is. A byte
order mark is not part of the text; it is put back when the file is written. Line endings are part of the text and never
changed.
"""

from __future__ import annotations

import codecs

import attrs

__all__ = ["UTF_8", "TextEncoding", "decode", "line_window"]


@attrs.frozen
class TextEncoding:
    """How a file stores its text.

    Attributes:
        codec: Python's name of the encoding.
        mark: the byte order mark that the file begins with, possibly empty.
    """

    codec: str
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Return the file's bytes for ``text``; raises ``UnicodeEncodeError`` for half a surrogate pair."""
        data = text.encode(self.codec)
        return data if data.startswith(self.mark) else self.mark + data


UTF_8 = TextEncoding("utf-8")
"""What new files are written in."""

_MARKED = (
    TextEncoding("utf-8", codecs.BOM_UTF8),
    TextEncoding("utf-32-le", codecs.BOM_UTF32_LE),  # before UTF-16, whose mark is the beginning of this one
    TextEncoding("utf-32-be", codecs.BOM_UTF32_BE),
    TextEncoding("utf-16-le", codecs.BOM_UTF16_LE),
    TextEncoding("utf-16-be", codecs.BOM_UTF16_BE),
)


def decode(data: bytes) -> tuple[str, TextEncoding]:
    """Return the text of a file and how it was stored; raises ``UnicodeDecodeError`` for anything else than text."""
    encoding = next((known for known in _MARKED if data.startswith(known.mark)), UTF_8)
    return data[len(encoding.mark) :].decode(encoding.codec), encoding


def line_window(text: str, line: int, limit: int | None) -> str:
    """Return the part of ``text`` that begins with a line and is at most so many lines long, exactly as it stands.

    A line ends with a line feed, which belongs to it, as a carriage return before it does. Nothing else ends a line.

    Args:
        text: the whole text.
        line: the first line, counted from 1; 0 means 1. Past the end, the window is empty.
        limit: how many lines; ``None`` means all that follow.
    """
    start = _after_lines(text, 0, line - 1)
    return text[start:] if limit is None else text[start : _after_lines(text, start, limit)]


def _after_lines(text: str, position: int, count: int) -> int:
    """Return where the text goes on after ``count`` lines from ``position``."""
    for _ in range(count):
        position = text.find("\n", position) + 1
        if position == 0:
            return len(text)
    return position
