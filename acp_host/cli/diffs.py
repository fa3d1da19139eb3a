"""A tool call's diff as text to print: :func:`diff_lines`. Cost: quadratic at worst, so long files are only counted."""

from __future__ import annotations

import difflib

from rich.text import Text

from acp_host.cli.printer import clean, plain
from acp_host.wire.tool_calls import Diff

__all__ = ["diff_lines"]

_LONGEST_COMPARED = 4_000
_LONGEST_SHOWN = 80
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


def _lines(text: str) -> list[str]:
    return clean(text).removesuffix("\n").split("\n") if text else []
