"""The command at a (pseudo-)terminal: Ctrl-C, questions, and what the screen looks like."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from acp_host.testing import ScriptedAgent
from tests.cli import agents
from tests.cli.conftest import PATIENCE, PROGRAM

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals on Windows", allow_module_level=True)

import fcntl
import pty
import select
import termios
import time

# Makes the pseudo-terminal the controlling one, so that Ctrl-C in it becomes a signal.
# Tests that are run by nohup ignore SIGHUP, and so would whatever they start.
TAKE_TERMINAL = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Screen:
    """A terminal with the command running in it."""

    def __init__(self, master: int, process: subprocess.Popen[bytes]) -> None:
        self._master = master
        self.process = process
        self.shown = ""

    def wait_for(self, text: str, times: int = 1) -> None:
        """Read what is shown until ``text`` is there, so many times."""
        deadline = time.monotonic() + PATIENCE
        while plainly(self.shown).count(text) < times:
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"{text!r} never came; the screen shows:\n{self.shown}")

    def wait_for_raw(self, text: str) -> None:
        """Read until ``text`` is there in what was written, whether or not it stays."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.shown:
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"{text!r} never came; the screen shows:\n{self.shown}")

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        """Read to the end, and return the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline - time.monotonic()):
            pass
        return self.process.wait(PATIENCE)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], max(seconds, 0))[0]:
            raise AssertionError(f"nothing more came; the screen shows:\n{self.shown}")
        try:
            data = os.read(self._master, 65536)
        except OSError:  # how Linux says that the other end is closed
            return False
        self.shown += data.decode().replace("\r\n", "\n")
        return bool(data)


@contextmanager
def at_terminal(script: Callable[[ScriptedAgent], Awaitable[Any]], *options: str) -> Iterator[Screen]:
    """Run ``acp-host run`` with an agent at a terminal."""
    with on_screen([*PROGRAM, "run", *options, *ScriptedAgent.command(script), "--", "go"]) as screen:
        yield screen


@contextmanager
def on_screen(line: Sequence[str]) -> Iterator[Screen]:
    """Run a command at a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x18\x00\x50\x00\x00\x00\x00\x00")
    process = subprocess.Popen(
        [sys.executable, "-c", TAKE_TERMINAL, *line],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(slave)
    try:
        yield Screen(master, process)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def plainly(shown: str) -> str:
    """Return what stays on the screen, without colours and without lines of progress."""
    return re.sub(r"\r\x1b\[K[^\n\r]*(?=\r\x1b\[K)|\r\x1b\[K", "", re.sub(r"\x1b\[[0-9;]*m", "", shown))


def test_ctrl_c_cancels_the_turn_and_waits_for_its_end() -> None:
    with at_terminal(agents.slow) as screen:
        screen.wait_for("working")
        screen.type("\x03")
        assert screen.end() == 130
        shown = plainly(screen.shown)
    assert shown.index("cancelling the turn") < shown.index(", stopped"), "what came after Ctrl-C is shown"
    assert "result      cancelled, stop reason cancelled" in shown
    assert "Traceback" not in shown


def test_a_line_of_progress_is_drawn_while_nothing_is_said_and_taken_away() -> None:
    with at_terminal(agents.looks) as screen:
        screen.wait_for_raw(" · 1 tool call · Look ")
        screen.type("\x03")
        assert screen.end() == 130
    drawn = screen.shown
    assert re.search(r"\r\x1b\[K\x1b\[2mworking, \d+ s · 1 tool call · Look \\x1b", drawn), "it is dim, and spelled out"
    assert " · " not in plainly(drawn), "nothing of it stays"
    assert "result      cancelled" in plainly(drawn)


def test_a_second_ctrl_c_ends_everything() -> None:
    with at_terminal(agents.stubborn) as screen:
        screen.wait_for("working")
        screen.type("\x03")
        screen.wait_for("cancelling the turn")
        screen.type("\x03")
        assert screen.end() == 130
    assert "Traceback" not in screen.shown
    assert "result" not in screen.shown


def test_ctrl_c_before_the_turn_ends_everything() -> None:
    with at_terminal(silent, "-v") as screen:
        screen.wait_for("I am up")
        screen.type("\x03")
        assert screen.end() == 130
    assert "Traceback" not in screen.shown


async def silent(agent: ScriptedAgent) -> None:
    agent.log("I am up")
    await agent.stall()


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_other_signals_end_everything_at_once(number: signal.Signals, code: int) -> None:
    with at_terminal(agents.slow) as screen:
        screen.wait_for("working")
        screen.process.send_signal(number)
        assert screen.end() == code
    assert "Traceback" not in screen.shown


def test_the_user_is_asked() -> None:
    with at_terminal(agents.asks, "--permissions", "ask") as screen:
        screen.wait_for("your choice, 1 or 2, then Enter:")
        screen.type("3\n")
        screen.wait_for("Enter:\n3\n            your choice, 1 or 2, then Enter:")
        screen.type(" 1 \n")
        assert screen.end() == 0
        shown = plainly(screen.shown)
    assert shown.count("your choice") == 2, "what is no answer is asked again"
    assert "permission? delete: Remove the disk\n" in shown
    assert '{"command": "rm -rf /"}' in shown
    assert "1  Go ahead (allow_once)" in shown
    assert "answer      Go ahead (allow_once), by you" in shown
    assert "answer: yes\n" in shown


def test_the_end_of_the_input_allows_nothing() -> None:
    with at_terminal(agents.asks, "--permissions", "ask") as screen:
        screen.wait_for("then Enter:")
        screen.type("\x04")
        assert screen.end() == 8
        shown = plainly(screen.shown)
    assert "answer      Leave it (reject_once), by the end of the input" in shown
    assert "answer: no\n" in shown


def test_what_was_typed_before_the_question_does_not_answer_it() -> None:
    with at_terminal(agents.asks_twice, "--permissions", "ask") as screen:
        screen.wait_for("then Enter:")
        screen.type("1\n1\n")
        screen.wait_for("answer: yes")
        screen.wait_for("Remove the other disk")
        screen.type("2\n")
        assert screen.end() == 8
        shown = plainly(screen.shown)
    assert "answer: yes" in shown
    assert "answer: no" in shown


def test_ctrl_c_withdraws_the_question() -> None:
    with at_terminal(agents.asks, "--permissions", "ask") as screen:
        screen.wait_for("then Enter:")
        screen.type("\x03")
        assert screen.end() == 130
        shown = plainly(screen.shown)
    assert "answer      withdrawn, by cancelling" in shown
    assert "answer: cancelled" in shown


def answer(screen: Screen, *lines: str) -> None:
    """Type each line when it is asked for."""
    for number, line in enumerate(lines, start=1):
        screen.wait_for("then Enter:", number)
        screen.type(f"{line}\n")


def test_a_form_is_filled_in_reviewed_and_sent_and_a_page_is_agreed_to() -> None:
    with at_terminal(agents.asks_with_forms, "--forms") as screen:
        answer(screen, "7", "1", "99", "1, 2", "no", "free text", "4", "yes", "perhaps", "y")
        assert screen.end() == 0
        shown = plainly(screen.shown)
    assert "form?       How shall I go on?\n            Settings\n" in shown
    assert "1  Left: West\n            one of the numbers (needed), then Enter:" in shown
    assert "Way takes one number from the list; once more, then Enter:" in shown
    assert "a whole number (or nothing for 3), then Enter:" in shown
    assert "Odd: not of a kind that can be answered here" in shown
    assert "Steps is too large: the most is 9" in shown
    assert "Way: Left (l)\n            Steps: 4\n            Tags: a, b\n            Sure: no\n" in shown
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown) is None
    assert "on xn--pple-43d.com: http://xn--pple-43d.com/login" in shown
    assert "The connection is not encrypted" in shown.replace("\n            ", " ")
    content = {"1": "l", "n": 4, "t": ["a", "b"], "b": False, "s": "free text"}
    told = re.search(r"\[\{.*\}\]", shown)
    assert told
    assert json.loads(told[0]) == [{"action": "accept", "content": content}, {"action": "accept"}]


def test_the_end_of_the_input_cancels_a_form() -> None:
    with at_terminal(agents.asks_with_forms, "--forms") as screen:
        answer(screen, "1")
        screen.wait_for("then Enter:", 2)
        screen.type("\x04")
        screen.end()
        shown = plainly(screen.shown)
    assert "answer      cancelled, by the end of the input" in shown
    assert '{"action": "cancel"}' in shown


def test_what_was_seen_can_still_be_declined() -> None:
    with at_terminal(agents.asks_with_forms, "--forms") as screen:
        answer(screen, "1", "", "", "", "", "no", "no")
        assert screen.end() == 0
        shown = plainly(screen.shown)
    assert shown.count("answer      declined") == 2
    assert '[{"action": "decline"}, {"action": "decline"}]' in shown


def test_message_and_activity_share_the_screen() -> None:
    with at_terminal(agents.echo) as screen:
        assert screen.end() == 0
    lines = plainly(screen.shown).splitlines()
    assert "\U0001f600 " in lines, "a line begun by the message ends before a tool call is shown"
    assert "tool        a tool  completed" in lines
    assert "go" in lines
    assert "\x1b[" in screen.shown, "there are colours"


def test_hostile_text_cannot_steer_the_terminal() -> None:
    with at_terminal(agents.hostile, "-v", "--permissions", "allow-once") as screen:
        screen.end()
    assert r"\x1b]0;title\x07" in screen.shown
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", plainly(screen.shown)) is None
    assert "45" not in re.findall(r"[\d]+", "".join(re.findall(r"\x1b\[[0-9;]*m", screen.shown))), "none of our styles"
