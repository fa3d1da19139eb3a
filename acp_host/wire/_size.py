"""About how much memory a decoded value takes: :func:`memory_of`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import attrs

from acp_host.wire._model import UNSET

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
    while waiting and size <= enough:
        one = waiting.pop()
        if one is UNSET or one is None:
            continue
        size += _OBJECT
        if isinstance(one, str):
            size += len(one)
        elif isinstance(one, dict):
            waiting.extend(one)
            waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            waiting.extend(one)
        else:
            waiting.extend(_members_of(one.__class__)(one))
    return size


@cache
def _members_of(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gives the members of an instance of a class; of one that has none that we know, nothing."""
    names = [field.name for field in attrs.fields(kind)] if attrs.has(kind) else []
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda one: tuple([getattr(one, name) for name in names])
