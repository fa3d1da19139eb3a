"""Wrong arguments of ``connect()`` are named before anything is launched."""

from __future__ import annotations

from typing import Any

import pytest

import acp_host

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
    "quirks": None,
    "max_message_size": "big",
}


@pytest.mark.parametrize("name", WRONG)
def test_an_argument_of_a_wrong_type(name: str) -> None:
    with pytest.raises(acp_host.InvalidInput, match=name):
        acp_host.connect(["agent"], **{name: WRONG[name]})


def test_a_maximum_that_no_message_fits_into() -> None:
    with pytest.raises(acp_host.InvalidInput, match="at least 1024"):
        acp_host.connect(["agent"], max_message_size=0)
