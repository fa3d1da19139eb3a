"""Text that grows by small pieces: :class:`TextBuilder`.

Text is kept as a list of segments. A segment is closed at :data:`SEGMENT` characters and never changes again; only the
last one grows. So a reader that has seen a text before needs no more than its tail, however long it has become.
"""

from __future__ import annotations

from collections.abc import Sequence

from acp_host.wire.text import ends_in_half, join_text

__all__ = ["SEGMENT", "TextBuilder"]

SEGMENT = 4096
"""Length at which a segment is closed, in characters."""


class TextBuilder:
    """A text that is being streamed. Appending is O(1) amortised.

    Args:
        segments: what is there already; all but the last are closed.
    """

    __slots__ = ("_closed", "_open", "_open_size")

    def __init__(self, segments: tuple[str, ...] = ()) -> None:
        # Few messages are longer than a segment, so the closed ones are a tuple that is mostly the empty one.
        self._closed = segments[:-1]
        self._open = list(segments[-1:])
        self._open_size = sum(map(len, self._open))

    def append(self, piece: str) -> None:
        """Add a piece of any length."""
        self._open.append(piece)
        self._open_size += len(piece)
        if self._open_size >= SEGMENT:
            self._close_full_segments()

    def extend(self, pieces: Sequence[str]) -> None:
        """Add several pieces, none of which ends in half a character."""
        self._open += pieces
        self._open_size += sum(map(len, pieces))
        if self._open_size >= SEGMENT:
            self._close_full_segments()

    def segments(self) -> tuple[str, ...]:
        """Return the text so far; the last segment may still grow."""
        if len(self._open) > 1:
            self._open = [join_text(self._open)]
        return (*self._closed, *self._open)

    def _close_full_segments(self) -> None:
        text = join_text(self._open)
        full: list[str] = []
        start = 0
        while len(text) - start >= SEGMENT:
            end = start + SEGMENT
            end -= ends_in_half(text[end - 1])
            full.append(text[start:end])
            start = end
        self._closed = (*self._closed, *full)
        rest = text[start:]
        self._open = [rest] if rest else []
        self._open_size = len(rest)
