"""No change is lost: when a write is a conflict, what is handed over, and what becomes of the decision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_host.errors import InvalidInput, InvalidParams
from acp_host.services import FileService
from acp_host.services._place import Place
from acp_host.services.files import (
    ConflictReason,
    FileChange,
    MemoryBuffers,
    Merge,
    OpenDocument,
    WriteConflict,
    known_texts,
    merging,
    service,
    text_hash,
)
from tests.services.files.asking import Agent

BASE = "one\ntwo\nthree\nfour\nfive\n"
USERS = BASE.replace("one", "user")
AGENTS = BASE.replace("five", "agent")
BOTH = USERS.replace("five", "agent")


class Decider:
    """Decides about every conflict in the same way, and notes them."""

    def __init__(self, decide: Callable[[WriteConflict], Any]) -> None:
        self.decide = decide
        self.conflicts: list[WriteConflict] = []

    async def __call__(self, conflict: WriteConflict) -> Any:
        await asyncio.sleep(0)
        self.conflicts.append(conflict)
        return self.decide(conflict)


def merged(conflict: WriteConflict) -> str | None:
    return conflict.merge.text if conflict.merge and conflict.merge.clean else None


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text(BASE)
    return tmp_path


@pytest.fixture
def editor() -> MemoryBuffers:
    return MemoryBuffers()


async def refused(doing: Any, reason: ConflictReason) -> str:
    with pytest.raises(InvalidParams) as error:
        await doing
    assert error.value.data["reason"] == reason
    assert Path(error.value.data["path"]).name == "file"
    assert "read it again" in error.value.message
    return error.value.message


# Without anybody who decides


async def test_a_file_that_changed_since_it_was_read_is_not_overwritten(work: Path) -> None:
    agent = Agent(FileService(), work)
    assert await agent.read() == BASE
    (work / "file").write_text(USERS)
    message = await refused(agent.write(AGENTS), ConflictReason.CHANGED_SINCE_READ)
    assert f"{work / 'file'} has changed since you last read or wrote it; nothing was written" in message
    assert (work / "file").read_text() == USERS
    assert await agent.read() == USERS
    await agent.write(BOTH)
    assert (work / "file").read_text() == BOTH


async def test_a_session_knows_what_it_wrote(work: Path) -> None:
    agent = Agent(FileService(), work)
    await agent.read()
    await agent.write(AGENTS)
    await agent.write(AGENTS + "six\n")
    (work / "file").write_text(USERS)
    await refused(agent.write(BOTH), ConflictReason.CHANGED_SINCE_READ)


async def test_reading_a_part_is_reading_the_file(work: Path) -> None:
    agent = Agent(FileService(), work)
    await agent.read(line=1, limit=1)
    (work / "file").write_text(USERS)
    await refused(agent.write(AGENTS), ConflictReason.CHANGED_SINCE_READ)


async def test_a_file_that_has_appeared_since_it_was_missed_is_not_overwritten(work: Path) -> None:
    (work / "file").unlink()
    agent = Agent(FileService(), work)
    with pytest.raises(Exception, match="does not exist"):
        await agent.read()
    (work / "file").write_text(USERS)
    await refused(agent.write(AGENTS), ConflictReason.CHANGED_SINCE_READ)


async def test_a_file_that_has_gone_is_made_again(work: Path) -> None:
    agent = Agent(FileService(), work)
    await agent.read()
    (work / "file").unlink()
    await agent.write(AGENTS)
    assert (work / "file").read_text() == AGENTS


async def test_two_sessions_do_not_undo_each_other(work: Path) -> None:
    files = FileService()
    one, other = Agent(files, work, "one"), Agent(files, work, "other")
    await one.read()
    await other.read()
    await one.write(USERS)
    await refused(other.write(AGENTS), ConflictReason.CHANGED_SINCE_READ)
    await other.read()
    await other.write(BOTH)


async def test_writing_what_is_there_is_no_conflict(work: Path) -> None:
    agent = Agent(FileService(), work)
    await agent.read()
    (work / "file").write_text(AGENTS)
    await agent.write(AGENTS)


async def test_an_agent_that_reads_the_disk_by_itself_may_overwrite_it(work: Path) -> None:
    """It has never read anything here, so what it knows of the file is not known."""
    agent = Agent(FileService(), work)
    await agent.write(AGENTS)
    (work / "file").write_text(USERS)
    await agent.write(BOTH)
    assert (work / "file").read_text() == BOTH


async def test_a_read_that_was_refused_shows_nothing_to_an_agent(work: Path) -> None:
    agent = Agent(FileService(), work)
    with pytest.raises(InvalidParams):
        await agent.read("../outside")
    await agent.write(AGENTS)
    (work / "file").write_text(USERS)
    await agent.write(BOTH)


async def test_an_agent_that_reads_the_disk_by_itself_does_not_undo_unsaved_changes(
    work: Path, editor: MemoryBuffers
) -> None:
    agent = Agent(FileService(buffers=editor), work)
    editor.open(work / "file", BASE)
    await agent.write(AGENTS)
    await agent.write(AGENTS + "six\n")  # only its own change is unsaved
    editor.change(work / "file", USERS)
    await refused(agent.write(BOTH), ConflictReason.UNSAVED_CHANGES)
    assert editor.text(work / "file") == USERS


async def test_unsaved_changes_that_were_read_are_no_conflict(work: Path, editor: MemoryBuffers) -> None:
    agent = Agent(FileService(buffers=editor), work)
    editor.open(work / "file", BASE)
    editor.change(work / "file", USERS)
    assert await agent.read() == USERS
    await agent.write(BOTH)
    assert editor.text(work / "file") == BOTH


async def test_what_the_user_types_after_the_read_is_not_overwritten(work: Path, editor: MemoryBuffers) -> None:
    agent = Agent(FileService(buffers=editor), work)
    editor.open(work / "file", BASE)
    await agent.read()
    editor.change(work / "file", USERS)
    await refused(agent.write(AGENTS), ConflictReason.CHANGED_SINCE_READ)


@pytest.mark.parametrize("read_first", [False, True])
@pytest.mark.parametrize("keep_text", [False, True])
async def test_a_file_changed_under_unsaved_changes_is_a_conflict(
    work: Path, read_first: bool, keep_text: bool
) -> None:
    """Whatever is written: if the document is saved afterwards, the change on the disk is gone."""

    class Hashing(MemoryBuffers):
        def find_document(self, path: str, /) -> OpenDocument | None:
            found = super().find_document(path)
            if found is None or keep_text:
                return found
            return OpenDocument(text=found.text, saved_hash=found.hash_of_saved, version=found.version)

    editor = Hashing()
    decider = Decider(merged)
    agent = Agent(FileService(buffers=editor, conflict=decider), work)
    editor.open(work / "file", BASE)
    editor.change(work / "file", USERS)
    (work / "file").write_text(BASE.replace("three", "disk"))
    start = await agent.read() if read_first else BASE.replace("three", "disk")
    wanted = start.replace("five", "agent")
    if keep_text:
        await agent.write(wanted)
        assert editor.text(work / "file") == BOTH.replace("three", "disk")
    else:
        await refused(agent.write(wanted), ConflictReason.CHANGED_ON_DISK)
    [conflict] = decider.conflicts
    assert (conflict.reason, conflict.disk) == (ConflictReason.CHANGED_ON_DISK, BASE.replace("three", "disk"))
    assert (conflict.base, conflict.current, conflict.proposed) == (start, USERS, wanted)
    assert (conflict.merge_problem is None) == keep_text


@pytest.mark.parametrize("text", [BASE, BASE.replace("\n", "\r\n")])
async def test_an_editor_may_change_line_endings_on_loading(work: Path, editor: MemoryBuffers, text: str) -> None:
    (work / "file").write_bytes(BASE.replace("\n", "\r\n").encode())
    agent = Agent(FileService(buffers=editor), work)
    editor.open(work / "file", text)
    await agent.write(AGENTS)
    assert editor.text(work / "file") == AGENTS


# With somebody who decides


@pytest.mark.parametrize(
    ("decide", "result"),
    [
        (lambda conflict: conflict.proposed, AGENTS),
        (merged, BOTH),
        (lambda conflict: "something else\n", "something else\n"),
    ],
)
@pytest.mark.parametrize("is_open", [False, True])
async def test_what_was_decided_is_written(
    work: Path, editor: MemoryBuffers, is_open: bool, decide: Callable[[WriteConflict], Any], result: str
) -> None:
    decider, changes = Decider(decide), list[FileChange]()
    agent = Agent(FileService(buffers=editor, conflict=decider), work)
    agent.service.on_change(changes.append)
    await agent.read()
    if is_open:
        editor.open(work / "file", BASE)
        editor.change(work / "file", USERS)
    else:
        (work / "file").write_text(USERS)
    await agent.write(AGENTS)
    assert (editor.text(work / "file") if is_open else (work / "file").read_text()) == result
    [conflict] = decider.conflicts
    assert (conflict.base, conflict.current, conflict.proposed) == (BASE, USERS, AGENTS)
    assert conflict.disk == (BASE if is_open else USERS)
    assert (conflict.reason, conflict.session_id) == (ConflictReason.CHANGED_SINCE_READ, "session")
    assert conflict.merge == Merge(BOTH, clean=True)
    assert [(change.old_text, change.new_text, change.is_resolved) for change in changes] == [
        (USERS, result, result != AGENTS)
    ]


async def test_an_agent_that_does_not_know_the_merge_cannot_undo_it(work: Path) -> None:
    """It goes on from its own text; the next write is merged again, from there."""
    decider = Decider(merged)
    agent = Agent(FileService(conflict=decider), work)
    await agent.read()
    (work / "file").write_text(USERS)
    await agent.write(AGENTS)
    await agent.write(AGENTS.replace("three", "3"))
    assert (work / "file").read_text() == BOTH.replace("three", "3")
    assert [conflict.base for conflict in decider.conflicts] == [BASE, AGENTS]


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        (lambda conflict: None, "read it again"),
        (lambda conflict: conflict.current, "the user has kept the text that is there"),
    ],
)
async def test_the_agent_is_told_when_its_text_was_not_written(
    work: Path, decide: Callable[[WriteConflict], Any], message: str
) -> None:
    agent = Agent(FileService(conflict=decide), work)
    await agent.read()
    (work / "file").write_text(USERS)
    for _ in range(2):
        with pytest.raises(InvalidParams, match=message):
            await agent.write(AGENTS)
    assert (work / "file").read_text() == USERS


async def test_changes_that_contradict_each_other_are_shown_as_they_are(work: Path) -> None:
    decider = Decider(merged)
    agent = Agent(FileService(conflict=decider), work)
    await agent.read()
    (work / "file").write_text(USERS)
    await refused(agent.write(BASE.replace("one", "agent")), ConflictReason.CHANGED_SINCE_READ)
    merge = decider.conflicts[0].merge
    assert merge is not None
    assert not merge.clean
    assert merge.text.startswith("<<<<<<< current\nuser\n=======\nagent\n>>>>>>> agent\ntwo\n")


@pytest.mark.parametrize("reads", [False, True])
async def test_what_changes_while_the_user_decides_is_asked_about_again(
    work: Path, editor: MemoryBuffers, reads: bool
) -> None:
    """The user also saves the document meanwhile, so that nothing in it is unsaved any more."""
    later = USERS.replace("three", "3")

    def decide(conflict: WriteConflict) -> str | None:
        if len(decider.conflicts) == 1:
            editor.change(work / "file", later)
            editor.mark_saved(work / "file")
            (work / "file").write_text(later)
        return merged(conflict)

    decider = Decider(decide)
    agent = Agent(FileService(buffers=editor, conflict=decider), work)
    editor.open(work / "file", BASE)
    if reads:
        await agent.read()
    editor.change(work / "file", USERS)
    await agent.write(AGENTS)
    assert editor.text(work / "file") == BOTH.replace("three", "3")
    assert [(conflict.base, conflict.current) for conflict in decider.conflicts] == [(BASE, USERS), (BASE, later)]


async def test_what_changes_for_ever_is_not_written(work: Path) -> None:
    def decide(conflict: WriteConflict) -> str:
        (work / "file").write_text(f"{len(decider.conflicts)}\n")
        return conflict.proposed

    decider = Decider(decide)
    agent = Agent(FileService(conflict=decider), work)
    await agent.read()
    (work / "file").write_text(USERS)
    with pytest.raises(InvalidParams, match="keeps changing"):
        await agent.write(AGENTS)
    assert len(decider.conflicts) == service.MAX_ATTEMPTS


async def test_a_change_between_the_look_and_the_write_is_seen(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest gap there is: the file changes after it was read to be compared."""
    replace = Place.replace

    def late(place: Place, data: bytes, like: Any = None) -> None:
        if (work / "file").read_text() == BASE:
            (work / "file").write_text(USERS)
        replace(place, data, like)

    monkeypatch.setattr(Place, "replace", late)
    agent = Agent(FileService(), work)
    await agent.read()
    await refused(agent.write(AGENTS), ConflictReason.CHANGED_SINCE_READ)
    assert (work / "file").read_text() == USERS


async def test_many_writes_at_once_lose_nothing(work: Path) -> None:
    """Each adds a line to what it has read; a refused one reads again."""
    files = FileService()

    async def add(number: int) -> None:
        agent = Agent(files, work, f"session-{number}")
        while True:
            text = await agent.read()
            try:
                return await agent.write(f"{text}line {number}\n")
            except InvalidParams:  # another one was faster
                continue

    await asyncio.gather(*(add(number) for number in range(20)))
    lines = (work / "file").read_text().splitlines()
    assert sorted(lines[5:]) == sorted(f"line {number}" for number in range(20))


async def test_a_decision_that_is_no_text_is_the_callers_mistake(work: Path) -> None:
    agent = Agent(FileService(conflict=lambda conflict: True), work)
    await agent.read()
    (work / "file").write_text(USERS)
    with pytest.raises(InvalidInput, match="text or None, not by bool"):
        await agent.write(AGENTS)


async def test_whoever_decides_and_fails_decides_nothing(work: Path) -> None:
    def fail(conflict: WriteConflict) -> str:
        raise ZeroDivisionError

    agent = Agent(FileService(conflict=fail), work)
    await agent.read()
    (work / "file").write_text(USERS)
    with pytest.raises(ZeroDivisionError):
        await agent.write(AGENTS)
    assert (work / "file").read_text() == USERS


async def test_conflicts_without_a_merge_say_why(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_texts, "MAX_KNOWN_TEXT", 0)
    decider = Decider(merged)
    agent = Agent(FileService(conflict=decider), work)
    agent.service._sessions[agent.id].known._max_text = 10
    await agent.read()
    (work / "file").write_text(USERS)
    await refused(agent.write(AGENTS), ConflictReason.CHANGED_SINCE_READ)
    agent.service._sessions[agent.id].known._max_text = 1000
    await agent.read()
    (work / "file").write_text(USERS + "six\n")

    def fail(*_: object) -> Merge:
        raise merging.MergeUnavailable("out of order")

    monkeypatch.setattr("acp_host.services.files.formats.merge_texts", fail)
    await refused(agent.write(AGENTS), ConflictReason.CHANGED_SINCE_READ)
    assert [(conflict.base, conflict.merge, conflict.merge_problem) for conflict in decider.conflicts] == [
        (None, None, "the text that the agent had read is no longer kept"),
        (USERS, None, "out of order"),
    ]


async def test_without_anybody_to_decide_nothing_is_merged(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_host.services.files.formats.merge_texts", lambda *_: pytest.fail("merged"))
    agent = Agent(FileService(), work)
    await agent.read()
    (work / "file").write_text(USERS)
    await refused(agent.write(AGENTS), ConflictReason.CHANGED_SINCE_READ)


async def test_what_a_closed_session_knew_is_forgotten(work: Path) -> None:
    files = FileService()
    await Agent(files, work).read()
    again = Agent(files, work)  # the same session, with its directories told anew
    (work / "file").write_text(USERS)
    await refused(again.write(AGENTS), ConflictReason.CHANGED_SINCE_READ)
    files.close_session("session")
    await Agent(files, work).write(AGENTS)


# What is kept of what was read


def test_texts_are_forgotten_before_hashes_and_the_oldest_first() -> None:
    known = known_texts.KnownTexts(max_files=3, max_text=10)
    for name in "abc":
        known.remember(name, known_texts.KnownText.of(name * 4))
    assert [known.get(name) and known.get(name).text for name in "abc"] == [None, "bbbb", "cccc"]
    known.remember("b", known_texts.KnownText.of("b" * 11))
    assert known.get("b") == known_texts.KnownText(text_hash("b" * 11), None)
    assert known.get("c") == known_texts.KnownText(text_hash("cccc"), None)
    known.remember("b", known_texts.KnownText.of("bb"))
    known.remember("d", known_texts.KnownText.of(None))
    assert known.get("a") is None
    assert known.get("d") == known_texts.KnownText(None, None)
    known.remember("e", known_texts.KnownText.of("e" * 8))
    assert [known.get(name) and known.get(name).text for name in "bde"] == ["bb", None, "eeeeeeee"]
