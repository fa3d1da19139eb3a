"""Text from agents that came in pieces: :func:`join_text`, :func:`ends_in_half`.

Some agents cut their stream between the two UTF-16 halves of a character, so that one piece ends with half of an emoji
and the next begins with the other half. Pieces are kept as they came; whoever puts them together uses
:func:`join_text`.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ends_in_half", "join_text"]


def ends_in_half(text: str) -> bool:
    """Tell whether the last character is the first half of one, whose other half may be in the next piece."""
    return "\ud800" <= text[-1:] <= "\udbff"


def join_text(parts: Iterable[str]) -> str:
    """Concatenate pieces of text, and put together the characters that were cut into surrogate halves.

    A half without its counterpart stays as it is, so the result may still not be encodable as UTF-8. Cost: linear;
    where no half occurs, little more than ``"".join``.

    Args:
        parts: the pieces in order; may be empty.

    >>> join_text(["so ", "\\ud83d", "\\ude42"])
    'so 🙂'
    """
    text = "".join(parts)
    if text.isascii():
        return text
    try:
        text.encode("utf-16-le")  # the cheapest way to find a half: without one it is a plain copy
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text
