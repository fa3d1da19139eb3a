"""What an agent's error means: that somebody has to log in, and how."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.errors import AuthRequired, InternalError, RequestFailed
from acp_host.protocol.events import CallFailed
from acp_host.quirks import QUIRKS, Quirk
from tests.protocol.hosts import DEEP, agreed
from tests.protocol.streams import line

LOGIN = {"id": "browser", "name": "Log in"}
OLD = {"name": "GitHub Copilot", "version": "0.0.372"}


def failed(error: dict[str, Any], *, quirks: tuple[Quirk, ...] = QUIRKS, **members: Any) -> RequestFailed:
    protocol = agreed(quirks=quirks, **{"authMethods": [LOGIN], **members})
    number = protocol.request("session/new", {"cwd": "/", "mcpServers": []})
    protocol.receive_data(line(id=number, error=error))
    [event] = protocol.events()
    assert isinstance(event, CallFailed)
    assert isinstance(event.error, RequestFailed)
    return event.error


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Not logged in"},
        {"message": "Internal error", "data": {"details": "Authentication required. Run /login."}},
        {"message": "Please sign in first"},
    ],
)
def test_an_agent_that_says_it_by_another_code(error: dict[str, Any]) -> None:
    refused = failed({"code": -32603, **error}, agentInfo=OLD)
    assert isinstance(refused, AuthRequired)
    assert (refused.code, refused.message, refused.method) == (-32603, error["message"], "session/new")
    assert [method.id for method in refused.methods] == ["browser"]


@pytest.mark.parametrize(
    "change",
    [
        {"agentInfo": {"name": "GitHub Copilot", "version": "1.0.64"}},
        {"agentInfo": {"name": "GitHub Copilot", "version": "0.0.401-1"}},
        {"agentInfo": {"name": "another", "version": "0.0.372"}},
        {"authMethods": []},
        {"quirks": ()},
    ],
)
def test_it_is_a_quirk_of_one_agent_that_lists_ways_to_log_in(change: dict[str, Any]) -> None:
    refused = failed({"code": -32603, "message": "Not logged in"}, **{"agentInfo": OLD, **change})
    assert type(refused) is InternalError


@pytest.mark.parametrize("error", [{"message": "The disk is full"}, {"message": "author unknown"}])
def test_other_failures_of_that_agent_stay_what_they_are(error: dict[str, Any]) -> None:
    assert type(failed({"code": -32603, **error}, agentInfo=OLD)) is InternalError


def test_data_that_is_nested_without_end_does_no_harm() -> None:
    assert type(failed({"code": -32603, "message": "no", "data": DEEP}, agentInfo=OLD)) is InternalError
    assert isinstance(failed({"code": -32000, "message": "no", "data": {"authMethods": [DEEP]}}), AuthRequired)


def test_the_ways_to_log_in_go_with_the_error() -> None:
    [method] = failed({"code": -32000, "message": "no"}).methods
    assert method.id == "browser"
    [method] = failed({"code": -32000, "message": "no", "data": {"authMethods": [{"id": "x", "name": "X"}]}}).methods
    assert method.id == "x"
