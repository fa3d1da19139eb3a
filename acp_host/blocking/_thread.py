"""The event loop that a blocking connection lives on, in a thread of its own: :class:`LoopThread`."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar, cast

from acp_host.errors import ConnectionClosed, InvalidState

__all__ = ["LoopThread"]

_R = TypeVar("_R")

_SLICE = 0.2
"""Seconds; on Windows, Ctrl-C is noticed only between two waits."""
_TO_LET_GO = 5.0
"""Seconds that an interrupted call may take to end; the interrupt propagates then all the same."""


class LoopThread:
    """An event loop in a thread; it goes on while the threads of the application do something else.

    Args:
        name: what the thread is called.
    """

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._stopped = False
        self._stopping = threading.Lock()
        self._calls: set[_Call] = set()
        # A daemon: whoever forgets to close must still be able to leave the program.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop, for those who wait on a loop of their own."""
        return self._loop

    def run(self, function: Callable[[], Awaitable[_R]]) -> _R:
        """Call a function on the loop, await what it returns, and return the result of that.

        ``KeyboardInterrupt`` cancels what is awaited, waits shortly for its end, and propagates.

        Raises:
            InvalidState: it is called on the loop's own thread, which would wait for itself.
            ConnectionClosed: the loop has ended, or does so before the result is there.
        """

        async def awaited() -> _R:
            return await function()

        return self._result_of(awaited)

    def ask(self, function: Callable[[], _R]) -> _R:
        """Call a function on the loop, and return what it returns; raises what :meth:`run` raises."""

        async def called() -> _R:
            return function()

        return self._result_of(called)

    async def awaited(self, function: Callable[[], Awaitable[_R]]) -> _R:
        """Call a function on the loop, and await on another loop what it returns; who is cancelled cancels that.

        Raises:
            ConnectionClosed: the loop has ended, or does so before the result is there.
        """

        async def work() -> _R:
            return await function()

        with self._calling(work) as call:
            try:
                return cast(_R, await call.on_this_loop())
            except asyncio.CancelledError:
                self.call_soon(call.cancel)
                raise

    def _result_of(self, work: Callable[[], Awaitable[_R]]) -> _R:
        if threading.current_thread() is self._thread:
            raise InvalidState(
                "a blocking call was made on the connection's own thread, which would wait for itself: there, use the"
                " object's `asynchronous`"
            )
        with self._calling(work) as call:
            try:
                return cast(_R, call.wait())
            except KeyboardInterrupt:
                self.call_soon(call.cancel)
                with contextlib.suppress(Exception):
                    call.wait(_TO_LET_GO)
                raise

    @contextlib.contextmanager
    def _calling(self, work: Callable[[], Awaitable[Any]]) -> Iterator[_Call]:
        """Begin a call, of which the thread knows until the block ends: its own end may come before the call's turn."""
        call = _Call(work)
        self._calls.add(call)
        try:
            # After a fork there is no such thread in the new process, and nobody who would ever answer.
            if not self._thread.is_alive() or not self.call_soon(call.start):
                raise ConnectionClosed("the connection was closed before this call was made")
            yield call
        finally:
            self._calls.discard(call)

    def call_soon(self, function: Callable[[], Any]) -> bool:
        """Call a function on the loop without waiting for it; tell whether the loop is still there."""
        if self._stopped:
            return False
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:  # it was closed in this moment
            return False
        return True

    def stop(self) -> None:
        """End the loop and its thread; calls under way end with ``ConnectionClosed``. May be called repeatedly."""
        with self._stopping:  # a second time it would break off what ends the loop in order
            if not self._stopped:
                self.call_soon(self._loop.stop)
                self._stopped = True
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(_end_tasks())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            self._loop.close()
            for call in tuple(self._calls):  # those whose turn has not come
                call.cut_off()


class _Call:
    """One call on the loop, and the result that another thread waits for."""

    def __init__(self, work: Callable[[], Awaitable[Any]]) -> None:
        self._awaited = work
        self._outcome: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._work(), name="acp_host blocking call")
        self._task.add_done_callback(lambda _: self.cut_off())  # one that is cancelled before it begins tells nothing

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def cut_off(self) -> None:
        """End it; nobody works for it any more."""
        if not self._outcome.done():
            self._outcome.set_exception(_cut_off())

    def wait(self, timeout: float | None = None) -> Any:
        waited = 0.0
        while True:
            try:
                return self._outcome.result(_SLICE)
            except (asyncio.CancelledError, concurrent.futures.CancelledError):
                raise _cut_off() from None
            except TimeoutError:
                waited += _SLICE
                if self._outcome.done():  # it is what the call itself has raised
                    raise
                if timeout is not None and waited >= timeout:
                    raise

    def on_this_loop(self) -> asyncio.Future[Any]:
        """Return a future of the running loop; cancelling it leaves the call alone."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def settle() -> None:
            if not future.done():
                error = self._outcome.exception()
                if error is None:
                    future.set_result(self._outcome.result())
                else:
                    future.set_exception(_cut_off() if isinstance(error, asyncio.CancelledError) else error)

        def done(_: Any) -> None:
            with contextlib.suppress(RuntimeError):  # that loop has ended
                loop.call_soon_threadsafe(settle)

        self._outcome.add_done_callback(done)
        return future

    async def _work(self) -> None:
        try:
            result = await self._awaited()
        except BaseException as error:
            if not self._outcome.done():  # else it was cut off
                self._outcome.set_exception(error)
        else:
            self._outcome.set_result(result)


def _cut_off() -> ConnectionClosed:
    return ConnectionClosed("the connection was closed while this call ran")


async def _end_tasks() -> None:
    while tasks := asyncio.all_tasks() - {asyncio.current_task()}:  # calls may come meanwhile
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
