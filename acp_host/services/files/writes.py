"""One write under way: what it meets, what stands against it, and what it has done.

Owns what the agent and the application are told about a write. It opens and changes nothing.
"""

from __future__ import annotations

from attrs import define, evolve, field, frozen

from acp_host.errors import InvalidParams
from acp_host.services._confined import Roots
from acp_host.services.files.changes import FileChange, FileChangeKind, FileTarget
from acp_host.services.files.conflicts import (
    ConflictReason,
    FileView,
    WriteConflict,
    base_of,
    find_conflict,
    merge_conflict,
)
from acp_host.services.files.formats import DocumentFormat
from acp_host.services.files.known_texts import KnownText, KnownTexts
from acp_host.services.files.merging import MergeUnavailable
from acp_host.wire.ids import SessionId

__all__ = ["FileSession", "Write", "Written", "refusal", "written_by"]


@define
class FileSession:
    """What a session is allowed, and what it has seen."""

    roots: Roots
    known: KnownTexts = field(factory=KnownTexts)


@frozen(kw_only=True)
class Write:
    """One attempt to write.

    Attributes:
        session: whose.
        session_id: its id.
        path: the file, as the agent calls it.
        proposed: the agent's text.
        text: what is to be written: the agent's text, or what was decided about a conflict.
        decided: the conflict that was decided, if there was one.
        wants_merge: somebody decides about conflicts, and wants to see the changes merged.
    """

    session: FileSession
    session_id: SessionId
    path: str
    proposed: str
    text: str
    decided: WriteConflict | None = None
    wants_merge: bool = False

    def conflict(self, real: str, view: FileView) -> WriteConflict | None:
        """Return what stands against writing the file ``real``, unless that was decided already."""
        decided, seen = self.decided, self.session.known
        if decided is not None and (decided.current, decided.disk) == (view.current, view.disk):
            return None
        known = seen.get(real)
        if decided is None:
            reason = find_conflict(view, known, seen.has_read, self.text)
        else:  # what was decided holds for what was there then
            reason = find_conflict(view, KnownText.of(decided.current, view.format), True, self.text)
        if reason is None:
            return None
        conflict = WriteConflict(
            session_id=self.session_id,
            path=real,
            reason=reason,
            base=decided.base if decided else base_of(view, known, reason),
            current=view.current or "",
            proposed=self.proposed,
            disk=view.disk,
        )
        if not self.wants_merge:
            return conflict
        try:
            merge = merge_conflict(conflict, view)
        except MergeUnavailable as unavailable:
            return evolve(conflict, merge_problem=str(unavailable))
        return evolve(conflict, merge=merge)


@frozen
class Written:
    """A write that was done.

    Attributes:
        session: whose.
        known: what the agent takes for the file's text now.
        change: what happened.
    """

    session: FileSession
    known: KnownText
    change: FileChange


def written_by(
    write: Write, real: str, target: FileTarget, old_text: str | None, new_text: str, format: DocumentFormat
) -> Written:
    is_resolved = write.text != write.proposed
    change = FileChange(
        session_id=write.session_id,
        path=real,
        kind=FileChangeKind.CREATED if old_text is None else FileChangeKind.MODIFIED,
        target=target,
        old_text=old_text,
        new_text=new_text,
        is_resolved=is_resolved,
    )
    # The agent knows of its own text only. If something else was decided, its next write is held against this one.
    return Written(write.session, KnownText.of(write.proposed if is_resolved else new_text, format), change)


def refusal(conflict: WriteConflict, path: str) -> InvalidParams:
    problem = {
        ConflictReason.CHANGED_SINCE_READ: "has changed since you last read or wrote it",
        ConflictReason.UNSAVED_CHANGES: "has unsaved changes in the user's editor that you have not read",
        ConflictReason.CHANGED_ON_DISK: "has unsaved changes in the user's editor and was changed on the disk as well",
    }[conflict.reason]
    advice = "read it again with fs/read_text_file and write a text that keeps these changes"
    return InvalidParams(
        f"{path} {problem}; nothing was written: {advice}", data={"path": path, "reason": str(conflict.reason)}
    )
