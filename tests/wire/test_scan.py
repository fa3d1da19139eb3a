"""The id and the method of messages that no reader can read."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.wire import _scan
from acp_host.wire._model import UNSET
from acp_host.wire._scan import Envelope, scan_envelope
from acp_host.wire.ids import valid_id

DEEP = b"[" * 100_000

CASES: dict[str, tuple[bytes, Envelope]] = {
    "a request": (b'{"jsonrpc":"2.0","id":7,"method":"a/b","params":{}}', Envelope(7, "a/b", has_params=True)),
    "a notification": (b'{"jsonrpc":"2.0","method":"a/b"}', Envelope(method="a/b")),
    "a response": (b'{"jsonrpc":"2.0","id":7,"result":{}}', Envelope(7, has_result=True)),
    "an error": (b'{"jsonrpc":"2.0","id":7,"error":{"code":1}}', Envelope(7, has_result=True)),
    "a null result": (b'{"id":7,"result":null}', Envelope(7, has_result=True)),
    "white space everywhere": (b' \t{ "id" : 7 ,\r\n "method" : "m" } ', Envelope(7, "m")),
    "a byte order mark": (b'\xef\xbb\xbf{"id":7}', Envelope(7)),
    "id zero": (b'{"id":0,"method":"m"}', Envelope(0, "m")),
    "id null": (b'{"id":null,"error":{}}', Envelope(None, has_result=True)),
    "id empty": (b'{"id":"","method":"m"}', Envelope("", "m")),
    "id with escapes": (rb'{"id":"a\"\\\u00e9\ud83d","method":"m"}', Envelope('a"\\é\ud83d', "m")),
    "id with a raw control character": (b'{"id":"a\tb","method":"m"}', Envelope("a\tb", "m")),
    "id negative": (b'{"id":-0,"method":"m"}', Envelope(0, "m")),
    "id of any size": (b'{"id":%d,"method":"m"}' % 2**70, Envelope(2**70, "m")),
    "id with a fraction": (b'{"id":1.5,"method":"m"}', Envelope(1.5, "m")),
    "id with too many digits": (b'{"id":' + b"9" * 5000 + b',"method":"m"}', Envelope(method="m")),
    "id no number": (b'{"id":NaN,"method":"m"}', Envelope(method="m")),
    "id infinite": (b'{"id":1e999,"method":"m"}', Envelope(method="m")),
    "id true": (b'{"id":true,"method":"m"}', Envelope(method="m")),
    "id an object": (b'{"id":{"id":1},"method":"m"}', Envelope(method="m")),
    "id an array": (b'{"id":[1],"method":"m"}', Envelope(method="m")),
    "id a word": (b'{"id":undefined,"method":"m"}', Envelope(method="m")),
    "method no string": (b'{"id":1,"method":5}', Envelope(1)),
    "nested ids": (
        b'{"params":{"id":1,"method":"no","a":[{"id":2}]},"id":3,"method":"m"}',
        Envelope(3, "m", has_params=True),
    ),
    "nested only": (b'{"params":{"id":1,"method":"no","result":1}}', Envelope(has_params=True)),
    "nested through brackets in a row": (b'{"a":[[{"id":1}]],"b":{"c":{"d":{}}},"id":3}', Envelope(3)),
    "ids as values": (b'{"a":"id","b":["id",1],"c":"\\"id\\":5","method":"m"}', Envelope(method="m")),
    "brackets in strings": (b'{"a":"}]{[","b":["]}\\"]"],"id":3}', Envelope(3)),
    "escaped keys": (
        rb'{"\u0069d":1,"m\u0065thod":"m","\u0072\u0065\u0073\u0075\u006c\u0074":1}',
        Envelope(1, "m", True),
    ),
    "a key with a quote": (rb'{"x\"id":1,"id\\":2}', Envelope()),
    "a very long key": (b'{"' + b"i" * 1000 + b'":1,"id":2}', Envelope(2)),
    "the last of two": (b'{"id":1,"method":"a","id":2,"method":"b"}', Envelope(2, "b")),
    "the last of two is none": (b'{"id":1,"id":[]}', Envelope()),
    "something after the message": (b'{"id":1}{"id":2,"method":"m"}', Envelope(1)),
    "too deep": (b'{"id":7,"method":"m","params":' + DEEP, Envelope(7, "m", has_params=True)),
    "too deep, id last": (
        b'{"params":' + DEEP + b"]" * 100_000 + b',"id":7,"method":"m"}',
        Envelope(7, "m", has_params=True),
    ),
    "too deep, objects": (
        b'{"result":' + b'{"id":' * 100_000 + b"1" + b"}" * 100_000 + b',"id":7}',
        Envelope(7, None, True),
    ),
    "cut off in the parameters": (b'{"id":7,"method":"m","params":{"a":"b', Envelope(7, "m", has_params=True)),
    "cut off in the parameters, method last": (b'{"id":7,"params":{"a":"b', Envelope(7, has_params=True)),
    "cut off before the result": (b'{"id":7,"result":', Envelope(7, has_result=True)),
    "cut off in a key": (b'{"id":7,"meth', Envelope(7)),
    "cut off after a key": (b'{"id":7,"result"', Envelope(7)),
    "cut off in the id": (b'{"method":"m","id":12', Envelope(method="m")),
    "cut off in a string id": (b'{"method":"m","id":"ab', Envelope(method="m")),
    "cut off in an escape": (b'{"method":"m","id":"ab\\', Envelope(method="m")),
    "cut off after an escape": (b'{"method":"m","id":"ab\\"', Envelope(method="m")),
    "cut off in the method": (b'{"id":7,"method":"session/upd', Envelope(7)),
    "a missing comma": (b'{"id":7 "method":"m"}', Envelope(7)),
    "a missing comma after an object": (b'{"id":{} 7,"method":[] "m"}', Envelope()),
    "a missing value": (b'{"id":,"method":"m"}', Envelope(method="m")),
    "a missing colon": (b'{"id" 7,"method":"m"}', Envelope(method="m")),
    "a trailing comma": (b'{"id":7,"method":"m",}', Envelope(7, "m")),
    "too many closing brackets": (b'{"a":[]]]]],"id":7}', Envelope()),
    "not an object": (b'["id",7]', Envelope()),
    "a log line": (b'Loaded "id":7', Envelope()),
    "nothing": (b"", Envelope()),
    "binary": (bytes(range(256)), Envelope()),
    "binary inside": (b'{"a":"' + bytes(range(128, 256)) + b'","id":7,"method":"\xff"}', Envelope(7, "\ufffd")),
}


@pytest.mark.parametrize("name", CASES)
def test_envelope(name: str) -> None:
    raw, expected = CASES[name]
    found = scan_envelope(raw)
    assert found == expected
    assert type(found.id) is type(expected.id)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
KEYS = st.sampled_from(["id", "method", "result", "error", "params", "jsonrpc", "ID", 'id"', "\\id"]) | st.text(
    max_size=8
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
MESSAGES = st.dictionaries(KEYS, VALUES, max_size=4)


def envelope_of(message: dict[str, Any]) -> Envelope:
    method = message.get("method")
    return Envelope(
        id=message["id"] if valid_id(message.get("id", UNSET)) else UNSET,
        method=method if isinstance(method, str) else None,
        has_result="result" in message or "error" in message,
        has_params="params" in message,
    )


def test_only_what_counts_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(side_effect=json.loads)
    monkeypatch.setattr(_scan, "json", Mock(loads=read))
    raw = b'{"a":1,"b":"\\"",' + b'1,"",true,' * 1_000 + rb'"\u0069d":7,"method":"m",'
    assert scan_envelope(raw) == Envelope(7, "m")
    assert read.call_count == 3


@given(MESSAGES, st.booleans(), st.sampled_from([None, 1]))
def test_the_scan_agrees_with_a_json_reader(message: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    raw = json.dumps(message, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "replace")
    assert scan_envelope(raw) == envelope_of(json.loads(raw))


@given(MESSAGES, st.data())
def test_a_message_that_is_cut_off_never_gives_a_wrong_answer(message: dict[str, Any], data: st.DataObject) -> None:
    raw = json.dumps(message).encode()
    whole = envelope_of(json.loads(raw))
    found = scan_envelope(raw[: data.draw(st.integers(0, len(raw)))])
    assert found.id in (whole.id, UNSET)
    assert found.method in (whole.method, None)
    assert found.has_result <= whole.has_result
    assert found.has_params <= whole.has_params


@pytest.mark.parametrize(
    ("raw", "is_response"),
    [
        (b'{"id":7,"result":', True),
        (b'{"id":7,"error":{', True),
        (b'{"id":7,"params":{', False),
        (b'{"id":7,"method":"m"', False),
        (b'{"id":7,"method":"m","result":1', False),
        (b'{"id":7,"params":{},"result":1', True),
        (b'{"id":7,"re', True),
    ],
)
def test_what_may_be_a_response(raw: bytes, is_response: bool) -> None:
    assert scan_envelope(raw + b" ").is_response is is_response


@given(
    st.binary() | st.lists(st.sampled_from([b'"', b"{", b"}", b"[", b",", b":", b"\\", b'"id"', b"1"])).map(b"".join)
)
def test_anything_can_be_scanned(raw: bytes) -> None:
    assert valid_id(scan_envelope(b"{" + raw).id) or scan_envelope(b"{" + raw).id is UNSET


@pytest.mark.parametrize("last", [12, 2**70, "a-b", 'a"}', None])
def test_an_id_at_the_very_end_is_found_without_what_is_before(last: int | str | None) -> None:
    raw = json.dumps({"result": {"id": 1, "text": "x" * 5000}, "more": [{"id": 2}], "id": last}).encode()
    assert scan_envelope(raw, limit=100) == Envelope(last, has_result=True)


@pytest.mark.parametrize(
    "tail, request_id",
    [
        (b'... "x"},"id":12}', 12),
        (b'...}, "id" : "a-b" } \r', "a-b"),
        (rb'... ,"id":"\"}"}', '"}'),
        (b'...},"id":null}', None),
        (b'...},"id":12', UNSET),
        (b'...},"id":12}}', UNSET),
        (b'...},"id":12},"a":1}', UNSET),
        (b'...},"id":{"a":1}}', UNSET),
        (rb'...,\"id\":12}"}', UNSET),
        (rb'...\"id":12}', UNSET),
        (b'...{"a":"id":12}', UNSET),
    ],
)
def test_the_tail_of_a_line_too_long_to_keep(tail: bytes, request_id: object) -> None:
    assert scan_envelope(b'{"jsonrpc":"2.0","result":{"text":"aaaa', tail=tail) == Envelope(
        request_id,
        has_result=True,
    )


def test_the_beginning_of_a_line_is_believed_before_its_end() -> None:
    assert scan_envelope(b'{"id":1,"params":{"a":"', tail=b'"},"id":2}') == Envelope(1, has_params=True)


def test_the_scan_goes_no_further_than_its_limit() -> None:
    raw = b'{"a":"' + b"x" * 100 + b'","method":"m","id":5,"z":0}'
    assert scan_envelope(raw) == Envelope(5, "m")
    assert scan_envelope(raw, limit=100) == Envelope()
    assert scan_envelope(raw, limit=raw.index(b"5") + 1) == Envelope(method="m")


@pytest.mark.parametrize(
    "unit", [b'"', b'\\"', b"\\", b"[", b"]", b"[]", b'""', b'"",', b",", b":", b" ", b"\xff", b'"id":']
)
def test_the_worst_of_input_takes_no_more_than_linear_time(unit: bytes) -> None:
    # Half a megabyte of any of these would take minutes if the scan went back over it.
    for start in (b"{", b'{"a":"', b'{"a":['):
        assert scan_envelope(start + unit * (2**19 // len(unit))).method is None
