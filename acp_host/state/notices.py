"""Notices, what the agent tells the user beside the conversation: :class:`NoticeCenter`, toasts and a history.

A notice has no identity on the wire and nothing follows it; ids, dismissal and what is on the screen are this host's
own. It owns which notice becomes a toast, for how long, and what is kept. It does not decide what a notice looks like
beyond a hint, and knows no screen.

Cost: each notice O(1), whatever came before; the texts for display are made when somebody looks. What is the same for
all notices of one delivery, e.g. to say what is new in the history, is done once.
"""

from __future__ import annotations

from collections import OrderedDict, deque

from attrs import define, field

from acp_host.printable import block, one_line
from acp_host.state.change_signal import Report
from acp_host.state.changes import ChangeKind
from acp_host.state.clock import Clock, Scheduler, Timer
from acp_host.state.notice_entries import (
    Notice,
    NoticeLook,
    NoticeReceived,
    NoticesSnapshot,
    NoticeState,
    Presentation,
    Suppression,
)
from acp_host.state.notice_preferences import NoticePreferences, RateLimit, SeverityPreferences
from acp_host.state.observable import Observable
from acp_host.wire._size import memory_of
from acp_host.wire.notices import NoticeSeverity

__all__ = ["MAX_HISTORY_SIZE", "NoticeCenter"]

# For display, in characters; of a description also in lines.
_MAX_NAME = 80
_MAX_TITLE = 200
_MAX_DESCRIPTION = 1_000
_MAX_LINES = 20

_MAX_DISMISSED = 100
"""How many dismissed toasts still count their repeats."""

MAX_HISTORY_SIZE = 16 * 2**20
"""Bytes of memory, roughly, that the notices of a history may take; the oldest make room, the newest stays."""

_Kind = tuple[str, str, str, str | None]


@define(eq=False)
class _Received:
    """A notice in the history; ``size``: about how many bytes it takes."""

    id: str
    event: NoticeReceived
    presentation: Presentation
    at: float
    size: int = 0
    toast: _Toast | None = None
    suppressed_by: Suppression | None = None
    entry: Notice | None = None


@define(eq=False)
class _Toast:
    """A toast, on the screen or gone.

    Attributes:
        last: when the last of the notices came that it shows.
        members: those of them that the history still has; kept while it is on the screen.
        timer: ends its time; ``None`` where it has none, or timeouts are paused.
        left: seconds it has yet to stay when the timer is started.
        due: when its time is up, by the clock.
        extended: its time was extended since the timer was started.
    """

    first: _Received
    kind: _Kind
    last: float
    count: int = 0
    state: NoticeState = NoticeState.VISIBLE
    members: deque[_Received] = field(factory=deque)
    timer: Timer | None = None
    left: float = 0.0
    due: float = 0.0
    extended: bool = False
    entry: Notice | None = None

    @property
    def duration(self) -> float | None:
        return self.first.presentation.duration


class NoticeCenter(Observable[NoticesSnapshot]):
    """The notices of one session: toasts on the screen, and a history.

    Sections of its change sets: ``toasts`` and ``history`` (keys: ids), ``counts``.

    Args:
        scheduler: decides when observers are called and runs timeouts.
        clock: says when a notice came.
        agent_name: what to call the agent.
        preferences: how notices are shown.
        report: as for :class:`~acp_host.state.observable.Observable`.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        clock: Clock,
        *,
        agent_name: str = "agent",
        preferences: NoticePreferences | None = None,
        report: Report | None = None,
    ) -> None:
        super().__init__(scheduler, report)
        self._clock = clock
        self._agent_name = one_line(agent_name, _MAX_NAME)
        self._use(preferences or NoticePreferences())
        self._history: OrderedDict[str, _Received] = OrderedDict()
        self._size = 0
        self._unfiled: list[_Received] = []  # what came since the history was last looked at or told of
        self._toasts: dict[str, _Toast] = {}
        self._passing: dict[str, _Toast] = {}  # those of them that leave by themselves
        self._kinds: dict[_Kind, _Toast] = {}  # on the screen, or dismissed not long ago
        self._dismissed: deque[_Toast] = deque()
        self._allowances: dict[str, _Allowance] = {}
        self._paused = False
        self._total = self._shown = self._coalesced = self._suppressed = self._displaced = 0

    # --- what a user does -------------------------------------------------------------------------------------------

    @property
    def preferences(self) -> NoticePreferences:
        """How notices are shown; new ones hold for what comes, limits at once."""
        return self._preferences

    @preferences.setter
    def preferences(self, preferences: NoticePreferences) -> None:
        self._use(preferences)
        self._make_room(preferences.max_toasts)
        self.settle()

    def _use(self, preferences: NoticePreferences) -> None:
        self._preferences = preferences
        named = (*_LOOKS, *preferences.extensions)
        self._presentations = {
            severity: _presentation(preferences.of(severity), _LOOKS.get(severity, NoticeLook.NEUTRAL))
            for severity in named
        }
        self._other_presentation = _presentation(preferences.other, NoticeLook.NEUTRAL)

    def dismiss(self, notice_id: str) -> bool:
        """Close a toast; nothing is sent to the agent.

        Args:
            notice_id: the id of the toast, or of any notice that it shows.

        Returns:
            Whether it was on the screen.
        """
        self.settle()
        known = self._history.get(notice_id)
        toast = self._toasts.get(notice_id) or (None if known is None else known.toast)
        if toast is None or toast.state is not NoticeState.VISIBLE:
            return False
        self._take_down(toast, NoticeState.DISMISSED)
        return True

    def dismiss_all(self) -> int:
        """Close every toast; return how many there were."""
        toasts = tuple(self._toasts.values())
        for toast in toasts:
            self._take_down(toast, NoticeState.DISMISSED)
        return len(toasts)

    @property
    def timeouts_paused(self) -> bool:
        """Whether toasts stay because of :meth:`pause_timeouts`."""
        return self._paused

    def pause_timeouts(self) -> None:
        """Let every toast stay, e.g. while the mouse rests on one; may be called repeatedly."""
        if not self._paused:
            self._paused = True
            for toast in self._passing.values():
                toast.left = self._time_left(toast)
                self._stop(toast)

    def resume_timeouts(self) -> None:
        """Let toasts leave again, each after the time that it had left."""
        if self._paused:
            self._paused = False
            for toast in self._passing.values():
                self._start(toast, toast.left)

    # --- the reducer ------------------------------------------------------------------------------------------------

    def apply(self, event: NoticeReceived) -> None:
        """Fold a notice."""
        self._total += 1
        severity = event.severity
        presentation = self._presentations.get(severity, self._other_presentation)
        received = _Received(f"notice-{self._total}", event, presentation, self._clock.now(), _size_of(event))
        self._present(received, self._preferences.of(severity))
        if not self._unfiled:  # the others are told of together with this one
            self.note("history", received.id, ChangeKind.ADDED)
            self.note("counts")
        self._unfiled.append(received)
        self._size += received.size
        if len(self._unfiled) > self._preferences.max_history or self._size > MAX_HISTORY_SIZE:
            self.settle()

    def settle(self) -> None:
        """Put what has come into the history; needed before changes are told of, and done once for all of them."""
        unfiled, self._unfiled = self._unfiled, []
        for received in unfiled:
            self._history[received.id] = received
        self.note_all("history", [received.id for received in unfiled], ChangeKind.ADDED)
        forgotten = []
        while self._is_too_long():
            notice_id, received = self._history.popitem(last=False)
            self._size -= received.size
            if received.toast is not None and received.toast.state is NoticeState.VISIBLE:
                received.toast.members.popleft()  # they leave in the order in which they came
            forgotten.append(notice_id)
        self.note_all("history", forgotten, ChangeKind.REMOVED)

    def _is_too_long(self) -> bool:
        length = len(self._history)
        return length > self._preferences.max_history or (length > 1 and self._size > MAX_HISTORY_SIZE)

    def _present(self, received: _Received, wishes: SeverityPreferences) -> None:
        why_not = self._unwanted(received.event, wishes)
        if why_not is None:
            kind = _kind(received.event)
            toast = self._kinds.get(kind)
            if toast is not None and self._is_repeat(received.at, toast):
                self._count(toast, received)
                return
            why_not = self._no_place(received, wishes)
            if why_not is None:
                self._open(kind, received)
                return
        received.suppressed_by = why_not
        self._suppressed += 1

    def _unwanted(self, event: NoticeReceived, wishes: SeverityPreferences) -> Suppression | None:
        if not event.offered:
            return Suppression.NOT_OFFERED
        if event.during_replay and not self._preferences.toast_replayed:
            return Suppression.REPLAY
        return None if wishes.show else Suppression.PREFERENCES

    def _is_repeat(self, now: float, toast: _Toast) -> bool:
        within = self._preferences.coalesce_within
        return within is not None and now - toast.last <= within

    def _no_place(self, received: _Received, wishes: SeverityPreferences) -> Suppression | None:
        full = len(self._toasts) >= self._preferences.max_toasts
        # The oldest that leaves by itself makes room; if the new one is the only such, that is the new one.
        if full and not self._passing and (wishes.duration is not None or not self._toasts):
            return Suppression.NO_ROOM
        if wishes.rate_limit is None:
            return None
        severity = received.event.severity
        # Severities are the agent's invention: those nobody named share one allowance.
        name = "" if wishes is self._preferences.other else severity
        allowance = self._allowances.get(name)
        if allowance is None:
            allowance = self._allowances[name] = _Allowance(float(wishes.rate_limit.burst), received.at)
        return None if allowance.take(wishes.rate_limit, received.at) else Suppression.RATE_LIMIT

    # --- toasts -----------------------------------------------------------------------------------------------------

    def _open(self, kind: _Kind, received: _Received) -> None:
        self._make_room(self._preferences.max_toasts - 1)
        toast = _Toast(received, kind, received.at)
        self._toasts[received.id] = self._kinds[kind] = toast
        self._show(toast, received)
        self._shown += 1
        if toast.duration is not None:
            self._passing[received.id] = toast
            self._start(toast, toast.duration)
        self.note("toasts", received.id, ChangeKind.ADDED)

    def _count(self, toast: _Toast, received: _Received) -> None:
        """Count a repeat with its toast; one that was just dismissed does not come back for it."""
        self._show(toast, received)
        self._coalesced += 1
        if toast.state is NoticeState.VISIBLE:
            if toast.duration is not None:
                self._extend(toast, toast.duration)
            self.note("toasts", toast.first.id)

    def _show(self, toast: _Toast, received: _Received) -> None:
        received.toast = toast
        if toast.state is NoticeState.VISIBLE:
            toast.members.append(received)
        toast.count += 1
        toast.last = received.at
        toast.entry = None

    def _make_room(self, room: int) -> None:
        """Take toasts down until there are at most so many."""
        while len(self._toasts) > room:
            oldest = next(iter(self._passing.values()), None) or next(iter(self._toasts.values()))
            self._displaced += 1
            self._take_down(oldest, NoticeState.TIMED_OUT)

    def _take_down(self, toast: _Toast, state: NoticeState) -> None:
        toast.state = state
        self._stop(toast)
        del self._toasts[toast.first.id]
        self._passing.pop(toast.first.id, None)
        if state is NoticeState.DISMISSED:
            self._dismissed.append(toast)
            if len(self._dismissed) > _MAX_DISMISSED:
                self._forget_kind(self._dismissed.popleft())
        else:
            self._forget_kind(toast)
        self.note("toasts", toast.first.id, ChangeKind.REMOVED)
        for received in toast.members:
            received.entry = None
            self.note("history", received.id)
        toast.members.clear()  # their state is final
        self.note("counts")

    def _forget_kind(self, toast: _Toast) -> None:
        if self._kinds.get(toast.kind) is toast:
            del self._kinds[toast.kind]

    # --- timeouts ---------------------------------------------------------------------------------------------------

    def _start(self, toast: _Toast, seconds: float) -> None:
        toast.left, toast.due, toast.extended = seconds, self._clock.now() + seconds, False
        if not self._paused:
            toast.timer = self._scheduler.later(seconds, lambda: self._time_is_up(toast))

    def _extend(self, toast: _Toast, seconds: float) -> None:
        """Let a toast stay as long as a new one would; the timer finds out when it fires, so this costs little."""
        toast.left, toast.due, toast.extended = seconds, self._clock.now() + seconds, True

    def _stop(self, toast: _Toast) -> None:
        if toast.timer is not None:
            toast.timer.cancel()
            toast.timer = None

    def _time_is_up(self, toast: _Toast) -> None:
        toast.timer = None
        left = self._time_left(toast) if toast.extended else 0.0
        if left > 0.0:
            self._start(toast, left)
        else:
            self._take_down(toast, NoticeState.TIMED_OUT)

    def _time_left(self, toast: _Toast) -> float:
        # The clock may have been set back: no toast has more than it was given.
        return min(toast.due - self._clock.now(), toast.left)

    # --- readers ----------------------------------------------------------------------------------------------------

    def _deliver(self) -> None:
        self.settle()
        super()._deliver()

    def _freeze(self) -> NoticesSnapshot:
        self.settle()
        return NoticesSnapshot(
            toasts=tuple([toast.entry or self._freeze_toast(toast) for toast in self._toasts.values()]),
            history=tuple([received.entry or self._freeze_received(received) for received in self._history.values()]),
            total=self._total,
            shown=self._shown,
            coalesced=self._coalesced,
            suppressed=self._suppressed,
            displaced=self._displaced,
        )

    def _freeze_toast(self, toast: _Toast) -> Notice:
        toast.entry = self._entry(toast.first, toast.last, toast.count)
        return toast.entry

    def _freeze_received(self, received: _Received) -> Notice:
        received.entry = self._entry(received, received.at, 1)
        return received.entry

    def _entry(self, received: _Received, last: float, count: int) -> Notice:
        event, toast = received.event, received.toast
        return Notice(
            id=received.id,
            session_id=event.session_id,
            agent_name=self._agent_name,
            severity=event.severity,
            title=event.title,
            description=event.description,
            display_title=one_line(event.title, _MAX_TITLE),
            display_description=_shown_description(event.description),
            meta=event.meta,
            received=received.at,
            last_received=last,
            count=count,
            state=None if toast is None else toast.state,
            presentation=received.presentation,
            toast_id=None if toast is None else toast.first.id,
            suppressed_by=received.suppressed_by,
            during_replay=event.during_replay,
        )


@define
class _Allowance:
    """How many toasts may open just now: a bucket that fills up again."""

    left: float
    since: float

    def take(self, limit: RateLimit, now: float) -> bool:
        """Take one, if there is one."""
        self.left = min(limit.burst, self.left + max(now - self.since, 0.0) * limit.per_second)
        self.since = now
        if self.left < 1.0:
            return False
        self.left -= 1.0
        return True


_LOOKS: dict[str, NoticeLook] = {
    NoticeSeverity.INFO: NoticeLook.INFO,
    NoticeSeverity.WARNING: NoticeLook.WARNING,
    NoticeSeverity.ERROR: NoticeLook.ERROR,
}


def _presentation(wishes: SeverityPreferences, look: NoticeLook) -> Presentation:
    return Presentation(duration=wishes.duration, politeness=wishes.politeness, look=look)


def _shown_description(description: str | None) -> str | None:
    return None if description is None else block(description, _MAX_DESCRIPTION, _MAX_LINES)


def _size_of(event: NoticeReceived) -> int:
    meta = memory_of(event.meta, MAX_HISTORY_SIZE) if event.meta else 0
    return len(event.title) + len(event.description or "") + meta


def _kind(event: NoticeReceived) -> _Kind:
    """Return what two notices have in common that look the same."""
    return event.session_id, event.severity, event.title, event.description
