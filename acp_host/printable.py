"""Text of others, made fit to show: harmless to a terminal, and of bounded size. The text itself is kept elsewhere.

This is a leaf module: every layer may use it.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["block", "json_text", "one_line", "printable", "printable_json"]

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return ``text`` with everything that could steer a terminal or hide text spelled out as ``\\x1b`` or ``\\u202e``.

    That is control characters other than tab and newline, line separators that only some programs know, direction
    marks and overrides, and lone surrogate halves. Carriage returns are spelled out too, since they overwrite a line.

    >>> print(printable("\\x1b[2JDone"))
    \\x1b[2JDone
    """
    if text.isprintable():  # to Python, none of them is
        return text
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def one_line(text: str, limit: int) -> str:
    """Return a text for display on one line: every run of white space is one space.

    Args:
        text: any text.
        limit: how many characters the result has at most; it ends in an ellipsis where some are missing.

    >>> one_line("  Read\\n  setup.py and all that is below it", 24)
    'Read setup.py and all t…'
    """
    text = text.lstrip()
    return _bounded(printable(" ".join(text[: limit + 1].split())), limit, cut=len(text) > limit)


def block(text: str, limit: int, lines: int) -> str:
    """Return a text for display on several lines.

    Args:
        text: any text.
        limit: how many characters the result has at most; it ends in an ellipsis where some are missing.
        lines: how many lines it has at most.
    """
    if len(text) <= limit and text.isprintable():  # one line with nothing in it to spell out
        return text
    shown = printable(text[: limit + 1].replace("\r\n", "\n")).split("\n")
    return _bounded("\n".join(shown[:lines]), limit, cut=len(text) > limit or len(shown) > lines)


def json_text(value: Any) -> str:
    """Return a value as JSON for people, whole and on one line; :func:`printable` has still to make it harmless.

    A value that is nested too deeply to be written is only said to be so.

    >>> json_text({"path": "ä.py", "lines": [1, 2]})
    '{"path": "ä.py", "lines": [1, 2]}'
    """
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return "(nested too deeply to be shown)"


def printable_json(document: Any, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """Return JSON in ASCII with escapes, so that no text in it can steer a terminal; without ``indent``, on one line.

    Args:
        document: plain JSON values.
        indent: spaces for each level.
        sort_keys: write the members of objects in the order of their names.
    """
    separators = (",", ":") if indent is None else None
    text = json.dumps(document, ensure_ascii=True, indent=indent, separators=separators, sort_keys=sort_keys)
    return text.replace("\x7f", "\\u007f")  # the one control character that JSON leaves as it is


def _bounded(text: str, limit: int, *, cut: bool) -> str:
    return text[: limit - 1] + "…" if cut or len(text) > limit else text
