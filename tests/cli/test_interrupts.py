from __future__ import annotations

import asyncio
import signal
import threading

import pytest

from acp_host.cli.interrupts import Interrupts


async def interrupted() -> None:
    with pytest.raises(asyncio.CancelledError):
        await asyncio.Event().wait()


async def test_a_signal_cancels_the_task() -> None:
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGTERM)
        await interrupted()
    assert interrupts.received == signal.SIGTERM


async def test_the_first_ctrl_c_can_be_gentle() -> None:
    called = asyncio.Event()
    with Interrupts() as interrupts:
        with interrupts.first_does(called.set):
            signal.raise_signal(signal.SIGINT)
            await called.wait()
            assert interrupts.received is None
            signal.raise_signal(signal.SIGINT)
            await interrupted()
        assert interrupts.received == signal.SIGINT


async def test_after_the_block_ctrl_c_cancels() -> None:
    with Interrupts() as interrupts:
        with interrupts.first_does(lambda: None):
            pass
        signal.raise_signal(signal.SIGINT)
        await interrupted()


async def test_only_ctrl_c_is_gentle() -> None:
    called = asyncio.Event()
    with Interrupts() as interrupts, interrupts.first_does(called.set):
        signal.raise_signal(signal.SIGTERM)
        await interrupted()
    assert not called.is_set()


async def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with Interrupts():
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] != before
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


async def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(signal.SIGTERM)
            await asyncio.sleep(0)
        assert interrupts.received is None
    finally:
        signal.signal(signal.SIGTERM, before)


def test_in_another_thread_it_does_nothing() -> None:
    worked = []

    async def work() -> None:
        with Interrupts():
            worked.append(True)

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    thread.join()
    assert worked
