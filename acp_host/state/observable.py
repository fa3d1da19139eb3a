"""State that can be watched: :class:`Observable`.

Reducers change the state and :meth:`Observable.note` what they changed. Observers hear of it at most once per delivery
(one turn of the event loop; one ``flush()`` in the sans-I/O core), with a
:class:`~acp_host.state.changes.ChangeSet` that says what changed. Readers take a :meth:`Observable.snapshot`, which is
immutable and shares with the one before whatever did not change.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Generic, TypeVar

from acp_host.state._value import is_same
from acp_host.state.change_signal import NOTHING, ChangeSignal, Report, Subscription
from acp_host.state.changes import ChangeKind, ChangeSet, Part, changes_of, merge_change
from acp_host.state.clock import Scheduler, Waiter

__all__ = ["Observable"]

S = TypeVar("S")
T = TypeVar("T")

_logger = logging.getLogger("acp_host.state")


class Observable(ABC, Generic[S]):
    """State with immutable snapshots of type ``S``, written by reducers only.

    A subclass implements :meth:`_freeze` and calls :meth:`note` wherever it changes something. All but the end of a
    subscription happens on the thread that owns the state; on others, use what a :class:`ChangeSet` brings.

    Attributes:
        changed: where observers connect.

    Args:
        scheduler: decides when observers are called.
        report: called with an observer and what it raised; without it that is logged to ``acp_host.state``.
    """

    def __init__(self, scheduler: Scheduler, report: Report | None = None) -> None:
        self._scheduler = scheduler
        self._report = report or _log_failure
        self.changed = ChangeSignal(self._report, scheduler.soon_threadsafe)
        self._version = 0
        self._noted: dict[Part, ChangeKind] = {}
        self._due = False
        self._looked = False
        self._snapshot: S | None = None
        self._waiters: set[Waiter] = set()
        self._watching = 0
        self._whole: Observable[Any] | None = None
        self._section = ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at version {self.version}>"

    # --- for readers ------------------------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """The number of the present state: grows by one with each delivery; what is yet to be delivered counts."""
        return self._version + 1 if self._noted else self._version

    @property
    def is_observed(self) -> bool:
        """Whether anybody is connected or iterates over :meth:`watch`, here or where this is a part of."""
        own = self._watching > 0 or bool(self.changed)
        return own or (self._whole is not None and self._whole.is_observed)

    def join(self, whole: Observable[Any], section: str) -> None:
        """Become a part of another state: what changes here changes there too, in that ``section``."""
        self._whole, self._section = whole, section

    def snapshot(self) -> S:
        """Return the present state; the same object until something changes."""
        if self._snapshot is None:
            self._snapshot = self._freeze()
            self._looked = bool(self._noted)
        return self._snapshot

    async def watch(self) -> AsyncIterator[S]:
        """Yield the present state, then the latest one after each delivery of changes; never a backlog.

        Leave the loop, or cancel the task, to stop watching.
        """
        seen, last = -1, None
        self._watching += 1
        try:
            while True:
                if seen == self._version:
                    await self._wait()
                seen = self._version
                snapshot = self.snapshot()
                if snapshot is not last:
                    last = snapshot
                    yield snapshot
        finally:
            self._watching -= 1

    async def _wait(self) -> None:
        waiter = self._scheduler.waiter()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)

    def select(self, function: Callable[[S], T], observer: Callable[[T], Any], **options: Any) -> Subscription:
        """Call ``observer`` with ``function(snapshot)`` whenever that value changes.

        Args:
            function: picks a value from a snapshot; values are compared with ``==`` after ``is``; what is nested too
                deeply for that counts as changed.
            observer: called with the new value.
            **options: as for :meth:`ChangeSignal.connect`.
        """
        last = function(self.snapshot())

        def pick(changes: ChangeSet) -> Any:
            nonlocal last
            value = function(changes.snapshot)
            if is_same(value, last):
                return NOTHING
            last = value
            return value

        return self.changed.connect_picked(observer, pick, **options)

    # --- for reducers -----------------------------------------------------------------------------------------------

    def note(self, section: str, key: str | int | None = None, kind: ChangeKind = ChangeKind.CHANGED) -> None:
        """Say that a part of the state has changed; observers hear of it with the next delivery."""
        if not self._due:
            self._scheduler.soon(self._deliver)
            self._due = True
        self._snapshot = None
        part = section, key
        known = self._noted.get(part)
        if known is None:
            self._noted[part] = kind
        elif known is not kind:
            merge_change(self._noted, part, kind, seen=self._looked)
        if self._whole is not None:
            self._tell(self._whole, section, (key,), kind)

    def note_all(self, section: str, keys: Sequence[str | int | None], kind: ChangeKind) -> None:
        """Do what :meth:`note` does, for several items at once."""
        if not keys:
            return
        if not self._due:
            self._scheduler.soon(self._deliver)
            self._due = True
        self._snapshot = None
        noted, seen = self._noted, self._looked
        for key in keys:
            part = section, key
            if part in noted:
                merge_change(noted, part, kind, seen=seen)
            else:
                noted[part] = kind
        if self._whole is not None:
            self._tell(self._whole, section, keys, kind)

    def _tell(self, whole: Observable[Any], section: str, keys: Sequence[str | int | None], kind: ChangeKind) -> None:
        """Say of changes here what they are in the state that this is a part of."""
        # Items of several sections here can have the same key there, where only one kind can be told of it; and there,
        # no key stands for all of this.
        one_kind = kind if section == self._section else ChangeKind.CHANGED
        whole.note_all(self._section, [section if key is None else key for key in keys], one_kind)

    @abstractmethod
    def _freeze(self) -> S:
        """Return the state as it is now; what did not change is the same object as before."""

    def _deliver(self) -> None:
        self._due = self._looked = False
        noted, self._noted = self._noted, {}
        if not noted:
            return  # what came has gone again
        self._version += 1
        for waiter in tuple(self._waiters):
            waiter.wake()
        if self.changed:
            self.changed.emit(ChangeSet(self._version, changes_of(noted), self.snapshot()))


def _log_failure(observer: Callable[..., Any], error: BaseException) -> None:
    _logger.error("an observer failed: %r", observer, exc_info=error)
