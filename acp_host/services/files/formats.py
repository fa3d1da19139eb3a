"""How documents of a kind are compared and merged: :class:`DocumentFormat`, and :data:`PLAIN_TEXT`."""

from __future__ import annotations

import hashlib
from typing import Protocol

from acp_host.services.files.merging import Merge, merge_texts

__all__ = ["PLAIN_TEXT", "DocumentFormat", "PlainText", "text_hash"]


class DocumentFormat(Protocol):
    """How documents of a kind are compared and merged. Its methods may take their time; they are called in threads."""

    def essence(self, text: str, /) -> str:
        """Return what must not be lost of a text; two texts with the same essence count as the same.

        Raises:
            ValueError: the text is none of this format; its message is the end of a sentence that begins with the path.
        """

    def adopt(self, current: str, text: str, /) -> str:
        """Return what becomes of a document, now ``current``, when an agent writes a text to it.

        ``current`` may be none of this format: a new file, or one that was damaged.

        Raises:
            ValueError: the text is none of this format, as for :meth:`essence`.
        """

    def merge(self, base: str, current: str, proposed: str, /) -> Merge:
        """Return ``current`` with the changes from ``base`` to ``proposed``.

        Raises:
            MergeUnavailable: they cannot be merged, and why.
        """


class PlainText:
    """Lines of text. Their ends, CRLF or LF, are not compared: many editors change them on loading."""

    def essence(self, text: str, /) -> str:
        """Return the text with line feeds alone."""
        return text.replace("\r\n", "\n")

    def adopt(self, current: str, text: str, /) -> str:
        """Return the text as it is."""
        return text

    def merge(self, base: str, current: str, proposed: str, /) -> Merge:
        """Merge line by line, as git does."""
        return merge_texts(base, current, proposed)


PLAIN_TEXT = PlainText()
"""The format of all documents that have no other."""


def text_hash(text: str, format: DocumentFormat = PLAIN_TEXT) -> str:
    """Return the SHA-256, in hexadecimal digits, of what counts of a text: line endings do not."""
    try:
        essence = format.essence(text)
    except ValueError:  # what is none of the format is only the same as itself
        essence = text
    return hashlib.sha256(essence.encode("utf-8", "surrogatepass")).hexdigest()
