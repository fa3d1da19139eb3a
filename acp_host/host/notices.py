"""Brings the agent's notices to the sessions they are for, and to the log as long as nobody looks there.

The log, ``acp_host.notices``, keeps the promise made with ``clientCapabilities.session.notices`` in a plain script too:
a notice reaches the user.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind, excerpt, throttled
from acp_host.printable import one_line
from acp_host.state.clock import Clock, Scheduler
from acp_host.state.notice_entries import NoticeReceived
from acp_host.state.notice_preferences import NoticePreferences
from acp_host.state.notices import NoticeCenter
from acp_host.wire.notices import Notice, NoticeSeverity

__all__ = ["NoticeRouter"]

_logger = logging.getLogger("acp_host.notices")
_LEVELS: dict[str, int] = {
    NoticeSeverity.INFO: logging.INFO,
    NoticeSeverity.WARNING: logging.WARNING,
    NoticeSeverity.ERROR: logging.ERROR,
}

# For the log, in characters.
_MAX_NAME = 80
_MAX_TEXT = 1_000


class NoticeRouter:
    """Takes the notices of one connection.

    Args:
        offered: tells whether the agent may count on it that this host shows notices.
        preferences: how new sessions show them.
        agent_name: returns what to call the agent.
        report: takes diagnostics.
        scheduler: for the notice centers.
        clock: likewise.

    Attributes:
        is_logging: log what nobody observes; not so for notices of long ago, which a recording has.
    """

    def __init__(
        self,
        *,
        offered: Callable[[], bool],
        preferences: NoticePreferences,
        agent_name: Callable[[], str],
        report: Callable[[Diagnostic], None],
        scheduler: Scheduler,
        clock: Clock,
    ) -> None:
        self._offered = offered
        self._preferences = preferences
        self._agent_name = agent_name
        self._report = throttled(report)
        self._scheduler = scheduler
        self._clock = clock
        self.is_logging = True

    def make_center(self, session_id: str) -> NoticeCenter:
        """Return the notice center of a new session."""

        def observer_failed(observer: Callable[..., Any], error: BaseException) -> None:
            text = f"an observer of the session's notices failed: {type(error).__name__}: {error}"
            self._report(Diagnostic(DiagnosticKind.HANDLER_FAILED, text, session_id=session_id))

        return NoticeCenter(
            self._scheduler,
            self._clock,
            agent_name=self._agent_name(),
            preferences=self._preferences,
            report=observer_failed,
        )

    def receive(
        self, session_id: str, notice: Notice, center: NoticeCenter | None, *, during_replay: bool = False
    ) -> None:
        """Take a notice.

        Args:
            session_id: the session it was sent to.
            notice: as it came.
            center: the notice center of that session; ``None`` where no such session is known.
            during_replay: whether it came with a replayed history.
        """
        if center is not None:
            center.apply(
                NoticeReceived.from_wire(session_id, notice, during_replay=during_replay, offered=self._offered())
            )
        if not self._offered():
            self._report_violation(session_id, notice)
        elif self.is_logging and not during_replay and (center is None or _is_to_be_logged(notice, center)):
            self._log(notice)

    def _report_violation(self, session_id: str, notice: Notice) -> None:
        text = "the agent sent a notice although this host does not show any"
        self._report(
            Diagnostic(
                DiagnosticKind.UNEXPECTED,
                text,
                method="session/update",
                session_id=session_id,
                data=excerpt(notice.title),
            )
        )

    def _log(self, notice: Notice) -> None:
        """Log a notice; one of unknown severity at INFO, since no importance may be inferred."""
        text = notice.title if not notice.description else f"{notice.title}: {notice.description}"
        level = _LEVELS.get(notice.severity, logging.INFO)
        _logger.log(level, "%s says: %s", one_line(self._agent_name(), _MAX_NAME), one_line(text, _MAX_TEXT))


def _is_to_be_logged(notice: Notice, center: NoticeCenter) -> bool:
    return not center.is_observed and center.preferences.of(notice.severity).show
