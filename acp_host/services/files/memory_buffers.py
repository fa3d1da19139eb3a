"""Open documents in memory: :class:`MemoryBuffers`, for tests and for hosts without an editor of their own."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import define, field

from acp_host.errors import InvalidState
from acp_host.services.files.buffers import BufferEdit, OpenDocument
from acp_host.services.files.edits import apply_edits
from acp_host.services.files.formats import PLAIN_TEXT, DocumentFormat

__all__ = ["MemoryBuffers"]


@define
class _Buffer:
    text: str
    saved_text: str
    format: DocumentFormat
    version: int = 1
    undo: list[str] = field(factory=list)

    def change(self, text: str) -> None:
        self.undo.append(self.text)
        self.text = text
        self.version += 1


class MemoryBuffers:
    """A :class:`~acp_host.services.files.buffers.BufferProvider` that holds its documents in memory.

    Nothing is written to the disk: what an agent writes to an open document stays in it, unsaved. Methods raise
    ``InvalidState`` for a document that is not open.
    """

    def __init__(self) -> None:
        self._buffers: dict[str, _Buffer] = {}

    def open(self, path: str | Path, text: str, *, format: DocumentFormat = PLAIN_TEXT) -> None:
        """Open a document, or open it anew, with the text of its file."""
        self._buffers[os.path.realpath(path)] = _Buffer(text, text, format)

    def close(self, path: str | Path) -> None:
        """Close a document; unsaved changes are dropped."""
        self._find(path)
        del self._buffers[os.path.realpath(path)]

    def text(self, path: str | Path) -> str:
        """Return a document's text."""
        return self._find(path).text

    def change(self, path: str | Path, text: str) -> None:
        """Change a document as its user does."""
        self._find(path).change(text)

    def undo(self, path: str | Path) -> None:
        """Take back the last change, by whomever it was; without one, nothing happens."""
        buffer = self._find(path)
        if buffer.undo:
            buffer.text = buffer.undo.pop()
            buffer.version += 1

    def mark_saved(self, path: str | Path) -> None:
        """Take note that the document's text has been written to its file."""
        buffer = self._find(path)
        buffer.saved_text = buffer.text

    def find_document(self, path: str, /) -> OpenDocument | None:
        """As :meth:`BufferProvider.find_document`."""
        buffer = self._buffers.get(path)
        if buffer is None:
            return None
        return OpenDocument(
            text=buffer.text, saved_text=buffer.saved_text, version=buffer.version, format=buffer.format
        )

    def apply_edit(self, edit: BufferEdit, /) -> bool:
        """As :meth:`BufferProvider.apply_edit`."""
        buffer = self._buffers.get(edit.path)
        if buffer is None or buffer.version != edit.version:
            return False
        buffer.change(apply_edits(buffer.text, edit.edits))
        return True

    def _find(self, path: str | Path) -> _Buffer:
        buffer = self._buffers.get(os.path.realpath(path))
        if buffer is None:
            raise InvalidState(f"{path} is not open")
        return buffer
