"""What an agent says, as HTML that can be put into a notebook: :func:`markdown_html`, :func:`text_html`.

A notebook runs what stands in the HTML of its outputs, and keeps it. So HTML of the agent's is text, pictures are named
and not fetched, a link is followed by where it leads; and a sanitiser stands behind what is made here.
"""

from __future__ import annotations

import html
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from acp_host.printable import printable

__all__ = ["clean", "markdown_html", "text_html"]

_PARSER = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["strikethrough", "table"])
_SCHEMES = {"http", "https", "mailto"}
_TAGS = {
    *("a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p"),
    *("pre", "s", "small", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_ATTRIBUTES = {"a": {"href"}, "*": {"style"}, "ol": {"start"}}
_STYLES = {"background", "border-left", "margin", "opacity", "padding", "text-align", "white-space"}
_LONGEST = 1_000_000
"""Characters of a text that are shown."""


def markdown_html(text: str) -> str:
    """Return Markdown of an agent as HTML."""
    tokens = [_safe(token) for token in _PARSER.parse(printable(_cut(text).replace("\r\n", "\n")))]
    return clean(_PARSER.renderer.render(tokens, _PARSER.options, {}))


def text_html(text: str) -> str:
    """Return text of an agent as HTML that shows it as it is, on one line or several."""
    return html.escape(printable(_cut(text)))


def clean(document: str) -> str:
    """Return HTML with nothing in it but words and how they are set."""
    return nh3.clean(
        document,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
        filter_style_properties=_STYLES,
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}\n\n({len(text) - _LONGEST} more characters)"


def _safe(token: Token) -> Token:
    """Make a token printable: the parser has read character references, and could have made anything of them."""
    token.content, token.info = printable(token.content), printable(token.info)
    if token.children is not None:
        token.children = [safe for child in token.children for safe in _safe_inline(child)]
        _show_targets(token.children)
    return token


def _safe_inline(token: Token) -> list[Token]:
    if token.type == "image":
        return [_text(f"[image {token.content}: {token.attrs.get('src', '')}]")]
    if token.type in ("html_inline", "html_block"):
        return [_text(token.content)]
    token.content = printable(token.content)
    return [token]


def _show_targets(tokens: list[Token]) -> None:
    """Put where each link leads behind it, and take away those that lead nowhere safe; in place."""
    target = ""
    shown: list[Token] = []
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrs.get("href", ""))
            if _leads(target):
                shown.append(token)
        elif token.type == "link_close":
            if _leads(target):
                shown.append(token)
            shown.append(_text(f" ({target})"))
        else:
            shown.append(token)
    tokens[:] = shown


def _leads(target: str) -> bool:
    try:
        return urlsplit(target).scheme.lower() in _SCHEMES
    except ValueError:
        return False


def _text(text: str) -> Token:
    return Token("text", "", 0, content=printable(text))
