"""What the page on files shows works, and its tables are complete."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from acp_host.errors import InvalidParams
from acp_host.services.files import (
    CellDelete,
    CellInsert,
    CellMove,
    CellReplace,
    ConflictReason,
    FileChange,
    FileChangeKind,
    FileTarget,
    NotebookFormat,
    WriteConflict,
)
from acp_host.testing import ReferenceAgent
from acp_host.wire.permission import RequestPermissionRequest
from tests.docs.snippets import read_page, run_page
from tests.services.files.asking import Agent


class Tab:
    """A document as the page's editor has it."""

    def __init__(self, text: str) -> None:
        self.text = self.loaded = text
        self.revision = 0
        self.undo: list[str] = []

    @contextlib.contextmanager
    def one_undo_step(self) -> Iterator[None]:
        self.undo.append(self.text)
        yield
        self.revision += 1

    def replace(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]

    def save(self) -> None:
        self.loaded = self.text


class Model:
    """A notebook as the page's application has it."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = self.loaded = content
        self.revision = 0

    def set_cells(self, cells: list[Any], metadata: Any) -> None:
        self.content = {**self.content, "cells": cells, "metadata": metadata or self.content["metadata"]}
        self.revision += 1


def permit(request: RequestPermissionRequest) -> str:
    return next(option.option_id for option in request.options if option.kind == "allow_once")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


async def play(folder: Path, monkeypatch: pytest.MonkeyPatch, **names: Any) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    (folder / "notes.md").write_text("# Notes\n")
    tabs: dict[str, Tab] = {}
    given = {"agent_command": ReferenceAgent.command(), "permit": permit, "tabs": tabs, "open_notebooks": {}}
    return await run_page("docs/files.md", **{**given, **names})


async def test_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    await play(folder, monkeypatch)
    assert capsys.readouterr().out == f"modified {folder / 'notes.md'}\n"


async def test_the_editor_on_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str | None] = []

    async def show(base: str | None, current: str, proposed: str) -> str | None:
        shown.extend([base, current, proposed])
        return None

    names = await play(folder, monkeypatch, show_three_versions=show)
    tab = names["tabs"].setdefault(str(folder / "notes.md"), Tab("one\ntwo\nthree\n"))
    (folder / "notes.md").write_text(tab.text)
    agent = Agent(names["files"], folder)
    assert await agent.read("notes.md") == "one\ntwo\nthree\n"
    await agent.write("1\ntwo\n3\n", "notes.md")
    assert (tab.text, tab.undo, tab.revision) == ("1\ntwo\n3\n", ["one\ntwo\nthree\n"], 1)
    conflict = WriteConflict(
        session_id="session",
        path=str(folder / "notes.md"),
        reason=ConflictReason.CHANGED_SINCE_READ,
        base="a",
        current="b",
        proposed="c",
        disk="b",
    )
    assert await names["decide"](conflict) is None
    assert shown == ["a", "b", "c"]


async def test_the_notebooks_on_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = await play(folder, monkeypatch)
    cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Title"}
    model = Model({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
    names["open_notebooks"][str(folder / "open.ipynb")] = model
    agent = Agent(names["files"], folder)
    text = await agent.read("open.ipynb")
    assert text == NotebookFormat().write(model.content)
    content = json.loads(text)
    content["cells"][0]["source"] = "# Another"
    await agent.write(json.dumps(content), "open.ipynb")
    assert model.content["cells"] == [{**cell, "source": "# Another"}]
    with pytest.raises(InvalidParams, match="not JSON"):
        await agent.write("x", "open.ipynb")


def test_every_word_is_in_a_table() -> None:
    page = read_page("docs/files.md")
    words = [*ConflictReason, *FileChangeKind, *FileTarget, *(one.name for one in attrs.fields(FileChange))]
    words += [kind.__name__ for kind in (CellDelete, CellInsert, CellMove, CellReplace)]
    rows = "\n".join(line for line in page.splitlines() if line.startswith("|"))
    assert [word for word in words if f"`{word}`" not in rows] == []
