"""A tool call's diff as text to print: :func:`diff_lines`, and :func:`patch_lines` for one that comes as a patch."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from acp_host.cli.printer import plain
from acp_host.ui.changed_lines import ChangedLine, LineKind, changed_lines, patched_lines
from acp_host.wire.tool_calls import Diff
from acp_host.wire.v2.diffs import Diff as PatchedFiles

__all__ = ["diff_lines", "patch_lines"]

_STYLES = {
    LineKind.HEADING: "bold",
    LineKind.ADDED: "green",
    LineKind.REMOVED: "red",
    LineKind.PLACE: "cyan",
}


def diff_lines(diff: Diff) -> list[Text]:
    """Return the lines to print for a diff: its path, then what changed, at most 80 lines of it."""
    return _printed(changed_lines(diff))


def patch_lines(diff: PatchedFiles) -> list[Text]:
    """Return the lines to print for a diff of version 2: what happened to which file, then its patch, at most 80 lines.

    A patch in a form that is not known is text like any other.
    """
    return _printed(patched_lines(diff))


def _printed(lines: Iterable[ChangedLine]) -> list[Text]:
    return [plain(line.text, _STYLES.get(line.kind, "dim")) for line in lines]
