"""Each tutorial, as it is told: what stands in it is saved and run, and what it says is to be seen is looked for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.docs.shell_lines import PROGRAMS, run_lines, shell_lines_of
from tests.docs.snippets import ROOT, read_page
from tests.ui.toolkits.screens import environment_for

FOLDER = ROOT / "docs" / "tutorials"

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform == "win32", reason="the lines are for a shell"),
]


def files_of(page: str) -> list[tuple[str, str]]:
    """Return the files that a page says are to be saved, in its order: name and text."""
    return re.findall(r"^```\w+ file=(\S+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", sorted(path.name for path in FOLDER.glob("*.md")))
def test_what_is_installed_is_there_to_be_installed(page: str) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    [named] = re.findall(r"pip install '\.\./acp-host\[(.+?)\]'", (FOLDER / page).read_text(encoding="utf-8"))
    assert set(named.split(",")) <= extras.keys()


# --- an editor ------------------------------------------------------------------------------------------------------


class Desk:
    """A folder with the files of the tutorial, and a user."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment

    def save(self, file: tuple[str, str]) -> None:
        (self.folder / file[0]).write_text(file[1], encoding="utf-8")

    def run(self, program: str, *tasks: str) -> dict[str, Any]:
        line = [sys.executable, "-m", "tests.docs.qt_tutorial", program]
        ran = subprocess.run(
            line,
            cwd=self.folder,
            env=self.environment,
            input="\n".join(tasks),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        assert "Traceback" not in ran.stderr
        shown: dict[str, Any] = json.loads(ran.stdout)
        return shown

    @property
    def notes(self) -> str:
        return (self.folder / "notes.md").read_text(encoding="utf-8")


def test_the_qt_editor(tmp_path: Path) -> None:
    found = environment_for("qt", tmp_path / "packages")
    if found is None:
        pytest.skip("!!! QT WAS NOT FOUND: the tutorial of the editor is not tested !!! `make system-deps` installs it")
    page = read_page("docs/tutorials/qt-editor.md")
    editor, conversation, first, documents, second, last = files_of(page)
    desk = Desk(tmp_path, {**found, "PATH": PROGRAMS})
    [line] = shell_lines_of(page)
    assert run_lines(line, tmp_path).stdout == "Hello\n"
    desk.save(("notes.md", "# Notes\n"))

    desk.save(editor)
    assert desk.run("editor.py")["text"] == "# Notes\n"

    desk.save(conversation)
    desk.save(first)
    seen = desk.run("main.py", "send Hello")
    assert seen["transcript"].startswith("user: Hello\n")
    assert seen["transcript"].endswith("I changed nothing. I checked nothing.")
    assert seen["end_in_view"]

    desk.save(documents)
    desk.save(second)
    seen = desk.run(
        "main.py", "type 🙂 a word", "answer Allow", "send Add a line", "undo", "answer Reject", "send Again"
    )
    assert seen["boxes"] == ["Edit notes.md"] * 2
    assert seen["end_in_view"]
    assert "[completed] Edit notes.md" in seen["transcript"]
    assert "[failed] Edit notes.md" in seen["transcript"]
    assert seen["text"] == "# Notes\n🙂 a word"
    assert desk.notes == "# Notes\n🙂 a word\n- The reference agent was here.\n"

    desk.save(last)
    seen = desk.run("main.py", "save", "send /reminders", "send /notice warning The disk is almost full")
    assert "1 x: The user has saved notes.md." in seen["transcript"]
    assert seen["status"] == "Reference Agent: The disk is almost full"


# --- scripts --------------------------------------------------------------------------------------------------------


def test_automation(tmp_path: Path) -> None:
    """Save each file and run each line in its turn; what is to be seen is seen, line after line."""
    page = read_page("docs/tutorials/automation.md")
    folder = tmp_path / "my-automation"
    folder.mkdir()
    seen = ""
    for language, file, text in re.findall(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        if file:
            (folder / file).write_text(text, encoding="utf-8")
        elif language == "sh":
            ran = run_lines(text, folder)
            seen = f"{ran.stdout}\n{ran.stderr}"
        elif language == "text":
            for expected in text.splitlines():
                assert all(part in seen for part in expected.split("…")), expected
    assert (folder / "notes.md").read_text() == "# Notes\n" + "- The reference agent was here.\n" * 2
    assert not list((folder / "one").iterdir())


# --- a notebook -----------------------------------------------------------------------------------------------------


async def test_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the cells in a kernel. What is typed and pressed in the widget is done in tests/ui/jupyter, in a browser."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PATH", PROGRAMS)
    page = read_page("docs/tutorials/notebook.md")
    cells = re.findall(r"^```(?:python|text)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    await client.async_execute()
    outputs = ["".join(map(str, cell["outputs"])) for cell in notebook.cells]
    widget, _, table, value, meanwhile, _, magic, reminded, noticed, counted, _ = outputs
    assert "application/vnd.jupyter.widget-view+json" in widget
    assert "text/html" in table
    assert "Hello from a cell" in table
    assert "Hello from a cell completed end_turn" in value
    assert "meanwhile: running" in meanwhile
    assert "<strong>Done.</strong>" in magic
    assert "inject_reminder" in reminded
    assert "1 x: The last losses were [0.134," in reminded
    assert "['The disk is almost full']" in noticed
    assert "Counter({'message':" in counted
