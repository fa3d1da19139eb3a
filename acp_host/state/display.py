"""Text from an agent, made fit to show: plain, harmless to a terminal, and of bounded size. The text itself is kept."""

from __future__ import annotations

from acp_host.wire.text import printable

__all__ = ["block", "one_line"]


def one_line(text: str, limit: int) -> str:
    """Return a text for display on one line: every run of white space is one space.

    Args:
        text: any text.
        limit: how many characters the result has at most; it ends in an ellipsis where some are missing.
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


def _bounded(text: str, limit: int, *, cut: bool) -> str:
    return text[: limit - 1] + "…" if cut or len(text) > limit else text
