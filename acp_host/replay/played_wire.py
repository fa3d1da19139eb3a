"""Between the host of a recording and the recorded agent: :class:`PlayedWire`.

The host that a recording is played to writes what the recorded one wrote, but perhaps later, with other ids, or not at
all. Here it is found out which message is which, so that the recorded answers reach the calls that they are for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import orjson
from attrs import define

from acp_host.recording.recorded_ids import RecordedIds, request_key
from acp_host.transports import Receiver, Transport

__all__ = ["PlayedWire", "RecordedCall"]

_MAX_WAITING = 10_000
"""Messages of either host that are remembered without a counterpart."""


@define(eq=False)
class RecordedCall:
    """A request of the recorded host.

    Attributes:
        message: as recorded.
        sent: the host of now has sent it, too.
        withdrawn: the recorded host has taken it back, and has no answer yet.
    """

    message: dict[str, Any]
    sent: bool = False
    withdrawn: bool = False

    @property
    def method(self) -> str:
        """Its wire method."""
        return str(self.message["method"])

    @property
    def params(self) -> Mapping[str, Any]:
        """Its parameters; empty where it has none that are an object."""
        params = self.message.get("params")
        return params if isinstance(params, dict) else {}


class PlayedWire(Transport):
    """The transport of one recorded connection.

    Args:
        ids: what is called otherwise now.
    """

    description = "the recorded agent"

    def __init__(self, ids: RecordedIds) -> None:
        self._ids = ids
        self._recorded: deque[RecordedCall] = deque(maxlen=_MAX_WAITING)
        self._written: deque[dict[str, Any]] = deque(maxlen=_MAX_WAITING)
        self.calls: dict[tuple[type, Any], RecordedCall] = {}

    # --- the transport ----------------------------------------------------------------------------------------------

    async def start(self, receiver: Receiver) -> None:
        """Deliver nothing: the player does."""

    def write(self, data: bytes) -> None:
        """Take what the host of now says."""
        for line in data.splitlines():
            message = orjson.loads(line)
            if "method" in message and "id" in message:
                call = next((call for call in self._recorded if _are_one(call.message, message)), None)
                if call is None:
                    self._written.append(message)
                else:
                    self._bind(call, message)

    async def drain(self) -> None:
        """Wait for nothing."""

    async def close(self) -> None:
        """End nothing."""

    # --- the recording ----------------------------------------------------------------------------------------------

    def recorded(self, message: dict[str, Any]) -> RecordedCall:
        """Learn of the next request of the recorded host."""
        call = RecordedCall(message)
        if len(self.calls) >= _MAX_WAITING:
            del self.calls[next(iter(self.calls))]
        self.calls[request_key(message["id"])] = call
        written = next((each for each in self._written if _are_one(message, each)), None)
        if written is None:
            self._recorded.append(call)
        else:
            self._written.remove(written)
            self._bind(call, written)
        return call

    def give_up(self, call: RecordedCall) -> None:
        """Learn that a request will not be sent by the host of now."""
        if call in self._recorded:
            self._recorded.remove(call)

    def withdraw(self, request_id: Any) -> RecordedCall | None:
        """Learn that the recorded host has taken a request back; return it, if it waits for its answer."""
        call = self.calls.get(request_key(request_id))
        if call is not None:
            call.withdrawn = True
        return call

    def has_withdrawn(self, method: str, session_id: Any) -> bool:
        """Tell whether the recorded host has taken a request in a session back that has no answer yet."""
        return any(
            call.withdrawn and call.method == method and call.params.get("sessionId") == session_id
            for call in self.calls.values()
        )

    def answered(self, message: Mapping[str, Any]) -> RecordedCall | None:
        """Return the request that a message of the recorded agent answers, which is over then."""
        return self.calls.pop(request_key(message.get("id")), None)

    def _bind(self, call: RecordedCall, message: dict[str, Any]) -> None:
        self.give_up(call)
        call.sent = True
        self._ids.bind(call.message, message)


def _are_one(recorded: Mapping[str, Any], message: Mapping[str, Any]) -> bool:
    """Tell whether a request of the host of now may be a recorded one."""
    return bool(recorded["method"] == message["method"] and _session(recorded) == _session(message))


def _session(message: Mapping[str, Any]) -> Any:
    params = message.get("params")
    return params.get("sessionId") if isinstance(params, dict) else None
