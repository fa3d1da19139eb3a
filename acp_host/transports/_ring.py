"""What is kept of a stream that nobody may be reading: its last bytes, and its text line by line.

:class:`ByteRing` holds a bounded end of a stream of any length at amortised constant cost per byte;
:class:`LineDecoder` turns chunks split anywhere into lines of bounded length. Neither does any I/O.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

__all__ = ["MAX_LINE", "ByteRing", "LineDecoder"]

MAX_LINE = 8192
"""Longest line that :class:`LineDecoder` yields, in characters; a longer one is yielded in pieces."""

_LINE_END = re.compile(r"[\r\n]+")


class ByteRing:
    """The last ``limit`` bytes of a stream.

    Attributes:
        total: bytes appended so far, those already forgotten included.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self.total = 0

    def append(self, data: bytes) -> None:
        """Add ``data``; what exceeds the limit is forgotten from the front."""
        self.total += len(data)
        self._data += data[-self._limit :]
        if len(self._data) > 2 * self._limit:  # trimmed now and then, so that each byte is moved at most once
            del self._data[: -self._limit]

    def text(self, limit: int | None = None) -> str:
        """Return the end of the stream as text, at most ``limit`` bytes of it (default: all that is kept).

        Invalid UTF-8 becomes U+FFFD; a character cut in two at the front is left out.
        """
        kept = self._limit if limit is None else min(limit, self._limit)
        tail = bytes(self._data[-kept:]) if kept else b""
        if self.total > len(tail):
            tail = tail[_continuation_bytes(tail) :]
        return tail.decode("utf-8", "replace")


def _continuation_bytes(data: bytes) -> int:
    """Count the bytes at the front, three at most, that continue a UTF-8 character begun before ``data``."""
    count = 0
    while count < min(3, len(data)) and data[count] & 0xC0 == 0x80:
        count += 1
    return count


class LineDecoder:
    """Splits a stream of UTF-8 into lines; a carriage return ends a line too, as progress displays use it."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._partial = ""

    def feed(self, data: bytes, *, final: bool = False) -> Iterator[str]:
        """Yield the lines that ``data`` completes, without their ends and without empty ones.

        Args:
            data: the next bytes, split anywhere.
            final: the stream ends here: yield what has no line end too.
        """
        text = self._partial + self._decoder.decode(data, final)
        *lines, self._partial = _LINE_END.split(text)
        if final or len(self._partial) >= MAX_LINE:
            lines.append(self._partial)
            self._partial = ""
        for line in lines:
            for start in range(0, len(line), MAX_LINE):
                yield line[start : start + MAX_LINE]
