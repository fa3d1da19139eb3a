"""Notebooks that are open in the application: :class:`NotebookBuffers` serves them as nbformat JSON.

An agent sees the whole notebook as the text of its file, outputs included, and writes all of it. What it writes must be
a valid notebook. It reaches the application as one change: which cells are inserted, replaced, deleted and moved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from attrs import field, frozen

from acp_host.services._awaiting import awaited
from acp_host.services.files.buffers import BufferEdit, Calling, OpenDocument
from acp_host.services.files.notebook_changes import NotebookChange, cell_operations
from acp_host.services.files.notebook_format import NotebookFormat

__all__ = ["NotebookBuffers", "NotebookProvider", "OpenNotebook"]


@frozen(kw_only=True)
class OpenNotebook:
    """A notebook as it is in the application at this moment.

    Attributes:
        content: all of it, as nbformat 4 with cell ids (4.5 or later; ``nbformat.v4.upgrade`` gives them). It is not
            kept.
        saved: the content as it was loaded or last saved, as
            :attr:`~acp_host.services.files.buffers.OpenDocument.saved_text`; ``None`` if that is not kept.
        version: the application's own name for this state; comes back in the change.
    """

    content: Mapping[str, Any] = field(repr=False)
    saved: Mapping[str, Any] | None = field(default=None, repr=False)
    version: int | str | None = None


class NotebookProvider(Protocol):
    """Open notebooks, as an application implements it. Both methods are called on the event loop and may be coroutines;
    what they raise counts as in :class:`~acp_host.services.files.buffers.BufferProvider`.
    """

    def find_notebook(self, path: str, /) -> OpenNotebook | None | Awaitable[OpenNotebook | None]:
        """Return the notebook that is open for a file, by its real path, or ``None``."""

    def apply_change(self, change: NotebookChange, /) -> bool | Awaitable[bool]:
        """Change the notebook in one step, and return ``True``.

        Returns:
            ``False``, having changed nothing, if it is no longer at ``change.version`` or no longer open.
        """


class NotebookBuffers:
    """A :class:`~acp_host.services.files.buffers.BufferProvider` for open notebooks.

    Cells are the same if they have the same id. A cell whose source is left as it is keeps its outputs and its
    execution count, whatever the agent has written there; any other cell of code begins without. Running cells between
    an agent's read and its write is therefore no conflict. Two changes are merged cell by cell.

    Args:
        provider: the application's notebooks.

    Raises:
        InvalidInput: the package nbformat is missing (the extra ``notebooks``); from the methods: the content of an
            open notebook is not valid.
    """

    def __init__(self, provider: NotebookProvider) -> None:
        self._provider = provider
        self._format = NotebookFormat()
        self._calling: Calling = lambda function: function

    def call_by(self, handlers: Calling, /) -> None:
        """As :meth:`FileService.call_by`."""
        self._calling = handlers

    async def find_document(self, path: str, /) -> OpenDocument | None:
        """As :meth:`BufferProvider.find_document`."""
        notebook = await awaited(self._calling(self._provider.find_notebook)(path))
        return None if notebook is None else await asyncio.to_thread(self._document, notebook)

    async def apply_edit(self, edit: BufferEdit, /) -> bool:
        """As :meth:`BufferProvider.apply_edit`."""
        change = await asyncio.to_thread(self._change, edit)
        return await awaited(self._calling(self._provider.apply_change)(change))

    def _document(self, notebook: OpenNotebook) -> OpenDocument:
        return OpenDocument(
            text=self._format.write(notebook.content),
            saved_text=None if notebook.saved is None else self._format.write(notebook.saved),
            version=notebook.version,
            format=self._format,
        )

    def _change(self, edit: BufferEdit) -> NotebookChange:
        old, new = self._format.read(edit.old_text), self._format.read(edit.new_text)
        return NotebookChange(
            session_id=edit.session_id,
            path=edit.path,
            operations=cell_operations(old["cells"], new["cells"]),
            metadata=new["metadata"] if new["metadata"] != old["metadata"] else None,
            version=edit.version,
        )
