"""Wrong arguments of ``connect()`` are named before anything is launched."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import acp_host
from acp_host.testing import ReferenceAgent

WRONG: dict[str, Any] = {
    "cwd": 3,
    "env": 3,
    "files": 3,
    "terminals": "x",
    "permissions": 3,
    "audit": "audit.jsonl",
    "elicitation": 3,
    "handlers": 3,
    "notices": "loud",
    "client_info": "me",
    "start_timeouts": 3,
    "cancel_timeouts": 3,
    "stop_timeouts": 3,
    "process_records": 3,
    "on_stderr": 3,
    "memory": 3,
    "quirks": 3,
    "unstable": "yes",
    "sidebar": "yes",
    "max_message_size": "big",
}


@pytest.mark.parametrize("name", WRONG)
def test_an_argument_of_a_wrong_type(name: str) -> None:
    with pytest.raises(acp_host.InvalidInput, match=name):
        acp_host.connect(["agent"], **{name: WRONG[name]})


def test_a_maximum_that_no_message_fits_into() -> None:
    with pytest.raises(acp_host.InvalidInput, match="at least 1024"):
        acp_host.connect(["agent"], max_message_size=0)


@pytest.mark.parametrize("kind", [acp_host.PermissionQueue, acp_host.PermissionPolicy])
def test_a_class_in_place_of_an_object_is_not_taken_for_a_function(kind: Any) -> None:
    with pytest.raises(acp_host.InvalidInput, match=rf"not the class {kind.__name__}: write {kind.__name__}"):
        acp_host.connect(["agent"], permissions=kind)


def test_what_was_probably_meant_is_said() -> None:
    with pytest.raises(acp_host.InvalidInput, match=r"a function or None, not str; PermissionPolicy.load\(path\)"):
        acp_host.connect(["agent"], permissions="policy.toml")


def test_an_agent_in_place_of_its_transport() -> None:
    with pytest.raises(acp_host.InvalidInput, match=r"pass its transport\(\)"):
        acp_host.connect(ReferenceAgent())


def test_a_connection_that_was_not_awaited_says_so() -> None:
    with pytest.raises(AttributeError, match=r"'new_session'.*host = await acp_host.connect"):
        _ = acp_host.connect(["agent"]).new_session


def test_the_signature_is_short_enough_to_be_read() -> None:
    assert len(str(inspect.signature(acp_host.connect))) < 2_000
