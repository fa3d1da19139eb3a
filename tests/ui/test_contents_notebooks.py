"""Notebooks of a Jupyter Server: whatever an agent and users do, they stay valid, and nobody's save is lost."""

from __future__ import annotations

import asyncio
import copy
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jupyter_server.services.contents.filemanager import AsyncFileContentsManager, FileContentsManager
from tornado.web import HTTPError

from acp_host.blocking._thread import LoopThread
from acp_host.errors import InternalError, InvalidParams
from tests.services.files.test_notebooks import code, notebook, prose
from tests.ui.contents import NAME, Contents

HTML = {"output_type": "display_data", "data": {"text/html": "<b>x</b>"}, "metadata": {}}


@pytest.fixture(scope="module")
def thread() -> Any:
    thread = LoopThread("agents of a test")
    yield thread
    thread.stop()


@pytest.fixture(params=[AsyncFileContentsManager, FileContentsManager])
def server(tmp_path: Path, thread: LoopThread, request: pytest.FixtureRequest) -> Callable[[], Contents]:
    return lambda: Contents(tmp_path, thread, request.param)


async def test_a_write_is_a_save_of_the_server(server: Callable[[], Contents]) -> None:
    there = server()
    saved: list[str] = []
    there.manager.register_post_save_hook(lambda model, **_: saved.append(model["path"]))
    await there.save(notebook(code("a", "x = 1", count=1)))
    content = await there.read()
    content["cells"].append(code("b", "y"))
    await there.write(content)
    assert saved == [NAME, NAME]
    assert [cell["id"] for cell in there.cells] == ["a", "b"]
    assert there.cells[0]["execution_count"] == 1
    assert (there.folder / ".ipynb_checkpoints").is_dir()


@pytest.mark.parametrize("trusted", [True, False])
async def test_trust_is_the_users_and_never_an_agents(server: Callable[[], Contents], trusted: bool) -> None:
    there = server()
    cell = code("a", "x") | {"outputs": [HTML], "metadata": {"trusted": trusted}}
    await there.save(notebook(cell, code("b", "y")))
    content = await there.read()
    content["cells"][0]["metadata"]["trusted"] = True
    content["cells"][1] |= {"source": "z", "outputs": [HTML], "metadata": {"trusted": True}}
    await there.write(content)
    first, second = (await there.get())["cells"]
    assert (first["outputs"], first["metadata"].get("trusted", False)) == ([HTML], trusted)
    assert second["outputs"] == []


async def test_a_notebook_without_ids_gets_them_with_the_first_write(server: Callable[[], Contents]) -> None:
    there = server()
    old = {**notebook(code("a", "x", count=2)), "nbformat_minor": 4}
    del old["cells"][0]["id"]
    (there.folder / NAME).write_text(json.dumps(old))
    content = await there.read()
    content["cells"].append({"cell_type": "markdown", "metadata": {}, "source": "end"})
    await there.write(content)
    assert [cell["source"] for cell in there.cells] == ["x", "end"]
    assert there.cells[0]["execution_count"] == 2


async def test_a_save_that_the_server_refuses_is_an_error_and_changes_nothing(server: Callable[[], Contents]) -> None:
    there = server()
    await there.save(notebook(prose("a", "1")))
    content = await there.read()

    def refuse(**_: Any) -> None:
        raise HTTPError(403, "not on a Monday")

    there.manager.register_pre_save_hook(refuse)
    content["cells"][0]["source"] = "2"
    with pytest.raises(InternalError, match="not on a Monday"):
        await there.write(content)
    assert there.cells[0]["source"] == "1"


async def test_a_damaged_one_can_be_read_and_mended(server: Callable[[], Contents]) -> None:
    there = server()
    (there.folder / NAME).write_text("{")
    with pytest.raises(json.JSONDecodeError):
        await there.read()
    await there.write(notebook(prose("a", "mended")))
    assert there.cells[0]["source"] == "mended"


async def test_a_user_who_saves_between_an_agents_look_and_its_save_loses_nothing(
    tmp_path: Path, thread: LoopThread
) -> None:
    saving: list[asyncio.Task[None]] = []

    class Busy(AsyncFileContentsManager):
        looks = -1

        async def get(self, path: str, *arguments: Any, **options: Any) -> Any:
            model = await super().get(path, *arguments, **options)
            if options.get("type") == "notebook" and self.looks >= 0:
                self.looks += 1
                if self.looks == 2:  # the first one is for the change, the second for its save
                    saving.append(asyncio.create_task(there.save(notebook(prose("a", "user")))))
                    await asyncio.wait(saving, timeout=0.5)
            return model

    there = Contents(tmp_path, thread, Busy)
    await there.save(notebook(prose("a", "0")))
    content = await there.read()
    content["cells"].append(prose("b"))
    there.manager.looks = 0
    await there.write(content)
    await saving[0]
    assert [cell["source"] for cell in there.cells] == ["user"]


actions = st.lists(
    st.sampled_from(["read", "append", "delete", "edit", "garbage", "half", "two ids", "user", "both", "run"]),
    max_size=12,
)


@settings(max_examples=25)
@given(actions)
def test_any_sequence_leaves_a_valid_notebook_and_every_save_that_was_not_seen(thread: LoopThread, doing: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(keep_the_law(Path(folder), thread, doing))


async def keep_the_law(folder: Path, thread: LoopThread, doing: list[str]) -> None:
    there = Contents(folder, thread)
    await there.save(notebook(prose("u0"), code("run", "1 + 1", count=1)))
    seen = await there.read()
    for number, action in enumerate(doing, 1):
        proposed = copy.deepcopy(seen)
        cells = proposed["cells"]
        mine = notebook(prose(f"u{number}"), code("run", "1 + 1", count=number))
        match action:
            case "read":
                seen = await there.read()
                continue
            case "append":
                cells.append(prose(f"agent-{number}"))
            case "delete":
                del cells[-1:]
            case "edit" if cells:
                cells[0]["source"] = f"edit {number}"
            case "garbage":
                proposed = "# %%"
            case "half":
                proposed = json.dumps(proposed)[:-7]
            case "two ids":
                proposed["cells"] = cells * 2 + [prose("x"), prose("x")]
        if action in ("user", "both", "run"):
            if action == "run":
                mine["cells"][:] = [cell for cell in there.cells if cell["id"] != "run"] + mine["cells"][1:]
            jobs = [there.save(mine)] + ([there.write(proposed)] if action == "both" else [])
            outcomes = await asyncio.gather(*jobs, return_exceptions=True)
            assert outcomes[0] is None
            if action != "run":
                assert [cell["id"] for cell in there.cells] == [f"u{number}", "run"]
        else:
            before = (folder / NAME).read_text()
            with suppress(InvalidParams):
                await there.write(proposed)
                assert {cell["id"] for cell in there.cells} == {cell["id"] for cell in cells}
                seen = proposed
            if action in ("garbage", "half", "two ids"):
                assert (folder / NAME).read_text() == before
        nbformat.validate(nbformat.read(folder / NAME, as_version=4))
        for cell in there.cells:
            if cell["id"] == "run":
                assert cell["outputs"], "a cell that nobody has changed has lost its outputs"
