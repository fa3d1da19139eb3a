"""What version 2's updates are read as, and that nothing of them is lost on the way back."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.diagnostics import DiagnosticKind
from acp_host.wire import updates as v1
from acp_host.wire._model import UNSET, Unknown
from acp_host.wire.converters import structure, structure_tolerant, unstructure
from acp_host.wire.v2 import diffs, state_update, terminals, tool_calls, updates


def read(update: dict[str, Any]) -> Any:
    """Return an update as both decoders read it."""
    message = {"sessionId": "s", "update": update}
    typed = structure(message, updates.UpdateSessionNotification)
    assert structure_tolerant(message, updates.UpdateSessionNotification) == (typed, [])
    assert unstructure(typed) == message
    return typed.update


def test_a_chunk_is_one_of_version_1_with_an_id() -> None:
    chunk = read(
        {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "hello"}}
    )

    assert isinstance(chunk, v1.AgentMessageChunk)
    assert isinstance(chunk, updates.ContentChunk)
    assert chunk.message_id == "m"


def test_a_chunk_without_an_id_is_kept_as_it_came() -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hello"}}

    with pytest.raises(Exception, match="messageId"):
        structure_tolerant({"sessionId": "s", "update": update}, updates.UpdateSessionNotification)


@pytest.mark.parametrize("content", [None, [], [{"type": "text", "text": "x"}]])
def test_an_absent_content_is_neither_null_nor_empty(content: Any) -> None:
    assert read({"sessionUpdate": "user_message", "messageId": "m"}).content is UNSET
    told = read({"sessionUpdate": "user_message", "messageId": "m", "content": content})
    assert (told.content is None) == (content is None)
    assert len(told.content or ()) == len(content or [])


def test_each_operation_of_a_diff_has_a_class() -> None:
    operations = {"add": diffs.FileAdded, "delete": diffs.FileDeleted, "modify": diffs.FileModified}
    pairs = {"move": diffs.FileMoved, "copy": diffs.FileCopied}
    changes: list[dict[str, Any]] = [{"operation": word, "path": "/a"} for word in operations]
    changes += [{"operation": word, "oldPath": "/a", "path": "/b"} for word in pairs]
    changes.append({"operation": "_chmod", "mode": "0644"})
    patch = {"format": "git_patch", "text": "diff --git /a /a\n"}

    update = read(
        {
            "sessionUpdate": "tool_call_content_chunk",
            "toolCallId": "c",
            "content": {"type": "diff", "changes": changes, "patch": patch},
        }
    )

    assert isinstance(update, tool_calls.ToolCallContentChunk)
    assert isinstance(update.content, diffs.Diff)
    assert [type(change) for change in update.content.changes] == [
        *operations.values(),
        *pairs.values(),
        diffs.UnknownDiffChange,
    ]


def test_a_state_that_is_not_known_keeps_all_it_says() -> None:
    state = read({"sessionUpdate": "state_update", "state": "_dreaming", "of": "sheep"})

    assert isinstance(state, state_update.SessionStateUpdate)
    assert (state.state, state.extra) == ("_dreaming", {"of": "sheep"})


def test_a_malformed_list_of_background_work_is_not_reported() -> None:
    update = {"sessionUpdate": "state_update", "state": "running", "background": [{"type": "terminal"}]}

    typed, repairs = structure_tolerant({"sessionId": "s", "update": update}, updates.UpdateSessionNotification)

    assert typed.update.background is UNSET
    assert [repair.kind for repair in repairs] == [DiagnosticKind.REPAIRED]


def test_malformed_capabilities_are_none() -> None:
    update = {"sessionUpdate": "terminal_update", "terminalId": "t", "capabilities": ["cancel"]}

    typed, _ = structure_tolerant({"sessionId": "s", "update": update}, updates.UpdateSessionNotification)

    assert isinstance(typed.update, terminals.TerminalUpdate)
    assert typed.update.capabilities is UNSET


def test_an_update_that_is_not_known_is_written_back() -> None:
    assert isinstance(read({"sessionUpdate": "_own", "a": [1, None]}), Unknown)
