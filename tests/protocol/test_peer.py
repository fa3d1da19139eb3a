"""The JSON-RPC peer: what it sends, how it ends, and how it bears floods. What comes in is in the table beside."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_host.diagnostics import MAX_DATA, Diagnostic, DiagnosticKind
from acp_host.errors import (
    AuthRequired,
    ConnectionClosed,
    ConnectionLost,
    InvalidInput,
    InvalidState,
    MalformedResponse,
    OutcomeUnknown,
    RequestFailed,
)
from acp_host.protocol.events import CallFailed, Ended, NotificationReceived, RequestReceived, ResponseReceived
from acp_host.protocol.peer import Peer
from acp_host.wire._model import UNSET
from tests.protocol.streams import BIG, happened, line, make_peer, sent

# ---- what is sent ----


def test_calls_are_numbered_from_zero() -> None:
    peer = Peer()
    assert [peer.send_request("m"), peer.send_request("n", None), peer.send_request("o", {"a": [1]})] == [0, 1, 2]
    peer.send_notification("p")
    peer.send_notification("q", {})

    assert sent(peer) == [
        {"jsonrpc": "2.0", "id": 0, "method": "m"},
        {"jsonrpc": "2.0", "id": 1, "method": "n", "params": None},
        {"jsonrpc": "2.0", "id": 2, "method": "o", "params": {"a": [1]}},
        {"jsonrpc": "2.0", "method": "p"},
        {"jsonrpc": "2.0", "method": "q", "params": {}},
    ]
    assert peer.data_to_send() == b""
    assert peer.events() == []


def test_what_has_no_json_form_is_not_sent() -> None:
    peer = Peer()
    for send in (peer.send_request, peer.send_notification):
        with pytest.raises(InvalidInput):
            send("m", {"a": object()})
    assert peer.data_to_send() == b""
    peer.receive_eof()
    assert happened(peer) == [("ended", None)]  # no call was made, so none failed


@pytest.mark.parametrize("request_id", [0, "", "a", None, 1.5, -1, BIG, "\ud83d"])
def test_an_answer_has_the_id_of_the_request_verbatim(request_id: Any) -> None:
    for answer in (lambda peer: peer.send_result(request_id, {}), lambda peer: peer.send_error(request_id, 1, "m")):
        peer = Peer()
        peer.receive_data(line(id=request_id, method="do"))
        [request] = peer.events()
        assert repr(request.id) == repr(request_id)
        answer(peer)
        assert repr(sent(peer)[0]["id"]) == repr(request_id)


def test_a_request_is_answered_once() -> None:
    peer = make_peer()
    peer.receive_data(line(id=7, method="do") + line(id="7", method="do"))
    assert peer.unanswered == (7, "7")

    peer.send_result(7, None)
    assert peer.unanswered == ("7",)
    for unknown in (7, 0, "0", None, 7.0, True):
        with pytest.raises(InvalidState, match="waits for an answer"):
            peer.send_result(unknown, None)
        with pytest.raises(InvalidState, match="waits for an answer"):
            peer.send_error(unknown, 1, "m")
    peer.send_error("7", -32603, "m", {"d": 1})

    assert sent(peer) == [
        {"jsonrpc": "2.0", "id": 7, "result": None},
        {"jsonrpc": "2.0", "id": "7", "error": {"code": -32603, "message": "m", "data": {"d": 1}}},
    ]


def test_an_answer_that_cannot_be_sent_leaves_the_request_open() -> None:
    peer = make_peer()
    peer.receive_data(line(id=7, method="do"))
    with pytest.raises(InvalidInput):
        peer.send_result(7, object())
    assert peer.data_to_send() == b""
    peer.send_result(7, 1)
    assert len(sent(peer)) == 1


def test_an_id_can_be_used_again_after_its_answer() -> None:
    peer = make_peer()
    for _ in range(2):
        peer.receive_data(line(id=7, method="do"))
        assert happened(peer) == [("request", 7, "do", UNSET)]
        peer.send_result(7, 1)
    assert len(sent(peer)) == 2


def test_every_request_gets_one_answer_whatever_its_id() -> None:
    peer = make_peer()
    peer.receive_data(line(id=7, method="do", params={"first": 1}) + line(id=7, method="do", params={"second": 2}))
    assert happened(peer)[0] == ("request", 7, "do", {"first": 1})
    peer.send_result(7, "first")

    assert [message.get("result", "refused") for message in sent(peer)] == ["refused", "first"]
    with pytest.raises(InvalidState):
        peer.send_result(7, "second")


def test_a_request_of_ours_can_be_withdrawn_while_it_waits() -> None:
    peer = make_peer()
    peer.cancel_request(1)
    peer.cancel_request(99)
    assert sent(peer) == [{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}]

    peer.receive_data(line(id=1, error={"code": -32800, "message": "cancelled"}))
    assert happened(peer) == [("failed", 1, "b", "RequestCancelled")]
    peer.cancel_request(1)
    assert peer.data_to_send() == b""


# ---- errors ----


def test_an_error_response_tells_all_it_has() -> None:
    peer = make_peer()
    peer.receive_data(line(id=1, error={"code": -32000, "message": "log in", "data": {"url": "u"}}))
    [event] = peer.events()

    assert isinstance(event, CallFailed)
    failure = event.error
    assert isinstance(failure, AuthRequired)
    assert (failure.code, failure.message, failure.data, failure.method) == (-32000, "log in", {"url": "u"}, "b")
    assert str(failure) == "b failed with -32000: log in"


def test_an_error_code_of_the_peers_own_is_kept() -> None:
    peer = make_peer()
    peer.receive_data(
        line(id=0, error={"code": -(2**63), "message": ""}) + line(id=1, error={"code": 0, "message": "m"})
    )
    first, second = (event.error for event in peer.events())
    assert [type(first), type(second)] == [RequestFailed, RequestFailed]
    assert (second.code, second.data) == (0, None)


def test_a_call_that_failed_for_an_unusable_answer_says_why() -> None:
    peer = make_peer()
    peer.receive_data(line(id=0, result=1, error={"code": 1, "message": "m"}))
    diagnostic, event = peer.events()

    assert isinstance(event, CallFailed)
    assert isinstance(event.error, MalformedResponse)
    assert str(event.error) == "the answer to a cannot be used: both a result and an error"
    assert diagnostic.data.startswith('{"jsonrpc"')


def test_events_carry_the_line_they_came_in() -> None:
    peer = make_peer()
    lines = [line(method="m"), line(id=7, method="do"), line(id=0, result=1)]
    peer.receive_data(b"".join(lines))
    assert [event.line + b"\n" for event in peer.events()] == lines


# ---- the end ----


def test_the_end_fails_every_call() -> None:
    peer = make_peer()
    peer.receive_data(line(id=0, result=1) + line(id=7, method="do"))
    peer.send_request("c")
    peer.data_to_send()
    peer.events()
    assert not peer.ended

    peer.receive_eof()
    failures = peer.events()
    assert peer.ended
    assert [event.method for event in failures[:-1]] == ["b", "c"]
    for event in failures[:-1]:
        assert isinstance(event.error, OutcomeUnknown)
        assert event.error.method == event.method
        assert isinstance(event.error.cause, ConnectionLost)
    assert failures[-1] == Ended(None)
    assert peer.unanswered == ()


def test_the_end_says_what_is_known_of_it() -> None:
    peer = make_peer()
    lost = ConnectionLost("the agent was killed", exit_status=-9, stderr_tail="out of memory")
    peer.receive_eof(lost)
    *failures, ended = peer.events()

    assert [event.error.cause for event in failures] == [lost, lost]
    assert "out of memory" in str(failures[0].error)
    assert ended == Ended(lost)


def test_nothing_comes_after_the_end() -> None:
    peer = make_peer()
    peer.receive_eof()
    peer.events()

    peer.receive_eof(ConnectionLost("again"))
    peer.receive_data(line(method="m") + line(id=0, result=1) + line(id=7, method="x"))
    assert peer.events() == []
    assert peer.data_to_send() == b""
    for send in (peer.send_request, peer.send_notification):
        with pytest.raises(ConnectionClosed, match="m was not sent"):
            send("m")


def test_answers_after_the_end_are_for_nobody() -> None:
    peer = make_peer()
    peer.receive_data(line(id=7, method="do"))
    peer.receive_eof()
    peer.send_result(7, 1)
    peer.send_error(8, 1, "m")
    peer.cancel_request(0)
    assert peer.data_to_send() == b""


def test_a_last_line_without_its_newline_counts() -> None:
    peer = make_peer()
    peer.receive_data(line(method="m") + line(id=0, result=1)[:-1])
    assert happened(peer) == [("notification", "m", UNSET)]
    peer.receive_eof()
    assert happened(peer) == [("response", 0, "a", 1), ("failed", 1, "b", "OutcomeUnknown"), ("ended", None)]


@pytest.mark.parametrize("rest", [b'{"jsonrpc":"2.0","id":0,"result":{"a":', b'{"id":0,"result":"' + b"x" * 20_000])
def test_an_answer_that_the_end_cuts_off_ends_its_call_with_the_cause(rest: bytes) -> None:
    # What ended the agent says more than that half an answer cannot be read.
    peer = make_peer()
    peer.receive_data(rest)
    lost = ConnectionLost("the agent was killed", exit_status=-9)
    peer.receive_eof(lost)
    diagnostic, *failures, ended = peer.events()

    assert diagnostic.kind in (DiagnosticKind.UNREADABLE, DiagnosticKind.OVERSIZED)
    assert [(event.id, type(event.error), event.error.cause) for event in failures] == [
        (0, OutcomeUnknown, lost),
        (1, OutcomeUnknown, lost),
    ]
    assert ended == Ended(lost)


def test_a_request_in_the_last_line_is_told_and_may_be_answered() -> None:
    peer = make_peer()
    peer.receive_data(line(id=7, method="do")[:-1])
    peer.receive_eof()
    assert happened(peer)[0] == ("request", 7, "do", UNSET)
    peer.send_result(7, 1)
    assert peer.data_to_send() == b""


# ---- floods ----


def test_a_flood_of_noise_stays_small_and_adds_up() -> None:
    peer = make_peer()
    noise: list[Diagnostic] = []
    for _ in range(100):
        peer.receive_data(b"".join(b"log line %d\n" % i for i in range(1_000)))
        noise += peer.events()
    assert len(noise) < 50
    assert sum(diagnostic.count for diagnostic in noise) <= 100_000

    peer.receive_data(line(method="m"))
    assert happened(peer) == [("notification", "m", UNSET)]
    peer.receive_eof()
    noise += [event for event in peer.events() if isinstance(event, Diagnostic)]
    assert {diagnostic.kind for diagnostic in noise} == {DiagnosticKind.NOISE}
    assert sum(diagnostic.count for diagnostic in noise) == 100_000
    assert noise[-1].data == "log line 999"


def test_a_flood_of_one_kind_hides_no_other() -> None:
    peer = make_peer()
    peer.receive_data(b"log\n" * 1_000 + line(id=99, result=1))
    assert happened(peer)[-1] == ("unknown_response",)


def test_unknown_requests_are_all_answered_however_many() -> None:
    peer = make_peer()
    peer.receive_data(b"".join(line(id=i, method="x") for i in range(1_000)))
    assert len(peer.events()) < 50
    assert [message["id"] for message in sent(peer)] == list(range(1_000))
    assert peer.unanswered == ()


def test_what_the_other_side_writes_is_never_kept_or_sent_back_at_length() -> None:
    peer = Peer(serves=lambda method: method == "do")
    peer.send_request("a")
    peer.data_to_send()
    long = "x" * 100_000
    messages = [
        {"id": 1, "method": long},
        {"id": 99, "result": long},
        {"id": long, "result": 1},
        {"id": 99, "error": {"code": 1, "message": long}},
        {"id": long, "method": "do"},
        {"id": long, "method": "do"},
        {"method": long, "params": 5},
        {"method": "$/cancel_request", "params": {long: long}},
    ]
    peer.receive_data(b"".join(line(**message) for message in messages))
    peer.receive_data(b"log " + long.encode() + b"\n" + b'{"method":"' + long.encode() + b'","id":5,\n')

    diagnostics = [event for event in peer.events() if isinstance(event, Diagnostic)]
    assert len(diagnostics) == 9
    for diagnostic in diagnostics:
        assert all(len(text or "") <= MAX_DATA for text in (diagnostic.message, diagnostic.method, diagnostic.data))
    for message in sent(peer):
        assert len(json.dumps(message["error"])) < 3 * MAX_DATA


# ---- for those who build on it ----


def test_a_shortcut_is_asked_first() -> None:
    def shortcut(message: dict[str, Any], line: bytes) -> Any:
        return "quick" if message.get("method") == "quick" else None

    peer = Peer(shortcut=shortcut)
    peer.receive_data(line(method="m") + line(method="quick", id=1) + line(method="n"))
    assert [event if event == "quick" else event.method for event in peer.events()] == ["m", "quick", "n"]
    assert peer.unanswered == ()


def test_events_can_be_translated_and_what_is_answered_then_is_answered_at_once() -> None:
    def translate(event: Any) -> Any:
        if isinstance(event, RequestReceived) and event.params == "no":
            return None
        if isinstance(event, RequestReceived):
            peer.report(Diagnostic(DiagnosticKind.UNEXPECTED, "odd"))
            peer.send_error(event.id, 1, "m")
            return None
        return event.method if isinstance(event, NotificationReceived | ResponseReceived) else event

    peer = Peer(translate=translate)
    peer.send_request("a")
    # The second one may have the id of the first, because that one is answered by then.
    peer.receive_data(line(id=7, method="do") + line(id=7, method="do") + line(method="m") + line(id=0, result=1))

    diagnostic, other, *methods = peer.events()
    assert (diagnostic.kind, other.kind, methods) == (DiagnosticKind.UNEXPECTED, DiagnosticKind.UNEXPECTED, ["m", "a"])
    assert [message.get("method", message.get("error", {}).get("code")) for message in sent(peer)] == ["a", 1, 1]
