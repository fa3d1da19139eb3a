"""What agents ask of the session's files: what is missing, odd windows, and writes that would undo something."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.services.files import MemoryBuffers, WriteConflict
from acp_host.testing import ScriptedAgent
from tests.chaos.bad_agents import conversation

BASE = "one\r\ntwo\nthree"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_bytes(BASE.encode())
    return tmp_path


async def ask(agent: ScriptedAgent, method: str, path: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
    """Return the content that the host answers, and the error."""
    answer = await agent.call(f"fs/{method}_text_file", {"sessionId": "session-1", "path": path, **more})
    return answer.get("result", {}).get("content"), answer.get("error", {})


@pytest.mark.parametrize("name", ["none", "none/deeper", "notes.txt/below"])
async def test_r100_a_file_that_is_missing_is_not_found_and_never_empty(folder: Path, name: str) -> None:
    path = str(folder / name)

    async def bad(agent: ScriptedAgent) -> None:
        content, error = await ask(agent, "read", path)
        assert (content, error["code"], error["data"]) == (None, -32002, {"path": path})
        assert path in error["message"]
        if name == "none":  # and so the agent may take it for new
            assert await ask(agent, "write", path, content="new") == (None, {})

    await conversation(bad, files=True)
    assert (folder / "none").exists() == (name == "none")


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ({}, BASE),
        ({"line": None, "limit": None}, BASE),
        ({"line": 1, "limit": 2}, "one\r\ntwo\n"),
        ({"line": 0, "limit": 1}, "one\r\n"),
        ({"line": 2}, "two\nthree"),
        ({"line": 3, "limit": 1_000_000}, "three"),
        ({"line": 4}, ""),
        ({"line": 4_294_967_295, "limit": 4_294_967_295}, ""),
        ({"limit": 0}, ""),
    ],
)
async def test_r101_a_window_is_so_many_whole_lines_from_a_line(
    folder: Path, window: dict[str, Any], expected: str
) -> None:
    async def bad(agent: ScriptedAgent) -> None:
        assert await ask(agent, "read", str(folder / "notes.txt"), **window) == (expected, {})

    await conversation(bad, files=True)


@pytest.mark.parametrize("name", ["line", "limit"])
@pytest.mark.parametrize("number", [1.5, -1, "2", True, [1], {}])
async def test_r102_a_window_of_no_whole_number_is_refused(folder: Path, name: str, number: Any) -> None:
    async def bad(agent: ScriptedAgent) -> None:
        content, error = await ask(agent, "read", str(folder / "notes.txt"), **{name: number})
        assert (content, error["code"]) == (None, -32602)
        assert name in error["message"] or name in str(error.get("data"))

    await conversation(bad, files=True)


@pytest.mark.parametrize("where", ["disk", "buffer"])
async def test_r103_a_write_over_what_the_agent_has_not_seen_is_refused(folder: Path, where: str) -> None:
    notes, editor = folder / "notes.txt", MemoryBuffers()
    if where == "buffer":
        editor.open(notes, BASE)

    async def bad(agent: ScriptedAgent) -> None:
        assert (await ask(agent, "read", str(notes), limit=1))[0] == "one\r\n"
        if where == "buffer":
            editor.change(notes, "the user's")
        else:
            notes.write_text("the user's")
        for _ in range(2):  # it does not help to insist
            _, error = await ask(agent, "write", str(notes), content="the agent's")
            assert (error["code"], error["data"]) == (-32602, {"path": str(notes), "reason": "changed_since_read"})
            assert "read it again with fs/read_text_file" in error["message"]
        assert await ask(agent, "read", str(notes)) == ("the user's", {})
        assert await ask(agent, "write", str(notes), content="the agent's") == (None, {})

    await conversation(bad, files=acp_host.FileService(buffers=editor))
    assert (editor.text(notes) if where == "buffer" else notes.read_text()) == "the agent's"


async def test_r104_an_agent_that_reads_the_disk_itself_does_not_undo_unsaved_changes(folder: Path) -> None:
    notes, editor = folder / "notes.txt", MemoryBuffers()
    editor.open(notes, BASE)

    async def bad(agent: ScriptedAgent) -> None:
        assert await ask(agent, "write", str(notes), content="first") == (None, {})
        editor.change(notes, "the user's")
        _, error = await ask(agent, "write", str(notes), content="second")
        assert (error["code"], error["data"]["reason"]) == (-32602, "unsaved_changes")

    await conversation(bad, files=acp_host.FileService(buffers=editor))
    assert editor.text(notes) == "the user's"
    assert notes.read_bytes() == BASE.encode()


@pytest.mark.parametrize("fails", [True, False])
async def test_r105_who_decides_about_a_conflict_and_fails_undoes_nothing(folder: Path, fails: bool) -> None:
    notes = folder / "notes.txt"

    def decide(conflict: WriteConflict) -> Any:
        if fails:
            raise ZeroDivisionError("oops")
        return 5

    async def bad(agent: ScriptedAgent) -> None:
        await ask(agent, "read", str(notes))
        notes.write_text("the user's")
        _, error = await ask(agent, "write", str(notes), content="the agent's")
        assert error["code"] == -32603
        assert "oops" not in str(error)

    seen = await conversation(bad, files=acp_host.FileService(conflict=decide))
    assert len(seen.reported(acp_host.DiagnosticKind.HANDLER_FAILED)) == 1
    assert notes.read_text() == "the user's"


async def test_r106_rules_hold_for_every_name_of_a_file(folder: Path) -> None:
    (folder / ".env").write_text("secret")
    (folder / "link").symlink_to(".env")
    (folder / "up").mkdir()
    names = [".env", ".ENV", "./.env", "up/../.env", "link", ".env/x", "new/.env", "up/.Env"]

    async def bad(agent: ScriptedAgent) -> None:
        for name in names:
            content, error = await ask(agent, "read", f"{folder}/{name}")
            assert content is None, name
            assert error["code"] in (-32602, -32002), name
            _, error = await ask(agent, "write", f"{folder}/{name}", content="x")
            assert error["code"] == -32602, name

    await conversation(bad, files=acp_host.FileService(deny=[".env"]))
    assert (folder / ".env").read_text() == "secret"
    assert set(os.listdir(folder)) == {".env", "link", "notes.txt", "up"}
