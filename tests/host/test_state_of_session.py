"""The state of a session over a whole conversation with the reference agent."""

from __future__ import annotations

from pathlib import Path

import acp_host
from acp_host.state.entries import MessageEntry, ToolCallEntry
from acp_host.testing import ReferenceAgent


async def test_everything_a_conversation_says_is_in_the_state(tmp_path: Path) -> None:
    tmp_path.joinpath("notes.md").write_text("one\n")
    policy = acp_host.PermissionPolicy.allow_once()
    async with acp_host.connect(ReferenceAgent().transport(), files=True, terminals=True, permissions=policy) as host:
        session = await host.new_session(tmp_path)
        result = await session.prompt("Tidy up my notes")
        snapshot = session.state.snapshot()
    speakers = [entry.speaker for entry in snapshot.transcript if isinstance(entry, MessageEntry)]
    assert speakers[0] == "user"
    assert {"assistant", "thought"} <= set(speakers)
    assert any(isinstance(entry, ToolCallEntry) and entry.finished for entry in snapshot.transcript)
    said = [e.text for e in snapshot.transcript if isinstance(e, MessageEntry) and e.speaker == "assistant"]
    assert "".join(said) == result.text
    assert snapshot.turn.outcome == "completed"
    assert snapshot.questions == ()


async def test_reminders_and_notices_are_parts_of_the_state(tmp_path: Path) -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session(tmp_path)
        await session.remind("2 tests failed", dedupe_key="tests")
        await session.prompt("/notice warning Careful")
        snapshot = session.state.snapshot()
        assert [entry.body for entry in snapshot.reminders.entries] == ["2 tests failed"]
        assert snapshot.reminders is session.reminders.snapshot()
        assert [toast.title for toast in snapshot.notices.toasts] == ["Careful"]
        assert acp_host.to_json(snapshot)["reminders"]["entries"][0]["body"] == "2 tests failed"
