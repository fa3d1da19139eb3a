from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest

from acp_host.cli import demo
from tests.cli.conftest import Command


def test_demo_shows_a_whole_conversation(process: Command) -> None:
    ran = process("demo")
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out, "a log has no colours"
    positions = [
        ran.out.index(part)
        for part in (
            "What was agreed",
            "you         Add a line",
            "thinking    ",
            "plan        [>] ",
            "agent       ",
            "file        read ",
            "            +- ",
            "permission? ",
            "answer      Allow (allow_once), by the demo",
            "file        wrote ",
            "command     $ ",
            "output      ",
            "exit code 0",
            "notes.md    # Notes",
            "result      completed, stop reason end_turn; ",
        )
    ]
    assert positions == sorted(positions)
    assert re.search(r"│ loadSession +│ fs\.readTextFile +│", ran.out)
    assert "usage       " in ran.out
    assert re.search(r"tokens \(\d+ in, \d+ out\)", ran.out)


def test_demo_leaves_no_directory_behind(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert command("demo").code == 0
    assert list(tmp_path.iterdir()) == []


def test_demo_says_what_went_wrong(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_PROMPT", "/stop refusal")
    ran = command("demo")
    assert ran.code == 1
    assert "demo failed the turn ended refused; the agent said nothing; nobody asked for permission; " in ran.out
    assert "notes.md was not changed" in ran.out


def test_demo_whose_agent_cannot_be_started(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "no-such-python")
    ran = command("demo")
    assert ran.code == 1
    assert ran.err.startswith("acp-host: cannot start `no-such-python ")
