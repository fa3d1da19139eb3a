"""What a session has seen of its files: :class:`KnownTexts`.

The hash of what an agent last read or wrote of each file says whether a write would undo somebody else's change; the
text itself, while it is kept, is what the changes are merged by. Both are bounded: what was used longest ago is
forgotten first, texts long before their hashes.
"""

from __future__ import annotations

from collections import OrderedDict

from attrs import evolve, frozen

from acp_host.services.files.formats import PLAIN_TEXT, DocumentFormat, text_hash

__all__ = ["MAX_KNOWN_FILES", "MAX_KNOWN_TEXT", "KnownText", "KnownTexts"]

MAX_KNOWN_FILES = 10_000
"""Of how many files a session's knowledge is kept."""
MAX_KNOWN_TEXT = 16 * 1024 * 1024
"""How much of their texts is kept for merges, for each session, in characters."""


@frozen
class KnownText:
    """What a session knows of a file.

    Attributes:
        hash: :func:`text_hash` of the text; ``None`` if there was no file.
        text: the text; ``None`` if there was no file, or the text is no longer kept.
    """

    hash: str | None
    text: str | None

    @classmethod
    def of(cls, text: str | None, format: DocumentFormat = PLAIN_TEXT) -> KnownText:
        """Return what is known by a text; of ``None``, if there is no file. Takes time for a long text."""
        return cls(None if text is None else text_hash(text, format), text)


class KnownTexts:
    """What one session knows of its files, by their real paths.

    Args:
        max_files: of how many files.
        max_text: how many characters of texts.

    Attributes:
        has_read: whether the session has read anything at all through this host. A session that has not reads the disk
            by itself, and what it saw there is not known here.
    """

    def __init__(self, max_files: int = MAX_KNOWN_FILES, max_text: int = MAX_KNOWN_TEXT) -> None:
        self.has_read = False
        self._max_files = max_files
        self._max_text = max_text
        self._files: OrderedDict[str, KnownText] = OrderedDict()
        self._texts: OrderedDict[str, int] = OrderedDict()
        self._size = 0

    def get(self, path: str) -> KnownText | None:
        """Return what is known of a file, or ``None``."""
        return self._files.get(path)

    def remember(self, path: str, known: KnownText) -> None:
        """Remember what the session has just read or written."""
        self._forget_text(path)
        self._files[path] = known
        self._files.move_to_end(path)
        if known.text:
            self._texts[path] = len(known.text)
            self._size += len(known.text)
        while self._size > self._max_text:
            oldest = next(iter(self._texts))
            self._forget_text(oldest)
            self._files[oldest] = evolve(self._files[oldest], text=None)
        while len(self._files) > self._max_files:
            oldest, _ = self._files.popitem(last=False)
            self._forget_text(oldest)

    def _forget_text(self, path: str) -> None:
        self._size -= self._texts.pop(path, 0)
