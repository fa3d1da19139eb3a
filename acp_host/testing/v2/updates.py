"""Updates of ACP v1 in the words of v2: pure functions from JSON to JSON."""

from __future__ import annotations

import difflib
import io
import itertools
from collections.abc import Iterable
from typing import Any

from acp_host.testing._speech import Json

__all__ = ["Updates", "commands", "config_options", "tool_call", "whole_messages"]

_PLAN = "plan"
"""The id of a session's one plan, which needs none in v1."""
_FINAL = frozenset({"completed", "failed", "cancelled"})
_WHOLE = {
    "user_message_chunk": "user_message",
    "agent_message_chunk": "agent_message",
    "agent_thought_chunk": "agent_thought",
}


class Updates:
    """The updates of one connection.

    In v1 a tool call tells all its content again when some is added; v2 has chunks for that. So it is remembered, until
    the call is over, what the host has of it.
    """

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], list[Any]] = {}

    def translate(self, session_id: str, update: Json) -> list[Json]:
        """Return what to send for an update of v1; nothing where v2 has no words for it."""
        match update["sessionUpdate"]:
            case "current_mode_update":  # a mode is an option like any other
                return []
            case "plan":
                plan = {"type": "items", "planId": _PLAN, "entries": update["entries"]}
                return [_without({**update, "sessionUpdate": "plan_update", "plan": plan}, "entries")]
            case "available_commands_update":
                return [{**update, "availableCommands": commands(update["availableCommands"])}]
            case "config_option_update":
                return [{**update, "configOptions": config_options(update["configOptions"])}]
            case "tool_call":
                self._told[session_id, update["toolCallId"]] = []
                return self._tool_call(session_id, {**update, "sessionUpdate": "tool_call_update"})
            case "tool_call_update":
                return self._tool_call(session_id, update)
            case _:
                return [update]

    def _tool_call(self, session_id: str, update: Json) -> list[Json]:
        call_id = update["toolCallId"]
        told = self._told.setdefault((session_id, call_id), [])
        content = update.get("content")
        chunks: list[Json] = []
        if content and content[: len(told)] == told:
            chunks = [
                {"sessionUpdate": "tool_call_content_chunk", "toolCallId": call_id, "content": _content(item)}
                for item in content[len(told) :]
            ]
            update = _without(update, "content")
        if content is not None:
            told[:] = content
        if update.get("status") in _FINAL:
            del self._told[session_id, call_id]
        says_more = update.keys() - {"sessionUpdate", "toolCallId"}
        return [tool_call(update), *chunks] if says_more else chunks


def tool_call(update: Json) -> Json:
    """Return a tool call, or a change of one."""
    if "content" not in update:
        return update
    return {**update, "content": [_content(item) for item in update["content"]]}


def _content(item: Json) -> Json:
    return _diff(item) if item["type"] == "diff" else item


def _diff(item: Json) -> Json:
    path, before, after = item["path"], item.get("oldText"), item["newText"]
    change = {"operation": "add" if before is None else "modify", "path": path, "fileType": "text"}
    patch = {"format": "git_patch", "text": _patch(path, before, after)}
    return {**_without(item, "path", "oldText", "newText"), "changes": [change], "patch": patch}


def _patch(path: str, before: str | None, after: str) -> str:
    """Return a change as ``git diff`` prints it, with absolute paths."""
    head = f"diff --git {path} {path}\n" + ("new file mode 100644\n" if before is None else "")
    old_name = "/dev/null" if before is None else path
    lines = difflib.unified_diff(_lines(before or ""), _lines(after), old_name, path)
    return head + "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Split at newlines only, as Git does."""
    return list(io.StringIO(text, newline="\n"))


def whole_messages(updates: Iterable[Json]) -> list[Json]:
    """Return updates of v1 with the chunks of each message as one message."""
    whole: list[Json] = []
    for (kind, message_id, _), group in itertools.groupby(enumerate(updates), _message_of):
        chunks = [update for _, update in group]
        if message_id is None:
            whole += chunks
        else:
            content = [chunk["content"] for chunk in chunks]
            whole.append({"sessionUpdate": _WHOLE[kind], "messageId": message_id, "content": content})
    return whole


def _message_of(place: tuple[int, Json]) -> tuple[str, str | None, int]:
    index, update = place
    kind = update["sessionUpdate"]
    return (kind, update.get("messageId"), -1) if kind in _WHOLE else (kind, None, index)


def config_options(options: Iterable[Json]) -> list[Json]:
    """Return options; none of the reference agent's has groups."""
    return [{**_without(option, "id"), "configId": option["id"]} for option in options]


def commands(commands: Iterable[Json]) -> list[Json]:
    """Return commands that can be typed."""
    return [
        {**command, "type": "command"}
        | ({"input": {**command["input"], "type": "text"}} if command.get("input") else {})
        for command in commands
    ]


def _without(members: Json, *names: str) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name not in names}
