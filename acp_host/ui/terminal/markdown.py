"""Markdown of agents, rendered safely: :func:`safe_markdown`; long messages in pages: :func:`cut_page`.

HTML in it is text. Links are text too, followed by their target, so that nobody opens one that says something else
than where it leads; images are not fetched, but named. Nothing in it can be clicked.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.markdown import Markdown

from acp_host.printable import printable

__all__ = ["LINES", "PAGE", "cut_page", "safe_markdown"]

PAGE = 6_000
"""Length at which a page of a message is closed, in characters: what streams in is rendered anew from its last page."""
LINES = 150
"""Likewise in lines."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*$")
_PARSER = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["strikethrough", "table"])


def safe_markdown(text: str) -> Markdown:
    """Return Markdown to show; a page costs some milliseconds."""
    markdown = Markdown("", hyperlinks=False)
    markdown.parsed = [_safe(token) for token in _PARSER.parse(printable(text.replace("\r\n", "\n")))]
    return markdown


def cut_page(text: str) -> tuple[int, str]:
    """Return where the first page of a text ends, and what the next one has to begin with.

    A page ends at an empty line. Only where a page has none it ends within a paragraph or a block of code, which then
    is opened anew. Of a text that still fits on one page the whole length is returned.
    """
    lines = text[:PAGE].split("\n", LINES)
    if len(text) <= PAGE and len(lines) <= LINES:
        return len(text), ""
    opening, fence, position, end = "", "", 0, 0
    for line in lines[:-1]:
        position += len(line) + 1
        mark = _FENCE.match(line)
        if mark is not None and not fence:
            opening, fence = f"{line}\n", mark[1]
        elif mark is not None and mark[1].startswith(fence):
            opening, fence = "", ""
        elif not line.strip() and not fence:
            end = position
    if end:
        return end, ""
    return position or PAGE, opening


def _safe(token: Token) -> Token:
    """Make a token printable: the parser has read character references, and could have made anything of them."""
    if token.type == "image":
        shown = printable(f"[image {token.content}: {token.attrs.get('src', '')}]")
        return Token("text", "", 0, content=shown)
    token.content, token.info = printable(token.content), printable(token.info)
    token.attrs = {name: printable(value) if isinstance(value, str) else value for name, value in token.attrs.items()}
    if token.children is not None:
        token.children = [_safe(child) for child in token.children]
    return token
