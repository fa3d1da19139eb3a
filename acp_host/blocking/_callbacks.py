"""Where the application's functions are called: :class:`Callbacks`.

A function that is called on the thread of the connection must not block it; an application that uses blocking calls has
mostly functions that do. So they are called elsewhere: where ``dispatch`` says, e.g. the main thread of a user
interface; without it, observers one after the other on a thread for them, and each handler, which may wait for a
person, on one of its own. Coroutine functions are run on the connection's loop, as they are.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import inspect
import logging
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from acp_host.state.dispatch import Dispatch, DispatchEnded, Errand

__all__ = ["Callbacks", "Dispatch", "answer_from"]

_F = TypeVar("_F", bound=Callable[..., Any])
_R = TypeVar("_R")

_logger = logging.getLogger("acp_host")


class Callbacks:
    """Calls observers and handlers of one connection. Its threads are daemons: one that waits for a person ends so.

    Args:
        dispatch: where they are called; ``None``: on threads of their own.
    """

    def __init__(self, dispatch: Dispatch | None) -> None:
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.dispatch: Dispatch = dispatch or self._waiting.put
        self._start: Dispatch = dispatch or _on_own_thread
        if dispatch is None:
            threading.Thread(target=self._call_observers, name="acp_host observers", daemon=True).start()

    def handler(self, function: _F) -> _F:
        """Return a handler that calls ``function`` elsewhere and waits for its answer."""
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
            return function

        async def handle(*args: Any) -> Any:
            answer = await answer_from(self._start, functools.partial(function, *args))
            return await answer if inspect.isawaitable(answer) else answer

        return cast(_F, functools.update_wrapper(handle, function, updated=()))

    def observer(self, function: Callable[..., Any]) -> Callable[..., None]:
        """Return an observer that has ``function`` called elsewhere, and does not wait."""

        def observe(*args: Any) -> None:
            with contextlib.suppress(DispatchEnded):  # nobody is there any more who would want to know
                self.dispatch(functools.partial(function, *args))

        return observe

    def close(self) -> None:
        """End the thread for observers behind what waits there."""
        self._waiting.put(None)

    def _call_observers(self) -> None:
        while (call := self._waiting.get()) is not None:
            try:
                call()
            except Exception:
                _logger.exception("an observer failed: %r", call)


async def answer_from(dispatch: Dispatch, call: Callable[[], _R]) -> _R:
    """Have ``call`` run where ``dispatch`` says, and return its answer. Cancelled before its turn, it is not run.

    Raises:
        DispatchEnded: it will never be run there.
    """
    outcome: concurrent.futures.Future[_R] = concurrent.futures.Future()

    def work() -> None:
        if outcome.set_running_or_notify_cancel():  # else it was withdrawn before its turn came
            try:
                outcome.set_result(call())
            except BaseException as error:
                outcome.set_exception(error)

    def drop() -> None:
        if outcome.set_running_or_notify_cancel():
            outcome.set_exception(DispatchEnded("the window is gone where this was to be asked"))

    dispatch(Errand(work, drop))
    return await asyncio.wrap_future(outcome)


def _on_own_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="acp_host handler", daemon=True).start()
