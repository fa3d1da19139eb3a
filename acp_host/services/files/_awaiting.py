"""Takes what a hook returns, whether it is a coroutine function or not: :func:`awaited`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import TypeVar

__all__ = ["awaited"]

T = TypeVar("T")


async def awaited(value: T | Awaitable[T]) -> T:
    """Return a value, or what it is an awaitable of."""
    return await value if inspect.isawaitable(value) else value
