"""What the README shows works."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import acp_host
from acp_host.state.entries import MessageEntry
from acp_host.state.reminder_entry import Rung
from acp_host.testing import ReferenceAgent
from acp_host.ui.jupyter import AgentWidget
from tests.docs.shell_lines import PROGRAMS, run_lines, shell_lines_of
from tests.docs.snippets import ROOT, read_page, run_snippet, snippets_of
from tests.ui.toolkits.screens import environment_for

README = read_page("README.md")
SCRIPT, EDITOR, NOTEBOOK = snippets_of(README)
DISPLAYED = """
import runpy

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QListWidget


def look():
    for window in QApplication.topLevelWidgets():
        lines = [window.item(row).text() for row in range(window.count())] if isinstance(window, QListWidget) else []
        if any(line.startswith("assistant: ") for line in lines):
            print(*lines, sep="\\n")
            QApplication.quit()


def shown(app):
    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(20)
    return show()


show, QApplication.exec = QApplication.exec, shown
runpy.run_path("editor.py", run_name="__main__")
"""


def test_the_script_runs(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "notes.md").write_text("# Notes\n", encoding="utf-8")
    line = [sys.executable, "hello.py", *ReferenceAgent.command()]
    ran = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    *updates, result = ran.stdout.strip().splitlines()
    assert {"AgentMessageChunk", "AgentThoughtChunk", "Plan", "ToolCall", "ToolCallUpdate"} < set(updates)
    assert "I added the line." in result
    assert len((tmp_path / "notes.md").read_text(encoding="utf-8").splitlines()) == 2


def test_the_editor_shows_the_conversation(tmp_path: Path) -> None:
    found = environment_for("qt", tmp_path / "packages")
    if found is None:
        pytest.skip("!!! QT WAS NOT FOUND: the editor of the README is not tested !!! `make system-deps` installs it")
    (tmp_path / "editor.py").write_text(EDITOR, encoding="utf-8")
    line = [sys.executable, "-c", DISPLAYED]
    surroundings = {**found, "PATH": PROGRAMS}
    ran = subprocess.run(line, cwd=tmp_path, env=surroundings, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("user: What is in this folder?\nthought: ")
    assert "Traceback" not in ran.stderr


def has_answer(widget: AgentWidget) -> bool:
    transcript = widget.session.state.snapshot().transcript
    return any(isinstance(entry, MessageEntry) and entry.speaker == "assistant" for entry in transcript)


async def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", PROGRAMS)
    widget = (await run_snippet(NOTEBOOK))["widget"]
    try:
        async with asyncio.timeout(60):
            while not has_answer(widget):  # noqa: ASYNC110 - the state changes on a thread of its own
                await asyncio.sleep(0.02)
    finally:
        widget.close()


@pytest.mark.parametrize("snippet", [SCRIPT, EDITOR, NOTEBOOK], ids=["script", "editor", "notebook"])
def test_an_example_is_short(snippet: str) -> None:
    assert len([line for line in snippet.splitlines() if line.strip()]) <= 20


def test_a_prompt_is_one_line(tmp_path: Path) -> None:
    [line] = [line for block in shell_lines_of(README) for line in block.splitlines() if " run " in line]
    assert run_lines(line, tmp_path).stdout == "Hello\n"


def test_the_rungs_are_those_of_the_default_policy() -> None:
    used = re.findall(r"^\| `(\w+)` \| .* \| (yes|no) \|$", README, re.MULTILINE)
    assert [rung for rung, _ in used] == list(Rung)
    assert tuple(rung for rung, by_default in used if by_default == "yes") == acp_host.ReminderPolicy().rungs


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"\bmake (\w[\w-]*)", README)
    assert targets[:2] == ["demo", "test"], "these come first"
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_it_is_short() -> None:
    assert os.path.getsize(ROOT / "README.md") < 12_000
