"""Calls what the application has given: :func:`awaited` and :func:`as_failure`.

What an application's coroutine waits for may be cancelled, such as the task of a dialog. That is a fault of the handler
like any other, and not the cancellation of the task that runs it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["HandlerCancelled", "as_failure", "awaited"]

T = TypeVar("T")


class HandlerCancelled(Exception):
    """What a handler waited for was cancelled, and nobody has cancelled the handler."""


@contextmanager
def as_failure() -> Iterator[None]:
    """Raise ``HandlerCancelled`` in place of a ``CancelledError`` that is not this task's own."""
    try:
        yield
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise HandlerCancelled("what it waited for was cancelled") from None


async def awaited(value: T | Awaitable[T]) -> T:
    """Return a value, or what it is an awaitable of; raises ``HandlerCancelled`` as :func:`as_failure`."""
    with as_failure():
        return await value if inspect.isawaitable(value) else value
