"""Awaiting what happens on the event loop of another thread: :func:`on_loop`.

The server's loop can stand still: contents managers may block it, and on Windows it cannot start processes. So agents
live on a loop of their own, and the two meet here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from acp_host.errors import ConnectionClosed

__all__ = ["on_loop"]

R = TypeVar("R")


async def on_loop(loop: asyncio.AbstractEventLoop, work: Callable[[], Coroutine[Any, Any, R]]) -> R:
    """Call a coroutine function on a loop of another thread, and return what it returns.

    A cancellation here cancels it there.

    Raises:
        ConnectionClosed: that loop has ended.
    """
    coroutine = work()
    try:
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    except RuntimeError:
        coroutine.close()
        raise ConnectionClosed("the agents of this server have been ended") from None
    return await asyncio.wrap_future(future)
