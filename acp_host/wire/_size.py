"""About how much memory a decoded value takes: :func:`memory_of`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import attrs

from acp_host.wire._model import NO_EXTRA, UNSET

__all__ = ["memory_of"]

_OBJECT = 64
"""Bytes of an object beside what is in it, roughly."""


def memory_of(value: Any, enough: int) -> int:
    """Return about how many bytes a wire value or plain JSON takes, however deep it is.

    Args:
        value: the value; an object that stands in it twice counts twice.
        enough: where more than that is found, nobody needs to know how much: the rest is not looked at.
    """
    waiting, size = [value], 0
    for one in waiting:  # which grows meanwhile
        if one is UNSET or one is None or one is NO_EXTRA:
            continue
        size += _OBJECT
        kind = one.__class__
        if kind is str:
            size += len(one)
        elif kind is tuple or kind is list:
            waiting += one
        elif kind is dict:
            waiting += one
            waiting += one.values()
        elif (members := _members_of(kind)) is not None:
            waiting += members(one)
        if size > enough:
            break
    return size


@cache
def _members_of(kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return what gives the members of an instance of a class; ``None`` where it has none that we know."""
    names = [field.name for field in attrs.fields(kind)] if attrs.has(kind) else []
    if len(names) > 1:
        return operator.attrgetter(*names)
    return (lambda one: tuple([getattr(one, name) for name in names])) if names else None
