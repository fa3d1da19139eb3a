"""Whether the agent can be reached, and what is done about it: :class:`ConnectionHealth`, held as ``host.health``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import evolve, frozen

from acp_host.host.reconnect_machine import ConnectionStatus
from acp_host.host.reopening import Lost, ReopenStep
from acp_host.state.clock import Scheduler
from acp_host.state.observable import Observable

__all__ = ["ConnectionHealth", "HealthSnapshot", "SessionReturn"]


@frozen(kw_only=True)
class SessionReturn:
    """What became of a session when the connection was made again.

    Attributes:
        session_id: the session.
        step: by which way it was opened; ``None``: by none, and its object ``is_lost``.
        new_session_id: the id of the session that was begun in its place, where the policy allows that.
        lost: what is missing; ``context``: the agent knows nothing of the conversation.
        summary: one sentence for the user; empty if nothing was lost.
    """

    session_id: str
    step: ReopenStep | None
    lost: Lost
    summary: str = ""
    new_session_id: str | None = None


@frozen(kw_only=True)
class HealthSnapshot:
    """The connection at one moment.

    Attributes:
        version: grows by one with each delivery of changes.
        status: where it is in its life.
        since: since when, in seconds since the epoch.
        attempt: number of the try that is due or under way; 0 while connected.
        next_try: when it is due, in seconds since the epoch; ``None`` where none is waited for.
        error: what it was lost by, or the last try failed with, without secrets; empty while connected.
        returned: what became of the sessions, the last time that it was made again; empty before.
    """

    version: int = 0
    status: ConnectionStatus = ConnectionStatus.CONNECTED
    since: float = 0.0
    attempt: int = 0
    next_try: float | None = None
    error: str = ""
    returned: tuple[SessionReturn, ...] = ()


class ConnectionHealth(Observable[HealthSnapshot]):
    """What is known of it; the sections of its change sets are the attributes of the snapshot.

    Args:
        scheduler: decides when observers are called.
        report: called with an observer and what it raised.
        now: returns seconds since the epoch.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        report: Callable[[Callable[..., Any], BaseException], None],
        now: Callable[[], float],
    ) -> None:
        super().__init__(scheduler, report)
        self._known = HealthSnapshot(since=now())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._known.status}>"

    def _freeze(self) -> HealthSnapshot:
        return evolve(self._known, version=self.version)

    def learn(self, **changes: Any) -> None:
        """Take what has changed, by the attributes of the snapshot; for the connection."""
        before, self._known = self._known, evolve(self._known, **changes)
        for section in changes:
            if getattr(before, section) != getattr(self._known, section):
                self.note(section)
