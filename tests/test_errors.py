"""The exceptions, as values."""

from __future__ import annotations

import copy
import pickle

import pytest

import acp_host
from acp_host import errors
from acp_host.wire.harn.prompt import PromptFailure

ERRORS = [
    errors.ReminderInvalid("no such rung", field="rungs", allowed=("a", "b")),
    errors.NotSupported("not agreed", capability="a.b", method="c/d"),
    errors.DecodeError("expected a string", "$.a"),
    errors.MalformedResponse("no response", has_result=True, result={"a": 1}),
    errors.StartFailed("it ended", exit_status=3, stderr_tail="panic"),
    errors.AuthRequired("log in", data={"a": 1}, method="session/new"),
    errors.PromptFailed("busy", failure=PromptFailure(retry_after=2.5), code=-32000),
    errors.LoginFailed("not wanted", method_id="m"),
    errors.SessionNotReopened("s-1", ()),
    errors.ExternalAgentError("gone", kind="transport"),
    errors.OutcomeUnknown("session/prompt", errors.ConnectionLost("it died")),
    errors.ReminderNotDelivered("REMIND", "no such method", reminder_id="r-1"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_they_can_be_pickled_and_copied(error: acp_host.AcpError) -> None:
    error.add_note("say what")
    for same in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(same) is type(error)
        assert str(same) == str(error)
        assert {name: repr(value) for name, value in vars(same).items()} == {
            name: repr(value) for name, value in vars(error).items()
        }
