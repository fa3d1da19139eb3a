"""The words of ACP v2 for what handlers and scripts say in those of v1: :class:`SpeechV2`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.errors import InvalidParams
from acp_host.testing._speech import Json, Speech, unknown_method
from acp_host.testing.v2.updates import Updates, config_options, tool_call

__all__ = ["SpeechV2"]

_METHODS = {"auth/login": "authenticate", "auth/logout": "logout"}
"""What v1 calls methods that have another name in v2."""
_GONE = frozenset({"authenticate", "logout", "session/load", "session/set_mode", "session/set_model"})
"""Methods that v2 does not have."""
_OPENS = frozenset({"session/new", "session/resume", "session/fork"})


class SpeechV2(Speech):
    """The words of v2."""

    def __init__(self) -> None:
        self._updates = Updates()

    def heard(self, method: str, params: Any) -> tuple[str, Any]:
        if method in _GONE:
            raise unknown_method(method)
        method = _METHODS.get(method, method)
        if not isinstance(params, Mapping):
            return method, params
        if method in _OPENS:
            params = {"mcpServers": [], **params}
        if method == "session/resume" and params.get("replayFrom") is not None:
            return "session/load", _replayed_from_start(params)
        if method == "session/set_config_option":
            return method, _option_value(params)
        return method, params

    def answered(self, method: str, result: Any) -> Any:
        if isinstance(result, Mapping) and "configOptions" in result:
            return {**result, "configOptions": config_options(result["configOptions"])}
        return result

    def asked(self, method: str, params: Any) -> Any:
        translate = _ASKED.get(method)
        return translate(params) if translate else params

    def updates(self, session_id: str, update: Json) -> list[Json]:
        return self._updates.translate(session_id, update)


def _replayed_from_start(params: Json) -> Json:
    start = params["replayFrom"]
    if not isinstance(start, Mapping) or start.get("type") != "start":
        raise InvalidParams("this agent replays from the start only", data={"path": "$.params.replayFrom"})
    return {name: value for name, value in params.items() if name != "replayFrom"}


def _option_value(params: Json) -> Json:
    """Return the parameters of ``session/set_config_option``; in v1 only a switch says of what type it is."""
    kind = params.get("type")
    if kind not in ("id", "boolean"):
        raise InvalidParams(f"{kind!r} is no type of an option", data={"path": "$.params.type"})
    return params if kind == "boolean" else {name: value for name, value in params.items() if name != "type"}


def _permission(params: Json) -> Json:
    """Return a question for permission: about a command, where the call says one, else about the call."""
    call = params["toolCall"]
    given = call.get("rawInput")
    command = given.get("command") if isinstance(given, Mapping) else None
    subject: Json = {"type": "tool_call", "toolCall": tool_call(call)}
    if command is not None and call.get("kind") == "execute":
        subject = {"type": "command", "command": command, "cwd": given["cwd"], "toolCallId": call["toolCallId"]}
    return {
        "sessionId": params["sessionId"],
        "title": f"Allow this: {call['title']}?",
        "subject": subject,
        "options": params["options"],
    }


_ASKED: Mapping[str, Callable[[Json], Json]] = {"session/request_permission": _permission}
