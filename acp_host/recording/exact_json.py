"""JSON with integers of any size exact, and halves of characters kept: :func:`loads`."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

__all__ = ["loads"]

_LONG_INTEGER = re.compile(rb"\d{19}")
"""What orjson may make a float of."""


def loads(data: bytes, *, lenient: bool = False) -> Any:
    """Parse JSON.

    Args:
        data: the text in UTF-8.
        lenient: read also what is not quite JSON: NaN, raw control characters, bytes that are no UTF-8.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    if not _LONG_INTEGER.search(data):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass  # it may have half a character, which is no fault
    if lenient:
        return json.loads(data.decode("utf-8", "replace"), strict=False)
    return json.loads(data, parse_constant=_refuse)


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")
