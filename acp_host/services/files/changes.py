"""What an agent has done to files, for a user interface: :class:`FileChange`."""

from __future__ import annotations

from enum import StrEnum

from attrs import field, frozen

__all__ = ["FileChange", "FileChangeKind", "FileTarget"]


class FileChangeKind(StrEnum):
    """What happened to a file."""

    CREATED = "created"
    MODIFIED = "modified"


class FileTarget(StrEnum):
    """Where a write went."""

    BUFFER = "buffer"
    """Into a document that is open in the editor."""
    DISK = "disk"


@frozen(kw_only=True)
class FileChange:
    """A write of an agent that was done.

    Attributes:
        session_id: whose agent wrote.
        path: the real path of the file.
        kind: whether there was anything before.
        target: whether it went into an open document or onto the disk.
        old_text: what was there; ``None`` if the file was created.
        new_text: what is there now.
        is_resolved: ``new_text`` is what was decided about a conflict, and not what the agent wrote.
    """

    session_id: str
    path: str
    kind: FileChangeKind
    target: FileTarget
    old_text: str | None = field(repr=False)
    new_text: str = field(repr=False)
    is_resolved: bool = False
