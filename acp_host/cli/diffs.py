"""A tool call's diff as text to print: :func:`diff_lines`, and :func:`patch_lines` for one that comes as a patch.

Cost: quadratic at worst, so long files are only counted; of a patch, the lines that are shown.
"""

from __future__ import annotations

import difflib

from rich.text import Text

from acp_host.cli.printer import clean, plain
from acp_host.wire._model import Unknown
from acp_host.wire.tool_calls import Diff
from acp_host.wire.v2.diffs import Diff as PatchedFiles
from acp_host.wire.v2.diffs import DiffChange, DiffPathPairChange, FileAdded, FileCopied, FileDeleted, FileMoved

__all__ = ["diff_lines", "patch_lines"]

_LONGEST_COMPARED = 4_000
_LONGEST_SHOWN = 80
_HAPPENED: dict[type, str] = {
    FileAdded: "new file",
    FileDeleted: "deleted",
    FileMoved: "moved",
    FileCopied: "copied",
}
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff_lines(diff: Diff) -> list[Text]:
    """Return the lines to print for a diff: its path, then what changed, at most 80 lines of it."""
    is_new = not isinstance(diff.old_text, str)
    old, new = _lines(diff.old_text or ""), _lines(diff.new_text)
    heading = plain(f"{diff.path} (new file)" if is_new else diff.path, "bold")
    if len(old) + len(new) > _LONGEST_COMPARED:
        return [heading, plain(f"({len(old)} lines become {len(new)})", "dim")]
    changes = list(difflib.unified_diff(old, new, n=2, lineterm=""))[2:]
    shown = [plain(line, _STYLES.get(line[:1], "dim")) for line in changes[:_LONGEST_SHOWN]]
    if len(changes) > _LONGEST_SHOWN:
        shown.append(plain(f"({len(changes) - _LONGEST_SHOWN} more lines)", "dim"))
    if not changes:
        shown = [plain("(no line changes)", "dim")]
    return [heading, *shown]


def patch_lines(diff: PatchedFiles) -> list[Text]:
    """Return the lines to print for a diff of version 2: what happened to which file, then its patch, at most 80 lines.

    A patch in a form that is not known is text like any other.
    """
    headings = [plain(_happened(change), "bold") for change in diff.changes]
    patch = _lines(diff.patch.text) if diff.patch else []
    shown = [plain(line, _STYLES.get(line[:1], "dim")) for line in patch[:_LONGEST_SHOWN]]
    if len(patch) > _LONGEST_SHOWN:
        shown.append(plain(f"({len(patch) - _LONGEST_SHOWN} more lines)", "dim"))
    return [*headings, *shown]


def _happened(change: DiffChange) -> str:
    if isinstance(change, Unknown):
        return f"{change.data.get('path', '')} ({change.tag})"
    if isinstance(change, DiffPathPairChange):
        return f"{change.old_path} -> {change.path} ({_HAPPENED[type(change)]})"
    word = _HAPPENED.get(type(change))
    return f"{change.path} ({word})" if word else change.path


def _lines(text: str) -> list[str]:
    return clean(text).removesuffix("\n").split("\n") if text else []
