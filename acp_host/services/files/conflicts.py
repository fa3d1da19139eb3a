"""When a write would undo somebody else's change, and what is told then: :class:`FileView`, :class:`WriteConflict`.

The rules, in this order; a write of what is there already, or of a file that is not there, is never a conflict:

=================================================================================  =======================
what is there                                                                      conflict
=================================================================================  =======================
an open document with unsaved changes, whose file has changed on the disk as well  ``changed_on_disk``
what the session last read or wrote                                                none
something else than that, and the session reads its files through this host        ``changed_since_read``
unsaved changes in an open document, and the session has not seen them             ``unsaved_changes``
anything else: the session has never read the file here                            none
=================================================================================  =======================

The rule before the last is for agents that read the disk by themselves, and do not know of buffers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum

from attrs import field, frozen

from acp_host.services.files.buffers import OpenDocument
from acp_host.services.files.formats import PLAIN_TEXT, DocumentFormat, text_hash
from acp_host.services.files.known_texts import KnownText
from acp_host.services.files.merging import Merge, MergeUnavailable

__all__ = [
    "ConflictHandler",
    "ConflictReason",
    "FileView",
    "WriteConflict",
    "base_of",
    "find_conflict",
    "merge_conflict",
]


class ConflictReason(StrEnum):
    """Why a write is not simply done."""

    CHANGED_SINCE_READ = "changed_since_read"
    """The text is not the one that the session last read or wrote."""
    UNSAVED_CHANGES = "unsaved_changes"
    """The document has unsaved changes that the session has never read."""
    CHANGED_ON_DISK = "changed_on_disk"
    """The document has unsaved changes, and another program has changed its file."""


@frozen(kw_only=True)
class WriteConflict:
    """A write that would undo somebody else's change; nothing has been written.

    Attributes:
        session_id: whose agent writes.
        path: the real path of the file.
        reason: what stands against the write.
        base: the text that the agent started from, as far as that is known: what it last read or wrote, empty if there
            was no file then; of an agent that has never read the file here, the text on the disk.
        current: the text that the write would take the place of: the open document's, otherwise the file's.
        proposed: the text that the agent wants to write.
        disk: the text of the file on the disk, ``None`` if there is none or it is not text; not the same as
            ``current`` where a document is open.
        merge: all of the changes put together; ``None`` if that cannot be done.
        merge_problem: why there is no ``merge``.
    """

    session_id: str
    path: str
    reason: ConflictReason
    base: str | None = field(repr=False)
    current: str = field(repr=False)
    proposed: str = field(repr=False)
    disk: str | None = field(repr=False)
    merge: Merge | None = field(default=None, repr=False)
    merge_problem: str | None = None


ConflictHandler = Callable[[WriteConflict], str | None | Awaitable[str | None]]
"""Decides about a conflict: returns the text to be written (``conflict.proposed``, ``conflict.merge.text``, one of its
own), ``conflict.current`` to keep what is there, or ``None`` to refuse the write. May be a coroutine function."""


@frozen(kw_only=True)
class FileView:
    """What a write meets: the open document, if there is one, and the file.

    Attributes:
        current: the text that the write would take the place of; ``None`` if there is neither document nor file.
        hash: :func:`text_hash` of it.
        disk: the file's text; ``None`` if there is no file, or no text in it.
        saved: the text that the document was loaded from; ``None`` if that is not known.
        has_unsaved_changes: there is a document, and what it has is not on the disk.
        has_changed_on_disk: there are unsaved changes, and the file is not the one they were made to.
        format: how texts are compared.
    """

    current: str | None
    hash: str | None
    disk: str | None
    saved: str | None = None
    has_unsaved_changes: bool = False
    has_changed_on_disk: bool = False
    format: DocumentFormat = PLAIN_TEXT

    @classmethod
    def of_file(cls, disk: str | None, format: DocumentFormat = PLAIN_TEXT) -> FileView:
        """Return the view of a file that is not open."""
        return cls(current=disk, hash=KnownText.of(disk, format).hash, disk=disk, format=format)

    @classmethod
    def of_document(cls, document: OpenDocument, disk: str | None) -> FileView:
        """Return the view of an open document.

        If it has no unsaved changes it is what the file was when it was loaded, and the file is what counts.
        """
        text, format = document.text, document.format
        own, saved = text_hash(text, format), document.hash_of_saved
        stored = None if disk is None else text_hash(disk, format)
        unsaved = own not in (saved, stored)
        is_old = not unsaved and disk is not None
        return cls(
            current=disk if is_old else text,
            hash=stored if is_old else own,
            disk=disk,
            saved=document.saved_text,
            has_unsaved_changes=unsaved,
            has_changed_on_disk=unsaved and None not in (saved, stored) and saved != stored,
            format=format,
        )


def find_conflict(view: FileView, known: KnownText | None, has_read: bool, text: str) -> ConflictReason | None:
    """Return what stands against a write, by the rules of this module.

    Args:
        view: what is there.
        known: what the session last read or wrote of it.
        has_read: whether the session reads files through this host.
        text: the text to be written.
    """
    if view.current is None:
        return None
    if view.has_changed_on_disk:
        return ConflictReason.CHANGED_ON_DISK
    if view.hash in (known and known.hash, text_hash(text, view.format)):
        return None
    if known is not None and has_read:
        return ConflictReason.CHANGED_SINCE_READ
    return ConflictReason.UNSAVED_CHANGES if view.has_unsaved_changes else None


def base_of(view: FileView, known: KnownText | None, reason: ConflictReason) -> str | None:
    """Return the text that the agent started from, ``None`` if it is not known any more."""
    if known is None or reason is ConflictReason.UNSAVED_CHANGES:
        return view.disk or ""
    return "" if known.hash is None else known.text


def merge_conflict(conflict: WriteConflict, view: FileView) -> Merge:
    """Put all changes of a conflict together.

    Raises:
        MergeUnavailable: they cannot be merged, and why.
    """
    current, is_clean = conflict.current, True
    if conflict.base is None:
        raise MergeUnavailable("the text that the agent had read is no longer kept")
    if conflict.reason is ConflictReason.CHANGED_ON_DISK:
        if view.saved is None or view.disk is None:
            raise MergeUnavailable("the text that the document was loaded from is not known")
        both = view.format.merge(view.saved, current, view.disk)
        current, is_clean = both.text, both.clean
    merge = view.format.merge(conflict.base, current, conflict.proposed)
    return Merge(merge.text, is_clean and merge.clean)
