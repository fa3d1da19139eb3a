"""Where observers of a state connect: :class:`ChangeSignal`.

An observer that is slow, or raises, costs nobody else anything: each is called in isolation, and its failure is
reported. Delivery can go to another thread or loop through ``dispatch``; what piles up there is merged.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from types import MethodType
from typing import Any, Final

from attrs import define

from acp_host.state.changes import ChangeKind, ChangeSet, Part, changes_of, merge_change
from acp_host.state.dispatch import Dispatch, DispatchEnded, Errand
from acp_host.state.observers import check_observer

__all__ = ["NOTHING", "ChangeSignal", "Report", "Subscription"]

Report = Callable[[Callable[..., Any], BaseException], None]
"""Takes an observer and what it raised."""


class Subscription:
    """An observer's connection to a :class:`ChangeSignal`; :meth:`end` it when it is no longer wanted.

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


NOTHING: Final = object()
"""What a ``pick`` returns where its observer is not to be called."""


class _Connection:
    """One observer and how to call it, in isolation.

    Args:
        observer: the observer; it does not keep ``owner`` alive where it is a method of it.
        owner: the connection ends when this object is collected; ``None``: it ends when it is told to.
        report: takes what the observer raises.
        pick: turns a change set into what the observer is called with, or ``NOTHING`` where it is not to be called.
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
            if value is not NOTHING:
                observer(value)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # asyncio.CancelledError too: result() of a cancelled future raises it
            self._report(observer, error)


@define(eq=False)
class _Merged:
    """Change sets that wait to be picked up, as one."""

    version: int
    noted: dict[Part, ChangeKind]
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
            merge_change(merged.noted, (change.section, change.key), change.kind)
        merged.version, merged.snapshot = changes.version, changes.snapshot
        self._waiting.append(merged)
        if self._due:
            return
        self._due = True
        try:
            self._dispatch(Errand(self._run, self.end))
        except DispatchEnded:
            self.end()
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
            self.call(ChangeSet(merged.version, changes_of(merged.noted), merged.snapshot))


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
            if self._connections.pop(connection, NOTHING) is None:
                self._signal.disconnect(connection.deliver)

    def _report_elsewhere(self, observer: Callable[..., Any], error: BaseException) -> None:
        self._on_owner(lambda: self._report(observer, error))


def _queue_of(thread: Any) -> Dispatch:
    """Return what puts functions into psygnal's queue for a thread."""
    from psygnal import SignalInstance

    relay = SignalInstance((object,))
    relay.connect(lambda run: run(), thread=thread)
    return relay.emit
