"""The parameters of Harn's methods, which no schema of ACP knows: small readers that refuse what does not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from acp_host.errors import InvalidParams

__all__ = ["content_blocks", "harn_member", "text_member"]


def text_member(params: Any, *names: str) -> str:
    """Return a text that is not empty, under the first of its names that is there.

    Raises:
        InvalidParams: there is none.
    """
    for name in names:
        value = params.get(name) if isinstance(params, Mapping) else None
        if isinstance(value, str) and value.strip():
            return value
    raise InvalidParams(f"missing {names[0]}")


def content_blocks(content: Any) -> Sequence[Mapping[str, Any]]:
    """Return a text, or content blocks, as content blocks.

    Raises:
        InvalidParams: it is neither, or empty.
    """
    if isinstance(content, str) and content.strip():
        return [{"type": "text", "text": content}]
    if isinstance(content, list) and content and all(isinstance(block, Mapping) for block in content):
        return content
    raise InvalidParams("content must be a text or content blocks, not empty")


def harn_member(params: Mapping[str, Any], name: str) -> Any:
    """Return what is under ``_meta.harn`` by a name, or ``None``."""
    meta = params.get("_meta")
    harn = meta.get("harn") if isinstance(meta, Mapping) else None
    return harn.get(name) if isinstance(harn, Mapping) else None
