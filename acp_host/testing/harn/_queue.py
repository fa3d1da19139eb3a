"""What waits behind the prompt that runs on a connection: :class:`PromptQueue`."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from acp_host.testing.agent_side import Handler

__all__ = ["PromptQueue"]


class PromptQueue:
    """The messages of one host, in their order: one prompt at a time, and behind it whatever cannot be done meanwhile.

    The prompts of all sessions of the connection share it.
    """

    def __init__(self) -> None:
        self._busy = False
        self._waiting: deque[tuple[Handler, Any, asyncio.Future[Any]]] = deque()

    def behind(self, handle: Handler) -> Handler:
        """Return a handler that does its work when no prompt runs, and nothing waits that came before."""

        def handler(params: Any) -> Any:
            return self._later(handle, params) if self._busy or self._waiting else handle(params)

        return handler

    async def behind_all(self, work: Callable[[], Any]) -> Any:
        """Do some work when no prompt runs, and nothing waits that came before; return its result."""
        result = self.behind(lambda _: work())(None)
        return await result if inspect.isawaitable(result) else result

    def begin(self) -> None:
        """Learn that a prompt begins."""
        self._busy = True

    def end(self) -> None:
        """Learn that the prompt is over; what waits follows its answer."""
        self._busy = False
        asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        while self._waiting and not self._busy:
            handle, params, result = self._waiting.popleft()
            if result.cancelled():
                continue
            try:
                result.set_result(handle(params))
            except Exception as error:
                result.set_exception(error)

    def _later(self, handle: Handler, params: Any) -> Awaitable[Any]:
        result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((handle, params, result))

        async def wait() -> Any:
            done = await result
            return await done if inspect.isawaitable(done) else done

        return wait()
