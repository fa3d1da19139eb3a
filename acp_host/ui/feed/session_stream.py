"""One session's state as snapshots and deltas that any number of viewers share: :class:`SessionStream`.

A delta is made at most every :data:`INTERVAL` seconds, and only while somebody watches; meanwhile changes are merged.
Under a flood it is made less often, so that viewers, however many, cost the stream no more than :data:`SHARE` of the
time; they see it at least every :data:`LONGEST_INTERVAL` seconds.

Each delta is encoded once. A viewer fetches what it has not seen when it can take it: the next delta, several of them
as one, or a snapshot where it is too far behind. So a viewer costs what it takes, and nobody keeps a queue for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import evolve, frozen

from acp_host.state.changes import ChangeSet
from acp_host.state.deltas import DeltaMaker
from acp_host.state.json_form import to_json
from acp_host.state.operations import Operation
from acp_host.state.session_state import SessionState
from acp_host.state.snapshot import SessionSnapshot
from acp_host.state.transcript import Transcript
from acp_host.state.transcript_writer import SECTION as TRANSCRIPT
from acp_host.ui.feed.compacting import compacted
from acp_host.ui.feed.messages import encoded

__all__ = ["INTERVAL", "LONGEST_INTERVAL", "SHARE", "WINDOW", "SessionStream"]

INTERVAL = 1 / 30
"""Seconds between two deltas: what people can see."""
LONGEST_INTERVAL = 1.0
"""Seconds between two deltas under a flood."""
SHARE = 1 / 20
"""How much of the time viewers may cost, until the longest interval is reached."""
_PER_MESSAGE, _PER_BYTE = 50e-6, 2e-9
"""Seconds that it costs to send a message to one viewer, roughly: the host cannot see what the system does."""
WINDOW = 200
"""Entries that a snapshot has at most, the newest; the rest is fetched."""
_LARGEST_SNAPSHOT, _LARGEST_ENTRIES = 2**20, 2**19
"""Bytes of a snapshot from which it has fewer entries, and of these then: a page reads it while its user waits."""
_MAX_DELTAS = 2_000
_MAX_SIZE = 4 * 2**20
"""How much is kept for viewers that are behind or come back, in deltas and in bytes."""
_LARGEST_MERGED = 2**20
"""Bytes of several deltas as one, beyond which a snapshot is sent."""
_NO_ENTRIES = Transcript(0, (), 0)


@frozen
class _Delta:
    """Leads from one version to the next one."""

    before: int
    version: int
    operations: list[Operation]
    message: bytes


class SessionStream:
    """What viewers are told of one session.

    Attributes:
        version: of the newest delta.

    Args:
        session_id: what viewers call it.
        state: the state of the session, or of a subagent.
        numbers: gives versions; those of all sessions of a feed, so that none comes twice.
        ready: called when viewers have something to fetch.
    """

    def __init__(self, session_id: str, state: SessionState, numbers: Iterator[int], ready: Callable[[], None]) -> None:
        self._session_id = session_id
        self._state = state
        self.version = next(numbers)
        self._numbers = numbers
        self._ready = ready
        self._loop = asyncio.get_running_loop()
        self._snapshot: SessionSnapshot = state.snapshot()
        self._encoded: bytes | None = None
        self._maker = DeltaMaker(self._snapshot)
        self._deltas: deque[_Delta] = deque()
        self._size = 0
        self._last_size = 0
        self._watchers = 0
        self._due: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0
        self._subscription = state.changed.connect(self._take, dispatch=self._hold)

    def watch(self) -> None:
        """Learn that one more viewer watches."""
        self._watchers += 1
        if self._make():
            self._ready()

    def leave(self) -> None:
        """Learn that one viewer less does."""
        self._watchers -= 1

    def close(self) -> None:
        """Follow the session no more."""
        self._subscription.end()
        self._due = None
        if self._timer is not None:
            self._timer.cancel()

    def since(self, seen: int | None) -> bytes | None:
        """Return the message that brings a viewer up to date; ``None`` where it is.

        Args:
            seen: the version that it has; ``None`` for none.
        """
        if seen == self.version:
            return None
        missed = self._missed(seen)
        if len(missed) == 1:
            return missed[0].message
        if missed:
            merged = self._message(missed[0].before, compacted(_operations(missed)))
            if len(merged) <= _LARGEST_MERGED:
                return merged
        return self._snapshot_message()

    def entries(self, first: int, last: int) -> list[Mapping[str, Any]]:
        """Return entries of the transcript as they are in the newest delta, the archived ones too.

        Args:
            first: position of the first one.
            last: position of the last one, included.
        """
        kept = self._snapshot.transcript
        archived = self._state.fetch(first, min(last, kept.first - 1)) if first < kept.first else []
        present = range(max(first, kept.first), min(last, kept.first + len(kept) - 1) + 1)
        return [*archived, *(to_json(kept.at(position)) for position in present)]

    # --- making deltas ----------------------------------------------------------------------------------------------

    def _hold(self, due: Callable[[], None]) -> None:
        """Take note that there are changes; they are merged until ``due`` is called."""
        self._due = due
        if self._watchers and self._timer is None:
            self._timer = self._loop.call_at(max(self._next, self._loop.time()), self._tick)

    def _tick(self) -> None:
        self._timer = None
        if self._make():
            self._ready()

    def _make(self) -> bool:
        """Make a delta of the changes that wait; return whether there were any."""
        due, self._due = self._due, None
        if due is None:
            return False
        began = self._loop.time()
        due()
        now = self._loop.time()
        sending = self._watchers * (_PER_MESSAGE + self._last_size * _PER_BYTE)
        self._next = now + min(max(INTERVAL, (now - began + sending) / SHARE), LONGEST_INTERVAL)
        return True

    def _take(self, changes: ChangeSet) -> None:
        self._snapshot, self._encoded = changes.snapshot, None
        before, self.version = self.version, next(self._numbers)
        if len(changes.keys(TRANSCRIPT)) > WINDOW:
            self._begin_anew()
            return
        operations = self._maker.delta(changes)
        delta = _Delta(before, self.version, operations, self._message(before, operations))
        self._last_size = len(delta.message)
        self._deltas.append(delta)
        self._size += len(delta.message)
        while len(self._deltas) > _MAX_DELTAS or (self._size > _MAX_SIZE and len(self._deltas) > 1):
            self._size -= len(self._deltas.popleft().message)

    def _begin_anew(self) -> None:
        """Leave it at a snapshot: more entries have changed than it has."""
        self._maker = DeltaMaker(self._snapshot)
        self._deltas.clear()
        self._size = 0
        self._last_size = len(self._snapshot_message())

    # --- for viewers ------------------------------------------------------------------------------------------------

    def _missed(self, seen: int | None) -> list[_Delta]:
        """Return the deltas after a version; empty where not all of them are kept."""
        missed: list[_Delta] = []
        for delta in reversed(self._deltas):
            missed.append(delta)
            if delta.before == seen:
                return missed[::-1]
        return []

    def _message(self, before: int, operations: list[Operation]) -> bytes:
        return encoded(
            {
                "type": "delta",
                "session": self._session_id,
                "from": before,
                "version": self.version,
                "ops": operations,
            }
        )

    def _snapshot_message(self) -> bytes:
        if self._encoded is None:
            newest = [to_json(entry) for entry in self._snapshot.transcript[-WINDOW:]]
            message = self._snapshot_with(newest)
            if len(message) > _LARGEST_SNAPSHOT:
                message = self._snapshot_with(_newest_that_fit(newest))
            self._encoded = message
        return self._encoded

    def _snapshot_with(self, newest: list[Any]) -> bytes:
        transcript = self._snapshot.transcript
        snapshot: Any = self._snapshot
        state = to_json(evolve(snapshot, transcript=_NO_ENTRIES))
        state["transcript"] = {"first": transcript.first, "entries": newest}
        return encoded(
            {
                "type": "snapshot",
                "session": self._session_id,
                "version": self.version,
                "omitted": len(transcript) - len(newest),
                "state": state,
            }
        )


def _newest_that_fit(entries: list[Any]) -> list[Any]:
    """Return the last of these entries, as many as are not too large together, and at least one."""
    room = _LARGEST_ENTRIES
    for place in range(len(entries) - 1, -1, -1):
        room -= len(encoded(entries[place]))
        if room < 0:
            return entries[min(place + 1, len(entries) - 1) :]
    return entries


def _operations(deltas: list[_Delta]) -> Iterator[Operation]:
    for delta in deltas:
        yield from delta.operations
