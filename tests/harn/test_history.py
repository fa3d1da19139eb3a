"""A Harn agent goes back in the conversation: what the transcript shows of it."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state.entries import HistoryEntry, MessageEntry
from acp_host.state.events import HistoryChanged
from tests.harn.harness import Desk, events_of, named, read, updates


def said(text: str) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def test_what_is_before_it_stays() -> None:
    desk = Desk()
    (truncated,) = updates("conformance_session_update_extensions.json", "session_truncated")
    desk.fold(said("Hello"))
    desk.take(truncated)
    desk.fold(said("again"))
    before, entry, after = desk.state.snapshot().transcript
    assert isinstance(before, MessageEntry)
    assert isinstance(after, MessageEntry)
    assert (before.text, after.text) == ("Hello", "again")
    assert entry == HistoryEntry(
        position=1, action="truncated", kept_turns=1, removed_turns=2, checkpoint_id="turn-1", reason="user_edit"
    )
    desk.deliver()
    desk.assert_exact()


@pytest.mark.parametrize("kind, action", [("session_rollback", "rolled_back"), ("session_redo", "redone")])
def test_to_a_checkpoint_and_forward_again(kind: str, action: str) -> None:
    for update in (
        named(kind, checkpointId="c-1", status="ok"),
        {"sessionUpdate": kind, "checkpointId": "c-1", "status": "ok"},
    ):
        assert events_of(update) == (HistoryChanged(action, checkpoint_id="c-1", status="ok"),)


@pytest.mark.parametrize("kind", ["session_truncated", "session_rollback", "session_redo"])
def test_without_where_it_went_it_is_nothing(kind: str) -> None:
    report = read(named(kind, status="ok", reason="x"))
    assert report is not None
    assert report.events == ()
    assert len(report.problems) == 1
