"""The session that a page begins with: :func:`first_session`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from acp_host.host.connection import HostConnection
from acp_host.host.login_queue import LoginQueue

__all__ = ["first_session"]


@asynccontextmanager
async def first_session(
    host: HostConnection, cwd: str, logins: LoginQueue, refused: Callable[[BaseException], None]
) -> AsyncIterator[None]:
    """Open a session before the block runs; if the agent wants a login first, it opens after that, in the block.

    Args:
        host: the connection.
        cwd: where the session works.
        logins: the queue that was passed to ``connect(authenticate=…)``; whoever shows it runs in the block.
        refused: called with why no session was opened in the block.

    Raises:
        AcpError: it cannot be opened, and no login was asked for.
    """
    asked = asyncio.Event()
    asking = logins.changed.connect(lambda _: asked.set())
    opening = asyncio.create_task(host.new_session(cwd), name="acp_host first session")
    waiting = asyncio.create_task(asked.wait(), name="acp_host question of a login")

    def opened(task: asyncio.Task[object]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            refused(error)

    try:
        await asyncio.wait((opening, waiting), return_when=asyncio.FIRST_COMPLETED)
        if opening.done():
            opening.result()
        else:
            opening.add_done_callback(opened)
        yield
    finally:
        asking.end()
        for task in (opening, waiting):
            task.cancel()
        await asyncio.gather(opening, waiting, return_exceptions=True)
