"""A tool call's diff as lines to show: :func:`changed_lines`, and :func:`patched_lines` for one that comes as a patch.

Cost: quadratic at worst, so long files are only counted; of a patch, the lines that are shown.
"""

from __future__ import annotations

import difflib
from enum import StrEnum
from typing import NamedTuple

from acp_host.printable import printable
from acp_host.wire._model import Unknown
from acp_host.wire.harn.content import permission_preview
from acp_host.wire.tool_calls import Diff
from acp_host.wire.v2.diffs import Diff as PatchedFiles
from acp_host.wire.v2.diffs import DiffChange, DiffPathPairChange, FileAdded, FileCopied, FileDeleted, FileMoved

__all__ = ["ChangedLine", "LineKind", "changed_lines", "patched_lines"]

_LONGEST_COMPARED = 4_000
_LONGEST_SHOWN = 80
_HAPPENED: dict[type, str] = {
    FileAdded: "new file",
    FileDeleted: "deleted",
    FileMoved: "moved",
    FileCopied: "copied",
}


class LineKind(StrEnum):
    """What a line of a diff is."""

    HEADING = "heading"
    ADDED = "added"
    REMOVED = "removed"
    PLACE = "place"
    CONTEXT = "context"
    REMARK = "remark"


class ChangedLine(NamedTuple):
    """One line of a diff; its text is printable and has its sign before it."""

    kind: LineKind
    text: str


_SIGNS = {"+": LineKind.ADDED, "-": LineKind.REMOVED, "@": LineKind.PLACE}


def changed_lines(diff: Diff) -> list[ChangedLine]:
    """Return the lines to show for a diff: its path, what is known of it beforehand, and at most 80 changed lines."""
    is_new = not isinstance(diff.old_text, str)
    old, new = _lines(diff.old_text or ""), _lines(diff.new_text)
    heading = _line(LineKind.HEADING, f"{diff.path} (new file)" if is_new else diff.path)
    head = [heading, *_known_beforehand(diff)]
    if len(old) + len(new) > _LONGEST_COMPARED:
        return [*head, _line(LineKind.REMARK, f"({len(old)} lines become {len(new)})")]
    changes = list(difflib.unified_diff(old, new, n=2, lineterm=""))[2:]
    return [*head, *(_bounded(changes) if changes else [_line(LineKind.REMARK, "(no line changes)")])]


def _known_beforehand(diff: Diff) -> list[ChangedLine]:
    """Return what a Harn agent says of a diff that it shows before the change is permitted."""
    preview = permission_preview(diff)
    if preview is None or preview.source != "pre_approval":
        return []
    size = "" if preview.byte_count is None else f"; the file had {preview.byte_count:,} bytes then"
    return [_line(LineKind.REMARK, f"(shown before it was permitted{size})")]


def patched_lines(diff: PatchedFiles) -> list[ChangedLine]:
    """Return the lines to show for a diff of version 2: what happened to which file, then its patch, at most 80 lines.

    A patch in a form that is not known is text like any other.
    """
    headings = [_line(LineKind.HEADING, _happened(change)) for change in diff.changes]
    return [*headings, *_bounded(_lines(diff.patch.text) if diff.patch else [])]


def _bounded(lines: list[str]) -> list[ChangedLine]:
    shown = [_line(_SIGNS.get(line[:1], LineKind.CONTEXT), line) for line in lines[:_LONGEST_SHOWN]]
    if len(lines) > _LONGEST_SHOWN:
        shown.append(_line(LineKind.REMARK, f"({len(lines) - _LONGEST_SHOWN} more lines)"))
    return shown


def _line(kind: LineKind, text: str) -> ChangedLine:
    return ChangedLine(kind, printable(text))


def _happened(change: DiffChange) -> str:
    if isinstance(change, Unknown):
        return f"{change.data.get('path', '')} ({change.tag})"
    if isinstance(change, DiffPathPairChange):
        return f"{change.old_path} -> {change.path} ({_HAPPENED[type(change)]})"
    word = _HAPPENED.get(type(change))
    return f"{change.path} ({word})" if word else change.path


def _lines(text: str) -> list[str]:
    return printable(text.replace("\r\n", "\n")).removesuffix("\n").split("\n") if text else []
