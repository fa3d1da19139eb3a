"""What a Harn agent's errors mean."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.errors import (
    AuthRequired,
    InvalidParams,
    NoActivePrompt,
    PromptFailed,
    RequestFailed,
    SessionNotFound,
)
from acp_host.protocol.events import CallFailed
from acp_host.wire.harn.prompt import TerminalClass
from acp_host.wire.harn.refusals import refusal_reason
from tests.harn.harness import frames
from tests.protocol.hosts import DEEP, agreed
from tests.protocol.streams import line

HARN: dict[str, Any] = {"_meta": {"harn": {}}}
FAILED: dict[str, Any] = {"schema": "harn.acp.prompt_error.v1", "terminalClass": "rate_limited"}


def failed(code: int, message: str = "no", data: Any = None, *, capabilities: Any = HARN) -> RequestFailed:
    protocol = agreed(capabilities)
    number = protocol.request("session/prompt", {"sessionId": "s", "prompt": []})
    error = {"code": code, "message": message, **({} if data is None else {"data": data})}
    protocol.receive_data(line(id=number, error=error))
    [event] = protocol.events()
    assert isinstance(event, CallFailed)
    assert isinstance(event.error, RequestFailed)
    return event.error


def test_a_prompt_that_failed_says_how_and_whether_to_try_again() -> None:
    data = FAILED | {
        "retryable": True,
        "retryAfterMs": 2_500,
        "category": "throttle",
        "kind": "transient",
        "reason": "quota",
        "code": "429",
        "provider": "p",
        "model": "m",
        "further": 1,
    }
    error = failed(-32000, "model busy", data)
    assert isinstance(error, PromptFailed)
    assert (error.code, error.data, error.method) == (-32000, data, "session/prompt")
    assert (error.terminal_class, error.retryable, error.retry_after) == (TerminalClass.RATE_LIMITED, True, 2.5)
    failure = error.failure
    assert (failure.category, failure.kind, failure.reason, failure.code) == ("throttle", "transient", "quota", "429")
    assert (failure.provider, failure.model, failure.raw) == ("p", "m", data)


def test_the_words_of_the_message_decide_nothing() -> None:
    [_, frame] = frames("jsonrpc_errors.json")
    error = failed(**frame["error"])
    assert isinstance(error, PromptFailed)
    assert error.terminal_class == TerminalClass.TOOL_POLICY_REJECTED
    assert error.retryable is error.retry_after is None


@pytest.mark.parametrize("word", [None, 7, ""])
def test_a_failure_without_a_class_is_a_generic_one(word: Any) -> None:
    error = failed(-32000, data=FAILED | {"terminalClass": word})
    assert isinstance(error, PromptFailed)
    assert error.terminal_class == TerminalClass.GENERIC_THROW


def test_a_time_that_no_clock_can_tell_is_none() -> None:
    error = failed(-32000, data=FAILED | {"retryAfterMs": 10**400})
    assert isinstance(error, PromptFailed)
    assert error.retry_after is None


def test_an_unknown_class_is_kept() -> None:
    error = failed(-32000, data=FAILED | {"terminalClass": "solar_flare", "retryAfterMs": "soon", "retryable": 1})
    assert isinstance(error, PromptFailed)
    assert (error.terminal_class, error.retry_after, error.retryable) == ("solar_flare", None, None)


def test_the_schema_says_what_it_is_whoever_sends_it() -> None:
    assert isinstance(failed(-32000, data=FAILED, capabilities={}), PromptFailed)


@pytest.mark.parametrize(
    ("message", "data"), [("auth_required", None), ("no", {"authMethods": []}), ("no", {"authMethods": [{"id": "a"}]})]
)
def test_a_login_is_wanted_where_it_says_so(message: str, data: Any) -> None:
    assert isinstance(failed(-32000, message, data), AuthRequired)


@pytest.mark.parametrize("data", [None, "text", 5, [], {"schema": 7}, {"authMethods": "all"}, {"schema": DEEP}])
def test_every_other_failure_with_that_code_is_no_wish_for_a_login(data: Any) -> None:
    error = failed(-32000, "cannot store", data)
    assert type(error) is RequestFailed
    assert error.code == -32000


def test_of_another_agent_it_is_one() -> None:
    assert isinstance(failed(-32000, "Please log in", capabilities={}), AuthRequired)


@pytest.mark.parametrize("message", ["Session not found", "session/inject: SESSION NOT FOUND: s", "Unknown session: s"])
def test_a_session_that_it_does_not_know(message: str) -> None:
    error = failed(-32004, message)
    assert isinstance(error, SessionNotFound)
    assert error.code == -32004


@pytest.mark.parametrize("message", ["Session has no active prompt", "no active bridge", ""])
def test_a_session_in_which_nothing_runs(message: str) -> None:
    assert isinstance(failed(-32004, message), NoActivePrompt)


def test_that_code_means_nothing_of_another_agent() -> None:
    assert type(failed(-32004, "Session not found", capabilities={})) is RequestFailed


@pytest.mark.parametrize(
    ("message", "data", "reason"),
    [
        ("pending inject already delivered", {"reason": "already_delivered", "code": "x"}, "already_delivered"),
        ("no policy", {"code": "environment_policy.missing"}, "environment_policy.missing"),
        ("session/remind: HARN-RMD-042: new", None, "HARN-RMD-042"),
        ("session/remind: HARN-RMD-001: x", {"reason": None}, "HARN-RMD-001"),
        ("HARN-RMD-1", {"reason": 7, "code": -1}, None),
        ("invalid_model: no such model", None, "invalid_model"),
        ("this is no invalid_model: it", None, None),
        ("no", "text", None),
        ("no", [1], None),
        ("no", None, None),
    ],
)
def test_why_something_was_refused_in_a_word(message: str, data: Any, reason: str | None) -> None:
    error = failed(-32602, message, data)
    assert isinstance(error, InvalidParams)
    assert refusal_reason(error) == reason
