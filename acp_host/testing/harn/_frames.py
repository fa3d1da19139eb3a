"""The forms of Harn's updates: :func:`named` is the present one, :func:`at_root` that of agents before April 2026."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["at_root", "harn_meta", "named", "text_block"]


def named(kind: str, /, **members: Any) -> dict[str, Any]:
    """Return an update whose members are under ``_meta.harn``."""
    return {"sessionUpdate": kind, "_meta": {"harn": members}}


def at_root(update: Mapping[str, Any]) -> dict[str, Any]:
    """Return an update of Harn's with its members at the root; another one as it is."""
    harn = update.get("_meta", {}).get("harn")
    if not harn:
        return dict(update)
    rest = {name: value for name, value in update.items() if name != "_meta"}
    return {**rest, **harn}


def harn_meta(**members: Any) -> dict[str, Any]:
    """Return a ``_meta`` with the members that are not ``None``; empty without any."""
    given = {name: value for name, value in members.items() if value is not None}
    return {"_meta": {"harn": given}} if given else {}


def text_block(text: str, **meta: Any) -> dict[str, Any]:
    """Return a text block; ``meta`` goes under ``_meta.harn``."""
    return {"type": "text", "text": text, **harn_meta(**meta)}
