"""A content block as text: :func:`content_text`."""

from __future__ import annotations

from acp_host.wire._model import UNSET, Unknown
from acp_host.wire.content import ContentBlock, EmbeddedResource, ResourceLink, TextContent, TextResourceContents
from acp_host.wire.text import join_text

__all__ = ["content_text"]


def content_text(block: ContentBlock) -> str:
    """Return a content block as text; what is no text is named. It is not made printable."""
    match block:
        case TextContent(text=text):
            return join_text((text,))
        case ResourceLink(name=name, uri=uri):
            return f"[{name}: {uri}]"
        case EmbeddedResource(resource=TextResourceContents(text=text, uri=uri)):
            return f"[{uri}]\n{text}"
        case Unknown(tag=tag):
            return f"[{tag}]"
        case _:
            return f"[{getattr(block, 'mime_type', UNSET) or type(block).__name__}]"
