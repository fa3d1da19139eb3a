"""What a command has printed, as text of bounded size: :class:`OutputBuffer`.

Owns decoding across chunks and the cut at a character boundary. Bytes that are not UTF-8 become U+FFFD.

Cost: O(1) amortised a byte; memory at most twice the limit and one chunk.
"""

from __future__ import annotations

import codecs

__all__ = ["OutputBuffer"]


class OutputBuffer:
    """The newest output of a command.

    Args:
        limit: how many bytes to keep at most, counted as UTF-8 of the decoded text.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = bytearray()
        self._dropped = False

    @property
    def truncated(self) -> bool:
        """Whether older output is missing from :meth:`text`."""
        return self._dropped or len(self._kept) > self._limit

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """Add output, and return what it is as text. With ``final``, half a character at the end becomes U+FFFD."""
        text = self._decoder.decode(data, final)
        self._kept += text.encode()
        if len(self._kept) > 2 * self._limit:  # not at every chunk, so that moving what is kept stays cheap
            self._dropped = True
            del self._kept[: len(self._kept) - self._limit]
        return text

    def text(self) -> str:
        """Return what is kept. It begins with a whole character, so it can be up to three bytes below the limit."""
        start = max(0, len(self._kept) - self._limit)
        if self.truncated:
            while start < len(self._kept) and self._kept[start] & 0xC0 == 0x80:
                start += 1
        return self._kept[start:].decode()
