"""The host without ``await``: the same names, on a loop in a thread of its own.

See :func:`acp_host.blocking.connect` and :func:`acp_host.blocking.run_prompt`. Errors and values are those of
:mod:`acp_host`.
"""

from acp_host.blocking.connect import connect
from acp_host.blocking.connection import Authentication, HostConnection, ReopenedSession
from acp_host.blocking.observables import NoticeCenter, Observable, OptionsView, RemindersPanel, SessionState
from acp_host.blocking.run import Run
from acp_host.blocking.run_prompt import run_prompt
from acp_host.blocking.session import Session
from acp_host.blocking.turn import Turn

__all__ = [
    "Authentication",
    "HostConnection",
    "NoticeCenter",
    "Observable",
    "OptionsView",
    "RemindersPanel",
    "ReopenedSession",
    "Run",
    "Session",
    "SessionState",
    "Turn",
    "connect",
    "run_prompt",
]
