"""When a message of a host is the recorded one: :func:`is_recorded`.

===========  ==========================================================================================================
``match=``   it is if
===========  ==========================================================================================================
``params``   the method is the same, and the parameters are, but for directories, MCP servers, ``_meta``, ids that the
             host makes, and what was taken out of the recording as a secret; of an answer, that it is a result or an
             error, and what the user has chosen
``method``   the method is the same; of an answer, whether it is a result or an error: for anonymised recordings
===========  ==========================================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from acp_host.redaction import HIDDEN

__all__ = ["ReplayMatch", "is_recorded"]

_OF_THE_MACHINE = frozenset({"_meta", "cwd", "additionalDirectories", "mcpServers"})
_OF_THE_HOST = frozenset({"messageId", "id", "requestId", "terminalId"})
_CHOICES = ("session/request_permission", "elicitation/create")
"""Requests whose answers decide about what the agent does next."""


class ReplayMatch(StrEnum):
    """How much a message of the host has to be as it was; see the table of the module."""

    PARAMS = "params"
    METHOD = "method"


def is_recorded(
    recorded: Mapping[str, Any], message: Mapping[str, Any], match: ReplayMatch, *, answers: str | None
) -> bool:
    """Tell whether a message of the host is a recorded one.

    Args:
        recorded: the recorded one.
        message: the host's.
        match: how much has to be as it was.
        answers: the method of the agent's request that the recorded one answers; ``None`` if it is none.
    """
    if recorded.get("method") != message.get("method") or ("id" in recorded) is not ("id" in message):
        return False
    if "method" in recorded:
        ignored = recorded["method"] == "initialize" or match is ReplayMatch.METHOD
        return ignored or _same(recorded.get("params"), message.get("params"))
    if recorded.get("id") != message.get("id") or ("error" in recorded) is not ("error" in message):
        return False
    decides = match is ReplayMatch.PARAMS and answers in _CHOICES
    return not decides or _same(recorded.get("result"), message.get("result"))


def _same(recorded: Any, now: Any) -> bool:
    if isinstance(recorded, Mapping) and isinstance(now, Mapping):
        names = (recorded.keys() | now.keys()) - _OF_THE_MACHINE - _OF_THE_HOST
        return all(name in recorded and name in now and _same(recorded[name], now[name]) for name in names)
    if isinstance(recorded, list) and isinstance(now, list):
        return len(recorded) == len(now) and all(map(_same, recorded, now))
    if isinstance(recorded, str) and HIDDEN in recorded:
        return isinstance(now, str) and _same_around_the_hidden(recorded, now)
    return bool(recorded == now)


def _same_around_the_hidden(recorded: str, now: str) -> bool:
    first, *between, last = recorded.split(HIDDEN)
    if not now.startswith(first) or not now.endswith(last):
        return False
    place, end = len(first), len(now) - len(last)
    for part in between:
        place = now.find(part, place, end) + len(part)
        if place < len(part):
            return False
    return place <= end
