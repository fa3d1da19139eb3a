"""What the page on notebooks shows works, and so does the example notebook in a kernel."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from acp_host.ui.jupyter.magic_lines import COMMANDS
from tests.docs.snippets import ROOT, read_page, run_page


async def test_the_examples(tmp_path: Path) -> None:
    names = await run_page("docs/jupyter.md", folder=tmp_path)
    names["widget"].close()
    assert names["result"].text == "Hello"
    assert (tmp_path / "notes.txt").exists()
    assert names["history"].points


def test_the_page_names_commands_that_there_are() -> None:
    page = read_page("docs/jupyter.md")
    assert all(command in page for command in COMMANDS)


@pytest.mark.timeout(180)
async def test_the_example_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(ROOT / "docs" / "examples" / "agent.ipynb", as_version=4)
    nbformat.validate(notebook)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    await client.async_execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert {"application/vnd.jupyter.widget-view+json", "text/html", "image/svg+xml"} <= kinds
    assert "completed" in str(outputs)
