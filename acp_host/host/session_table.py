"""Which session an update is for: :class:`SessionTable`.

Routing is by session id and never depends on a prompt being active. Some agents send updates for a session before they
answer the request that creates it, and Harn other notifications, too; those are kept, within bounds, while such a
request is pending, and handed to the session in order once its id is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from attrs import frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind, throttled
from acp_host.errors import InvalidInput
from acp_host.host.session import Session
from acp_host.state.observers import Observers
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.codec import encode
from acp_host.wire.converters import unstructure
from acp_host.wire.notices import Notice
from acp_host.wire.updates import SessionNotification

__all__ = ["MAX_EARLY", "MAX_EARLY_SIZE", "HarnNotification", "SessionTable"]

MAX_EARLY = 1_000
"""Most updates that are kept for a session whose id is not known yet."""
MAX_EARLY_SIZE = 4 * 2**20
"""Most bytes that these may have."""
_MAX_PARENTS = 10_000


@frozen
class HarnNotification:
    """A notification of Harn that belongs to a session, beside the session's updates.

    Attributes:
        session_id: the session.
        method: wire method.
        params: its parameters, as plain JSON.
    """

    session_id: str
    method: str
    params: Mapping[str, Any]


_Early = SessionNotification | HarnNotification


class SessionTable:
    """The sessions of a connection by id, and the updates that came too early.

    Attributes:
        observers: are called with a session that was added or removed.

    Args:
        report: takes diagnostics.
        on_notice: takes notices for unknown sessions; a session takes its own.
    """

    def __init__(self, report: Callable[[Diagnostic], None], on_notice: Callable[[str, Notice], None]) -> None:
        self._report = throttled(report)
        self.observers: Observers[Session] = Observers(self._observer_failed)
        self._on_notice = on_notice
        self._sessions: dict[str, Session] = {}
        self._parents: dict[str, Session] = {}
        self._early: deque[_Early] = deque()
        self._early_size = 0
        self._creating = 0
        self._waiting: list[Callable[[], None]] = []

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._sessions.values()))

    def get(self, session_id: str) -> Session | None:
        """Return the session with this id, or ``None``."""
        return self._sessions.get(session_id)

    def owner(self, session_id: str) -> Session | None:
        """Return the session with this id, or the one that has announced a subagent with it, or ``None``."""
        owner = self._sessions.get(session_id) or self._parents.get(session_id)
        if owner is None:
            owner = next((parent for parent in self if session_id in parent.subagents), None)
            if owner is not None:
                if len(self._parents) >= _MAX_PARENTS:
                    self._parents.clear()  # who is the parent of whom can be found out again
                self._parents[session_id] = owner
        return owner

    def of_prompt(self, name: str) -> Session | None:
        """Return the session that has sent the prompt with this name, which a Harn agent was given, or ``None``."""
        return next((session for session in self if session.has_sent(name)), None)

    def only_busy(self) -> Session | None:
        """Return the session that has a turn on the wire, if there is just one."""
        busy = [session for session in self if session.current_turn is not None]
        return busy[0] if len(busy) == 1 else None

    @property
    def is_creating(self) -> bool:
        """Whether a request that creates a session is pending, so that an unknown id may become known."""
        return self._creating > 0

    @contextmanager
    def creating(self) -> Iterator[None]:
        """Keep updates for unknown sessions while the block runs; afterwards report those that nobody adopted."""
        self._creating += 1
        try:
            yield
        finally:
            self._creating -= 1
            if not self._creating:
                early, self._early, self._early_size = self._early, deque(), 0
                for notification in early:
                    self._report_unknown(notification)
            waiting, self._waiting = self._waiting, []
            for resume in waiting:
                resume()

    def when_created(self, resume: Callable[[], None]) -> None:
        """Call ``resume`` when the next session-creating request has ended."""
        self._waiting.append(resume)

    def add(self, session: Session) -> None:
        """Add a session and hand it the updates that came before its id was known.

        A session that has this id already is over: what the agent says of it from now on is said of the new one.
        """
        if session.id in self._sessions:
            self._report_id_taken(session.id)
            self.remove(session.id)
        self._sessions[session.id] = session
        early, self._early, self._early_size = self._early, deque(), 0
        for notification in early:
            if notification.session_id != session.id:
                self._keep(notification)
            elif isinstance(notification, HarnNotification):
                session.receive_notification(notification.method, notification.params)
            else:
                session.receive(notification)
        self.observers.tell(session)

    def remove(self, session_id: str) -> None:
        """Forget a session; its later updates are reported."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self._parents = {child: parent for child, parent in self._parents.items() if parent is not session}
            session.let_go()
            self.observers.tell(session)

    def receive(self, arrival: SessionNotification | ChunkRun) -> None:
        """Hand an update, or a run of them, to its session or its subagent's, keep it, or report it."""
        session = self._sessions.get(arrival.session_id)
        if session is not None:
            session.receive(arrival)
            return
        parent = self.owner(arrival.session_id)
        if parent is not None:
            parent.receive_from_subagent(arrival)
            return
        for notification in arrival.notifications() if isinstance(arrival, ChunkRun) else (arrival,):
            if self._creating:
                self._keep(notification)
            else:
                self._report_unknown(notification)

    def receive_notification(self, notification: HarnNotification) -> None:
        """Hand a notification to its session, or to the one that has announced a subagent with its id, or keep it."""
        session = self.owner(notification.session_id)
        if session is not None:
            session.receive_notification(notification.method, notification.params)
        elif self._creating:
            self._keep(notification)
        else:
            self._report_unknown(notification)

    def _keep(self, notification: _Early) -> None:
        self._early.append(notification)
        self._early_size += _size(notification)
        while len(self._early) > MAX_EARLY or self._early_size > MAX_EARLY_SIZE:
            oldest = self._early.popleft()
            self._early_size -= _size(oldest)
            self._report_unknown(oldest)

    def end(self, status: str, detail: str) -> None:
        """Take the end of the connection: its ``status`` (``lost`` or ``closed``) and why."""
        for session in self:
            session.connection_ended(status, detail)

    def _observer_failed(self, observer: Callable[..., Any], error: BaseException) -> None:
        text = f"an observer of the connection's sessions failed: {type(error).__name__}: {error}"
        self._report(Diagnostic(DiagnosticKind.HANDLER_FAILED, text))

    def _report_id_taken(self, session_id: str) -> None:
        text = f"the agent gave a new session the id {session_id} of an open one, which is closed in this program"
        self._report(Diagnostic(DiagnosticKind.UNEXPECTED, text, session_id=session_id))

    def _report_unknown(self, notification: _Early) -> None:
        if isinstance(notification, HarnNotification):
            method, data = notification.method, notification.params
            text = f"the agent sent {method}, which belongs to no session that is open here"
            self._report(Diagnostic(DiagnosticKind.UNEXPECTED, text, method=method, data=data))
            return
        if isinstance(notification.update, Notice):
            self._on_notice(notification.session_id, notification.update)
        kind = type(notification.update).__name__
        self._report(
            Diagnostic(
                DiagnosticKind.UNEXPECTED,
                f"an update ({kind}) for the unknown session {notification.session_id} was dropped",
                method="session/update",
                session_id=notification.session_id,
                data=notification.update,
            )
        )


def _size(notification: _Early) -> int:
    """Return about how many bytes an update is long; one that is nested too deeply to be written counts as too long."""
    try:
        if isinstance(notification, HarnNotification):
            return len(encode(notification.params))
        return len(encode(unstructure(notification)))
    except (InvalidInput, RecursionError):
        return MAX_EARLY_SIZE
