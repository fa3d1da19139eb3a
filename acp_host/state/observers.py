"""What may observe: :func:`check_observer`, the same everywhere where a function is called with news."""

from __future__ import annotations

import inspect

from acp_host.errors import InvalidInput

__all__ = ["check_observer"]


def check_observer(observer: object, instead: str = "start a task in it") -> None:
    """Refuse what could not be called, or what nobody would await.

    Args:
        observer: what an application passed.
        instead: what to do for want of a coroutine function.

    Raises:
        InvalidInput: it is a coroutine function, or no function.
    """
    if inspect.iscoroutinefunction(observer):
        raise InvalidInput(f"an observer is a plain function, and a coroutine function is not awaited: {instead}")
    if not callable(observer):
        raise InvalidInput(f"an observer is a function, not {type(observer).__name__}")
