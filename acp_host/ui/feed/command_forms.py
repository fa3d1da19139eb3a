"""What viewers can ask for: :data:`COMMANDS`, each with the form of its members; checked by :func:`read_command`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import orjson
from attrs import frozen
from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from acp_host.errors import InvalidInput

__all__ = ["COMMANDS", "LARGEST_COMMAND", "CommandForm", "read_command"]

LARGEST_COMMAND = 8 * 2**20
"""Bytes of a command; pictures make it large."""
LARGEST_TEXT = 2**20
"""Characters of a text in a command."""

_NAME = {"type": "string", "minLength": 1, "maxLength": 1_024}
_TEXT = {"type": "string", "minLength": 1, "maxLength": LARGEST_TEXT}
_POSITION = {"type": "integer", "minimum": 0}
_CONTENT = {
    "type": "object",
    "maxProperties": 500,
    "additionalProperties": {
        "type": ["string", "number", "boolean", "null", "array"],
        "maxLength": LARGEST_TEXT,
        "maxItems": 1_000,
        "items": {"type": "string"},
    },
}
_REMINDER: dict[str, Any] = {
    "body": _TEXT,
    "tags": {"type": "array", "maxItems": 100, "items": _NAME},
    "dedupeKey": _NAME,
    "ttlTurns": {"type": "integer", "minimum": 1},
    "preserveOnCompact": {"type": "boolean"},
    "propagate": _NAME,
    "roleHint": _NAME,
    "mode": _NAME,
    "policy": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "rungs": {"type": "array", "maxItems": 20, "items": _NAME},
            "require": _NAME,
            "strict": {"type": "boolean"},
        },
    },
}
_ADDRESS = {"type": "string", "minLength": 1, "maxLength": 8_192}
_FILE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"name": _NAME, "text": {"type": "string", "maxLength": 256 * 2**10}},
    "required": ["name", "text"],
}
_LOGIN_VALUES = {
    "type": "object",
    "maxProperties": 100,
    "additionalProperties": {"type": "string", "maxLength": 65_536},
}


@frozen
class CommandForm:
    """What a command looks like.

    Attributes:
        members: its members, besides ``id`` and ``command``, with their JSON Schemas.
        needed: the names of those that must be there.
        acts: only the controller may give it.
    """

    members: Mapping[str, Any]
    needed: tuple[str, ...] = ()
    acts: bool = True

    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema."""
        return {
            "type": "object",
            "additionalProperties": False,
            "properties": {"id": {"type": "integer"}, "command": {"type": "string"}, **self.members},
            "required": list(self.needed),
        }


def _many(most: int, form: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "maxItems": most, "items": form}


def _in_session(needed: Sequence[str] = (), *, acts: bool = True, **members: Any) -> CommandForm:
    return CommandForm({"session": _NAME, **members}, ("session", *needed), acts)


COMMANDS: Mapping[str, CommandForm] = {
    "resume": _in_session(acts=False, version={"type": ["integer", "null"]}, resume=_NAME),
    "leave": _in_session(acts=False),
    "fetch": _in_session(("first", "last"), acts=False, first=_POSITION, last=_POSITION),
    "hold_notices": _in_session(("hold",), acts=False, hold={"type": "boolean"}),
    "control": CommandForm({"take": {"type": "boolean"}}, ("take",), acts=False),
    "plan_reminder": _in_session(("body",), acts=False, **_REMINDER),
    "prompt": _in_session(
        ("text",),
        text=_TEXT,
        attachments=_many(100, _ADDRESS),
        paths=_many(100, _ADDRESS),
        files=_many(20, _FILE),
        images=_many(20, {"type": "string", "minLength": 1}),
    ),
    "cancel": _in_session(turn={"type": "integer"}),
    "cancel_tool_call": _in_session(("toolCallId",), toolCallId=_NAME),
    "cancel_terminal": _in_session(("terminalId",), terminalId=_NAME),
    "answer": CommandForm(
        {
            "question": {"type": "integer"},
            "option": {"type": "string", "maxLength": 8_192},
            "remember": {"enum": ["session", "always"]},
            "action": {"enum": ["accept", "decline", "cancel"]},
            "content": _CONTENT,
            "login": _NAME,
            "values": _LOGIN_VALUES,
        },
        ("question",),
    ),
    "answer_human": _in_session(
        ("request",),
        request=_NAME,
        answer={},
        approved={"type": "boolean"},
        accepted={"type": "boolean"},
        reason={"type": "string", "maxLength": 65_536},
    ),
    "remind": _in_session(("body",), **_REMINDER),
    "revoke_reminder": _in_session(("reminder",), reminder=_NAME),
    "dismiss_reminder": _in_session(("reminder",), reminder=_NAME),
    "dismiss_notice": _in_session(("notice",), notice=_NAME),
    "set_option": _in_session(("option", "value"), option=_NAME, value={"type": ["string", "boolean"]}),
    "new_session": CommandForm({}),
    "list_sessions": CommandForm({"cursor": {"type": "string", "maxLength": 65_536}}),
    "open_session": _in_session(
        steps={"type": "array", "minItems": 1, "maxItems": 3, "items": {"enum": ["load", "resume", "new"]}}
    ),
    "close_session": _in_session(),
    "delete_session": _in_session(),
    "list_logins": CommandForm({}),
    "log_in": CommandForm({"login": _NAME, "values": _LOGIN_VALUES}, ("login",)),
    "log_out": CommandForm({}),
}
"""The commands by name."""


# To JSON Schema 5.0 is an integer, too; to whom takes the command, it is none.
_Validator: Any = extend(  # type: ignore[no-untyped-call]  # the stubs leave it out
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int),
)


@cache
def _validator(name: str) -> Any:
    return _Validator(COMMANDS[name].schema())


def read_command(data: str | bytes) -> tuple[int | None, dict[str, Any], InvalidInput | None]:
    """Return what a viewer sent: its ``id``, the command, and what is wrong with it, if anything is.

    Args:
        data: one JSON object, in UTF-8.
    """
    if len(data) > LARGEST_COMMAND:
        return None, {}, InvalidInput(f"a command has at most {LARGEST_COMMAND} bytes")
    try:
        command = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None, {}, InvalidInput("a command is one JSON object")
    number = command.get("id") if isinstance(command, dict) else None
    if type(number) is not int:
        return None, {}, InvalidInput("a command is a JSON object with an integer as its id")
    name = command.get("command")
    if not isinstance(name, str) or name not in COMMANDS:
        return number, {}, InvalidInput(f"there is no such command; there are: {', '.join(COMMANDS)}")
    # The first one, and not the best: a viewer could send more faults than anybody has time to look at.
    try:
        fault = next(_validator(name).iter_errors(command), None)
    except RecursionError:
        return number, {}, InvalidInput(f"the command {name} does not have its form: it is nested too deeply")
    if fault is None:
        return number, command, None
    where = ".".join(str(part) for part in fault.absolute_path) or "it"
    return number, {}, InvalidInput(f"the command {name} does not have its form: {where} breaks {fault.validator}")
