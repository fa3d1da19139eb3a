"""A contents manager with an agent beside it, as in a Jupyter Server: :class:`Contents`."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import nbformat
from jupyter_server.services.contents.filemanager import AsyncFileContentsManager
from traitlets.config import Config

from acp_host.blocking._thread import LoopThread
from acp_host.services import FileService
from acp_host.services.files import NotebookBuffers, NotebookFormat
from acp_host.ui.jupyter_server.contents_notebooks import ContentsNotebooks
from acp_host.ui.jupyter_server.other_loop import on_loop
from tests.services.files.asking import Agent

__all__ = ["NAME", "Contents"]

NAME = "a.ipynb"


class Contents:
    """A contents manager on the loop of a server, and an agent on another."""

    def __init__(self, folder: Path, thread: LoopThread, kind: type[Any] = AsyncFileContentsManager) -> None:
        notary = {"db_file": ":memory:", "data_dir": str(folder)}
        self.manager = kind(root_dir=str(folder), config=Config(NotebookNotary=notary))
        self.thread = thread
        self.folder = folder
        notebooks = NotebookBuffers(ContentsNotebooks(self.manager, str(folder)))
        self.agent = Agent(FileService(buffers=notebooks, formats={".ipynb": NotebookFormat()}), folder)

    async def read(self) -> Any:
        return json.loads(await on_loop(self.thread.loop, lambda: self.agent.read(NAME)))

    async def write(self, content: Any) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        await on_loop(self.thread.loop, lambda: self.agent.write(text, NAME))

    async def save(self, content: dict[str, Any]) -> None:
        """Save as a page of the server does."""
        saved = self.manager.save({"type": "notebook", "format": "json", "content": content}, NAME)
        if isinstance(saved, Awaitable):
            await saved

    async def get(self) -> Any:
        model = self.manager.get(NAME)
        return (await model if isinstance(model, Awaitable) else model)["content"]

    @property
    def cells(self) -> list[dict[str, Any]]:
        return nbformat.read(self.folder / NAME, as_version=4)["cells"]
