"""What an agent has done to files, for a user interface: :class:`FileChange`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from acp_host.state.observers import check_observer

__all__ = ["FileChange", "FileChangeKind", "FileChanges", "FileTarget"]

_logger = logging.getLogger("acp_host.services")


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


class FileChanges:
    """Who wants to hear of changes; one observer that raises keeps no other from being called."""

    def __init__(self) -> None:
        self._observers: list[Callable[[FileChange], Any]] = []

    def connect(self, observer: Callable[[FileChange], Any]) -> Callable[[], None]:
        """Call ``observer`` with each change from now on; return a function that ends this."""
        check_observer(observer)
        self._observers.append(observer)
        return lambda: self._observers.remove(observer) if observer in self._observers else None

    def tell(self, change: FileChange) -> None:
        """Call every observer."""
        for observer in tuple(self._observers):
            try:
                observer(change)
            except Exception:
                _logger.exception("an observer of file changes failed: %r", observer)
