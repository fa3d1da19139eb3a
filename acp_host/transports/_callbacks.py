"""Calling back into the application, whatever that raises: :func:`call_back`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

__all__ = ["call_back"]

_T = TypeVar("_T")


def call_back(function: Callable[[_T], None], argument: _T, *, description: str) -> None:
    """Call a function; what it raises goes to the running loop's exception handler, and stops nothing half-way.

    Args:
        function: the callback.
        argument: for it.
        description: that of the transport.
    """
    try:
        function(argument)
    except Exception as error:
        asyncio.get_running_loop().call_exception_handler(
            {"message": f"a callback of the transport to `{description}` raised", "exception": error}
        )
