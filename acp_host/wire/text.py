"""Text from agents: joining what was streamed, and making it safe to print.

Some agents cut their stream between the two UTF-16 halves of a character, so that one piece ends with half of an emoji
and the next begins with the other half. Pieces are kept as they came; whoever puts them together uses
:func:`join_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["join_text", "printable"]


def join_text(parts: Iterable[str]) -> str:
    """Concatenate pieces of text, and put together the characters that were cut into surrogate halves.

    A half without its counterpart stays as it is, so the result may still not be encodable as UTF-8. Cost: linear;
    where no half occurs, little more than ``"".join``.

    Args:
        parts: the pieces in order; may be empty.
    """
    text = "".join(parts)
    if text.isascii():
        return text
    try:
        text.encode("utf-16-le")  # the cheapest way to find a half: without one it is a plain copy
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return ``text`` with everything that could steer a terminal or hide text spelled out as ``\\x1b`` or ``\\u202e``.

    That is control characters other than tab and newline, line separators that only some programs know, direction
    marks and overrides, and lone surrogate halves. Carriage returns are spelled out too, since they overwrite a line.
    """
    if text.isprintable():  # to Python, none of them is
        return text
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)
