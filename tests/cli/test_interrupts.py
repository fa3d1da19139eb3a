from __future__ import annotations

import asyncio
import os
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from acp_host.cli.interrupts import Interrupts
from tests.fleet.surroundings import until


async def interrupted() -> None:
    with pytest.raises(asyncio.CancelledError):
        await asyncio.Event().wait()


async def test_a_signal_cancels_the_task() -> None:
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGTERM)
        await interrupted()
    assert interrupts.received == signal.SIGTERM


async def test_a_signal_ends_at_once_what_somebody_is_to_type() -> None:
    """The loop would hear of it when the line is there."""
    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.reading():
            signal.raise_signal(signal.SIGINT)
        assert interrupts.received == signal.SIGINT
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
    before, during = signal.getsignal(signal.SIGINT), []

    async def work() -> None:
        with Interrupts():
            during.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    thread.join()
    assert during == [before]


@pytest.mark.skipif(sys.platform != "linux", reason="pipes have other sizes there, or writes cannot be interrupted")
@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]])
def test_a_command_ends_whose_output_nobody_reads(tmp_path: Path, signals: list[int]) -> None:
    ours, theirs = os.pipe()
    program = [sys.executable, "-E", "-c", STUCK, str(tmp_path)]
    with subprocess.Popen(program, stdout=theirs, stdin=subprocess.DEVNULL) as stuck:
        try:
            os.close(theirs)
            until(lambda: is_full(ours), 30)
            for number in signals:
                stuck.send_signal(number)
            assert stuck.wait(30) in (128 + signals[-1], 128 + signals[0])
            assert (tmp_path / "closed").exists()
        finally:
            stuck.kill()
            os.close(ours)


def is_full(pipe: int) -> bool:
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    held = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]
    return bool(held >= 2**16)


STUCK = """
import asyncio, os, sys
from acp_host.cli import command, interrupts

interrupts.PATIENCE = 0.2

async def run(options, interrupts):
    try:
        with interrupts.first_does(lambda: None):
            sys.stdout.write("x" * 10_000_000)
            sys.stdout.flush()
    finally:
        await asyncio.sleep(0)
        open(os.path.join(sys.argv[1], "closed"), "w").close()

class Parser:
    def parse_known_args(self, argv):
        return __import__("argparse").Namespace(name="run", command=run), []

command._make_parser = lambda argv: Parser()
sys.exit(command.run_command([]))
"""
