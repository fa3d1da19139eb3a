"""How agents say that they do not know a session, and what only looks like it."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.errors import RequestFailed
from acp_host.host.session_gone import says_gone

ID = "0f9a-77"

GONE: list[tuple[int, str, Any]] = [
    (-32002, "Resource not found", {"sessionId": ID}),
    (-32002, "Resource not found", {"uri": ID}),
    (-32002, "Resource not found", {"uri": f"session:///{ID}"}),
    (-32602, f'Session "{ID}" not found', None),
    (-32602, "Invalid session identifier", {"sessionId": ID, "reason": "unknown"}),
    (-32603, "Internal error", {"details": "Session not found"}),
    (-32603, "Internal error", f"No conversation found with session ID: {ID}"),
    (-32603, "no rollout found for thread id 0f9a-77", None),
    (-32600, f"Unknown session {ID}", None),
    (-32000 - 50, "Unsupported ACP session", None),
    (-32603, f"session {ID} does not exist", None),
    (-32603, "Session expired", None),
    (-32603, "the session is no longer available", None),
    (-32603, "failed to load the session: not found", None),
    (-32603, f"session {ID} is unknown to this server", None),
    (-32603, "Session unknown", {"details": "missing"}),
    (-32603, f"Session\t'{ID}'  was \r\n  not   found", None),
    (-32603, "Session unknown \n\n model", None),
]

NOT_GONE: list[tuple[int, str, Any]] = [
    (-32603, "Internal error", None),
    (-32603, "The model is overloaded", None),
    (-32602, f"Session {ID} is already loaded", None),
    (-32602, "Invalid session mode", None),
    (-32602, "Invalid params", {"sessionId": ID}),
    (-32601, '"Method not found": session/resume', None),
    (-32000, "Session not found, log in first", None),
    (-32800, "the session is unknown", None),
    (-32603, "Session file not found: settings.toml", None),
    (-32002, "Resource not found", {"uri": "file:///notes.txt"}),
    (-32603, "", {"details": ["a"] * 5}),
    (-32603, "could not resume the session: unknown model gpt-0", None),
    (-32603, "could not start a session: missing API key", None),
    (-32603, "Session expired, please log in again", None),
    (-32603, "MCP session not found", None),
    (-32603, "Internal error", {"details": "the HTTP session has expired"}),
]


@pytest.mark.parametrize("code, message, data", GONE)
@pytest.mark.parametrize("was_open", [False, True])
def test_gone(code: int, message: str, data: Any, was_open: bool) -> None:
    assert says_gone(RequestFailed.from_code(code, message, data), ID, was_open=was_open)


@pytest.mark.parametrize("code, message, data", NOT_GONE)
@pytest.mark.parametrize("was_open", [False, True])
def test_not_gone(code: int, message: str, data: Any, was_open: bool) -> None:
    assert not says_gone(RequestFailed.from_code(code, message, data), ID, was_open=was_open)


def test_a_bare_minus_32002_counts_only_while_a_session_is_opened() -> None:
    error = RequestFailed.from_code(-32002, "Resource not found")
    assert says_gone(error, ID, was_open=False)
    assert not says_gone(error, ID, was_open=True), "it may be a file that the agent could not find"


def test_long_and_deep_errors_do_no_harm() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    for message, data in (("session " * 100_000, None), ("no", deep), ("no", "session id " * 100_000)):
        assert not says_gone(RequestFailed.from_code(-32603, message, data), ID, was_open=True)
