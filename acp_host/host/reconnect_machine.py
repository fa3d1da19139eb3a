"""The life of a connection that is made again when it is lost: :class:`ReconnectMachine`; no I/O, no clock.

===============  ==============  ================================================================================
status           then            by
===============  ==============  ================================================================================
``connected``    ``waiting``     the loss of the connection
``waiting``      ``connecting``  the time of the next try
``connecting``   ``handshaking`` the other end is reached
``handshaking``  ``reopening``   the answer to ``initialize``
``reopening``    ``connected``   all is done for the sessions that can be
the three above  ``waiting``     the failure of the try
``connected`` …  ``lost``        the failure that uses up the tries or the budget, or that will always be the same
any              ``closed``      this host
===============  ==============  ================================================================================

``lost`` and ``closed`` are the ends. A connection that was up for less than ``stable_after`` seconds goes on with the
tries and the budget of the loss before.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from acp_host.errors import AuthRequired, LocalError, TransportError, UnsupportedVersion
from acp_host.host.reconnect_policy import ReconnectPolicy

__all__ = ["ConnectionStatus", "ReconnectMachine", "is_permanent"]


class ConnectionStatus(StrEnum):
    """Where a connection is in its life."""

    CONNECTED = "connected"
    WAITING = "waiting"
    """It is lost, and the next try has a time."""
    CONNECTING = "connecting"
    """The agent is being dialled, or its process launched."""
    HANDSHAKING = "handshaking"
    REOPENING = "reopening"
    """The sessions are being opened again."""
    LOST = "lost"
    """It is lost, and given up."""
    CLOSED = "closed"
    """This host has closed it."""


def is_permanent(error: BaseException) -> bool:
    """Tell whether the next try would end the same way: it was refused, or this side is wrong."""
    if isinstance(error, TransportError):
        return error.retryable is False
    return isinstance(error, UnsupportedVersion | AuthRequired | LocalError)


class ReconnectMachine:
    """Counts the tries and says when the next one is due. Times are seconds of one clock, passed in.

    Attributes:
        status: where the connection is.
        since: since when; ``None`` before the first change.
        attempt: number of the try that is due or under way; 0 while connected.
        next_try: when that is; ``None`` where none is due.
        error: what the connection was lost by, or the last try failed with; ``None`` while connected.

    Args:
        policy: how often, and how long.
        random: returns anything from 0 up to 1.
    """

    def __init__(self, policy: ReconnectPolicy, random: Callable[[], float]) -> None:
        self.status = ConnectionStatus.CONNECTED
        self.since: float | None = None
        self.attempt = 0
        self.next_try: float | None = None
        self.error: BaseException | None = None
        self._policy = policy
        self._random = random
        self._tried = 0
        self._lost_at = 0.0
        self._up_since: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing will be tried any more."""
        return self.status in (ConnectionStatus.LOST, ConnectionStatus.CLOSED)

    def lost(self, error: BaseException, now: float, *, at_once: bool = False) -> None:
        """Take the loss of a connection that was up; ``at_once``: this side wants another one, without a wait."""
        was_stable = self._up_since is None or now - self._up_since >= self._policy.stable_after
        if was_stable or at_once:
            self._tried, self._lost_at = 0, now
        self._wait(error, now, at_once=at_once)

    def begins(self, now: float) -> None:
        """Learn that the try begins."""
        self._tried += 1
        self.next_try = None
        self._become(ConnectionStatus.CONNECTING, now)

    def started(self, now: float) -> None:
        """Learn that the other end is reached; the handshake follows."""
        self._become(ConnectionStatus.HANDSHAKING, now)

    def agreed(self, now: float) -> None:
        """Learn that the agent has answered ``initialize``; the sessions follow."""
        self._become(ConnectionStatus.REOPENING, now)

    def restored(self, now: float) -> None:
        """Learn that all is done that can be."""
        self.attempt, self.error, self._up_since = 0, None, now
        self._become(ConnectionStatus.CONNECTED, now)

    def failed(self, error: BaseException, now: float) -> None:
        """Take the failure of the try, at whichever step."""
        self._wait(error, now, at_once=False)

    def hurry(self, now: float) -> None:
        """Let the next try be due now, where one is waited for."""
        if self.status is ConnectionStatus.WAITING:
            self.next_try = now

    def give_up(self, error: BaseException, now: float) -> None:
        """Learn that nothing is tried, or nothing any more."""
        if not self.is_over:
            self.error, self.next_try = error, None
            self._become(ConnectionStatus.LOST, now)

    def close(self, now: float) -> None:
        """Learn that this host closes the connection."""
        if not self.is_over:
            self.next_try = None
            self._become(ConnectionStatus.CLOSED, now)

    def _wait(self, error: BaseException, now: float, *, at_once: bool) -> None:
        self.error = error
        attempt = self._tried + 1
        due = now if at_once else now + self._policy.delay(attempt, self._random())
        used_up = attempt > self._policy.tries or due > self._lost_at + self._policy.budget
        if used_up or (is_permanent(error) and not at_once):
            self.next_try = None
            self._become(ConnectionStatus.LOST, now)
            return
        self.attempt, self.next_try = attempt, due
        self._become(ConnectionStatus.WAITING, now)

    def _become(self, status: ConnectionStatus, now: float) -> None:
        self.status, self.since = status, now
