"""Messages, whole and in pieces, that bad agents say good and bad things with; plain JSON."""

from __future__ import annotations

import json
from typing import Any

__all__ = [
    "ALL",
    "ASK",
    "CANCELLED",
    "DONE",
    "EDIT",
    "FORM",
    "chunk",
    "line",
    "message_update",
    "options",
    "permission",
    "selected",
]

ASK = "session/request_permission"

DONE = {"stopReason": "end_turn"}
"""The result of a prompt."""

EDIT = {"toolCallId": "call-1", "title": "Edit notes.txt", "kind": "edit", "status": "pending"}
"""A tool call."""

FORM = {
    "mode": "form",
    "sessionId": "session-1",
    "message": "Which one?",
    "requestedSchema": {"type": "object", "properties": {"one": {"type": "string"}}},
}
"""Parameters of a form."""

ALL: dict[str, Any] = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "fork": {}},
}
"""Capabilities of an agent that can do everything that a host may ask of it."""

CANCELLED = {"outcome": {"outcome": "cancelled"}}
"""The result that chooses no option."""


def line(message: Any) -> bytes:
    """A message as an agent's JSON library would write it, which is not this library's."""
    return json.dumps(message).encode() + b"\n"


def chunk(text: str, **members: Any) -> dict[str, Any]:
    """An update with a piece of the agent's message."""
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **members}


def message_update(update: Any, session_id: str = "session-1") -> dict[str, Any]:
    """An update as a whole message."""
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session_id, "update": update}}


def options(*kinds: str) -> list[dict[str, str]]:
    """Options of these kinds; each has its kind as its id."""
    return [{"optionId": kind, "name": kind.replace("_", " ").title(), "kind": kind} for kind in kinds]


def permission(*kinds: str, session_id: str = "session-1", **tool_call: Any) -> dict[str, Any]:
    """Parameters of a permission request."""
    offered = options(*(kinds or ("allow_once", "reject_once")))
    return {"sessionId": session_id, "toolCall": {**EDIT, **tool_call}, "options": offered}


def selected(option_id: str) -> dict[str, Any]:
    """The result that chooses an option."""
    return {"outcome": {"outcome": "selected", "optionId": option_id}}
