"""Runs what an application has put behind a request of the agent, within a time: :class:`Work`.

A function that is not a coroutine function runs in a thread of its own, so that it neither stops the event loop nor
takes the threads that files and commands need. Nothing can end such a thread: when its time is up the request is
answered, and the thread is left to itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import math
import threading
from collections.abc import Callable
from typing import Any

from acp_host.errors import InternalError, RequestFailed
from acp_host.host.incoming import HandlerFailed

__all__ = ["MAX_THREADS", "Work", "plain_json"]

MAX_THREADS = 64
"""Most functions that run in threads at once; those whose time is up count until they return."""

_FAILED = -32000


class Work:
    """Runs functions of the application; safe for any number at once, on one event loop."""

    def __init__(self) -> None:
        self._threads = threading.BoundedSemaphore(MAX_THREADS)
        self._tasks: set[asyncio.Future[Any]] = set()

    async def run(
        self,
        what: str,
        seconds: float,
        function: Callable[..., Any],
        *arguments: Any,
        read: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Return what ``function`` returns, awaited where it can be.

        Args:
            what: names the function in errors.
            seconds: how long it may take.
            function: (coroutine) function of the application.
            arguments: for it.
            read: makes the answer of the result; it raises if the function should not have returned that. ``None``: the
                result is the answer, and has to be plain JSON.

        Raises:
            RequestFailed: what the function raised, if it is one.
            HandlerFailed: it raised something else, or took too long.
            InternalError: too many functions run.
        """
        task: asyncio.Future[Any] = asyncio.ensure_future(self.call(function, *arguments))
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        try:
            await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                task.cancel()
        if not task.done():  # it may refuse to be cancelled: nobody waits for it any more
            raise _failure(f"{what} did not answer within {seconds:g} s", TimeoutError(f"{what} takes too long"))
        try:
            return (read or plain_json)(task.result())
        except RequestFailed:
            raise
        except (Exception, asyncio.CancelledError) as error:
            raise _failure(f"{what} failed ({type(error).__name__})", error) from error

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what ``function`` returns, or raise what it raises; without a limit."""
        if _is_coroutine_function(function):
            return await function(*arguments)
        result = await self._in_thread(function, *arguments)
        return await result if inspect.isawaitable(result) else result

    def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        if not self._threads.acquire(blocking=False):
            raise InternalError(f"{MAX_THREADS} functions of the host are still at work")
        loop = asyncio.get_running_loop()
        ended, context = loop.create_future(), contextvars.copy_context()

        def work() -> None:
            result, error = _outcome(functools.partial(context.run, function, *arguments))
            self._threads.release()
            with contextlib.suppress(RuntimeError):  # the loop is closed: there is nobody left to tell
                loop.call_soon_threadsafe(_settle, ended, result, error)

        try:
            threading.Thread(target=work, name="acp_host bridge", daemon=True).start()
        except RuntimeError:  # the system has no room for another thread
            self._threads.release()
            raise
        return ended

    def _forget(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may have waited for it


def _outcome(function: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """Return what a function returns, or what it raises as an exception that a future takes."""
    try:
        return function(), None
    except StopIteration:
        return None, RuntimeError("StopIteration")
    except Exception as error:
        return None, error
    except BaseException as error:  # SystemExit in a thread ends nothing but the thread
        return None, RuntimeError(f"{type(error).__name__} in a function of the host")


def _settle(ended: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if ended.done():  # nobody waits any more
        return
    if error is None:
        ended.set_result(result)
    else:
        ended.set_exception(error)


def plain_json(value: Any) -> Any:
    """Return ``value`` if it is plain JSON.

    Raises:
        TypeError: it is not.
    """
    if isinstance(value, dict):
        for name, member in value.items():
            if not isinstance(name, str):
                raise TypeError(f"the name of a member must be a string, not {type(name).__name__}")
            plain_json(member)
    elif isinstance(value, list | tuple):
        for item in value:
            plain_json(item)
    elif isinstance(value, float) and not math.isfinite(value):
        raise TypeError(f"JSON has no {value}")
    elif value is not None and not isinstance(value, str | bool | int | float):
        raise TypeError(f"the result has to be plain JSON, which {type(value).__name__} is not")
    return value


def _is_coroutine_function(function: Any) -> bool:
    return inspect.iscoroutinefunction(function if inspect.isroutine(function) else function.__call__)


def _failure(message: str, cause: BaseException) -> HandlerFailed:
    error = HandlerFailed(message, code=_FAILED)
    error.__cause__ = cause
    return error
