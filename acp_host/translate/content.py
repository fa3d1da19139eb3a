"""Content that an agent sends outside of ACP's own messages, as blocks: :func:`content_of`."""

from __future__ import annotations

from typing import Any

from acp_host.errors import DecodeError
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.converters import structure_tolerant

__all__ = ["content_of"]


def content_of(content: Any, problems: list[str]) -> tuple[ContentBlock, ...]:
    """Return the blocks of a message, which an agent sends as an array of blocks or as one text.

    Args:
        content: as sent.
        problems: takes what is left out, for people.
    """
    if isinstance(content, str):
        return (TextContent(content),) if content else ()
    if content is not None and not isinstance(content, list):
        problems.append(f"content is not an array of blocks, but {type(content).__name__}")
        return ()
    blocks = []
    for place, each in enumerate(content or ()):
        try:
            blocks.append(structure_tolerant(each, ContentBlock, f"content[{place}]")[0])
        except DecodeError as error:
            problems.append(str(error))
    return tuple(blocks)
