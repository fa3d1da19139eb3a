"""Lines to messages and back, and everything that orjson does not take or takes wrongly."""

from __future__ import annotations

import enum
import json
import math
import sys
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_host.diagnostics import MAX_DATA, Diagnostic, DiagnosticKind
from acp_host.errors import InvalidInput, LocalError
from acp_host.wire._model import UNSET
from acp_host.wire.codec import Noise, Unreadable, encode, read, read_exact

REQUEST = b'{"jsonrpc":"2.0","id":7,"method":"m","params":'


def nested(depth: int, value: Any = 0) -> Any:
    for _ in range(depth):
        value = [value]
    return value


def read_cleanly(line: bytes) -> dict[str, Any]:
    reports: list[Diagnostic] = []
    message = read(line, reports.append)
    assert reports == []
    return message


def read_repaired(line: bytes) -> tuple[dict[str, Any], Diagnostic]:
    reports: list[Diagnostic] = []
    message = read(line, reports.append)
    (report,) = reports
    assert report.kind is DiagnosticKind.ENCODING
    return message, report


# ---- reading ----

READABLE: dict[str, tuple[bytes, dict[str, Any]]] = {
    "an object": (b'{"a":[1,-2.5,"x",true,null,{}]}', {"a": [1, -2.5, "x", True, None, {}]}),
    "an empty object": (b"{}", {}),
    "white space around": (b' \t\r\n{ "a" : 1 } \r\n', {"a": 1}),
    "any character": ('{"é":"日本語 😀 \u2028 \ufeff \uffff"}'.encode(), {"é": "日本語 😀 \u2028 \ufeff \uffff"}),
    "escapes": (rb'{"a":"\"\\\/\b\f\n\r\t\u0000\u00e9\ud83d\ude00"}', {"a": '"\\/\b\f\n\r\t\0é😀'}),
    "first half of a surrogate pair": (rb'{"a":"x\ud83d"}', {"a": "x\ud83d"}),
    "second half of a surrogate pair": (rb'{"a":"\ude00x"}', {"a": "\ude00x"}),
    "halves the wrong way round": (rb'{"a":"\ude00\ud83d"}', {"a": "\ude00\ud83d"}),
    "half a pair in a key": (rb'{"\ud83d":1}', {"\ud83d": 1}),
    "the last of two keys": (b'{"a":1,"a":2}', {"a": 2}),
    "the last of two keys, read leniently": (rb'{"a":1,"b":"\ud83d","a":2}', {"a": 2, "b": "\ud83d"}),
    "a number beyond the doubles": (b'{"a":1e400,"b":-1e400}', {"a": math.inf, "b": -math.inf}),
    "as many digits as a double can stand": (b'{"a":1' + b"0" * 400 + b"}", {"a": 10**400}),
    "a big integer beside half a pair": (rb'{"a":"\ud83d","b":%d}' % 2**70, {"a": "\ud83d", "b": 2**70}),
}


@pytest.mark.parametrize("name", READABLE)
def test_what_is_read_without_a_word(name: str) -> None:
    line, expected = READABLE[name]
    assert read_cleanly(line) == expected
    assert read_exact(line) == expected


NOISE = [
    b"",
    b" ",
    b"\r",
    b"\x00\x00",
    b"Loaded cached credentials.",
    b"[iFlow ACP Agent] hello",
    b"[INFO] starting {}",
    b"2026-11-30T05:55:48Z INFO migrating database",
    b"\x1b[32mready\x1b[0m",
    b'\x1b]0;title\x07{"a":1}',
    b"{ level: 'info', msg: 'started' }",
    b"{placeholder} not filled in",
    b"{'a': 1}",
    b"{",
    b"}",
    b"{[1]}",
    b'"Welcome back"',
    b"null",
    b"true",
    b"42",
    b"-1.5e3",
    b"NaN",
    b"undefined",
    b"[]",
    b'[{"jsonrpc":"2.0","id":1,"method":"m"}]',
    b"[" * 100_000,
    b"Content-Length: 52",
    '{"a":1}'.encode("utf-16"),
    "日本語".encode(),
    b"\xff\xfe\x80",
]


@pytest.mark.parametrize("line", NOISE, ids=range(len(NOISE)))
def test_noise(line: bytes) -> None:
    with pytest.raises(Noise):
        read_cleanly(line)
    with pytest.raises(Noise):
        read_exact(line)


DEEP = b"[" * 100_000 + b"]" * 100_000
UNREADABLE: dict[str, tuple[bytes, object, str | None, bool]] = {
    "a request cut off": (REQUEST + b'{"a":"b', 7, "m", False),
    "a request too deep": (REQUEST + DEEP + b"}", 7, "m", False),
    "a request too deep, id last": (b'{"method":"m","params":' + DEEP + b',"id":"x"}', "x", "m", False),
    "a request too deep and cut off": (REQUEST + b'{"a":' * 100_000, 7, "m", False),
    "a request with big id, too deep": (b'{"id":%d,"method":"m","params":' % 2**70 + DEEP + b"}", 2**70, "m", False),
    "a response cut off": (b'{"jsonrpc":"2.0","id":7,"result":{"a":"b', 7, None, True),
    "an error cut off": (b'{"jsonrpc":"2.0","id":7,"error":{"code":-32', 7, None, True),
    "a response too deep": (b'{"id":0,"result":' + DEEP + b"}", 0, None, True),
    "a response too deep, id last": (b'{"result":' + DEEP + b',"id":3}', 3, None, True),
    "a method beside a result": (b'{"id":7,"method":"m","result":{"a":', 7, "m", False),
    "a notification cut off": (b'{"method":"m","params":{"id":5,', UNSET, "m", False),
    "id null": (b'{"id":null,"error":{', None, None, True),
    "garbage behind": (b'{"id":7,"method":"m"} trailing', 7, "m", False),
    "two messages in a line": (b'{"id":7,"method":"m"}{"id":8,"method":"n"}', 7, "m", False),
    "a trailing comma": (b'{"id":7,"method":"m",}', 7, "m", False),
    "an unescaped quote": (b'{"id":7,"method":"m","params":{"a":"b"c"}}', 7, "m", False),
    "a wrong escape": (rb'{"id":7,"method":"m","params":{"a":"\x41"}}', 7, "m", False),
    "undefined": (b'{"id":7,"result":undefined}', 7, None, True),
    "a leading zero": (b'{"id":7,"result":01}', 7, None, True),
    "invalid UTF-8, and cut off": (b'{"id":7,"method":"\xff","params":{', 7, "\ufffd", False),
    "a request without its method": (b'{"id":7,"params":{"a":"b', 7, None, False),
    "nothing to go by": (b'{"a":', UNSET, None, True),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_no_reader_can_read(name: str) -> None:
    line, request_id, method, is_response = UNREADABLE[name]
    for reader in (read_cleanly, read_exact):
        with pytest.raises(Unreadable) as caught:
            reader(line)
        assert (caught.value.request_id, caught.value.method, caught.value.is_response) == (
            request_id,
            method,
            is_response,
        )
        assert type(caught.value.request_id) is type(request_id)
        assert caught.value.reason


def test_depth_that_orjson_takes_is_read() -> None:
    assert len(read_cleanly(REQUEST + b"[" * 1000 + b"]" * 1000 + b"}")["params"]) == 1


@pytest.mark.parametrize(
    "sent, kept",
    [
        (b"\xff", "\ufffd"),
        (b"ok \xc3", "ok \ufffd"),
        (b"\xe6\x97", "\ufffd"),
        (b"\xed\xa0\xbd", "\ufffd\ufffd\ufffd"),
        ("é日".encode() + b"\x80", "é日\ufffd"),
    ],
)
def test_invalid_utf_8_is_replaced_and_reported(sent: bytes, kept: str) -> None:
    message, report = read_repaired(b'{"jsonrpc":"2.0","method":"m","params":{"text":"%b"}}' % sent)
    assert message == {"jsonrpc": "2.0", "method": "m", "params": {"text": kept}}
    assert "U+FFFD" in report.message


def test_the_report_shows_the_place_of_the_fault_and_is_bounded() -> None:
    line = b'{"a":"' + b"x" * 100_000 + b"here\xff" + b"y" * 100_000 + b'"}'
    assert "here\ufffdyyy" in read_repaired(line)[1].data
    nan = read_repaired(b'{"a":NaN,"b":"' + b"x" * 100_000 + b'"}')[1]
    assert len(nan.data) <= MAX_DATA


def test_nan_and_the_infinities_are_read_and_reported() -> None:
    message, _ = read_repaired(b'{"a":NaN,"b":Infinity,"c":-Infinity}')
    assert math.isnan(message.pop("a"))
    assert message == {"b": math.inf, "c": -math.inf}


def test_raw_control_characters_are_read_and_reported() -> None:
    assert read_repaired(b'{"a":"x\ty\x1b[0m\x00"}')[0] == {"a": "x\ty\x1b[0m\0"}


def test_an_integer_of_5000_digits_is_infinite_and_reported() -> None:
    assert read_repaired(b'{"a":' + b"9" * 5000 + b',"b":-' + b"9" * 5000 + b',"c":3}')[0] == {
        "a": math.inf,
        "b": -math.inf,
        "c": 3,
    }


def test_two_faults_are_two_reports() -> None:
    reports: list[Diagnostic] = []
    assert read(b'{"a":"\xff\t"}', reports.append) == {"a": "\ufffd\t"}
    assert len(reports) == 2


IDS: list[tuple[bytes, object]] = [
    (b"0", 0),
    (b"-0", 0),
    (b"1", 1),
    (b"-1", -1),
    (b"9223372036854775807", 2**63 - 1),
    (b"9223372036854775808", 2**63),
    (b"18446744073709551615", 2**64 - 1),
    (b"18446744073709551616", 2**64),
    (b"-9223372036854775808", -(2**63)),
    (b"-9223372036854775809", -(2**63) - 1),
    (b"%d" % 2**70, 2**70),
    (b"1" * 300, int("1" * 300)),
    (b"1" * 400, int("1" * 400)),
    (b"1.0", 1.0),
    (b"1.5", 1.5),
    (b"1e30", 1e30),
    (b"-1e300", -1e300),
    (b'"1"', "1"),
    (b'""', ""),
    (rb'"\ud83d"', "\ud83d"),
    (b"null", None),
    (b"true", True),
    (b"[1]", [1]),
]


@pytest.mark.parametrize("written, value", IDS, ids=[written.decode()[:24] for written, _ in IDS])
def test_ids_are_kept_verbatim(written: bytes, value: object) -> None:
    for line in (b'{"id":%b,"method":"m"}', b'{"method":"m","params":{"id":1.5},"id":%b}', b'{"id":1.5,"id":%b}'):
        message = read_cleanly(line % written)
        assert message["id"] == value
        assert type(message["id"]) is type(value)
        if line.startswith(b'{"id":%b') and isinstance(value, int | str | None):
            assert read_cleanly(encode(message)) == message


def test_a_big_id_is_kept_where_only_orjson_reaches() -> None:
    line = b'{"method":"m","params":' + b"[" * 1020 + b"]" * 1020 + b',"id":%d}' % 2**70
    if sys.version_info < (3, 12):  # later ones reach as deep
        with pytest.raises(Unreadable):
            read_exact(line)
    request_id = read_cleanly(line)["id"]
    assert (request_id, type(request_id)) == (2**70, int)


def test_big_integers_elsewhere_are_exact_on_request() -> None:
    line = b'{"id":1,"params":{"size":%d,"fraction":0.5}}' % 2**70
    assert read_cleanly(line)["params"] == {"size": float(2**70), "fraction": 0.5}
    exact = read_exact(line)
    assert exact == {"id": 1, "params": {"size": 2**70, "fraction": 0.5}}
    assert type(exact["params"]["size"]) is int


# ---- writing ----


def test_a_message_is_one_compact_line_of_utf_8() -> None:
    assert encode({"a": "é\n😀", "b": [1, {"c": None}]}) == '{"a":"é\\n😀","b":[1,{"c":null}]}\n'.encode()


def test_a_lone_surrogate_is_written_as_its_escape() -> None:
    assert encode({"a": "x\ud83d", "b": "é\n"}) == rb'{"a":"x\ud83d","b":"\u00e9\n"}' + b"\n"


def test_nan_and_the_infinities_become_null() -> None:
    numbers = [math.nan, math.inf, -math.inf, 0.5]
    assert encode({"a": numbers}) == b'{"a":[null,null,null,0.5]}\n'
    assert encode({"a": numbers, "b": "\ud83d"}) == b'{"a":[null,null,null,0.5],"b":"\\ud83d"}\n'


def test_integers_of_any_size_are_written() -> None:
    assert encode({"a": 2**70, "b": -(2**70), "c": True}) == b'{"a":%d,"b":-%d,"c":true}\n' % (2**70, 2**70)


class Kind(enum.StrEnum):
    EDIT = "edit"


class Number(enum.IntEnum):
    ONE = 1


@pytest.mark.parametrize("beside", ["x", "\ud83d"], ids=["by orjson", "leniently"])
def test_what_stands_for_json_is_written_as_json(beside: str) -> None:
    line = encode(
        {"a": Kind.EDIT, Kind.EDIT: 1, "b": (1, 2), "c": MappingProxyType({"d": Number.ONE}), "e": True, "s": beside}
    )
    assert read_exact(line) == {"a": "edit", "edit": 1, "b": [1, 2], "c": {"d": 1}, "e": True, "s": beside}


def test_any_mapping_is_a_message() -> None:
    assert encode(MappingProxyType({"a": 1})) == b'{"a":1}\n'


@pytest.mark.parametrize("beside", ["x", "\ud83d"], ids=["by orjson", "leniently"])
@pytest.mark.parametrize(
    "params, path",
    [
        ({"a": [0, {"b": object()}]}, "object at $.params.a[1].b "),
        ({"a": b"bytes"}, "bytes at $.params.a "),
        ({"a": {1, 2}}, "set at $.params.a "),
        ([{"a": 1}, {"b": {1: 2}}], "$.params[1].b is 1"),
        ({None: 1}, "$.params is None"),
    ],
)
def test_what_has_no_json_form_is_refused_with_its_path(params: object, path: str, beside: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        encode({"id": 1, "params": params, "beside": beside})
    assert path in str(caught.value)


def test_what_is_nested_too_deeply_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert encode({"a": nested(300)}) == b'{"a":' + b"[" * 300 + b"0" + b"]" * 300 + b"}\n"
    for value in (nested(2000), nested(100_000), endless):
        with pytest.raises(LocalError, match="deeply"):
            encode({"a": value})


def test_a_number_that_python_does_not_write_is_refused() -> None:
    with pytest.raises(InvalidInput, match="digits"):
        encode({"a": 10**5000})


# ---- both ----


def joined(value: Any) -> Any:
    """The value with surrogate halves that stand side by side made one character, which is what they mean in JSON."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if isinstance(value, dict):
        return {joined(key): joined(item) for key, item in value.items()}
    return [joined(item) for item in value] if isinstance(value, list) else value


def texts(**limits: int) -> st.SearchStrategy[str]:
    return st.text(st.characters() | st.characters(categories=["Cs"]), **limits)


def json_values(integers: st.SearchStrategy[int]) -> st.SearchStrategy[Any]:
    scalars = st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | texts()
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts(max_size=5), inner, max_size=4),
        max_leaves=8,
    )


@given(st.dictionaries(texts(max_size=5), json_values(st.integers(-(2**63), 2**64 - 1)), max_size=4))
@example({"a": "\ud83d", "b": "\ude00\ud83d"})
def test_every_message_survives_writing_and_reading(message: dict[str, Any]) -> None:
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert read_cleanly(line) == joined(message)


@given(st.dictionaries(texts(max_size=5), json_values(st.integers()), max_size=4))
def test_integers_of_any_size_survive_exact_reading(message: dict[str, Any]) -> None:
    assert read_exact(encode(message)) == joined(message)


def read_or_refuse(line: bytes) -> None:
    reports: list[Diagnostic] = []
    try:
        message = read(line, reports.append)
    except (Noise, Unreadable):
        assert reports == []
        return
    assert type(message) is dict
    assert all(report.kind is DiagnosticKind.ENCODING for report in reports)


@given(st.binary(), st.sampled_from([b"", b"{", b'{"', b'{"a":', REQUEST]))
def test_any_bytes_are_read_or_refused(line: bytes, start: bytes) -> None:
    read_or_refuse(start + line)


@given(
    st.dictionaries(st.sampled_from(["id", "method", "params", "result"]), json_values(st.integers()), max_size=4),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 3), st.binary(max_size=3)), max_size=3),
)
def test_a_message_damaged_anywhere_is_read_or_refused(message: dict[str, Any], edits: list[Any]) -> None:
    line = json.dumps(message).encode()
    for place, removed, inserted in edits:
        at = int(place * len(line))
        line = line[:at] + inserted + line[at + removed :]
    read_or_refuse(line)
