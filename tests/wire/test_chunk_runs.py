"""Runs of chunks: read by a template, they are what they would be read one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.protocol.host_protocol import HostProtocol
from acp_host.wire._model import UNSET
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.updates import AgentMessageChunk, AgentThoughtChunk, SessionNotification
from tests.protocol.hosts import agreed

MESSAGE, THOUGHT = "agent_message_chunk", "agent_thought_chunk"


def chunk(text: Any, kind: str = MESSAGE, session: str = "s", **members: Any) -> dict[str, Any]:
    update = {"sessionUpdate": kind, **members, "content": {"type": "text", "text": text}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}


def compact(message: Any) -> bytes:
    return orjson.dumps(message) + b"\n"


def spaced(message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def sorted_and_padded(message: Any) -> bytes:
    return json.dumps(message, sort_keys=True, separators=(" ,\t", " : ")).encode() + b" \r\n"


def received(stream: bytes) -> list[Any]:
    """Return what a host takes from a stream, in runs."""
    protocol = agreed()
    protocol.receive_data(stream)
    return protocol.events_in_runs()


def one_by_one(stream: bytes) -> list[Any]:
    """Return what comes of each line where there are no lines before it."""
    events: list[Any] = []
    for line in stream.splitlines(keepends=True):
        protocol = agreed()
        protocol.receive_data(line)
        events += protocol.events()
    return events


def in_one_go(stream: bytes) -> list[Any]:
    protocol = agreed()
    protocol.receive_data(stream)
    return protocol.events()


@pytest.mark.parametrize("write", [compact, spaced, sorted_and_padded])
@pytest.mark.parametrize("kind, cls", [(MESSAGE, AgentMessageChunk), (THOUGHT, AgentThoughtChunk)])
@pytest.mark.parametrize("members, message_id", [({}, UNSET), ({"messageId": "m"}, "m"), ({"messageId": None}, None)])
def test_the_third_and_what_follows_is_a_run(
    write: Callable[[Any], bytes], kind: str, cls: Any, members: dict[str, Any], message_id: Any
) -> None:
    stream = b"".join(write(chunk(text, kind, **members)) for text in ("a", "b", "c", "", 'd "\\ \n é😀'))
    first, second, run = received(stream)
    assert isinstance(first, SessionNotification)
    assert isinstance(second, SessionNotification)
    assert run == ChunkRun("s", cls, message_id, ["c", "", 'd "\\ \n é😀'])
    assert in_one_go(stream) == one_by_one(stream)


@pytest.mark.parametrize("write", [compact, spaced, sorted_and_padded])
def test_a_run_of_chunks_of_one_prompt_says_of_which(write: Callable[[Any], bytes]) -> None:
    def of(name: Any, text: str) -> bytes:
        message = chunk(text)
        message["params"]["promptCorrelation"] = name
        return write(message)

    one, other = {"messageId": "m1"}, {"messageId": "m2"}
    stream = b"".join([*(of(one, text) for text in "abcd"), of(other, "e"), of(other, "f"), write(chunk("g"))])
    named = {"promptCorrelation": one}
    assert ChunkRun("s", AgentMessageChunk, UNSET, ["c", "d"], named) in received(stream)
    assert in_one_go(stream) == one_by_one(stream)
    told = [event.extra.get("promptCorrelation") for event in in_one_go(stream)]
    assert told == [one] * 4 + [other] * 2 + [None]


@pytest.mark.parametrize("told", [{"text": "a"}, {"messageId": "m", "text": "a"}, "m", 5, None, {}, {"messageId": 5}])
def test_what_names_no_prompt_alone_is_no_run(told: Any) -> None:
    def of(text: str) -> bytes:
        message = chunk(text)
        if isinstance(told, dict) and "text" in told:
            told["text"] = text
        message["params"] = {"promptCorrelation": told, **message["params"]}
        return compact(message)

    stream = b"".join(of(text) for text in "abcd")
    assert all(isinstance(event, SessionNotification) for event in received(stream))
    assert in_one_go(stream) == one_by_one(stream)


def test_a_run_goes_on_in_the_next_piece() -> None:
    protocol = agreed()
    protocol.receive_data(compact(chunk("a")) + compact(chunk("b")))
    protocol.events()
    for text in "cd":
        protocol.receive_data(compact(chunk(text)))
        assert protocol.events_in_runs() == [ChunkRun("s", AgentMessageChunk, UNSET, [text])]


def message(message_id: Any, texts: str, write: Callable[[Any], bytes] = compact, kind: str = MESSAGE) -> bytes:
    return b"".join(write(chunk(text, kind, messageId=message_id)) for text in texts)


def id_last(told: Any) -> bytes:
    update = told["params"]["update"]
    update["messageId"] = update.pop("messageId")
    return compact(told)


@pytest.mark.parametrize("write", [compact, spaced, sorted_and_padded, id_last])
def test_the_next_message_is_a_run_from_its_first_chunk_on(write: Callable[[Any], bytes]) -> None:
    stream = message("m1", "abc", write) + message('m2 é\n"', "de", write) + message("m1", "f", write)
    assert received(stream)[2:] == [
        ChunkRun("s", AgentMessageChunk, "m1", ["c"]),
        ChunkRun("s", AgentMessageChunk, 'm2 é\n"', ["d", "e"]),
        ChunkRun("s", AgentMessageChunk, "m1", ["f"]),
    ]
    assert in_one_go(stream) == one_by_one(stream)


def test_messages_and_thoughts_may_alternate_and_other_updates_come_between() -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t"}
    between = compact({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": call}})
    learned = compact(chunk("a")) + compact(chunk("b")) + compact(chunk("a", THOUGHT)) + compact(chunk("b", THOUGHT))
    stream = learned + b"".join(between + compact(chunk("c", kind)) for kind in (MESSAGE, THOUGHT, MESSAGE))
    runs = [event for event in received(stream)[4:] if isinstance(event, ChunkRun)]
    assert [run.kind for run in runs] == [AgentMessageChunk, AgentThoughtChunk, AgentMessageChunk]
    assert in_one_go(stream) == one_by_one(stream)


def test_more_forms_than_are_known_are_read_as_ever() -> None:
    sessions = [f"s{number}" for number in range(7)]
    stream = b"".join(compact(chunk(text, session=name)) for name in sessions for text in "abc") * 2
    assert in_one_go(stream) == one_by_one(stream)


IDS = {
    "before and behind": rb'"messageId":"ID","content":{"type":"text","text":"TEXT"},"messageId":"ID"',
    "twice before": rb'"messageId":"ID","messageId":"ID","content":{"type":"text","text":"TEXT"}',
    "null first": rb'"messageId":null,"messageId":"ID","content":{"type":"text","text":"TEXT"}',
    "of the prompt, too": (
        rb'"messageId":"ID","content":{"type":"text","text":"TEXT"}},"promptCorrelation":{"messageId":"ID"'
    ),
    "of the prompt alone": rb'"content":{"type":"text","text":"TEXT"}},"promptCorrelation":{"messageId":"ID"',
    "in another spelling": rb'"message\u0049d":"ID","content":{"type":"text","text":"TEXT"}',
    "that is no string": rb'"messageId":5,"content":{"type":"text","text":"TEXT"}',
}


@pytest.mark.parametrize("members", IDS.values(), ids=IDS.keys())
def test_the_id_that_counts_is_the_one_that_a_decoder_takes(members: bytes) -> None:
    def line(message_id: bytes, text: bytes) -> bytes:
        update = b'{"sessionUpdate":"agent_message_chunk",' + members.replace(b"ID", message_id).replace(b"TEXT", text)
        return b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":' + update + b"}}}\n"

    stream = b"".join(line(message_id, text) for message_id in (b"1", b"2", b"1") for text in (b"a", b"b", b"c"))
    assert list(map(repr, in_one_go(stream))) == list(map(repr, one_by_one(stream)))


A = compact(chunk("a"))
ODD = {
    "half a character": A.replace(b'"a"', rb'"\ud83d"'),
    "invalid UTF-8": A.replace(b'"a"', b'"\xff"'),
    "a raw control character": A.replace(b'"a"', b'"\x01"'),
    "no string": A.replace(b'"a"', b"5"),
    "null": A.replace(b'"a"', b"null"),
    "nothing": A.replace(b'"a"', b""),
    "a further member": A.replace(b'"a"', b'"a","more":"b"'),
    "a member twice": A.replace(b'"a"', b'"a","text":"b"'),
    "the end of the object": A.replace(b'"a"', b'"a"},"_meta":{"b":"c"'),
    "cut off": A[:-8] + b"\n",
    "two texts": A.replace(b'"a"', b'"a","b"'),
    "no quote at the beginning": A.replace(b'"a"', b'a"'),
    "an array that begins": A.replace(b'"a"', b'["a"'),
    "an array that ends": A.replace(b'"a"', b'"a"]'),
    "no quote at the end": A.replace(b'"a"', b'"a'),
    "an escaped quote at the end": A.replace(b'"a"', rb'"a\"'),
    "another session": compact(chunk("a", session="t")),
    "another kind": compact(chunk("a", THOUGHT)),
    "another message": compact(chunk("a", messageId="m")),
    "a byte order mark": b"\xef\xbb\xbf" + A,
    "white space around the text": A.replace(b'"a"', b' "a"\t'),
    "not versioned": A.replace(b'"jsonrpc":"2.0",', b""),
    "a request": A.replace(b'"jsonrpc"', b'"id":1,"jsonrpc"'),
    "no message": b"log line\n",
    "only its beginning": A[: A.index(b'"a"')] + b"\n",
    "only its end": A[A.index(b'"a"') + 3 :],
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_lines_that_do_not_fit_are_read_as_ever(odd: bytes) -> None:
    stream = A * 3 + odd + A * 2
    assert list(map(repr, in_one_go(stream))) == list(map(repr, one_by_one(stream)))


def test_lines_that_together_are_as_many_texts_are_not_read_as_one() -> None:
    stream = A * 3 + ODD["two texts"] + ODD["no quote at the end"] + ODD["no quote at the beginning"] + A
    assert list(map(repr, in_one_go(stream))) == list(map(repr, one_by_one(stream)))


LURES = {
    "the first of two texts": b'"text":"a","text":"b"',
    "the second of two texts": b'"type":"text","text":"a"',
    "a text elsewhere": b'"text":"a"},"extra":{"text":"b"',
    "a text in the metadata": b'"text":"a"},"_meta":{"text":"b"',
    "a text in a text": rb'"text":"\"text\":\"a\""',
}


@pytest.mark.parametrize("lure", LURES.values(), ids=LURES.keys())
def test_a_template_is_not_made_of_the_wrong_text(lure: bytes) -> None:
    stream = b"".join(A.replace(b'"text":"a"', lure.replace(b"a", letter)) for letter in (b"a", b"c", b"a", b"d", b"e"))
    assert in_one_go(stream) == one_by_one(stream)


def test_long_lines_and_other_content_are_not_learned_from() -> None:
    image = compact(chunk("a")).replace(b'"type":"text","text"', b'"type":"image","data":"","mimeType":"m","text"')
    long = compact(chunk("x" * 5_000))
    for stream in (image * 4, long * 4):
        assert all(isinstance(event, SessionNotification) for event in received(stream))


def test_nothing_that_an_agent_writes_becomes_a_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module :mod:`re` keeps what it has compiled, and each time costs as much as hundreds of chunks."""
    ids = [f"{number}" for number in range(20)]
    stream = b"".join(spaced(chunk(text, messageId=name, session=name)) for name in ids for text in "abc")
    expected = one_by_one(stream)
    monkeypatch.setattr(re, "compile", None)
    assert in_one_go(stream) == expected


STREAMS = st.lists(
    st.builds(
        lambda write, members, *arguments: write(chunk(*arguments, **members)),
        st.sampled_from([compact, spaced, sorted_and_padded]),
        st.sampled_from(
            [{}, {"messageId": "m"}, {"messageId": "n"}, {"messageId": '"messageId":"m"'}, {"messageId": 5}]
        ),
        st.text(max_size=3) | st.sampled_from(['"text":"', '"messageId":"m"', "\\", "{}", 5, None]),
        st.sampled_from([MESSAGE, MESSAGE, THOUGHT, "user_message_chunk", "weather"]),
        st.sampled_from(["s", "s", "t"]),
    ),
    max_size=30,
).map(b"".join)


@given(STREAMS, st.data())
def test_what_comes_out_does_not_depend_on_templates_or_on_pieces(stream: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(stream)))
    protocol: HostProtocol = agreed()
    events: list[Any] = []
    for piece in (stream[:place], stream[place:]):
        protocol.receive_data(piece)
        events += protocol.events()
    assert list(map(repr, events)) == list(map(repr, one_by_one(stream)))
