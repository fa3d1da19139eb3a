"""How two folded conversations differ: :func:`compare_states`.

What depends on when something happened, and not on what, is left aside: times of day, and how many deliveries of
changes there were. Turns are numbered in the order in which they appear: one that was dropped before it was sent is in
no recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from acp_host.wire._tolerant import child_path

__all__ = ["Difference", "comparable", "compare_states"]

_MAX_DIFFERENCES = 1_000
_TIMES = {"reminders": ("created", "changed"), "notices": ("received", "lastReceived")}
"""Panel of a session → the members of its entries that are times of day."""


@frozen
class Difference:
    """One place in which two states differ.

    Attributes:
        path: where, rooted at ``$``.
        kind: ``changed``, ``added`` or ``removed``.
        before: what the first one has there; ``None`` where it has nothing.
        after: what the second one has there; ``None`` where it has nothing.
    """

    path: str
    kind: str
    before: Any = None
    after: Any = None


def compare_states(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[Difference]:
    """Return where two folded conversations differ, in the order of the first; at most the first 1,000 places.

    Sessions are held against each other by their ids; where these are not the same, in the order of their appearance.

    Args:
        one: as :meth:`~acp_host.replay.folding.FoldedRecording.to_json` returns it.
        other: likewise.
    """
    first: Any = _sessions(one)
    second: Any = _sessions(other)
    if first.keys() != second.keys():
        first, second = _unnamed(first), _unnamed(second)
    differences: list[Difference] = []
    for difference in _differences(first, second, "$.sessions"):
        differences.append(difference)
        if len(differences) == _MAX_DIFFERENCES:
            break
    return differences


def comparable(session: Mapping[str, Any]) -> dict[str, Any]:
    """Return a session's state in its JSON form so that it equals that of the same conversation at another time."""
    kept = _with_turns_numbered({name: member for name, member in session.items() if name != "version"})
    for panel, times in _TIMES.items():
        if isinstance(kept.get(panel), Mapping):
            kept[panel] = {name: _timeless(entries, times) for name, entries in kept[panel].items()}
    return kept


def _with_turns_numbered(session: dict[str, Any]) -> dict[str, Any]:
    transcript, turn = session["transcript"], session["turn"]
    numbers: dict[int, int] = {}

    def number(told: Any) -> Any:
        # Those of a history count down from -1, and are as the agent tells it.
        return numbers.setdefault(told, len(numbers) + 1) if type(told) is int and told > 0 else told

    entries = [
        {**entry, "turn": number(entry["turn"])} if "turn" in entry else entry for entry in transcript["entries"]
    ]
    shown = {**turn, "turn": number(turn["turn"])}
    shown["queued"] = [{**queued, "turn": number(queued["turn"])} for queued in turn["queued"]]
    return {**session, "transcript": {**transcript, "entries": entries}, "turn": shown}


def _timeless(entries: Any, times: tuple[str, ...]) -> Any:
    if not isinstance(entries, list):
        return entries
    return [
        {name: member for name, member in entry.items() if name not in times} if isinstance(entry, Mapping) else entry
        for entry in entries
    ]


def _unnamed(sessions: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{name: value for name, value in each.items() if name != "sessionId"} for each in sessions.values()]


def _sessions(folded: Mapping[str, Any]) -> dict[str, Any]:
    return {session_id: comparable(session) for session_id, session in folded["sessions"].items()}


def _differences(one: Any, other: Any, path: str) -> Iterator[Difference]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in [*one, *(name for name in other if name not in one)]:
            yield from _member(one, other, name, child_path(path, name))
    elif isinstance(one, list) and isinstance(other, list):
        ones, others = dict(enumerate(one)), dict(enumerate(other))
        for index in range(max(len(one), len(other))):
            yield from _member(ones, others, index, child_path(path, index))
    elif one != other or type(one) is not type(other):
        yield Difference(path, "changed", one, other)


def _member(one: Mapping[Any, Any], other: Mapping[Any, Any], key: Any, path: str) -> Iterator[Difference]:
    if key not in other:
        yield Difference(path, "removed", before=one[key])
    elif key not in one:
        yield Difference(path, "added", after=other[key])
    else:
        yield from _differences(one[key], other[key], path)
