"""State that can be watched: :class:`Observable`, :class:`ChangeSet`.

Reducers change the state and :meth:`Observable.note` what they changed. Observers hear of it at most once per delivery
(one turn of the event loop; one ``flush()`` in the sans-I/O core), with a :class:`ChangeSet` that says what changed.
Readers take a :meth:`Observable.snapshot`, which is immutable and shares with the one before whatever did not change.

An observer that is slow, or raises, costs nobody else anything: each is called in isolation, and its failure is
reported. Delivery can go to another thread or loop through ``dispatch``; what piles up there is merged.
"""

from __future__ import annotations

import logging
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from enum import StrEnum
from types import MethodType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from attrs import define, field, frozen

from acp_host.state.clock import Scheduler, Waiter
from acp_host.state.observers import check_observer

__all__ = ["Change", "ChangeKind", "ChangeSet", "ChangeSignal", "Observable", "Subscription"]

S = TypeVar("S")
T = TypeVar("T")

_logger = logging.getLogger("acp_host.state")

Dispatch = Callable[[Callable[[], None]], Any]
"""Runs functions without arguments on another thread or loop, one at a time, e.g. ``loop.call_soon_threadsafe``."""
Report = Callable[[Callable[..., Any], BaseException], None]
"""Takes an observer and what it raised."""


class ChangeKind(StrEnum):
    """What happened to a part of the state."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    MERGED = "merged"


class Change(NamedTuple):
    """One part of the state that changed.

    Attributes:
        section: which part of the state, e.g. ``"transcript"``.
        key: which item of it; ``None`` for the section as a whole.
        kind: what happened to it.
    """

    section: str
    key: str | int | None
    kind: ChangeKind


@frozen
class ChangeSet:
    """What changed in one delivery.

    Attributes:
        version: the version of the state after the changes, as in ``snapshot``; it grows by one with each delivery.
        changes: each part at most once, in the order in which it first changed.
        snapshot: the state after the changes; an observer on another thread must use this one.
    """

    version: int
    changes: tuple[Change, ...]
    snapshot: Any = field(default=None, eq=False, repr=False)

    def touches(self, section: str) -> bool:
        """Tell whether anything in a section changed."""
        return any(change.section == section for change in self.changes)

    def keys(self, section: str) -> tuple[str | int | None, ...]:
        """Return the keys of the items of a section that changed."""
        return tuple(change.key for change in self.changes if change.section == section)

    def after(self, earlier: ChangeSet) -> ChangeSet:
        """Return one change set for ``earlier`` followed by this one."""
        merged = {(change.section, change.key): change.kind for change in earlier.changes}
        for change in self.changes:
            _merge(merged, (change.section, change.key), change.kind)
        return ChangeSet(self.version, _changes(merged), self.snapshot)


_Part = tuple[str, str | int | None]

# What two changes of one item amount to, where it is not the second one; ``None``: it came and went.
_NET: Final[dict[tuple[ChangeKind, ChangeKind], ChangeKind | None]] = {
    (ChangeKind.ADDED, ChangeKind.CHANGED): ChangeKind.ADDED,
    (ChangeKind.ADDED, ChangeKind.MERGED): ChangeKind.ADDED,
    (ChangeKind.ADDED, ChangeKind.REMOVED): None,
    (ChangeKind.REMOVED, ChangeKind.ADDED): ChangeKind.CHANGED,
    (ChangeKind.MERGED, ChangeKind.CHANGED): ChangeKind.MERGED,
}


def _merge(noted: dict[_Part, ChangeKind], part: _Part, kind: ChangeKind, *, seen: bool = False) -> None:
    """Add a change to those before it, of which somebody may have ``seen`` the result."""
    known = noted.get(part)
    net = kind if known is None else _NET.get((known, kind), kind)
    if net is None and not seen:
        del noted[part]
    else:
        noted[part] = net or kind


def _changes(noted: dict[_Part, ChangeKind]) -> tuple[Change, ...]:
    make = tuple.__new__  # what Change() does; calling that takes three times as long, and a burst is thousands
    return tuple([make(Change, (section, key, kind)) for (section, key), kind in noted.items()])


class Subscription:
    """An observer's connection to an :class:`Observable`; :meth:`end` it when it is no longer wanted.

    It can be used as a context manager, and called to end it.
    """

    def __init__(self, end: Callable[[], None]) -> None:
        self._end: Callable[[], None] | None = end

    def end(self) -> None:
        """Call the observer no more; may be called repeatedly, and from any thread."""
        end, self._end = self._end, None
        if end is not None:
            end()

    __call__ = end

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


_NOTHING: Final = object()


class _Connection:
    """One observer and how to call it, in isolation.

    Args:
        observer: the observer; it does not keep ``owner`` alive where it is a method of it.
        owner: the connection ends when this object is collected; ``None``: it ends when it is told to.
        report: takes what the observer raises.
        pick: turns a change set into what the observer is called with, or ``_NOTHING`` where it is not to be called.
        forget: called once when the connection ends, on any thread.
    """

    def __init__(
        self,
        observer: Callable[[Any], Any],
        owner: object | None,
        report: Report,
        pick: Callable[[ChangeSet], Any],
        forget: Callable[[_Connection], None],
    ) -> None:
        own_method = isinstance(observer, MethodType) and observer.__self__ is owner
        self._observer: Callable[[], Any] = weakref.WeakMethod(observer) if own_method else lambda: observer
        self._report = report
        self._pick = pick
        self._forget = forget
        self._ended = False
        self._owner = None if owner is None else weakref.ref(owner, lambda _: self.end())

    def calls(self, observer: Callable[..., Any]) -> bool:
        """Tell whether this is a connection to ``observer``."""
        return bool(self._observer() == observer)

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            self._owner = None
            self._observer = lambda: None
            self._forget(self)

    def deliver(self, changes: ChangeSet) -> None:
        """Take a change set on the thread that owns the state."""
        self.call(changes)

    def call(self, changes: ChangeSet) -> None:
        observer = self._observer()
        if observer is None:
            return
        try:
            value = self._pick(changes)
            if value is not _NOTHING:
                observer(value)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # asyncio.CancelledError too: result() of a cancelled future raises it
            self._report(observer, error)


@define(eq=False)
class _Merged:
    """Change sets that wait to be picked up, as one."""

    version: int
    noted: dict[_Part, ChangeKind]
    snapshot: Any


class _Dispatched(_Connection):
    """A connection that hands change sets to another thread or loop, merging those that it has not got to yet.

    The two threads exchange one :class:`_Merged` through a deque, whose operations are atomic; who took it out owns it.
    ``_due`` is cleared before the deque is looked at, and looked at after something was put in; so whichever way the
    two threads interleave, nothing stays behind.
    """

    def __init__(self, dispatch: Dispatch, *args: Any) -> None:
        super().__init__(*args)
        self._dispatch = dispatch
        self._waiting: deque[_Merged] = deque()
        self._due = False

    def deliver(self, changes: ChangeSet) -> None:
        try:
            merged = self._waiting.pop()
        except IndexError:
            merged = _Merged(changes.version, {}, None)
        for change in changes.changes:
            _merge(merged.noted, (change.section, change.key), change.kind)
        merged.version, merged.snapshot = changes.version, changes.snapshot
        self._waiting.append(merged)
        if self._due:
            return
        self._due = True
        try:
            self._dispatch(self._run)
        except Exception as error:
            self._due = False  # the next delivery tries again, with this one merged into it
            self._report(self._dispatch, error)

    def _run(self) -> None:
        self._due = False
        try:
            merged = self._waiting.pop()
        except IndexError:
            return
        if merged.noted:
            self.call(ChangeSet(merged.version, _changes(merged.noted), merged.snapshot))


class ChangeSignal:
    """Where observers connect; a thin layer over :class:`psygnal.SignalInstance` that isolates each observer.

    Connect, and ask how many observers there are, on the thread that owns the state. An observer that connects during a
    delivery hears of the next one; one whose connection ends during a delivery is not called any more.

    Args:
        report: called with an observer and what it raised, on the thread that owns the state.
        on_owner: runs a function on the thread that owns the state; called from any thread.
    """

    def __init__(self, report: Report, on_owner: Callable[[Callable[[], None]], None]) -> None:
        self._report = report
        self._on_owner = on_owner
        self._signal: Any = None
        self._connections: dict[_Connection, None] = {}
        self._joining: list[_Connection] = []
        self._ended: deque[_Connection] = deque()
        self._emitting = False

    def __len__(self) -> int:
        self._settle()
        return len(self._connections)

    def connect(
        self,
        observer: Callable[[ChangeSet], Any],
        *,
        owner: object | None = None,
        dispatch: Dispatch | None = None,
        thread: Any = None,
    ) -> Subscription:
        """Call ``observer`` with each change set from now on.

        Args:
            observer: called once per delivery; it must not block.
            owner: the subscription ends when this object is collected. An observer that is one of its methods does not
                keep it alive; one that refers to it in another way does.
            dispatch: delivers each call, e.g. on another thread; change sets that pile up there are merged.
            thread: as for :meth:`psygnal.SignalInstance.connect`: ``"main"``, ``"current"`` or a thread, which has to
                call :func:`psygnal.emit_queued`; otherwise as ``dispatch``, and in place of it.

        Raises:
            InvalidInput: ``observer`` is a coroutine function; for those there is :meth:`Observable.watch`.
        """
        return self.connect_picked(observer, lambda changes: changes, owner=owner, dispatch=dispatch, thread=thread)

    def connect_picked(
        self,
        observer: Callable[[Any], Any],
        pick: Callable[[ChangeSet], Any],
        *,
        owner: object | None = None,
        dispatch: Dispatch | None = None,
        thread: Any = None,
    ) -> Subscription:
        """Call ``observer`` with what ``pick`` makes of each change set; for :meth:`Observable.select`."""
        if self._signal is None:
            from psygnal import SignalInstance  # loaded when somebody observes; a script mostly does not

            self._signal = SignalInstance((ChangeSet,), check_nargs_on_connect=False)
        check_observer(observer, "iterate over watch() in a coroutine")
        if thread is not None:
            dispatch = _queue_of(thread)
        forget = self._ended.append
        if dispatch is None:
            connection = _Connection(observer, owner, self._report, pick, forget)
        else:
            connection = _Dispatched(dispatch, observer, owner, self._report_elsewhere, pick, forget)
        self._connections[connection] = None
        self._joining.append(connection)
        return Subscription(connection.end)

    def disconnect(self, observer: Callable[[Any], Any]) -> None:
        """End every subscription of ``observer``."""
        for connection in tuple(self._connections):
            if connection.calls(observer):
                connection.end()

    def emit(self, changes: ChangeSet) -> None:
        """Call every observer."""
        if self:
            self._emitting = True
            try:
                self._signal.emit(changes)
            finally:
                self._emitting = False

    def _settle(self) -> None:
        """Bring the signal up to date with who came and went, unless it is just iterating over them."""
        if self._emitting:
            return
        if self._joining:
            for connection in self._joining:
                self._signal.connect(connection.deliver)
            self._joining.clear()
        while self._ended:
            connection = self._ended.popleft()
            if self._connections.pop(connection, _NOTHING) is None:
                self._signal.disconnect(connection.deliver)

    def _report_elsewhere(self, observer: Callable[..., Any], error: BaseException) -> None:
        self._on_owner(lambda: self._report(observer, error))


def _queue_of(thread: Any) -> Dispatch:
    """Return what puts functions into psygnal's queue for a thread."""
    from psygnal import SignalInstance

    relay = SignalInstance((object,))
    relay.connect(lambda run: run(), thread=thread)
    return relay.emit


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
        self._noted: dict[_Part, ChangeKind] = {}
        self._due = False
        self._looked = False
        self._snapshot: S | None = None
        self._waiters: set[Waiter] = set()
        self._watching = 0
        self._whole: Observable[Any] | None = None
        self._section = ""

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
            function: picks a value from a snapshot; values are compared with ``==`` after ``is``.
            observer: called with the new value.
            **options: as for :meth:`ChangeSignal.connect`.
        """
        last = function(self.snapshot())

        def pick(changes: ChangeSet) -> Any:
            nonlocal last
            value = function(changes.snapshot)
            if value is last or value == last:
                return _NOTHING
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
        if self._noted.get((section, key)) is not kind:
            _merge(self._noted, (section, key), kind, seen=self._looked)
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
                _merge(noted, part, kind, seen=seen)
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
            self.changed.emit(ChangeSet(self._version, _changes(noted), self.snapshot()))


def _log_failure(observer: Callable[..., Any], error: BaseException) -> None:
    _logger.error("an observer failed: %r", observer, exc_info=error)
