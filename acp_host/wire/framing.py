"""Where one message ends and the next begins: :class:`LineFramer`.

A message is one line of UTF-8 that ends in a newline. This module finds the lines and looks no further: whether one is
JSON is the business of :mod:`acp_host.wire.codec`.

Cost: on the normal path one ``split`` and two byte searches per chunk, nothing per line. Every byte is looked at once,
however small the pieces in which a long line arrives, and at most the maximum size of a message is held.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

__all__ = ["HEAD_SIZE", "MAX_MESSAGE_SIZE", "TAIL_SIZE", "LineFramer", "Oversized"]

MAX_MESSAGE_SIZE = 64 * 2**20
"""Default for the longest line that is accepted, in bytes."""
HEAD_SIZE = 64 * 2**10
"""How much of the beginning of a line that is too long is kept, in bytes."""
TAIL_SIZE = 2**10
"""How much of the end of a line that is too long is kept, in bytes."""

_BOM = b"\xef\xbb\xbf"


@frozen
class Oversized:
    """A line that was longer than the maximum and was skipped.

    Its ends are kept, because the id and the method of a message are usually in one of them
    (see :func:`acp_host.wire._scan.scan_envelope`).

    Attributes:
        size: length of the line in bytes, without its newline.
        head: its first :data:`HEAD_SIZE` bytes.
        tail: its last :data:`TAIL_SIZE` bytes.
    """

    size: int
    head: bytes
    tail: bytes


class LineFramer:
    """Cuts a stream of bytes into lines; feed it pieces of any size.

    Lines come out without their newline, without carriage returns before it, and without a byte order mark in front;
    what is then empty is dropped. What comes out does not depend on how the stream was cut into pieces.

    Args:
        max_message_size: longest line that is accepted, in bytes, the newline not counted.
    """

    def __init__(self, max_message_size: int = MAX_MESSAGE_SIZE) -> None:
        self._maximum = max_message_size
        # The line that has not ended yet. One growing buffer, not a list of pieces: a list of a million two-byte
        # pieces would take twenty times the memory of what they hold.
        self._buffer = bytearray()
        self._size = 0
        self._tail = b""

    def feed(self, data: bytes) -> Sequence[bytes | Oversized]:
        """Take the next piece of the stream and return the lines that it completes, in order."""
        if self._size + len(data) > self._maximum:
            return self._feed_bounded(data)
        lines = data.split(b"\n")
        rest = lines.pop()
        untidy = False
        if lines and self._size:
            self._buffer += lines[0]
            lines[0] = joined = self._take_buffer()
            untidy = joined.startswith(_BOM) or joined.endswith(b"\r")
        if rest:
            self._buffer += rest
            self._size += len(rest)
        # A search for the mark itself costs as much as half the decoding; its first byte is rare.
        if untidy or b"\r" in data or b"" in lines or (b"\xef" in data and _BOM in data):
            return [line for raw in lines if (line := _tidy(raw))]
        return lines

    def eof(self) -> Sequence[bytes | Oversized]:
        """Return the last line, if the stream ended without a newline, and start afresh."""
        line = self._finish_line()
        return [line] if line else []

    def _feed_bounded(self, data: bytes) -> Sequence[bytes | Oversized]:
        """Do what :meth:`feed` does where a line may have become too long."""
        *ends, rest = data.split(b"\n")
        lines: list[bytes | Oversized] = []
        for piece in ends:
            self._extend_line(piece)
            if line := self._finish_line():
                lines.append(line)
        self._extend_line(rest)
        return lines

    def _extend_line(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._maximum:
            self._buffer += piece
            return
        before = self._tail or bytes(self._buffer[-TAIL_SIZE:])
        self._tail = (before + piece[-TAIL_SIZE:])[-TAIL_SIZE:]
        del self._buffer[HEAD_SIZE:]
        self._buffer += piece[: HEAD_SIZE - len(self._buffer)]

    def _finish_line(self) -> bytes | Oversized:
        size, tail = self._size, self._tail
        line = self._take_buffer()
        return _tidy(line) if size <= self._maximum else Oversized(size, line, tail)

    def _take_buffer(self) -> bytes:
        line = bytes(self._buffer)
        self._buffer.clear()
        self._size = 0
        self._tail = b""
        return line


def _tidy(line: bytes) -> bytes:
    return line.removeprefix(_BOM).rstrip(b"\r")
