"""The parts of a connection that tell a watch what they do: its driver, its table of requests, its sessions' states."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from acp_host.errors import AcpError
from acp_host.host.driver import Done, Driver
from acp_host.host.incoming import IncomingRequests, OpenRequest
from acp_host.host.telemetry.connection_watch import ConnectionWatch
from acp_host.host.telemetry.parts import Parts
from acp_host.host.telemetry.settings import Telemetry
from acp_host.protocol.events import RequestReceived
from acp_host.redaction import Redactor
from acp_host.state import events
from acp_host.state.notices import NoticeCenter
from acp_host.state.reminders import RemindersPanel
from acp_host.state.session_state import SessionState
from acp_host.wire.ids import RequestId

__all__ = ["WatchedDriver", "WatchedRequests", "WatchedState", "watched"]


def watched(settings: Telemetry, redactor: Redactor) -> tuple[ConnectionWatch, Parts]:
    """Return a watch for a connection, and what makes the parts that tell it something."""
    watch = ConnectionWatch(settings, redactor)
    return watch, Parts(
        functools.partial(WatchedDriver, watch),
        functools.partial(WatchedRequests, watch),
        functools.partial(WatchedState, watch),
    )


class WatchedDriver(Driver):
    """A driver that tells of the requests that it sends, and puts the trace context into them.

    Args:
        watch: is told.
        args: as for :class:`~acp_host.host.driver.Driver`.
        kwargs: likewise.
    """

    def __init__(self, watch: ConnectionWatch, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._watch = watch

    def send(self, method: str, params: Any, done: Done, *, force: bool = False) -> RequestId:
        return self._told(method, params, done, functools.partial(self._send, method, force))

    def _send(self, method: str, force: bool, params: Any, done: Done) -> RequestId:
        return super().send(method, params, done, force=force)

    def _send_initialize(self, done: Done, meta: Mapping[str, Any] | None = None) -> RequestId:
        return self._told("initialize", {"_meta": meta or {}}, done, self._initialize_with)

    def _initialize_with(self, params: Any, done: Done) -> RequestId:
        return super()._send_initialize(done, params["_meta"])

    def connection_lost(self, error: AcpError | None) -> None:
        self._watch.guard(self._watch.losing, error)
        super().connection_lost(error)

    def _told(self, method: str, params: Any, done: Done, send: Callable[[Any, Done], RequestId]) -> RequestId:
        """Send a request, and tell of its beginning and its end."""
        watch = self._watch
        call = watch.guard(watch.call_begins, method, params)
        if call is None:
            return send(params, done)

        def ended(outcome: Any) -> None:
            watch.guard(call.ended, outcome)
            done(outcome)

        try:
            return send(call.params, ended)
        except BaseException as error:
            watch.guard(call.ended, error)
            raise


class WatchedRequests(IncomingRequests):
    """A table of the agent's requests that tells of them.

    Args:
        watch: is told.
        tasks: as for :class:`~acp_host.host.incoming.IncomingRequests`.
        report: likewise.
        answered: likewise.
    """

    def __init__(
        self, watch: ConnectionWatch, tasks: Any, report: Any, answered: Callable[[OpenRequest, Any], None]
    ) -> None:
        def both(request: OpenRequest, answer: Any) -> None:
            answered(request, answer)
            watch.answered(request, answer)

        super().__init__(tasks, report, both)
        self._watch = watch

    def receive(self, event: RequestReceived) -> None:
        with self._watch.serving(event, self._owner_of(event)):
            super().receive(event)

    def _owner_of(self, event: RequestReceived) -> str | None:
        session = self._session_of(OpenRequest(event.id, event.method, event.params))
        return None if session is None else session.id


class WatchedState(SessionState):
    """A state of a session that tells of the events it is folded from.

    Args:
        watch: is told.
        session_id: as for :class:`~acp_host.state.session_state.SessionState`.
        args: likewise, all others.
    """

    def __init__(self, watch: ConnectionWatch, session_id: str, *args: Any) -> None:
        super().__init__(session_id, *args)
        self._watch = watch
        self._told = watch.session_made(session_id, self)

    def apply(self, event: events.SessionEvent) -> None:
        super().apply(event)
        self._watch.guard(self._told.told, event)

    def attach(self, *, reminders: RemindersPanel | None = None, notices: NoticeCenter | None = None) -> None:
        super().attach(reminders=reminders, notices=notices)
        if reminders is not None:
            self._watch.guard(self._told.watch_reminders, reminders)
