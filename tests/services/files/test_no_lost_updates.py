"""Whatever users, programs and agents do to one file in any order: nobody's change is undone unseen."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from acp_host.errors import InvalidParams, ResourceNotFound
from acp_host.services import FileService
from acp_host.services.files import MemoryBuffers, WriteConflict
from tests.services.files.asking import Agent

T = TypeVar("T")

READERS = ("reader-1", "reader-2")
BLIND = "blind"
AGENTS = (*READERS, BLIND)
NOTHING = ""
"""What a file that is not there is read as, in the model."""


class OneFile(RuleBasedStateMachine):
    """The model: the text on the disk, that in the editor, and what each agent has seen. Every text is new, so that a
    text says who has written it and when.

    Two agents read through the host before they write, at least sometimes; the blind one reads the disk by itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name) / "file"
        self.runner = asyncio.Runner()
        self.editor = MemoryBuffers()
        self.decision: str | None = None
        self.conflicts: list[WriteConflict] = []
        service = FileService(buffers=self.editor, conflict=self.decide)
        self.agents = {name: Agent(service, Path(self.folder.name), name) for name in AGENTS}
        self.disk: str | None = None
        self.buffer: str | None = None
        self.loaded: str | None = None
        self.seen: dict[str, str] = {}
        self.has_read: set[str] = set()
        self.count = 0

    def teardown(self) -> None:
        self.runner.close()
        self.folder.cleanup()

    def run(self, doing: Awaitable[T]) -> T:
        async def waiting() -> T:
            return await doing

        return self.runner.run(waiting())

    def decide(self, conflict: WriteConflict) -> str | None:
        self.conflicts.append(conflict)
        return {"proposed": conflict.proposed, "current": conflict.current}.get(str(self.decision), self.decision)

    def new_text(self, author: str) -> str:
        self.count += 1
        return f"{self.count} by {author}\n"

    @property
    def is_unsaved(self) -> bool:
        return self.buffer is not None and self.buffer not in (self.loaded, self.disk)

    @property
    def there(self) -> str | None:
        """What one finds who looks: unsaved text, else the file, else a document that has none."""
        return self.buffer if self.is_unsaved or self.disk is None else self.disk

    # What others do

    @initialize(exists=st.booleans())
    def begin(self, exists: bool) -> None:
        if exists:
            self.program_writes()

    @rule()
    def program_writes(self) -> None:
        self.disk = self.new_text("program")
        self.file.write_text(self.disk)

    @precondition(lambda self: self.disk is not None)
    @rule()
    def program_deletes(self) -> None:
        self.disk = None
        self.file.unlink()

    @precondition(lambda self: self.disk is not None and self.buffer is None)
    @rule()
    def user_opens(self) -> None:
        self.buffer = self.loaded = self.disk
        self.editor.open(self.file, self.disk or "")

    @precondition(lambda self: self.buffer is not None)
    @rule()
    def user_types(self) -> None:
        self.buffer = self.new_text("user")
        self.editor.change(self.file, self.buffer)

    @precondition(lambda self: self.buffer is not None)
    @rule()
    def user_saves(self) -> None:
        self.disk = self.loaded = self.buffer
        self.file.write_text(self.buffer or "")
        self.editor.mark_saved(self.file)

    @precondition(lambda self: self.buffer is not None)
    @rule()
    def user_closes(self) -> None:
        self.buffer = self.loaded = None
        self.editor.close(self.file)

    # What agents do

    @rule(name=st.sampled_from(READERS))
    def agent_reads(self, name: str) -> None:
        self.has_read.add(name)
        self.seen[name] = self.there or NOTHING
        try:
            assert self.run(self.agents[name].read()) == self.there
        except ResourceNotFound:
            assert self.there is None

    @rule(name=st.sampled_from(AGENTS), decision=st.sampled_from([None, "proposed", "current", "own"]))
    def agent_writes(self, name: str, decision: str | None) -> None:
        text, there = self.new_text(name), self.there
        self.decision = self.new_text("decision") if decision == "own" else decision
        self.conflicts.clear()
        is_conflict = self.would_undo(name)
        try:
            self.run(self.agents[name].write(text))
            written = True
        except InvalidParams:
            written = False
        assert bool(self.conflicts) == is_conflict
        assert written == (not is_conflict or decision in ("proposed", "own"))
        for conflict in self.conflicts:
            assert (conflict.current, conflict.disk, conflict.proposed) == (there, self.disk, text)
            if name in self.has_read and name in self.seen:
                assert conflict.base == self.seen[name]
        if written:
            result = self.decision if is_conflict and decision == "own" else text
            self.seen[name] = text
            if self.buffer is None:
                self.disk = result
            else:
                self.buffer = result

    def would_undo(self, name: str) -> bool:
        """Tell whether a write would undo something that the agent has not seen."""
        if self.there is None:
            return False
        if self.is_unsaved and self.disk not in (None, self.loaded):
            return True
        if name in self.has_read and name in self.seen:
            return self.seen[name] != self.there
        return self.is_unsaved and self.seen.get(name) != self.there

    @invariant()
    def the_host_and_the_model_agree(self) -> None:
        assert (self.file.read_text() if self.file.exists() else None) == self.disk
        if self.buffer is not None:
            assert self.editor.text(self.file) == self.buffer


OneFile.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
test_nothing_is_undone_unseen = OneFile.TestCase
