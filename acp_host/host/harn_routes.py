"""Whose a message of Harn is that does not name its session, or names it in another way: :class:`HarnRoutes`.

=======================================  =============================================================================
what a message names                     it belongs to
=======================================  =============================================================================
a session that is open here              that session
``promptCorrelation``, of a prompt that  the session of the prompt
this host has sent
neither                                  the session of the only prompt that runs, else the only session
=======================================  =============================================================================

Agents of a bridge leave the session out, or name it with an empty string. A permission request is of no session but
one whose prompt runs: otherwise nobody is to be asked. A notification for an id that is not known yet waits while a
session is being opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind, throttled
from acp_host.host.session import Session
from acp_host.host.session_table import HarnNotification, SessionTable
from acp_host.wire._model import NO_EXTRA
from acp_host.wire.harn.correlation import prompt_name

__all__ = ["HarnRoutes"]

_OF_PROMPTS = ("session/request_permission",)
"""Messages that belong to a prompt, and without one to nobody."""
_OF_SESSIONS = ("_harn/agentEvent",)
"""Notifications that always name their session, if only by an empty string."""


class HarnRoutes:
    """The sessions of a connection, as Harn's messages name them.

    Args:
        sessions: the sessions.
        is_harn: tells whether the agent is Harn; another agent's notifications of the same name are not touched.
        report: takes diagnostics.
    """

    def __init__(
        self, sessions: SessionTable, is_harn: Callable[[], bool], report: Callable[[Diagnostic], None]
    ) -> None:
        self._sessions = sessions
        self._is_harn = is_harn
        self._report = throttled(report)

    def session_of(self, params: Any, *, runs: bool = False) -> Session | None:
        """Return the session that the parameters of a request or notification belong to, or ``None``.

        Args:
            params: the parameters.
            runs: where they do not say, a session without a prompt that runs is none.
        """
        told: Mapping[str, Any] = params if isinstance(params, Mapping) else NO_EXTRA
        session_id = told.get("sessionId") or told.get("session_id")
        if isinstance(session_id, str):
            return self._sessions.owner(session_id)
        name = prompt_name(told)
        if name is not None and (session := self._sessions.of_prompt(name)) is not None:
            return session
        running = [session for session in self._sessions if session.current_turn is not None]
        sessions = running if running or runs else list(self._sessions)
        return sessions[0] if len(sessions) == 1 else None

    def session_id_of(self, method: str, params: Any) -> str | None:
        """Return the id of the session that a message without one belongs to, given its wire method."""
        session = self.session_of(params, runs=method in _OF_PROMPTS)
        return None if session is None else session.id

    def take(self, method: str, params: Any) -> bool:
        """Take a notification into the state of its session; tell whether it is one of Harn's."""
        if not self._is_harn():
            return False
        from acp_host.translate.harn.notifications import NOTIFICATIONS  # loaded when an agent turns out to be Harn

        if method not in NOTIFICATIONS:
            return False
        session_id = params.get("sessionId") if isinstance(params, Mapping) else None
        if isinstance(session_id, str) and session_id:
            self._sessions.receive_notification(HarnNotification(session_id, method, params))
            return True
        session = self.session_of(params)
        if method in _OF_SESSIONS and not isinstance(session_id, str):
            self._report(Diagnostic(DiagnosticKind.MALFORMED, f"{method} names no session", method=method, data=params))
        elif session is None or not isinstance(params, Mapping):
            text = f"the agent sent {method}, which belongs to no session that is open here"
            self._report(Diagnostic(DiagnosticKind.UNEXPECTED, text, method=method, data=params))
        else:
            session.receive_notification(method, params)
        return True
