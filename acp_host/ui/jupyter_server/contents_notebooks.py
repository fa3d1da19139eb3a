"""Notebooks of the server, read and saved through its contents manager: :class:`ContentsNotebooks`.

So an agent's write goes the way of a save in JupyterLab: through the server's hooks, with a checkpoint, and with the
notebook's signature. A page that has the notebook open notices by its time of modification, and asks its user.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import os
from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

import orjson
from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from acp_host.errors import InternalError
from acp_host.services.files import NotebookChange, NotebookFormat, OpenNotebook, apply_cell_operations
from acp_host.ui.jupyter_server.other_loop import on_loop

__all__ = ["ContentsNotebooks"]

_NO_NOTEBOOK = (400, 404)
"""What the contents manager says of files that are none, or that it does not show."""


class ContentsNotebooks:
    """A :class:`~acp_host.services.files.notebooks.NotebookProvider`: every notebook below the server's directory.

    Made on the server's loop, and called on that of the agents. Saves of one notebook, by users and by agents, are done
    one after the other, so that an agent's save finds what its change was made for, or is not done. An agent's reads
    wait for them, too: the manager takes a notebook that is half written for a broken one, and puts the old one back.

    Args:
        manager: the server's contents manager.
        root: the directory that it shows.
    """

    def __init__(self, manager: Any, root: str) -> None:
        self._manager = manager
        self._root = os.path.realpath(root)
        self._format = NotebookFormat()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._save = manager.save
        self._server = asyncio.get_running_loop()
        if inspect.iscoroutinefunction(manager.save):  # others block the loop, and so are alone
            manager.save = self._save_in_turn

    async def find_notebook(self, path: str, /) -> OpenNotebook | None:
        """As :meth:`NotebookProvider.find_notebook`."""
        name = self._name(path)
        if name is None:
            return None
        found = await on_loop(self._server, lambda: self._load_in_turn(name))
        return None if found is None else OpenNotebook(content=found[0], version=_version(found[1]))

    async def apply_change(self, change: NotebookChange, /) -> bool:
        """As :meth:`NotebookProvider.apply_change`."""
        name = self._name(change.path)
        assert name is not None
        return await on_loop(self._server, lambda: self._change(name, change))

    def _name(self, path: str) -> str | None:
        """Return what the contents manager calls a file; ``None``: it is no notebook that it has."""
        if not path.endswith(".ipynb") or os.path.commonpath([self._root, path]) != self._root:
            return None
        return os.path.relpath(path, self._root).replace(os.sep, "/")

    # --- on the server's loop ---------------------------------------------------------------------------------------

    async def _load_in_turn(self, name: str) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        async with self._lock(name):
            return await self._load(name)

    async def _load(self, name: str) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        """Return a notebook with an id for each cell, and as it is; ``None`` if there is no valid one."""
        try:
            model = await ensure_async(self._manager.get(name, content=True, type="notebook"))
        except HTTPError as error:
            if error.status_code in _NO_NOTEBOOK:
                return None
            raise _failed(name, error) from None
        try:
            return await asyncio.to_thread(self._read, model["content"]), model["content"]
        except ValueError:
            return None

    def _read(self, content: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._format.read(orjson.dumps(content).decode())

    async def _change(self, name: str, change: NotebookChange) -> bool:
        async with self._lock(name):
            found = await self._load(name)
            if found is None or _version(found[1]) != change.version:
                return False
            read, live = found
            cells = apply_cell_operations(read["cells"], change.operations)
            content = {
                **read,
                "cells": _with_trust(cells, read["cells"], live["cells"]),
                "metadata": read["metadata"] if change.metadata is None else change.metadata,
            }
            model = {"type": "notebook", "format": "json", "content": content}
            try:
                await ensure_async(self._save(model, name))
            except HTTPError as error:
                raise _failed(name, error) from None
            return True

    async def _save_in_turn(self, model: Any, path: str = "") -> Any:
        async with self._lock(path.strip("/")):
            return await self._save(model, path)

    def _lock(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())


def _with_trust(cells: Any, read: Any, live: Any) -> list[Any]:
    """Return cells marked as trusted as far as their outputs are those of a live cell that is.

    The server signs a notebook whose cells are all trusted. Such marks are never an agent's: reading leaves them out.
    """
    trusted = {cell["id"] for cell, marked in zip(read, live, strict=True) if marked["metadata"].get("trusted")}
    return [
        {**cell, "metadata": {**cell["metadata"], "trusted": True}}
        if cell["cell_type"] == "code" and cell["id"] in trusted
        else cell
        for cell in cells
    ]


def _version(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _failed(name: str, error: HTTPError) -> InternalError:
    text = f"{name}: the server's contents manager refuses: {error.log_message or error.reason or error.status_code}"
    return InternalError(text, data={"path": name})
