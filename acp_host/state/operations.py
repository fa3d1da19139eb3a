"""The operations of JSON Patch (RFC 6902) that deltas are made of."""

from __future__ import annotations

from typing import Any

__all__ = ["Operation", "add", "escaped", "remove", "replace"]

Operation = dict[str, Any]
"""One operation: ``{"op": "add"|"replace"|"remove", "path": …, "value"?: …}``."""


def add(path: str, value: Any) -> Operation:
    """Return the operation that puts a value into an array, or a member into an object, in place of what it was."""
    return {"op": "add", "path": path, "value": value}


def replace(path: str, value: Any) -> Operation:
    """Return the operation that puts a value in place of the one that is there."""
    return {"op": "replace", "path": path, "value": value}


def remove(path: str) -> Operation:
    """Return the operation that takes a value away."""
    return {"op": "remove", "path": path}


def escaped(key: str) -> str:
    """Return a key as a token of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
