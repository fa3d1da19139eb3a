"""An agent built on the official Python SDK reads and writes documents that are open in an editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.errors import RequestFailed
from acp_host.services import FileService
from acp_host.services.files import (
    FileChange,
    FileTarget,
    MemoryBuffers,
    NotebookBuffers,
    NotebookChange,
    OpenNotebook,
    WriteConflict,
)
from acp_host.wire.permission import RequestPermissionRequest
from tests.interop.test_sdk_agents import PYTHON_SDK_AGENT


def allow(request: RequestPermissionRequest) -> str:
    return next(option.option_id for option in request.options if option.kind == "allow_once")


async def test_python_sdk_edits_an_open_document(folder: Path) -> None:
    notes, editor, changes = folder / "notes.txt", MemoryBuffers(), list[FileChange]()
    notes.write_text("buy milk\n")
    editor.open(notes, "buy milk\n")
    editor.change(notes, "buy milk\nbuy tea\n")
    files = FileService(buffers=editor)
    files.on_change(changes.append)
    async with acp_host.connect(PYTHON_SDK_AGENT, files=files, permissions=allow) as host:
        session = await host.new_session(cwd=folder)
        result = await session.prompt("edit")
    assert result.text == "Written."
    assert editor.text(notes) == "BUY MILK\nBUY TEA\n"
    assert notes.read_text() == "buy milk\n"
    [change] = changes
    assert (change.target, change.session_id, change.old_text) == (FileTarget.BUFFER, session.id, "buy milk\nbuy tea\n")
    editor.undo(notes)
    assert editor.text(notes) == "buy milk\nbuy tea\n"
    assert list(host.diagnostics) == []


async def test_python_sdk_write_is_merged_with_what_the_user_typed_meanwhile(folder: Path) -> None:
    notes, editor, conflicts = folder / "notes.txt", MemoryBuffers(), list[WriteConflict]()
    text = "buy milk\n1\n2\n3\n"
    notes.write_text(text)
    editor.open(notes, text)

    def permit(request: RequestPermissionRequest) -> str:
        editor.change(notes, text + "4\n5\n")
        return allow(request)

    async def merge(conflict: WriteConflict) -> str | None:
        conflicts.append(conflict)
        return conflict.merge.text if conflict.merge and conflict.merge.clean else None

    files = FileService(buffers=editor, conflict=merge)
    async with acp_host.connect(PYTHON_SDK_AGENT, files=files, permissions=permit) as host:
        session = await host.new_session(cwd=folder)
        assert (await session.prompt("edit")).text == "Written."
    assert editor.text(notes) == "BUY MILK\n1\n2\n3\n4\n5\n"
    [conflict] = conflicts
    assert (conflict.base, conflict.current, conflict.session_id) == (text, text + "4\n5\n", session.id)


async def test_python_sdk_reads_again_after_a_conflict_that_nobody_decides(folder: Path) -> None:
    notes, asked = folder / "notes.txt", list[RequestPermissionRequest]()
    notes.write_text("buy milk\n")

    def permit(request: RequestPermissionRequest) -> str:
        if not asked:
            notes.write_text("buy milk\nbuy tea\n")
        asked.append(request)
        return allow(request)

    async with acp_host.connect(PYTHON_SDK_AGENT, files=True, permissions=permit) as host:
        session = await host.new_session(cwd=folder)
        result = await session.prompt("edit")
    assert result.text.startswith(f"{notes} has changed since you last read or wrote it; nothing was written")
    assert result.text.endswith("Written.")
    assert notes.read_text() == "BUY MILK\nBUY TEA\n"


async def test_python_sdk_is_told_why_its_write_is_refused_by_a_rule(folder: Path) -> None:
    (folder / "notes.txt").write_text("buy milk\n")
    files = FileService(read_only=["*.txt"])
    async with acp_host.connect(PYTHON_SDK_AGENT, files=files, permissions=allow) as host:
        session = await host.new_session(cwd=folder)
        turn = session.prompt("edit")
        with pytest.raises(RequestFailed, match="is read-only for agents on this host"):
            await turn
    assert "is read-only for agents on this host" in turn.text
    assert (folder / "notes.txt").read_text() == "buy milk\n"


async def test_python_sdk_write_of_an_open_notebook_must_be_one(folder: Path) -> None:
    """The agent's capitals are no valid notebook, so nothing reaches the application."""
    content: dict[str, Any] = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}
    changes: list[NotebookChange] = []

    class Notebooks:
        def find_notebook(self, path: str) -> OpenNotebook:
            return OpenNotebook(content=content)

        def apply_change(self, change: NotebookChange) -> bool:
            changes.append(change)
            return True

    files = FileService(buffers=NotebookBuffers(Notebooks()))
    async with acp_host.connect(PYTHON_SDK_AGENT, files=files, permissions=allow) as host:
        session = await host.new_session(cwd=folder)
        turn = session.prompt("edit")
        with pytest.raises(RequestFailed, match="is a notebook, and this is not one of nbformat 4"):
            await turn
    assert changes == []
