"""Notebooks that are not open: a file service that knows their format leaves each of them a valid notebook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_host.errors import InvalidParams
from acp_host.services import FileService
from acp_host.services.files import FileChange, NotebookFormat, WriteConflict
from tests.services.files.asking import Agent
from tests.services.files.test_notebooks import code, notebook, prose


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(FileService(formats={".ipynb": NotebookFormat()}), tmp_path)


def stored(agent: Agent, name: str = "a.ipynb") -> Any:
    return json.loads((agent.folder / name).read_text())


def save(agent: Agent, *cells: dict[str, Any], name: str = "a.ipynb") -> str:
    text = NotebookFormat().write(notebook(*cells))
    (agent.folder / name).write_text(text)
    return text


@pytest.mark.parametrize("name", ["new.ipynb", "UPPER.IPYNB"])
async def test_a_new_one_has_to_be_valid_and_has_no_outputs(agent: Agent, name: str) -> None:
    for text in ("", "{}", "# %%\nx = 1\n", json.dumps(notebook(prose("a"), prose("a")))):
        with pytest.raises(InvalidParams, match="is a notebook, and"):
            await agent.write(text, name)
        assert not (agent.folder / name).exists()
    await agent.write(json.dumps(notebook(code("a", "1 + 1", count=3))), name)
    [cell] = stored(agent, name)["cells"]
    assert (cell["source"], cell["outputs"], cell["execution_count"]) == (["1 + 1"], [], None)


async def test_what_is_no_notebook_leaves_the_file_as_it_is(agent: Agent) -> None:
    before = save(agent, prose("intro", "# Title"))
    await agent.read("a.ipynb")
    with pytest.raises(InvalidParams, match=r"a\.ipynb is a notebook, and this is not JSON"):
        await agent.write(before[:-10], "a.ipynb")
    assert (agent.folder / "a.ipynb").read_text() == before


async def test_cells_that_stay_as_they_are_keep_their_outputs(agent: Agent) -> None:
    save(agent, code("load", "x = 1", count=1), code("plot", "plot(x)", count=2))
    changes: list[FileChange] = []
    agent.service.on_change(changes.append)
    content = json.loads(await agent.read("a.ipynb"))
    for cell in content["cells"]:
        cell |= {"outputs": [], "execution_count": 99}
    content["cells"][1]["source"] = "plot(y)"
    await agent.write(json.dumps(content), "a.ipynb")
    load, plot = stored(agent)["cells"]
    assert (load["execution_count"], load["outputs"][0]["text"]) == (1, ["1\n"])
    assert (plot["execution_count"], plot["outputs"]) == (None, [])
    assert changes[0].new_text == (agent.folder / "a.ipynb").read_text()


async def test_running_cells_meanwhile_is_no_conflict_and_typing_is(agent: Agent) -> None:
    save(agent, code("load", "x = 1"))
    content = json.loads(await agent.read("a.ipynb"))
    save(agent, code("load", "x = 1", count=7))
    content["cells"].append(prose("end", "Done"))
    await agent.write(json.dumps(content), "a.ipynb")
    assert [cell.get("execution_count") for cell in stored(agent)["cells"]] == [7, None]
    by_user = save(agent, code("load", "x = 2"))
    with pytest.raises(InvalidParams, match="has changed since you last read or wrote it"):
        await agent.write(json.dumps(content), "a.ipynb")
    assert (agent.folder / "a.ipynb").read_text() == by_user


async def test_what_widgets_show_is_part_of_the_outputs(agent: Agent) -> None:
    def told(value: str) -> dict[str, Any]:
        return {"widgets": {"application/vnd.jupyter.widget-state+json": {"state": {"w": {"state": {"value": value}}}}}}

    def save_with(value: str) -> None:
        text = NotebookFormat().write(
            notebook(prose("intro", "# Title"), **told(value), language_info={"name": "python"})
        )
        (agent.folder / "a.ipynb").write_text(text)

    save_with("1 %")
    content = json.loads(await agent.read("a.ipynb"))
    save_with("100 %")  # by a cell that runs: no conflict
    content["metadata"] = {**told("<img src onerror=pwned()>"), "title": "Report"}
    await agent.write(json.dumps(content), "a.ipynb")
    assert stored(agent)["metadata"] == {**told("100 %"), "title": "Report"}
    await agent.write(json.dumps(content), "new.ipynb")
    assert stored(agent, "new.ipynb")["metadata"] == {"title": "Report"}


async def test_two_changes_are_merged_by_cells(tmp_path: Path) -> None:
    def decide(conflict: WriteConflict) -> str | None:
        return conflict.merge.text if conflict.merge and conflict.merge.clean else None

    agent = Agent(FileService(formats={".ipynb": NotebookFormat()}, conflict=decide), tmp_path)
    save(agent, prose("a", "1"), prose("b", "1"))
    content = json.loads(await agent.read("a.ipynb"))
    save(agent, prose("a", "user"), prose("b", "1"))
    content["cells"][1]["source"] = "agent"
    await agent.write(json.dumps(content), "a.ipynb")
    assert [cell["source"] for cell in stored(agent)["cells"]] == [["user"], ["agent"]]


async def test_one_that_was_damaged_can_be_read_and_mended(agent: Agent) -> None:
    (agent.folder / "a.ipynb").write_text('{"cells": [')
    assert await agent.read("a.ipynb") == '{"cells": ['
    with pytest.raises(InvalidParams, match="not JSON"):
        await agent.write('{"cells": []', "a.ipynb")
    await agent.write(json.dumps(notebook(prose("a", "mended"))), "a.ipynb")
    assert stored(agent)["cells"][0]["source"] == ["mended"]


async def test_a_link_to_one_is_one(agent: Agent) -> None:
    before = save(agent, prose("a"))
    (agent.folder / "link.txt").symlink_to("a.ipynb")
    with pytest.raises(InvalidParams, match="is a notebook"):
        await agent.write("text", "link.txt")
    assert (agent.folder / "a.ipynb").read_text() == before
