"""State that is read and watched from other threads than the one it is folded on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from acp_host.blocking._callbacks import Callbacks, Dispatch
from acp_host.blocking._forward import Facade, asks, iterates, reads, waits
from acp_host.blocking._thread import LoopThread
from acp_host.state import notices as async_notices
from acp_host.state import observable as async_observable
from acp_host.state import options as async_options
from acp_host.state import reminders as async_reminders
from acp_host.state import session_state as async_session_state
from acp_host.state.change_signal import ChangeSignal, Subscription
from acp_host.state.changes import ChangeSet
from acp_host.state.injections import Injection
from acp_host.state.notice_entries import NoticesSnapshot
from acp_host.state.notice_preferences import NoticePreferences
from acp_host.state.option_entries import OptionsSnapshot
from acp_host.state.reminder_entry import ReminderEntry, RemindersSnapshot
from acp_host.state.snapshot import Modes, SessionSnapshot
from acp_host.wire.config_options import SessionConfigOption
from acp_host.wire.subagents import SubagentUpdate

__all__ = ["NoticeCenter", "Observable", "OptionsView", "RemindersPanel", "SessionState", "Signal"]

S = TypeVar("S")
T = TypeVar("T")
State = TypeVar("State", bound=async_observable.Observable[Any])


class Signal(Facade[ChangeSignal]):
    """Where observers of a state connect."""

    def __init__(self, asynchronous: ChangeSignal, thread: LoopThread, callbacks: Callbacks) -> None:
        super().__init__(asynchronous, thread)
        self._callbacks = callbacks

    def connect(
        self, observer: Callable[[ChangeSet], Any], *, owner: object | None = None, dispatch: Dispatch | None = None
    ) -> Subscription:
        """Call ``observer`` with each change set from now on; those that pile up before it is called are merged.

        Args:
            observer: called where ``connect(dispatch=…)`` says, or on a thread for observers; it may block.
            owner: the subscription ends when this object is collected.
            dispatch: another place than that of the connection.
        """
        place = dispatch or self._callbacks.dispatch
        return self._thread.ask(lambda: self.asynchronous.connect(observer, owner=owner, dispatch=place))

    disconnect = asks(ChangeSignal.disconnect)


class Observable(Facade[State], Generic[State, S]):
    """As :class:`acp_host.state.observable.Observable`; snapshots are immutable, and may be kept and passed around."""

    def __init__(self, asynchronous: State, thread: LoopThread, callbacks: Callbacks) -> None:
        super().__init__(asynchronous, thread)
        self._callbacks = callbacks
        self.changed = Signal(asynchronous.changed, thread, callbacks)

    version = reads[async_observable.Observable[Any], int](lambda state: state.version)

    def snapshot(self) -> S:
        """Return the present state; the same object until something changes."""
        present: S = self._thread.ask(self.asynchronous.snapshot)
        return present

    def watch(self) -> Iterator[S]:
        """Yield the present state, then the latest one after each delivery of changes; never a backlog."""
        snapshots: Iterator[S] = _watch(self)
        return snapshots

    def select(
        self,
        function: Callable[[S], T],
        observer: Callable[[T], Any],
        *,
        owner: object | None = None,
        dispatch: Dispatch | None = None,
    ) -> Subscription:
        """Call ``observer`` with ``function(snapshot)`` whenever that value changes; else as :meth:`Signal.connect`."""
        place = dispatch or self._callbacks.dispatch
        return self._thread.ask(lambda: self.asynchronous.select(function, observer, owner=owner, dispatch=place))


_watch: Callable[[Any], Iterator[Any]] = iterates(async_observable.Observable[Any].watch)


class SessionState(Observable[async_session_state.SessionState, SessionSnapshot]):
    """As :class:`acp_host.state.session_state.SessionState`."""

    injections = reads[async_session_state.SessionState, Mapping[str, Injection]](lambda state: state.injections)
    subagents = reads[async_session_state.SessionState, Mapping[str, SubagentUpdate]](lambda state: state.subagents)
    is_replaying = reads[async_session_state.SessionState, bool](lambda state: state.is_replaying)
    tool_call = asks(async_session_state.SessionState.tool_call)
    turn_of_message = asks(async_session_state.SessionState.turn_of_message)
    fetch = asks(async_session_state.SessionState.fetch)


class RemindersPanel(Observable[async_reminders.RemindersPanel, RemindersSnapshot]):
    """As :class:`acp_host.RemindersPanel`."""

    entries = reads[async_reminders.RemindersPanel, tuple[ReminderEntry, ...]](lambda panel: panel.entries)
    active = reads[async_reminders.RemindersPanel, tuple[ReminderEntry, ...]](lambda panel: panel.active)
    counts = reads[async_reminders.RemindersPanel, dict[str, int]](lambda panel: panel.counts)
    find = asks(async_reminders.RemindersPanel.find)
    get = asks(async_reminders.RemindersPanel.get)
    revoke = waits(async_reminders.RemindersPanel.revoke)
    clear = waits(async_reminders.RemindersPanel.clear)
    dismiss = asks(async_reminders.RemindersPanel.dismiss)


class NoticeCenter(Observable[async_notices.NoticeCenter, NoticesSnapshot]):
    """As :class:`acp_host.NoticeCenter`."""

    preferences = reads[async_notices.NoticeCenter, NoticePreferences](lambda center: center.preferences)
    timeouts_paused = reads[async_notices.NoticeCenter, bool](lambda center: center.timeouts_paused)
    dismiss = asks(async_notices.NoticeCenter.dismiss)
    dismiss_all = asks(async_notices.NoticeCenter.dismiss_all)
    pause_timeouts = asks(async_notices.NoticeCenter.pause_timeouts)
    resume_timeouts = asks(async_notices.NoticeCenter.resume_timeouts)


class OptionsView(Observable[async_options.OptionsView, OptionsSnapshot]):
    """As :class:`acp_host.state.options.OptionsView`."""

    config_options = reads[async_options.OptionsView, tuple[SessionConfigOption, ...]](
        lambda options: options.config_options
    )
    modes = reads[async_options.OptionsView, Modes](lambda options: options.modes)
