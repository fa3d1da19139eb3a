"""Open notebooks: what an agent sees of them, what its write does to which cell, and what it can never take away."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_host.errors import InvalidInput, InvalidParams
from acp_host.services import FileService
from acp_host.services.files import (
    CellDelete,
    CellInsert,
    CellMove,
    CellReplace,
    FileChange,
    Merge,
    NotebookBuffers,
    NotebookChange,
    NotebookFormat,
    OpenNotebook,
    WriteConflict,
    apply_cell_operations,
    cell_operations,
)
from tests.services.files.asking import Agent

Cell = dict[str, Any]


def code(cell_id: str, source: str = "", count: int | None = None, **more: Any) -> Cell:
    outputs = [] if count is None else [{"output_type": "stream", "name": "stdout", "text": f"{count}\n"}]
    cell = {"cell_type": "code", "id": cell_id, "metadata": {}, "source": source}
    return {**cell, "outputs": outputs, "execution_count": count, **more}


def prose(cell_id: str, source: str = "") -> Cell:
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": source}


def notebook(*cells: Cell, **metadata: Any) -> dict[str, Any]:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": list(cells)}


class Jupyter:
    """An application with one open notebook."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        self.saved: dict[str, Any] | None = json.loads(json.dumps(content))
        self.changes: list[NotebookChange] = []

    def find_notebook(self, path: str) -> OpenNotebook | None:
        if not path.endswith("open.ipynb"):
            return None
        return OpenNotebook(content=self.content, saved=self.saved, version=len(self.changes))

    async def apply_change(self, change: NotebookChange) -> bool:
        if change.version != len(self.changes):
            return False
        self.changes.append(change)
        cells = apply_cell_operations(self.content["cells"], change.operations)
        self.content = {**self.content, "cells": cells}
        if change.metadata is not None:
            self.content["metadata"] = change.metadata
        return True

    @property
    def cells(self) -> list[Cell]:
        return self.content["cells"]


@pytest.fixture
def jupyter() -> Jupyter:
    cells = prose("intro", "# Title"), code("load", "x = 1\ny = 2", count=1), code("plot", "plot(x)", count=2)
    return Jupyter(notebook(*cells, kernelspec={"name": "python3", "display_name": "Python 3"}))


@pytest.fixture
def agent(tmp_path: Path, jupyter: Jupyter) -> Agent:
    return Agent(FileService(buffers=NotebookBuffers(jupyter)), tmp_path)


async def seen(agent: Agent) -> dict[str, Any]:
    return json.loads(await agent.read("open.ipynb"))


async def write(agent: Agent, content: Any) -> None:
    await agent.write(content if isinstance(content, str) else json.dumps(content), "open.ipynb")


async def test_an_agent_reads_the_notebook_as_its_file_would_be(agent: Agent, jupyter: Jupyter) -> None:
    text = await agent.read("open.ipynb")
    assert text.endswith("}\n")
    content = json.loads(text)
    assert (content["nbformat"], content["metadata"]) == (4, jupyter.content["metadata"])
    assert content["cells"][1]["source"] == ["x = 1\n", "y = 2"]
    assert content["cells"][1]["outputs"][0]["text"] == ["1\n"]


async def test_a_write_is_one_change_of_the_cells_that_differ(agent: Agent, jupyter: Jupyter) -> None:
    content = await seen(agent)
    intro, load, plot = content["cells"]
    plot["source"] = "plot(y)"
    content["cells"] = [load, plot, prose("end", "Done")]
    await write(agent, content)
    [change] = jupyter.changes
    assert change.operations == (
        CellDelete(0, "intro"),
        CellInsert(2, prose("end", "Done")),
        CellReplace(1, code("plot", "plot(y)")),
    )
    assert (change.session_id, change.metadata, Path(change.path).name) == ("session", None, "open.ipynb")
    assert jupyter.cells == [code("load", "x = 1\ny = 2", count=1), code("plot", "plot(y)"), prose("end", "Done")]
    assert intro["id"] == "intro"


async def test_outputs_are_never_the_agents(agent: Agent, jupyter: Jupyter) -> None:
    content = await seen(agent)
    html = [{"output_type": "display_data", "data": {"text/html": "<script>x()</script>"}, "metadata": {}}]
    content["cells"][1] |= {"outputs": html, "execution_count": 99}
    content["cells"][2] |= {"source": "plot(z)", "outputs": html, "execution_count": 99}
    content["cells"].append(code("new", "y", outputs=html, execution_count=99))
    await write(agent, content)
    assert jupyter.cells[1:] == [code("load", "x = 1\ny = 2", count=1), code("plot", "plot(z)"), code("new", "y")]


async def test_running_cells_is_no_conflict_and_its_outputs_are_kept(agent: Agent, jupyter: Jupyter) -> None:
    content = await seen(agent)
    ran = {"execution": {"iopub.status.busy": "2026-01-01"}}
    jupyter.cells[1] = code("load", "x = 1\ny = 2", count=7, metadata=ran)
    content["cells"][2]["source"] = "plot(y)"
    await write(agent, content)
    assert jupyter.cells[1:] == [code("load", "x = 1\ny = 2", count=7, metadata=ran), code("plot", "plot(y)")]


async def test_typing_in_a_cell_is_a_conflict(agent: Agent, jupyter: Jupyter) -> None:
    content = await seen(agent)
    jupyter.cells[0] = prose("intro", "# User")
    content["cells"][2]["source"] = "plot(y)"
    with pytest.raises(InvalidParams, match="has changed since"):
        await write(agent, content)
    assert jupyter.changes == []


async def test_metadata_is_part_of_the_change(agent: Agent, jupyter: Jupyter) -> None:
    content = await seen(agent)
    content["metadata"]["title"] = "Report"
    content["cells"][0]["metadata"] = {"tags": ["a"]}
    content["cells"][1]["metadata"] = {"trusted": True}
    await write(agent, content)
    [change] = jupyter.changes
    assert change.metadata == {**content["metadata"]}
    assert change.operations == (CellReplace(0, {**prose("intro", "# Title"), "metadata": {"tags": ["a"]}}),)


async def test_cells_without_an_id_are_known_by_their_source(agent: Agent, jupyter: Jupyter) -> None:
    content = await seen(agent)
    content["nbformat_minor"] = 4
    for cell in content["cells"]:
        del cell["id"]
    content["cells"].insert(1, {"cell_type": "code", "metadata": {}, "source": "new", "outputs": []})
    content["cells"][1]["execution_count"] = None
    await write(agent, content)
    ids = [cell["id"] for cell in jupyter.cells]
    assert [*ids[:1], *ids[2:]] == ["intro", "load", "plot"]
    assert [cell.get("execution_count") for cell in jupyter.cells] == [None, None, 1, 2]
    await write(agent, content)  # the same once more, with the new cell still nameless: nothing changes
    assert [cell["id"] for cell in jupyter.cells] == ids


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ('{"cells": [', "not JSON"),
        ("# %%\nx = 1\n", "not JSON"),
        ("[]", "not one of nbformat 4"),
        ('{"nbformat": 3, "worksheets": []}', "not one of nbformat 4"),
        ('{"nbformat": 4, "cells": []}', "no valid one"),
        (notebook(prose("a"), {"cell_type": "code"}), "no valid one"),
        (notebook(prose("a") | {"outputs": []}), "no valid one"),
        (notebook(code("a", outputs=None)), "no valid one"),
        (notebook(prose("a", source=None)), "no valid one"),
        (notebook(prose("not an id!")), "no valid one"),
        (notebook(prose("a") | {"cell_type": []}), "no valid one"),
        (notebook(prose("a") | {"cell_type": "__class__"}), "no valid one"),
        (notebook(3), "no valid one"),
        ({**notebook(), "cells": {}}, "no valid one"),
        ({**notebook(), "nbformat_minor": "5"}, "no valid one"),
        (notebook(prose("a"), prose("b"), prose("a")), "2 cells have the id 'a'"),
        ("[" * 100_000, "not JSON"),
    ],
)
async def test_what_is_no_notebook_is_refused_and_says_why(
    agent: Agent, jupyter: Jupyter, text: Any, problem: str
) -> None:
    with pytest.raises(InvalidParams, match=problem) as refused:
        await write(agent, text)
    assert "open.ipynb is a notebook" in refused.value.message
    assert len(refused.value.message) < 1000
    assert jupyter.changes == []


async def test_notebooks_that_are_not_open_are_files(agent: Agent) -> None:
    await agent.write("{}", "other.ipynb")
    assert await agent.read("other.ipynb") == "{}"


async def test_what_the_interface_is_told_is_what_there_is(agent: Agent, jupyter: Jupyter) -> None:
    changes: list[FileChange] = []
    agent.service.on_change(changes.append)
    content = await seen(agent)
    content["cells"][1]["outputs"] = []
    await write(agent, content)
    [change] = changes
    assert change.old_text == change.new_text
    assert not change.is_resolved
    assert jupyter.changes[0].operations == ()


async def test_two_changes_are_merged_by_cells(tmp_path: Path, jupyter: Jupyter) -> None:
    conflicts: list[WriteConflict] = []

    def decide(conflict: WriteConflict) -> str | None:
        conflicts.append(conflict)
        return conflict.merge.text if conflict.merge and conflict.merge.clean else None

    agent = Agent(FileService(buffers=NotebookBuffers(jupyter), conflict=decide), tmp_path)
    content = await seen(agent)
    jupyter.content["cells"] = [
        prose("intro", "# User"),
        code("load", "x = 1\ny = 2", count=5),
        prose("note", "By the user"),
        code("plot", "plot(x)", count=2),
    ]
    content["cells"] = [*reversed(content["cells"]), code("end", "done()")]
    content["cells"][0]["source"] = "plot(y)"
    await write(agent, content)
    assert len(conflicts) == 1
    assert jupyter.cells == [
        code("plot", "plot(y)"),
        code("load", "x = 1\ny = 2", count=5),
        prose("note", "By the user"),
        prose("intro", "# User"),
        code("end", "done()"),
    ]


@pytest.mark.parametrize("disk", [None, "no notebook"])
async def test_without_a_valid_version_to_start_from_there_is_no_merge(
    tmp_path: Path, jupyter: Jupyter, disk: str | None
) -> None:
    """The agent reads the disk by itself, where there is no notebook yet, and the user's has never been saved."""
    conflicts: list[WriteConflict] = []
    agent = Agent(FileService(buffers=NotebookBuffers(jupyter), conflict=conflicts.append), tmp_path)
    jupyter.saved = None
    if disk is not None:
        (tmp_path / "open.ipynb").write_text(disk)
    with pytest.raises(InvalidParams, match="has unsaved changes"):
        await write(agent, notebook(prose("a")))
    [conflict] = conflicts
    assert (conflict.merge, conflict.merge_problem) == (None, "one of the versions is no valid notebook")
    assert jupyter.changes == []


@pytest.mark.parametrize("content", [{}, notebook(prose("a"), prose("a")), {**notebook(), "nbformat": 3}, {"cells": 3}])
async def test_a_notebook_that_is_not_valid_is_the_applications_fault(tmp_path: Path, content: dict[str, Any]) -> None:
    agent = Agent(FileService(buffers=NotebookBuffers(Jupyter(content))), tmp_path)
    with pytest.raises(InvalidInput, match="what is open"):
        await agent.read("open.ipynb")


async def test_a_notebook_without_ids_has_to_be_upgraded(tmp_path: Path) -> None:
    cell = prose("a")
    del cell["id"]
    with pytest.raises(InvalidInput, match="upgrade"):
        await Agent(FileService(buffers=NotebookBuffers(Jupyter(notebook(cell)))), tmp_path).read("open.ipynb")


def test_without_nbformat_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch, jupyter: Jupyter) -> None:
    monkeypatch.setitem(sys.modules, "nbformat", None)
    monkeypatch.delitem(sys.modules, "nbformat.v4", raising=False)
    with pytest.raises(InvalidInput, match=r"pip install 'acp-host\[notebooks\]'"):
        NotebookBuffers(jupyter)


# Operations on cells

ids = st.lists(st.sampled_from("abcdefgh"), unique=True)
cell_lists = ids.flatmap(
    lambda names: st.tuples(*(st.builds(prose, st.just(name), st.sampled_from("xy")) for name in names))
)


@given(cell_lists, cell_lists)
def test_operations_make_the_new_cells_of_the_old(old: Sequence[Cell], new: Sequence[Cell]) -> None:
    assert apply_cell_operations(old, cell_operations(old, new)) == list(new)


@given(cell_lists, cell_lists)
def test_operations_touch_no_more_cells_than_they_must(old: Sequence[Cell], new: Sequence[Cell]) -> None:
    operations = cell_operations(old, new)
    before, after = {cell["id"]: cell for cell in old}, {cell["id"]: cell for cell in new}
    kept = before.keys() & after.keys()

    def of(kind: type) -> list[Any]:
        return [operation for operation in operations if isinstance(operation, kind)]

    assert {operation.cell_id for operation in of(CellDelete)} == before.keys() - after.keys()
    assert {operation.cell["id"] for operation in of(CellInsert)} == after.keys() - before.keys()
    assert {operation.cell["id"] for operation in of(CellReplace)} == {
        name for name in kept if before[name] != after[name]
    }
    assert len(of(CellMove)) <= max(len(kept) - 1, 0)


def test_a_cell_that_was_moved_is_the_only_one_that_moves() -> None:
    cells = [prose(name) for name in "abcde"]
    assert cell_operations(cells, [*cells[1:], cells[0]]) == (CellMove(0, 4, "a"),)
    assert cell_operations(cells, [cells[4], *cells[:4]]) == (CellMove(4, 0, "e"),)


# Merges of cells

FORMAT = NotebookFormat()


def merged(base: Sequence[Cell], current: Sequence[Cell], proposed: Sequence[Cell]) -> tuple[list[Cell], bool]:
    merge = FORMAT.merge(*(FORMAT.write(notebook(*cells)) for cells in (base, current, proposed)))
    return FORMAT.read(merge.text)["cells"], merge.clean


@settings(max_examples=50, deadline=None)
@given(cell_lists, cell_lists)
def test_one_change_alone_is_the_merge(base: Sequence[Cell], changed: Sequence[Cell]) -> None:
    assert merged(base, base, changed) == (list(changed), True)
    assert merged(base, changed, base) == (list(changed), True)
    assert merged(base, changed, changed) == (list(changed), True)


@settings(max_examples=50, deadline=None)
@given(cell_lists, cell_lists, cell_lists)
def test_a_clean_merge_has_every_change(
    base: Sequence[Cell], current: Sequence[Cell], proposed: Sequence[Cell]
) -> None:
    cells, is_clean = merged(base, current, proposed)
    before, result = {cell["id"]: cell for cell in base}, {cell["id"]: cell for cell in cells}
    assert len(result) == len(cells)
    for side in (current, proposed):
        there = {cell["id"]: cell for cell in side}
        for name in before.keys() | there.keys():
            if is_clean and before.get(name) != there.get(name):
                assert result.get(name) == there.get(name)


@pytest.mark.parametrize(
    ("current", "proposed", "expected", "is_clean"),
    [
        ([prose("a", "1\n2\n3\nU")], [prose("a", "A\n2\n3\n4")], [prose("a", "A\n2\n3\nU")], True),
        ([], [prose("a", "changed")], [prose("a", "changed")], False),
        ([prose("a", "changed")], [], [prose("a", "changed")], False),
        (
            [prose("a", "1\n2\n3\nU")],
            [prose("a", "1\n2\n3\nA")],
            [prose("a", "1\n2\n3\n<<<<<<< current\nU\n=======\nA\n>>>>>>> agent\n")],
            False,
        ),
    ],
)
def test_changes_of_one_cell(current: list[Cell], proposed: list[Cell], expected: list[Cell], is_clean: bool) -> None:
    assert merged([prose("a", "1\n2\n3\n4")], current, proposed) == (expected, is_clean)


def test_metadata_is_merged_as_a_whole() -> None:
    texts = [FORMAT.write(notebook(title=title)) for title in ("base", "user", "agent")]
    assert FORMAT.merge(texts[0], texts[1], texts[0]) == Merge(texts[1], clean=True)
    assert FORMAT.merge(texts[0], texts[0], texts[2]) == Merge(texts[2], clean=True)
    assert FORMAT.merge(*texts) == Merge(texts[1], clean=False)
