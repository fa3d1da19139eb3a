"""What was said and done, as attributes of spans; only where ``Telemetry(content=True)`` asks for it.

The form of messages is that of the GenAI conventions: JSON texts with roles and parts. Each is cut at
:data:`LONGEST` characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from acp_host.printable import printable_json
from acp_host.redaction import redact
from acp_host.wire.content import ContentBlock, TextContent

__all__ = ["LONGEST", "json_text", "messages", "texts_of"]

LONGEST = 16_384
"""Most characters of an attribute."""


def messages(role: str, texts: Iterable[str], redactor: Callable[[str], str]) -> str:
    """Return one message as the value of ``gen_ai.input.messages`` or ``gen_ai.output.messages``."""
    parts = [{"type": "text", "content": redactor(text[:LONGEST])} for text in texts]
    return _written([{"role": role, "parts": parts}])[:LONGEST]


def texts_of(blocks: Iterable[ContentBlock]) -> list[str]:
    """Return the texts of a prompt."""
    return [block.text for block in blocks if isinstance(block, TextContent)]


def json_text(value: Any, redactor: Callable[[str], str]) -> str:
    """Return what a tool was given or returned, as JSON."""
    return redactor(_written(redact(value))[:LONGEST])


def _written(value: Any) -> str:
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError:  # half a character, or a number of more than 64 bits
        return printable_json(value)
