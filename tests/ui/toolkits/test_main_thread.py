"""What coroutines on another loop get from the main thread of a user interface: ``MainThread.call``."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from acp_host.state.dispatch import DispatchEnded
from acp_host.ui.main_thread import MainThread


class Toolkit(MainThread):
    """A toolkit whose event loop runs when the test says so, on a thread of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Callable[[], None]] = []
        self.woken = asyncio.Event()

    def wake(self) -> None:
        self.events.append(self.run_next)
        self.woken.set()

    def released(self) -> None:
        self.events.clear()

    def run(self) -> None:
        thread = threading.Thread(target=lambda: [event() for event in self.events])
        thread.start()
        thread.join()


async def test_the_answer_comes_from_the_main_thread() -> None:
    toolkit = Toolkit()
    called = asyncio.ensure_future(toolkit.call(lambda *words: (*words, threading.current_thread()), "a", "b"))
    await toolkit.woken.wait()
    toolkit.run()
    *words, thread = await called
    assert words == ["a", "b"]
    assert thread is not threading.current_thread()


async def test_what_is_raised_there_is_raised_here() -> None:
    toolkit = Toolkit()
    called = asyncio.ensure_future(toolkit.call({}.__getitem__, "a"))
    await toolkit.woken.wait()
    toolkit.run()
    with pytest.raises(KeyError):
        await called


async def test_a_call_that_is_cancelled_before_its_turn_is_not_made() -> None:
    toolkit, made = Toolkit(), list[str]()
    called = asyncio.ensure_future(toolkit.call(made.append, "a"))
    await toolkit.woken.wait()
    called.cancel()
    with pytest.raises(asyncio.CancelledError):
        await called
    toolkit.run()
    assert made == []


async def test_a_call_ends_with_the_window() -> None:
    toolkit = Toolkit()
    called = asyncio.ensure_future(toolkit.call(print, "a"))
    await toolkit.woken.wait()
    toolkit.end()
    with pytest.raises(DispatchEnded):
        await called
    with pytest.raises(DispatchEnded):
        await toolkit.call(print, "b")
