"""The feed's messages as bytes: :func:`encoded`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.errors import InvalidInput
from acp_host.wire.codec import encode

__all__ = ["FEED_VERSION", "encoded"]

FEED_VERSION = 1
"""Version of the messages; raised when one changes its meaning or goes."""

_DEEPEST = 100
_TOO_DEEP = "(nested too deeply to be shown)"


def encoded(message: Mapping[str, Any]) -> bytes:
    """Return a message as UTF-8; what an agent has nested too deeply for JSON is left out of it, with a word."""
    try:
        return encode(message)
    except InvalidInput:
        return encode(_pruned(message, _DEEPEST))


def _pruned(value: Any, depth: int) -> Any:
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth == 0:
        return _TOO_DEEP
    if isinstance(value, Mapping):
        return {name: _pruned(member, depth - 1) for name, member in value.items()}
    return [_pruned(member, depth - 1) for member in value]
