"""An event loop on which waiting takes no time: :func:`run_in_virtual_time`.

Where nothing is ready to run, the clock of the loop is set forward to the next timer. So a conversation of an hour is
folded in the time that its messages take, and every deadline and pause in it is as it was.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, TypeVar, TypeVarTuple, Unpack

__all__ = ["run_in_virtual_time"]

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")


class _VirtualSelector(selectors.DefaultSelector):
    """Waits only for what can end no other way than from outside; else it lets the time pass at once.

    What threads were given to do ends from outside, and takes none of the loop's time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.threads_at_work = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        waits = timeout is None or (timeout and self.threads_at_work)
        ready = super().select(None if waits else 0)
        if not ready and timeout:
            self.time += timeout
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _VirtualSelector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.time

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[_Ts]], _T], *args: *_Ts
    ) -> asyncio.Future[_T]:
        future = super().run_in_executor(executor, func, *args)
        self._virtual.threads_at_work += 1
        future.add_done_callback(self._thread_done)
        return future

    def _thread_done(self, _: object) -> None:
        self._virtual.threads_at_work -= 1


def run_in_virtual_time(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end on a loop of its own that begins at time 0; return its result.

    May be called while another loop runs in this thread, which waits then.
    """

    def run() -> _T:
        with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
            return runner.run(work)

    if not _has_running_loop():
        return run()
    with ThreadPoolExecutor(1, "acp_host replay") as threads:
        return threads.submit(run).result()


def _has_running_loop() -> bool:
    """Tell whether a loop runs in this thread; on its own, so that no error of the work comes with this one's."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
