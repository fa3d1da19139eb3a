"""Open documents: what is read of them, how they are written, and who is asked for what."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from acp_host.errors import InvalidInput, InvalidParams, InvalidState, RequestFailed
from acp_host.services import FileService
from acp_host.services._place import Place
from acp_host.services.files import (
    BufferEdit,
    FileChange,
    FileChangeKind,
    FileTarget,
    MemoryBuffers,
    OpenDocument,
    apply_edits,
    service,
    text_hash,
)
from tests.services.files.asking import Agent


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("disk\n")
    return tmp_path


@pytest.fixture
def editor() -> MemoryBuffers:
    return MemoryBuffers()


@pytest.fixture
def agent(work: Path, editor: MemoryBuffers) -> Agent:
    return Agent(FileService(buffers=editor), work)


async def test_what_is_not_open_is_on_the_disk(agent: Agent, work: Path) -> None:
    assert await agent.read() == "disk\n"
    await agent.write("agent\n")
    assert (work / "file").read_text() == "agent\n"


async def test_unsaved_text_is_read_in_windows_too(agent: Agent, work: Path, editor: MemoryBuffers) -> None:
    editor.open(work / "file", "disk\n")
    editor.change(work / "file", "one\r\ntwo\nthree")
    assert await agent.read() == "one\r\ntwo\nthree"
    assert await agent.read(line=2, limit=1) == "two\n"
    assert await agent.read(line=9) == ""


async def test_a_write_goes_into_the_document_as_one_step(agent: Agent, work: Path, editor: MemoryBuffers) -> None:
    editor.open(work / "file", "disk\n")
    editor.change(work / "file", "a\nb\nc\n")
    assert await agent.read() == "a\nb\nc\n"
    await agent.write("A\nb\nC\nd\n")
    assert editor.text(work / "file") == "A\nb\nC\nd\n"
    assert (work / "file").read_text() == "disk\n"
    await agent.write("again\n")
    editor.undo(work / "file")
    assert editor.text(work / "file") == "A\nb\nC\nd\n"
    editor.undo(work / "file")
    assert editor.text(work / "file") == "a\nb\nc\n"


async def test_a_document_without_unsaved_changes_is_what_its_file_is(
    agent: Agent, work: Path, editor: MemoryBuffers
) -> None:
    """The editor has not noticed yet that a command of the agent has changed the file."""
    editor.open(work / "file", "disk\n")
    (work / "file").write_text("formatted\n")
    assert await agent.read() == "formatted\n"
    await agent.write("formatted\nmore\n")
    assert editor.text(work / "file") == "formatted\nmore\n"


async def test_a_document_without_a_file_is_read_and_written(agent: Agent, work: Path, editor: MemoryBuffers) -> None:
    editor.open(work / "new", "")
    editor.change(work / "new", "draft")
    assert await agent.read("new") == "draft"
    await agent.write("done", "new")
    assert editor.text(work / "new") == "done"
    assert not (work / "new").exists()


async def test_an_open_document_whose_file_is_no_text_is_read(agent: Agent, work: Path, editor: MemoryBuffers) -> None:
    """The editor knows an encoding that this host does not."""
    (work / "file").write_bytes("grün".encode("latin-1"))
    editor.open(work / "file", "grün")
    assert await agent.read() == "grün"
    await agent.write("grüner")
    assert editor.text(work / "file") == "grüner"


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
async def test_a_document_is_found_by_the_real_path(agent: Agent, work: Path, editor: MemoryBuffers) -> None:
    (work / "link").symlink_to("file")
    (work / "x").mkdir()
    editor.open(work / "link", "disk\n")
    editor.change(work / "link", "unsaved\n")
    assert await agent.read("link") == await agent.read("file") == await agent.read("./x/../file") == "unsaved\n"


class Recorder:
    """An editor that notes what it is asked, and takes its time."""

    def __init__(self, text: str | None, applied: bool = True, **document: Any) -> None:
        self.text = text
        self.document = document
        self.applied = applied
        self.asked: list[str] = []
        self.edits: list[BufferEdit] = []

    async def find_document(self, path: str) -> OpenDocument | None:
        await asyncio.sleep(0)
        self.asked.append(path)
        return None if self.text is None else OpenDocument(text=self.text, **self.document)

    async def apply_edit(self, edit: BufferEdit) -> bool:
        await asyncio.sleep(0)
        self.edits.append(edit)
        if self.applied:
            self.text = apply_edits(edit.old_text, edit.edits)
        return self.applied


async def test_an_edit_says_all_that_an_editor_needs(work: Path) -> None:
    editor = Recorder("one\ntwo\n", saved_text="one\ntwo\n", version="v7")
    agent = Agent(FileService(buffers=editor), work, "s1")
    (work / "file").unlink()
    await agent.read()
    await agent.write("one\n2\n")
    [edit] = editor.edits
    assert (edit.session_id, edit.path, edit.version) == ("s1", editor.asked[0], "v7")
    assert (edit.old_text, edit.new_text) == ("one\ntwo\n", "one\n2\n")
    [change] = edit.edits
    assert (change.start.line, change.start.character, change.end.character, change.new_text) == (1, 0, 3, "2")


@pytest.mark.parametrize("path", ["../secret", ".env", "../work2/file"])
async def test_an_editor_is_not_asked_about_what_the_agent_may_not_have(work: Path, path: str) -> None:
    editor = Recorder("secret")
    agent = Agent(FileService(buffers=editor, deny=[".env"]), work)
    for doing in (agent.read(path), agent.write("x", path)):
        with pytest.raises(InvalidParams):
            await doing
    assert (editor.asked, editor.edits) == ([], [])


async def test_a_read_only_document_is_not_edited(work: Path) -> None:
    editor = Recorder("text")
    agent = Agent(FileService(buffers=editor, read_only=["file"]), work)
    assert await agent.read() == "text"
    with pytest.raises(InvalidParams, match="read-only"):
        await agent.write("agent")
    assert editor.edits == []


async def test_several_editors_are_asked_in_order(work: Path) -> None:
    first, second, third = Recorder(None), Recorder("second"), Recorder("third")
    agent = Agent(FileService(buffers=[first, second, third]), work)
    assert await agent.read() == "second"
    await agent.write("agent")
    assert [len(one.asked) for one in (first, second, third)] == [2, 2, 0]
    assert [len(one.edits) for one in (first, second, third)] == [0, 1, 0]


async def test_an_edit_that_comes_too_late_is_made_again(work: Path) -> None:
    """The user types between the look and the edit; the agent's text is held against what is there then."""

    class Typing(MemoryBuffers):
        def apply_edit(self, edit: BufferEdit, /) -> bool:
            if edit.version == 1:
                self.change(edit.path, "user")
            return super().apply_edit(edit)

    editor = Typing()
    editor.open(work / "file", "disk\n")
    agent = Agent(FileService(buffers=editor), work)
    await agent.read()
    with pytest.raises(InvalidParams, match="has changed since you last read"):
        await agent.write("agent")
    assert editor.text(work / "file") == "user"


async def test_a_document_that_is_closed_too_early_is_written_to_its_file(work: Path) -> None:
    class Closing(MemoryBuffers):
        def apply_edit(self, edit: BufferEdit, /) -> bool:
            self.close(edit.path)
            return super().apply_edit(edit)

    editor = Closing()
    editor.open(work / "file", "disk\n")
    agent = Agent(FileService(buffers=editor), work)
    await agent.write("agent")
    assert (work / "file").read_text() == "agent"


async def test_an_editor_that_never_takes_the_edit_ends_the_write(work: Path) -> None:
    editor = Recorder("text", applied=False)
    agent = Agent(FileService(buffers=editor), work)
    await agent.read()
    with pytest.raises(InvalidParams, match="keeps changing"):
        await agent.write("agent")
    assert len(editor.edits) == service.MAX_ATTEMPTS


async def test_an_editor_that_fails_is_the_callers_fault_and_nothing_is_written(work: Path) -> None:
    class Failing(MemoryBuffers):
        def apply_edit(self, edit: BufferEdit, /) -> bool:
            raise ZeroDivisionError

    editor = Failing()
    editor.open(work / "file", "disk\n")
    agent = Agent(FileService(buffers=editor), work)
    with pytest.raises(ZeroDivisionError):
        await agent.write("agent")
    assert (work / "file").read_text() == "disk\n"


async def test_an_editor_can_refuse_in_its_own_words(work: Path) -> None:
    class Refusing(MemoryBuffers):
        def find_document(self, path: str, /) -> OpenDocument | None:
            raise InvalidParams("not while a dialog is open")

    with pytest.raises(RequestFailed, match="dialog"):
        await Agent(FileService(buffers=Refusing()), work).read()


@pytest.mark.parametrize("writing", [False, True])
async def test_the_limit_holds_for_documents_too(work: Path, writing: bool) -> None:
    editor = MemoryBuffers()
    editor.open(work / "file", "disk\n")
    editor.change(work / "file", "x" * 11)
    agent = Agent(FileService(buffers=editor, max_file_size=10), work)
    with pytest.raises(InvalidParams, match="at most 10"):
        await (agent.write("y" * 11) if writing else agent.read())
    assert editor.text(work / "file") == "x" * 11


async def test_half_a_surrogate_pair_is_not_written_into_a_document(agent: Agent, editor: MemoryBuffers) -> None:
    editor.open(agent.folder / "file", "disk\n")
    with pytest.raises(InvalidParams, match="surrogate"):
        await agent.write("a\ud83d")
    assert editor.text(agent.folder / "file") == "disk\n"


def test_a_document_of_something_else_than_text_is_the_callers_mistake() -> None:
    with pytest.raises(InvalidInput, match="bytes"):
        OpenDocument(text=b"bytes")


def test_line_endings_do_not_count_in_hashes() -> None:
    assert text_hash("a\r\nb\n") == text_hash("a\nb\n") != text_hash("a\nb")
    assert OpenDocument(text="a", saved_text="b").hash_of_saved == text_hash("b")
    assert OpenDocument(text="a", saved_hash=text_hash("b")).hash_of_saved == text_hash("b")


def test_what_is_not_open_cannot_be_used(tmp_path: Path) -> None:
    editor = MemoryBuffers()
    for use in (editor.close, editor.text, editor.undo, editor.mark_saved):
        with pytest.raises(InvalidState, match="not open"):
            use(tmp_path / "file")
    editor.open(tmp_path / "file", "text")
    editor.undo(tmp_path / "file")
    assert editor.text(tmp_path / "file") == "text"


# What the user interface is told


async def test_changes_are_told_with_what_was_there_and_where_it_went(agent: Agent, editor: MemoryBuffers) -> None:
    changes: list[FileChange] = []
    stop = agent.service.on_change(changes.append)
    await agent.write("new\n", "sub/new")
    await agent.write("agent\n")
    editor.open(agent.folder / "file", "agent\n")
    await agent.write("buffer\n")
    stop()
    stop()
    await agent.write("untold\n")
    told = [(change.kind, change.target, change.old_text, change.new_text) for change in changes]
    assert told == [
        (FileChangeKind.CREATED, FileTarget.DISK, None, "new\n"),
        (FileChangeKind.MODIFIED, FileTarget.DISK, "disk\n", "agent\n"),
        (FileChangeKind.MODIFIED, FileTarget.BUFFER, "agent\n", "buffer\n"),
    ]
    assert {change.session_id for change in changes} == {"session"}
    assert [Path(change.path).name for change in changes] == ["new", "file", "file"]
    assert not any(change.is_resolved for change in changes)


async def test_an_observer_that_raises_harms_nobody(agent: Agent, caplog: pytest.LogCaptureFixture) -> None:
    changes: list[FileChange] = []

    def fail(change: FileChange) -> None:
        raise ZeroDivisionError

    agent.service.on_change(fail)
    agent.service.on_change(changes.append)
    await agent.write("agent")
    assert len(changes) == 1
    assert "an observer of file changes failed" in caplog.text


async def test_a_refused_write_is_no_change(agent: Agent) -> None:
    changes: list[FileChange] = []
    agent.service.on_change(changes.append)
    with pytest.raises(InvalidParams):
        await agent.write("x", "../outside")
    assert changes == []


async def test_a_cancelled_write_is_told_when_it_was_done_all_the_same(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced, cancelled, told = asyncio.Event(), threading.Event(), asyncio.Event()
    loop, replace = asyncio.get_running_loop(), Place.replace

    def slow(*args: Any, **more: Any) -> None:
        replace(*args, **more)
        loop.call_soon_threadsafe(replaced.set)
        cancelled.wait()

    monkeypatch.setattr(Place, "replace", slow)
    agent.service.on_change(lambda change: told.set())
    await agent.read()
    writing = asyncio.create_task(agent.write("agent\n"))
    await replaced.wait()
    writing.cancel()
    await asyncio.wait([writing])
    assert writing.cancelled()
    assert not told.is_set()
    cancelled.set()
    await told.wait()
    await agent.write("agent again\n")  # no conflict: that it wrote the file is known
