"""The sessions that viewers can follow: :class:`ShownSessions`.

Those that are open on the connection, those that were until a while ago, and the subagents that they have told of. Of a
subagent nothing is prepared until somebody follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import field, frozen

from acp_host.host.session import Session
from acp_host.state.session_state import SessionState
from acp_host.ui.feed.session_stream import SessionStream

__all__ = ["ShownSessions"]

_MAX_CLOSED = 50
"""Sessions that are shown although they are not open any more; the oldest go first."""
_MAX_SUBAGENTS = 200
"""Subagents of one session that are shown, the newest."""


@frozen(eq=False)
class _Shown:
    """A session, and those who follow it and its subagents."""

    session: Session
    stream: SessionStream
    ends: list[Callable[[], None]]
    subagents: dict[str, SessionStream] = field(factory=dict)


class ShownSessions:
    """The sessions of a feed.

    Args:
        open_sessions: returns those that are open on the connection.
        numbers: gives versions to their streams.
        ready: called when viewers have something to fetch.
        changed: called when sessions come or go.
        renamed: called when a title or a status changes, which can be as often as an agent writes.
    """

    def __init__(
        self,
        open_sessions: Callable[[], tuple[Session, ...]],
        numbers: Iterator[int],
        ready: Callable[[], None],
        changed: Callable[[], None],
        renamed: Callable[[], None],
    ) -> None:
        self._open_sessions = open_sessions
        self._numbers = numbers
        self._ready = ready
        self._changed = changed
        self._renamed = renamed
        self._shown: dict[str, _Shown] = {}

    def show(self, session: Session) -> None:
        """Show a session."""
        known = self._shown.get(session.id)
        if known is not None and known.session is session:
            return
        self.hide(session.id)
        named = session.state.select(lambda state: (state.info.title, state.turn.status), lambda _: self._renamed())
        ends = [named.end, session.on_subagent(lambda _: self._changed())]
        self._shown[session.id] = _Shown(session, self._stream(session.id, session.state), ends)
        self._changed()

    def hide(self, session_id: str) -> None:
        """Show a session no more, and none of its subagents."""
        shown = self._shown.pop(session_id, None)
        if shown is None:
            return
        for stream in (shown.stream, *shown.subagents.values()):
            stream.close()
        for end in shown.ends:
            end()
        self._changed()

    def hide_all(self) -> None:
        """Show nothing."""
        for session_id in tuple(self._shown):
            self.hide(session_id)

    def follow(self) -> None:
        """Show what is open on the connection now."""
        for session in self._open_sessions():
            self.show(session)
        closed = [session_id for session_id, shown in self._shown.items() if not self._is_open(shown.session)]
        for session_id in closed[: max(0, len(closed) - _MAX_CLOSED)]:
            self.hide(session_id)
        self._changed()

    def stream(self, session_id: str) -> SessionStream | None:
        """Return what is told of a session or a subagent; ``None`` if it is not shown."""
        shown = self._shown.get(session_id)
        if shown is not None:
            return shown.stream
        return next((stream for each in self._shown.values() if (stream := self._subagent(each, session_id))), None)

    def items(self) -> list[dict[str, Any]]:
        """Return the list of them as viewers get it: each session, and its subagents after it."""
        return [item for shown in self._shown.values() for item in self._items_of(shown)]

    def _items_of(self, shown: _Shown) -> Iterator[dict[str, Any]]:
        session, state = shown.session, shown.session.state.snapshot()
        is_open = self._is_open(session)
        yield {
            "id": session.id,
            "title": state.info.title,
            "cwd": session.cwd,
            "open": is_open,
            "status": state.turn.status,
            "parent": None,
        }
        for session_id in session.subagents.ids()[-_MAX_SUBAGENTS:]:
            child = session.subagent_state(session_id)
            if child is None or session_id in self._shown:
                continue
            yield {
                "id": session_id,
                "title": session.subagents.title(session_id),
                "cwd": session.subagents.cwd(session_id) or session.cwd,
                "open": is_open,
                "status": child.snapshot().turn.status,
                "parent": session.subagents.parent(session_id) or session.id,
            }

    def _subagent(self, shown: _Shown, session_id: str) -> SessionStream | None:
        stream = shown.subagents.get(session_id)
        if stream is not None:
            return stream
        state = shown.session.subagent_state(session_id)
        if state is None:
            return None
        stream = shown.subagents[session_id] = self._stream(session_id, state)
        return stream

    def _stream(self, session_id: str, state: SessionState) -> SessionStream:
        return SessionStream(session_id, state, self._numbers, self._ready)

    def _is_open(self, session: Session) -> bool:
        return session in self._open_sessions()
