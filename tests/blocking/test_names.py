"""The blocking objects have the names of the asynchronous ones."""

from __future__ import annotations

import inspect

import pytest

import acp_host
from acp_host import blocking
from acp_host.host.authentication import Authentication
from acp_host.host.connected_session import ConnectedSession
from acp_host.host.injections import SessionInjections
from acp_host.state.options import OptionsView
from acp_host.state.session_state import SessionState
from acp_host.testing import ReferenceAgent

FOR_THE_CONNECTION = {
    "HostConnection": {"open"},
    "Session": {
        *vars(ConnectedSession),
        "is_lost",
        "lacks",
        "on_subagent",
        "once",
        "origin",
        "queue_prompt",
        "receive",
        "receive_notification",
        "report_malformed",
        "standing",
        "subagent_state",
        "subagents",
    },
    "Turn": {
        "fail",
        "fail_unsent",
        "finish",
        "finish_cancelled",
        "finish_without_reason",
        "judged",
        "next_updates",
        "note_choice",
        "over",
        "cancel_reason",
        "receive",
        "receive_run",
    },
    "SessionState": {"apply", "attach", "entries_so_far", "harn", "options"},
    "RemindersPanel": {"apply", "commands", "next_id", "status_of"},
    "NoticeCenter": {"apply", "settle"},
    "OptionsView": {"kept", "reducers", "restore"},
    "Authentication": {"connection_ended", "logged_in", "log_in_for", "told", "told_its_own_way"},
    "SessionInjections": {"asked", "continue_from", "ended", "inject"},
    "Observable": {"changed", "is_observed", "join", "note", "note_all"},
}
"""What is there for other parts of the library, and not for applications."""

PAIRS = [
    (acp_host.HostConnection, blocking.HostConnection),
    (acp_host.Session, blocking.Session),
    (acp_host.Turn, blocking.Turn),
    (SessionState, blocking.SessionState),
    (acp_host.RemindersPanel, blocking.RemindersPanel),
    (acp_host.NoticeCenter, blocking.NoticeCenter),
    (OptionsView, blocking.OptionsView),
    (Authentication, blocking.Authentication),
    (SessionInjections, blocking.session.Injections),
]


async def test_no_name_is_missing() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session()
        await (turn := session.prompt("/say Hello"))
        panels = session.state, session.reminders, session.notices, session.options, session.injections
        facades = dict(PAIRS)
        for asynchronous in (host, host.authentication, session, turn, *panels):
            kind = type(asynchronous)
            internal = FOR_THE_CONNECTION["Observable"] | FOR_THE_CONNECTION[kind.__name__]
            names = {name for name in dir(asynchronous) if not name.startswith("_")} - internal
            assert names - set(dir(facades[kind])) == set()


@pytest.mark.parametrize("asynchronous, facade", PAIRS, ids=lambda cls: cls.__name__)
def test_methods_take_the_same_arguments_and_say_what_they_do(asynchronous: type, facade: type) -> None:
    for name in dir(facade):
        method = getattr(facade, name)
        if name.startswith("_") or not inspect.isfunction(method):
            continue
        assert method.__doc__, f"{facade.__name__}.{name} has no docstring"
        original = getattr(asynchronous, name, None)
        if inspect.isfunction(original) and name not in {"connect", "select"}:
            assert list(inspect.signature(method).parameters) == list(inspect.signature(original).parameters), name
