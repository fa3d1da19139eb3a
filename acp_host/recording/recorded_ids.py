"""Ids of a recording and those of now: :class:`RecordedIds`.

A host numbers its requests, and names prompts, reminders and terminals, by itself; what the recorded agent says of
these has to name those of the host that listens now.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["RecordedIds", "request_key"]

_CANCEL_REQUEST = "$/cancel_request"
_MAX_NAMES = 10_000
"""Names that are remembered, so that a hostile recording cannot fill the memory."""


def request_key(request_id: Any) -> tuple[type, Any]:
    """Return what a request is kept under: ``1``, ``1.0`` and ``"1"`` are different ids."""
    return request_id.__class__, request_id if isinstance(request_id, str | int | float | None) else str(request_id)


class RecordedIds:
    """What is called otherwise now than in the recording."""

    def __init__(self) -> None:
        self._requests: dict[tuple[type, Any], Any] = {}
        self._names: dict[str, str] = {}

    def forget_requests(self) -> None:
        """Learn that another connection begins, whose ids mean other requests."""
        self._requests.clear()

    def bind(self, recorded: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Learn that a message that the host sends now is the recorded one, whatever their ids."""
        if "method" in recorded and "id" in recorded:
            self._requests[request_key(recorded["id"])] = now.get("id")
        member = "params" if "method" in recorded else "result"
        self._learn(recorded.get(member), now.get(member))

    def translated(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message of the recorded agent as it would be now; the same object if nothing is different."""
        if "method" not in message:
            key = request_key(message.get("id"))
            if key in self._requests:
                message = {**message, "id": self._requests[key]}
        elif message.get("method") != _CANCEL_REQUEST:
            message = self._about_request(message)
        if not self._names:
            return message
        renamed: dict[str, Any] = {
            name: self._renamed(member) if name in ("params", "result") else member for name, member in message.items()
        }
        return renamed

    def _about_request(self, message: dict[str, Any]) -> dict[str, Any]:
        """Rename the request of the host that a request of the agent names: a question may belong to a prompt so."""
        params = message.get("params")
        if not isinstance(params, dict) or "requestId" not in params:
            return message
        key = request_key(params["requestId"])
        if key not in self._requests:
            return message
        return {**message, "params": {**params, "requestId": self._requests[key]}}

    def _learn(self, recorded: Any, now: Any) -> None:
        if not (isinstance(recorded, Mapping) and isinstance(now, Mapping)):
            return
        for name in recorded.keys() & now.keys():
            one, other = recorded[name], now[name]
            if isinstance(one, str) and isinstance(other, str) and one != other and _is_name(name):
                if len(self._names) < _MAX_NAMES:
                    self._names[one] = other
            elif isinstance(one, Mapping):
                self._learn(one, other)

    def _renamed(self, value: Any) -> Any:
        match value:
            case str():
                return self._names.get(value, value)
            case dict():
                return {name: self._renamed(member) for name, member in value.items()}
            case list():
                return [self._renamed(member) for member in value]
            case _:
                return value


def _is_name(member: str) -> bool:
    return member == "id" or member.endswith("Id")
