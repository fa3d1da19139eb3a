"""Which JSON-RPC message a decoded object is, and how the ones that are sent look."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.wire._model import UNSET
from acp_host.wire.codec import encode, read
from acp_host.wire.jsonrpc import (
    ErrorResponse,
    Invalid,
    Notification,
    Request,
    Response,
    classify,
    error_message,
    notification_message,
    request_message,
    result_message,
)

ERROR = {"code": -32601, "message": "Method not found"}


def v2(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **members}


@pytest.mark.parametrize("request_id", [0, 1, -1, 2**70, "", "1", "a-b", "\ud83d", None, 1.5])
def test_a_method_with_any_id_is_a_request(request_id: Any) -> None:
    request = classify(v2(id=request_id, method="m", params={"a": 1}))
    assert request == Request(request_id, "m", {"a": 1})
    assert isinstance(request, Request)
    assert type(request.id) is type(request_id)


def test_a_method_without_id_is_a_notification() -> None:
    assert classify(v2(method="m", params={"a": 1})) == Notification("m", {"a": 1})


@pytest.mark.parametrize("params", [{}, {"a": 1}, [], [1], None])
def test_parameters_are_kept_as_sent(params: Any) -> None:
    assert classify(v2(method="m", params=params)) == Notification("m", params)
    assert classify(v2(id=1, method="m", params=params)) == Request(1, "m", params)


def test_absent_parameters_are_unset() -> None:
    assert classify(v2(method="m")) == Notification("m", UNSET)
    assert classify(v2(id=1, method="m")) == Request(1, "m", UNSET)


@pytest.mark.parametrize("version", [{}, {"jsonrpc": "1.0"}, {"jsonrpc": 2.0}, {"jsonrpc": None}])
def test_a_call_without_version_is_taken_and_marked(version: dict[str, Any]) -> None:
    assert classify({**version, "method": "m", "params": {}}) == Notification("m", {}, versioned=False)
    assert classify({**version, "method": "m"}) == Notification("m", versioned=False)
    assert classify({**version, "id": 1, "method": "m"}) == Request(1, "m", versioned=False)


@pytest.mark.parametrize("result", [None, {}, [], 0, "", False, {"stopReason": "end_turn"}])
def test_a_result_is_a_response(result: Any) -> None:
    assert classify(v2(id=1, result=result)) == Response(1, result)
    assert classify(v2(id=1, result=result, error=None)) == Response(1, result)


@pytest.mark.parametrize("request_id", [0, 2**70, "1", "", None])
def test_the_id_of_a_response_is_verbatim(request_id: Any) -> None:
    response = classify(v2(id=request_id, result={}))
    assert isinstance(response, Response)
    assert (response.id, type(response.id)) == (request_id, type(request_id))


def test_an_error_is_an_error_response() -> None:
    assert classify(v2(id=1, error=ERROR)) == ErrorResponse(1, ERROR)
    assert classify(v2(id=1, error={**ERROR, "data": [1]})) == ErrorResponse(1, {**ERROR, "data": [1]})
    assert classify(v2(id=1, error=ERROR, result=None)) == ErrorResponse(1, ERROR)


def test_an_error_may_lack_its_id() -> None:
    assert classify(v2(error=ERROR)) == ErrorResponse(UNSET, ERROR)
    assert classify(v2(id=None, error=ERROR)) == ErrorResponse(None, ERROR)


MALFORMED_RESPONSES: dict[str, dict[str, Any]] = {
    "only an id (a result that was undefined)": v2(id=7),
    "both": v2(id=7, result={}, error=ERROR),
    "both, an empty result": v2(id=7, result="", error=ERROR),
    "an error that is null": v2(id=7, error=None),
    "an error that is a string": v2(id=7, error="boom"),
    "an error that is empty": v2(id=7, error={}),
    "an error that is false": v2(id=7, error=False),
    "a code that is a string": v2(id=7, error={"code": "-32601", "message": "m"}),
    "a code that is true": v2(id=7, error={"code": True, "message": "m"}),
    "a code with a fraction": v2(id=7, error={"code": 1.0, "message": "m"}),
    "no code": v2(id=7, error={"message": "m"}),
    "no message": v2(id=7, error={"code": 1}),
    "a message that is null": v2(id=7, error={"code": 1, "message": None}),
    "no version": {"id": 7, "result": {}},
    "no version in an error": {"id": 7, "error": ERROR},
    "another version": {"jsonrpc": "1.0", "id": 7, "result": {}},
    "a method beside the result": v2(id=7, method="initialize", result={}),
    "a method beside the error": v2(id=7, method="initialize", error=ERROR),
    "a method that is null": v2(id=7, method=None, result={}),
}


@pytest.mark.parametrize("name", MALFORMED_RESPONSES)
def test_a_malformed_response_keeps_the_id_of_the_call_that_it_fails(name: str) -> None:
    invalid = classify(MALFORMED_RESPONSES[name])
    assert isinstance(invalid, Invalid)
    assert invalid.id == 7
    assert invalid.looks_like_response
    assert invalid.reason


WRONG_IDS = [True, False, [], [1], {}, math.inf, math.nan]


@pytest.mark.parametrize("wrong", WRONG_IDS, ids=repr)
def test_what_cannot_be_an_id_is_none(wrong: Any) -> None:
    variants: list[dict[str, Any]] = [{"result": {}}, {"error": ERROR}, {}]
    for members in variants:
        invalid = classify(v2(id=wrong, **members))
        assert isinstance(invalid, Invalid)
        assert (invalid.id, invalid.looks_like_response) == (UNSET, True)
    invalid = classify(v2(id=wrong, method="m", params={}))
    assert isinstance(invalid, Invalid)
    assert (invalid.id, invalid.method, invalid.looks_like_response, invalid.code) == (UNSET, "m", False, -32600)


@pytest.mark.parametrize("members", [{"result": {}}, {"error": "boom"}], ids=repr)
def test_a_malformed_response_without_id_answers_nothing(members: dict[str, Any]) -> None:
    invalid = classify(v2(**members))
    assert isinstance(invalid, Invalid)
    assert (invalid.id, invalid.looks_like_response) == (UNSET, True)


@pytest.mark.parametrize("message", [{}, {"jsonrpc": "2.0"}, {"level": "info", "message": "a log line in JSON"}])
def test_an_object_without_any_member_of_the_protocol(message: dict[str, Any]) -> None:
    invalid = classify(message)
    assert isinstance(invalid, Invalid)
    assert (invalid.id, invalid.method, invalid.looks_like_response) == (UNSET, None, False)


@pytest.mark.parametrize("method", [None, 1, True, [], {}])
def test_a_method_that_is_no_string(method: Any) -> None:
    invalid = classify(v2(id=7, method=method, params={}))
    assert isinstance(invalid, Invalid)
    assert (invalid.id, invalid.method, invalid.looks_like_response, invalid.code) == (7, None, False, -32600)
    assert isinstance(classify(v2(method=method, params={})), Invalid)


@pytest.mark.parametrize("params", [1, "a", True, 0.5])
def test_parameters_that_are_neither_object_nor_array(params: Any) -> None:
    invalid = classify(v2(id=7, method="m", params=params))
    assert isinstance(invalid, Invalid)
    assert (invalid.id, invalid.method, invalid.looks_like_response, invalid.code) == (7, "m", False, -32602)
    assert isinstance(classify(v2(method="m", params=params)), Invalid)


def test_null_members_beside_a_method_mean_nothing() -> None:
    assert classify(v2(id=7, method="m", params={}, result=None, error=None)) == Request(7, "m", {})


@pytest.mark.parametrize("params", [{}, []])
def test_nobody_waits_for_a_message_without_id(params: Any) -> None:
    assert classify(v2(method="m", params=params, result=1)) == Notification("m", params)


MEMBERS = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from([{}, ERROR, []])


@given(
    st.dictionaries(st.sampled_from(["id", "method", "params", "result", "error"]), MEMBERS),
    st.sampled_from([{}, {"jsonrpc": "2.0"}, {"jsonrpc": 2}]),
)
def test_the_rules_in_other_words(members: dict[str, Any], version: dict[str, Any]) -> None:
    message = {**version, **members}
    kind = classify(message)
    if isinstance(kind, Request | Notification):
        assert ("id" in message) == isinstance(kind, Request)
        assert kind.method == message["method"]
    elif isinstance(kind, Response | ErrorResponse):
        assert "method" not in message
        assert message["jsonrpc"] == "2.0"
        assert (message.get("error") is None) == isinstance(kind, Response)
    else:
        assert kind.looks_like_response or "result" not in message or "method" in message
    if not isinstance(kind, Notification) and kind.id is not UNSET:
        assert kind.id is message["id"]
        assert not isinstance(kind.id, bool)


@given(
    st.integers() | st.text(max_size=3) | st.none(),
    st.text(min_size=1),
    st.sampled_from([UNSET, None, {}, {"a": 1}, [1]]),
)
def test_what_we_send_is_what_the_other_side_reads(request_id: Any, method: str, params: Any) -> None:
    def received(message: dict[str, Any]) -> Any:
        return classify(read(encode(message), lambda repair: pytest.fail(repair.message)))

    assert received(request_message(request_id, method, params)) == Request(request_id, method, params)
    assert received(notification_message(method, params)) == Notification(method, params)
    assert received(result_message(request_id, {"a": 1})) == Response(request_id, {"a": 1})
    assert received(result_message(request_id, None)) == Response(request_id, None)
    assert received(error_message(request_id, -32601, method)) == ErrorResponse(
        request_id, {"code": -32601, "message": method}
    )


def test_absent_members_are_left_out() -> None:
    assert request_message(1, "m") == {"jsonrpc": "2.0", "id": 1, "method": "m"}
    assert notification_message("m", None) == {"jsonrpc": "2.0", "method": "m", "params": None}
    assert error_message(None, 1, "m") == {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "m"}}
    assert error_message(1, 1, "m", None)["error"] == {"code": 1, "message": "m", "data": None}
