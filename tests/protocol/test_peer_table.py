"""The JSON-RPC peer as a table: what comes in, what is told, what goes out; whole and in pieces."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.wire._model import UNSET
from tests.protocol.streams import BIG, feed, happened, line, make_peer, same_in_every_cut, sent

DEEP = b"[" * 2_000 + b"]" * 2_000


def error(code: int, id: Any, **members: Any) -> dict[str, Any]:
    return {"id": id, "error": {"code": code, **members}}


# name → what comes, what is told, what is sent (without jsonrpc and the texts of errors)
TABLE: dict[str, tuple[bytes, list[tuple[Any, ...]], list[dict[str, Any]]]] = {
    "nothing": (b"", [], []),
    "empty lines": (b"\n\r\n\n", [], []),
    "a notification": (line(method="m", params={"a": 1}), [("notification", "m", {"a": 1})], []),
    "a notification without params": (line(method="m"), [("notification", "m", UNSET)], []),
    "params null": (line(method="m", params=None), [("notification", "m", None)], []),
    "params an array": (line(method="m", params=[1]), [("notification", "m", [1])], []),
    "CRLF and a byte order mark": (
        b"\xef\xbb\xbf" + line(method="m")[:-1] + b"\r\n",
        [("notification", "m", UNSET)],
        [],
    ),
    "two in one piece": (
        line(method="m") + line(method="n"),
        [("notification", "m", UNSET), ("notification", "n", UNSET)],
        [],
    ),
    # Requests, and their ids.
    "a request": (line(id=7, method="do", params={}), [("request", 7, "do", {})], []),
    "id zero": (line(id=0, method="do"), [("request", 0, "do", UNSET)], []),
    "id empty": (line(id="", method="do"), [("request", "", "do", UNSET)], []),
    "id a string": (line(id="7", method="do"), [("request", "7", "do", UNSET)], []),
    "id null": (line(id=None, method="do"), [("request", None, "do", UNSET)], []),
    "id a fraction": (line(id=1.5, method="do"), [("request", 1.5, "do", UNSET)], []),
    "id a whole float": (line(id=7.0, method="do"), [("request", 7.0, "do", UNSET)], []),
    "id negative": (line(id=-1, method="do"), [("request", -1, "do", UNSET)], []),
    "id of more than 64 bits": (line(id=BIG, method="do"), [("request", BIG, "do", UNSET)], []),
    "id half a character": (line(id="\ud83d", method="do"), [("request", "\ud83d", "do", UNSET)], []),
    "ids that Python takes for equal": (
        line(id=1, method="do") + line(id=1.0, method="do") + line(id="1", method="do"),
        [("request", 1, "do", UNSET), ("request", 1.0, "do", UNSET), ("request", "1", "do", UNSET)],
        [],
    ),
    "id true": (line(id=True, method="do"), [("invalid_message",)], []),
    "id an object": (line(id={}, method="do"), [("invalid_message",)], []),
    "id out of range": (b'{"jsonrpc":"2.0","id":1e999,"method":"do"}\n', [("invalid_message",)], []),
    # Requests that nobody serves.
    "an unknown request": (line(id=7, method="x/y"), [("unknown_method",)], [error(-32601, 7, data={"method": "x/y"})]),
    "an unknown request between others": (
        line(id=1, method="do") + line(id=2, method="x") + line(method="m") + line(id=3, method="do"),
        [
            ("request", 1, "do", UNSET),
            ("unknown_method",),
            ("notification", "m", UNSET),
            ("request", 3, "do", UNSET),
        ],
        [error(-32601, 2, data={"method": "x"})],
    ),
    "unknown requests with one id": (
        line(id=7, method="x") * 2,
        [("unknown_method",)] * 2,
        [error(-32601, 7, data={"method": "x"})] * 2,
    ),
    "an unknown request with id null": (
        line(id=None, method="x"),
        [("unknown_method",)],
        [error(-32601, None, data={"method": "x"})],
    ),
    "a cancellation as a request": (
        line(id=7, method="$/cancel_request", params={"requestId": 1}),
        [("unknown_method",)],
        [error(-32601, 7, data={"method": "$/cancel_request"})],
    ),
    "an id that is in use": (
        line(id=7, method="do") + line(id=7, method="do"),
        [("request", 7, "do", UNSET), ("invalid_message",)],
        [error(-32600, 7)],
    ),
    # Requests that are wrong.
    "params a string": (line(id=7, method="do", params="p"), [("invalid_message",)], [error(-32602, 7)]),
    "params of a notification a string": (line(method="m", params="p"), [("invalid_message",)], []),
    "method a number": (line(id=7, method=5), [("invalid_message",)], [error(-32600, 7)]),
    "method null, without id": (line(method=None), [("invalid_message",)], []),
    "no jsonrpc in a request": (
        line({"id": 7, "method": "do"}),
        [("invalid_message",), ("request", 7, "do", UNSET)],
        [],
    ),
    "no jsonrpc in a notification": (line({"method": "m"}), [("invalid_message",), ("notification", "m", UNSET)], []),
    "another jsonrpc": (line({"jsonrpc": 2, "method": "m"}), [("invalid_message",), ("notification", "m", UNSET)], []),
    # Responses.
    "a result": (line(id=0, result={"r": 1}), [("response", 0, "a", {"r": 1})], []),
    "a result null": (line(id=0, result=None), [("response", 0, "a", None)], []),
    "a result beside error null": (line(id=0, result=1, error=None), [("response", 0, "a", 1)], []),
    "an id written as a float": (line(id=1.0, result=1), [("response", 1.0, "b", 1)], []),
    "results out of order": (
        line(id=1, result="y") + line(id=0, result="x"),
        [("response", 1, "b", "y"), ("response", 0, "a", "x")],
        [],
    ),
    "an error": (
        line(id=0, error={"code": -32000, "message": "log in", "data": 5}),
        [("failed", 0, "a", "AuthRequired")],
        [],
    ),
    "an error beside result null": (
        line(id=0, result=None, error={"code": 5, "message": "m"}),
        [("failed", 0, "a", "RequestFailed")],
        [],
    ),
    # Responses that nobody waits for.
    "an unknown id": (line(id=99, result=1), [("unknown_response",)], []),
    "an id of another type": (line(id="0", result=1), [("unknown_response",)], []),
    "a huge id": (line(id=BIG, result=1), [("unknown_response",)], []),
    "a second response": (
        line(id=0, result=1) + line(id=0, result=2),
        [("response", 0, "a", 1), ("unknown_response",)],
        [],
    ),
    "an error after the result": (
        line(id=0, result=1) + line(id=0, error={"code": 1, "message": "m"}),
        [("response", 0, "a", 1), ("unknown_response",)],
        [],
    ),
    "an error without id": (line(error={"code": -32700, "message": "m"}), [("unknown_response",)], []),
    "an error with id null": (line(id=None, error={"code": -32700, "message": "m"}), [("unknown_response",)], []),
    "a result with id null": (line(id=None, result=1), [("unknown_response",)], []),
    # Responses that cannot be used: the call fails at once.
    "neither result nor error": (line(id=0), [("invalid_message",), ("failed", 0, "a", "MalformedResponse")], []),
    "error null": (line(id=0, error=None), [("invalid_message",), ("failed", 0, "a", "MalformedResponse")], []),
    "both result and error": (
        line(id=0, result=1, error={"code": 1, "message": "m"}),
        [("invalid_message",), ("failed", 0, "a", "MalformedResponse")],
        [],
    ),
    "error a string": (line(id=0, error="e"), [("invalid_message",), ("failed", 0, "a", "MalformedResponse")], []),
    "code a string": (
        line(id=0, error={"code": "1", "message": "m"}),
        [("invalid_message",), ("failed", 0, "a", "MalformedResponse")],
        [],
    ),
    "code a fraction": (
        line(id=0, error={"code": 1.5, "message": "m"}),
        [("invalid_message",), ("failed", 0, "a", "MalformedResponse")],
        [],
    ),
    "no message": (
        line(id=0, error={"code": 1}),
        [("invalid_message",), ("failed", 0, "a", "MalformedResponse")],
        [],
    ),
    "no jsonrpc in a response": (
        line({"id": 0, "result": 1}),
        [("invalid_message",), ("failed", 0, "a", "MalformedResponse")],
        [],
    ),
    "a method beside the result": (
        line(id=0, method="do", result=1),
        [("invalid_message",), ("failed", 0, "a", "MalformedResponse")],
        [],
    ),
    "a malformed response for an unknown id": (line(id=99, error=None), [("invalid_message",)], []),
    "a malformed response with id true": (line(id=True, result=1), [("invalid_message",)], []),
    "nothing that is known": (line(foo=1), [("invalid_message",)], []),
    # Lines that are no messages: nothing is ever answered.
    "a log line": (b"Loading model...\n", [("noise",)], []),
    "a log line with an id in it": (b'sent {"id":0,"method":"do"}\n', [("noise",)], []),
    "an array": (line([{"jsonrpc": "2.0", "id": 7, "method": "x"}]), [("noise",)], []),
    "scalars": (b'null\ntrue\n5\n"{}"\n', [("noise",)] * 4, []),
    "binary": (bytes(byte for byte in range(256) if byte != 10) + b"\n", [("noise",)], []),
    "noise between messages": (
        line(method="m") + b"npm warn deprecated\n" + line(method="n"),
        [("notification", "m", UNSET), ("noise",), ("notification", "n", UNSET)],
        [],
    ),
    # Lines that begin like messages.
    "a request cut off": (
        b'{"jsonrpc":"2.0","id":7,"method":"do","params":{"a\n',
        [("unreadable",)],
        [error(-32700, 7)],
    ),
    "a request with its method last, cut off": (b'{"id":0,"params":{"a":"b\n', [("unreadable",)], [error(-32700, 0)]),
    "a request too deep": (
        b'{"jsonrpc":"2.0","id":"x","method":"do","params":' + DEEP + b"}\n",
        [("unreadable",)],
        [error(-32700, "x")],
    ),
    "a notification cut off": (b'{"jsonrpc":"2.0","method":"m","params":{\n', [("unreadable",)], []),
    "a response cut off": (
        b'{"jsonrpc":"2.0","id":0,"result":{"a":\n',
        [("unreadable",), ("failed", 0, "a", "MalformedResponse")],
        [],
    ),
    "a response too deep": (
        b'{"jsonrpc":"2.0","id":1,"result":' + DEEP + b"}\n",
        [("unreadable",), ("failed", 1, "b", "MalformedResponse")],
        [],
    ),
    "a response of which only the id is left": (
        b'{"jsonrpc":"2.0","id":0,"res\n',
        [("unreadable",), ("failed", 0, "a", "MalformedResponse")],
        [],
    ),
    "a response for an unknown id, cut off": (b'{"jsonrpc":"2.0","id":99,"result":\n', [("unreadable",)], []),
    "a request too long": (
        line(id=7, method="do", params={"a": "x" * 10_000}),
        [("oversized",)],
        [error(-32700, 7)],
    ),
    "a response too long, id last": (
        line({"jsonrpc": "2.0", "result": "x" * 10_000, "id": 1}) + line(method="m"),
        [("oversized",), ("failed", 1, "b", "MalformedResponse"), ("notification", "m", UNSET)],
        [],
    ),
    "a notification too long": (
        line(method="m", params={"a": "x" * 10_000}) + line(method="n"),
        [("oversized",), ("notification", "n", UNSET)],
        [],
    ),
    "a log line too long": (b"x" * 20_000 + b"\n", [("oversized",)], []),
    # What is read although it is not quite JSON.
    "invalid UTF-8": (b'{"jsonrpc":"2.0","method":"m\xff"}\n', [("encoding",), ("notification", "m\ufffd", UNSET)], []),
    "not a number": (
        b'{"jsonrpc":"2.0","id":0,"result":{"a":1e999}}\n',
        [("response", 0, "a", {"a": float("inf")})],
        [],
    ),
    # Cancellation by the other side.
    "a cancellation": (
        line(id=7, method="do") + line(method="$/cancel_request", params={"requestId": 7}),
        [("request", 7, "do", UNSET), ("cancel", 7)],
        [],
    ),
    "cancellations of odd ids": (
        b"".join(line(id=id, method="do") for id in (None, "", 1.5, BIG))
        + b"".join(line(method="$/cancel_request", params={"requestId": id}) for id in (BIG, 1.5, "", None)),
        [
            *(("request", id, "do", UNSET) for id in (None, "", 1.5, BIG)),
            *(("cancel", id) for id in (BIG, 1.5, "", None)),
        ],
        [],
    ),
    "a cancellation of an equal id of another type": (
        line(id=1, method="do") + line(method="$/cancel_request", params={"requestId": "1"}),
        [("request", 1, "do", UNSET)],
        [],
    ),
    "a cancellation of what is not asked": (line(method="$/cancel_request", params={"requestId": 5}), [], []),
    "a cancellation of our own request": (line(method="$/cancel_request", params={"requestId": 0}), [], []),
    "a cancellation that does not say of what": (
        line(id=None, method="do") + line(method="$/cancel_request", params={}),
        [("request", None, "do", UNSET), ("malformed",)],
        [],
    ),
    "a cancellation that only one reader can read": (
        line(id=1.5, method="do")
        + b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1.5,"a":'
        + (b"[" * 1_000 + b"]" * 1_000)
        + b"}}\n",
        [("request", 1.5, "do", UNSET), ("cancel", 1.5)],
        [],
    ),
    "a cancellation without params": (line(method="$/cancel_request"), [("malformed",)], []),
    "a cancellation of an array": (line(method="$/cancel_request", params={"requestId": [1]}), [("malformed",)], []),
}


@pytest.mark.parametrize("name", TABLE)
def test_table(name: str) -> None:
    stream, told, answers = TABLE[name]
    peer = make_peer()
    peer.receive_data(stream)

    assert repr(happened(peer)) == repr(told)
    assert repr(without_texts(sent(peer))) == repr([{"jsonrpc": "2.0", **answer} for answer in answers])


def without_texts(messages: list[Any]) -> list[Any]:
    for message in messages:
        assert message["error"].pop("message")
    return messages


@pytest.mark.parametrize("name", TABLE)
def test_how_the_stream_is_cut_makes_no_difference(name: str) -> None:
    same_in_every_cut(make_peer, TABLE[name][0])


@given(st.lists(st.sampled_from(sorted(TABLE)), max_size=6), st.lists(st.integers(1, 400), max_size=60))
def test_any_sequence_of_lines_in_any_pieces(names: list[str], sizes: list[int]) -> None:
    stream = b"".join(TABLE[name][0] for name in names)
    pieces, rest = [], stream
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]

    whole, in_pieces = feed(make_peer(), [stream]), feed(make_peer(), [*pieces, rest])
    assert repr(in_pieces) == repr(whole)
