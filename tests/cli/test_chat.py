"""``acp-host chat``: what it says without a terminal, and a conversation at one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from acp_host.testing import ReferenceAgent
from tests.cli.conftest import PATIENCE, PROGRAM, Command

WINDOW = b"\x28\x00\x78\x00\x00\x00\x00\x00"  # 40 lines of 120 columns


def test_it_needs_an_agent_and_a_terminal(command: Command) -> None:
    ran = command("chat")
    assert (ran.code, ran.out) == (2, "")
    assert "no agent: give its command, its URL or its name" in ran.err
    ran = command("chat", *ReferenceAgent.command())
    assert (ran.code, ran.out) == (2, "")
    assert "needs a terminal on stdin and stdout" in ran.err


def test_it_says_which_extra_it_needs(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if f"{name}.".startswith("acp_host.ui.terminal.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    ran = command("chat", *ReferenceAgent.command())
    assert ran.code == 2
    assert "pip install 'acp-host[tui]'" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals on Windows")
@pytest.mark.parametrize("leaving", ["keys", "signal"])
def test_a_conversation_at_a_terminal_leaves_it_as_it_was(leaving: str) -> None:
    with _at_terminal("chat", "--cwd", "/", *ReferenceAgent.command()) as (process, master):
        shown = _read_until(master, b"Reference Agent")
        os.write(master, b"/say 6*7\r")
        shown += _read_until(master, b"6*7")
        if leaving == "keys":
            os.write(master, b"\x03")
            shown += _read_until(master, b"once")
            os.write(master, b"\x03")
        else:
            process.send_signal(signal.SIGTERM)
        shown += _read_until(master, b"\x1b[?1049l")  # back to the screen that was there before
        assert process.wait(PATIENCE) == (0 if leaving == "keys" else 128 + signal.SIGTERM)
    assert b"Traceback" not in shown


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals on Windows")
def test_a_terminal_that_is_gone_without_a_signal_ends_it() -> None:
    """It is no controlling one here, so nobody is told that it hangs up."""
    with _at_terminal("chat", "--cwd", "/", *ReferenceAgent.command()) as (process, master):
        _read_until(master, b"Reference Agent")
        os.write(master, b"/flood 2000\r")
        _read_until(master, b"flood")
        replaced = os.open(os.devnull, os.O_RDWR)
        os.dup2(replaced, master)  # so that it is closed, and its number can be closed once more
        os.close(replaced)
        assert process.wait(PATIENCE) == 128 + signal.SIGHUP


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals on Windows")
def test_it_is_drawn_on_stdout_where_stderr_goes_elsewhere(tmp_path: Path) -> None:
    log = tmp_path / "err.log"
    with log.open("wb") as file, _at_terminal("chat", "--cwd", "/", *ReferenceAgent.command(), stderr=file) as chat:
        _read_until(chat[1], b"Reference Agent")
    assert log.read_bytes() == b""


@contextmanager
def _at_terminal(*arguments: str, stderr: IO[bytes] | None = None) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    import fcntl
    import pty
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, WINDOW)
    environment = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=stderr or slave,
        start_new_session=True,
        env=environment,
    )
    os.close(slave)
    try:
        yield process, master
    finally:
        process.kill()
        process.wait()
        os.close(master)


def _read_until(master: int, wanted: bytes) -> bytes:
    import select

    shown, deadline = b"", time.monotonic() + PATIENCE
    while wanted not in shown:
        if not select.select([master], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise AssertionError(f"{wanted!r} never came; the screen shows:\n{shown!r}")
        shown += os.read(master, 65536)
    return shown
