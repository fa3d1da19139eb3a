"""Serves an agent's ``fs/read_text_file`` and ``fs/write_text_file``: :class:`FileService`.

What an application gives it: open documents (:class:`BufferProvider`), what to do about a :class:`WriteConflict`, and
:class:`FileRules`. What it tells: each :class:`FileChange`.

Names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_host.lazy_names import lazy_names

if TYPE_CHECKING:
    from acp_host.services.files.buffers import BufferEdit, BufferProvider, OpenDocument
    from acp_host.services.files.changes import FileChange, FileChangeKind, FileTarget
    from acp_host.services.files.conflicts import ConflictHandler, ConflictReason, WriteConflict
    from acp_host.services.files.edits import Position, TextEdit, apply_edits, text_edits
    from acp_host.services.files.formats import PLAIN_TEXT, DocumentFormat, text_hash
    from acp_host.services.files.memory_buffers import MemoryBuffers
    from acp_host.services.files.merging import Merge, MergeUnavailable, merge_texts
    from acp_host.services.files.notebook_changes import (
        CellDelete,
        CellInsert,
        CellMove,
        CellOperation,
        CellReplace,
        NotebookChange,
        apply_cell_operations,
        cell_operations,
    )
    from acp_host.services.files.notebook_format import NotebookFormat
    from acp_host.services.files.notebooks import NotebookBuffers, NotebookProvider, OpenNotebook
    from acp_host.services.files.rules import FileRules
    from acp_host.services.files.service import MAX_FILE_SIZE, FileService

_HOMES = {
    "buffers": ("BufferEdit", "BufferProvider", "OpenDocument"),
    "changes": ("FileChange", "FileChangeKind", "FileTarget"),
    "conflicts": ("ConflictHandler", "ConflictReason", "WriteConflict"),
    "edits": ("Position", "TextEdit", "apply_edits", "text_edits"),
    "formats": ("PLAIN_TEXT", "DocumentFormat", "text_hash"),
    "memory_buffers": ("MemoryBuffers",),
    "merging": ("Merge", "MergeUnavailable", "merge_texts"),
    "notebook_changes": (
        "CellDelete",
        "CellInsert",
        "CellMove",
        "CellOperation",
        "CellReplace",
        "NotebookChange",
        "apply_cell_operations",
        "cell_operations",
    ),
    "notebook_format": ("NotebookFormat",),
    "notebooks": ("NotebookBuffers", "NotebookProvider", "OpenNotebook"),
    "rules": ("FileRules",),
    "service": ("MAX_FILE_SIZE", "FileService"),
}

__all__ = [
    "MAX_FILE_SIZE",
    "PLAIN_TEXT",
    "BufferEdit",
    "BufferProvider",
    "CellDelete",
    "CellInsert",
    "CellMove",
    "CellOperation",
    "CellReplace",
    "ConflictHandler",
    "ConflictReason",
    "DocumentFormat",
    "FileChange",
    "FileChangeKind",
    "FileRules",
    "FileService",
    "FileTarget",
    "MemoryBuffers",
    "Merge",
    "MergeUnavailable",
    "NotebookBuffers",
    "NotebookChange",
    "NotebookFormat",
    "NotebookProvider",
    "OpenDocument",
    "OpenNotebook",
    "Position",
    "TextEdit",
    "WriteConflict",
    "apply_cell_operations",
    "apply_edits",
    "cell_operations",
    "merge_texts",
    "text_edits",
    "text_hash",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
