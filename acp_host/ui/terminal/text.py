"""Text of others made fit for a Textual widget: :func:`plain`, :func:`one_line`, :func:`terminal_output`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from textual.content import Content

from acp_host.printable import json_text, printable
from acp_host.printable import one_line as bounded_line
from acp_host.wire.text import join_text

__all__ = ["as_json", "lines_of", "one_line", "plain", "stacked", "terminal_output"]

_LONGEST_JSON = 2_000
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, movements
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC and other strings, up to their end
    r"|\x1b[ -/]*[0-~]"  # all other escapes
)


def plain(text: str, style: str = "") -> Content:
    """Return text to show literally; ``style`` is one of ours."""
    return Content.styled(printable(join_text((text,)).replace("\r\n", "\n")), style)


def one_line(text: str, limit: int = 80, style: str = "") -> Content:
    """Return the beginning of a text on one line."""
    return Content.styled(bounded_line(join_text((text[: limit + 1],)), limit), style)


def lines_of(text: str, most: int, style: str = "") -> list[Content]:
    """Return the first lines of a text, and how many there are more."""
    lines = text.removesuffix("\n").split("\n")
    shown = [plain(line, style) for line in lines[:most]]
    if len(lines) > most:
        shown.append(plain(f"({len(lines) - most} more lines)", "dim"))
    return shown


def stacked(lines: Iterable[Content]) -> Content:
    """Return lines as one content."""
    return Content("\n").join(lines)


def terminal_output(segments: Iterable[str], most: int) -> list[Content]:
    """Return the last lines that a command has printed, as plain text.

    Escape sequences are left out, and of a line that was overwritten only what stands there at last is shown.
    """
    text = _SEQUENCE.sub("", join_text(_last(tuple(segments), most)).replace("\r\n", "\n"))
    lines = text.removesuffix("\n").split("\n")
    return [plain(line.rstrip("\r").rpartition("\r")[2]) for line in lines[-most:]] if text else []


def as_json(value: Any) -> str:
    """Return the beginning of a value as JSON."""
    text = json_text(value)
    return text if len(text) <= _LONGEST_JSON else f"{text[:_LONGEST_JSON]}… ({len(text)} characters)"


def _last(segments: tuple[str, ...], lines: int) -> tuple[str, ...]:
    """Return the segments at the end that hold so many lines; they may hold more."""
    found, start = 0, len(segments)
    while start and found <= lines:
        start -= 1
        found += segments[start].count("\n")
    return segments[start:]
