"""The watch over the schema that the tests of the reference agent rely on."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from acp_host.testing import ReferenceAgent
from tests.testing.conftest import Wiretap, validate

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


@pytest.fixture
def tap(validators: Any) -> Wiretap:
    if validators is None:
        pytest.skip("REFERENCE AGENT NOT HELD AGAINST THE SCHEMA: it is not installed; needs npm, then `make setup`")
    return Wiretap(ReferenceAgent().transport())


@pytest.mark.parametrize(
    "message",
    [
        {"id": 0, "result": {"protocolVersion": "1"}},
        {"id": 0, "error": {"code": "x", "message": "y"}},
        {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "usage_update"}}},
        {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "no_such_kind"}}},
        {"id": 9, "method": "terminal/create", "params": {"sessionId": "s"}},
    ],
)
def test_what_does_not_fit_is_found(tap: Wiretap, validators: Any, message: dict[str, Any]) -> None:
    tap.to_agent = [INITIALIZE]
    tap.to_host = [{"jsonrpc": "2.0", **message}]
    with pytest.raises(jsonschema.ValidationError):
        validate(tap, validators)


def test_what_is_no_method_of_the_protocol_is_found(tap: Wiretap, validators: Any) -> None:
    tap.to_host = [{"jsonrpc": "2.0", "method": "x/y", "params": {}}]
    with pytest.raises(AssertionError):
        validate(tap, validators)


def test_what_fits_passes(tap: Wiretap, validators: Any) -> None:
    tap.to_agent = [INITIALIZE]
    tap.to_host = [{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}]
    validate(tap, validators)
