"""Makes text of others safe to print: :func:`printable`. This is a leaf module: every layer may use it."""

from __future__ import annotations

import re

__all__ = ["printable"]

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return ``text`` with everything that could steer a terminal or hide text spelled out as ``\\x1b`` or ``\\u202e``.

    That is control characters other than tab and newline, line separators that only some programs know, direction
    marks and overrides, and lone surrogate halves. Carriage returns are spelled out too, since they overwrite a line.
    """
    if text.isprintable():  # to Python, none of them is
        return text
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)
