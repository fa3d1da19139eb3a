"""Laws of the protocol core that hold for any stream at all."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from acp_host.diagnostics import Diagnostic
from acp_host.protocol.events import CallFailed, Ended, NotificationReceived, RequestReceived, ResponseReceived
from acp_host.wire.updates import SessionNotification
from tests.protocol.connected import make
from tests.protocol.streams import BIG, feed, line

WORDS = st.sampled_from(["", "s", "text", "agent_message_chunk", "tool_call", "state_update", "end_turn", "\ud83d"])
SCALARS = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([0.0, 1.5, 1e300, BIG]) | WORDS
NAMES = st.sampled_from(
    ["sessionId", "update", "sessionUpdate", "content", "type", "text", "path", "requestId", "code"]
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=8
)
UPDATES = st.fixed_dictionaries(
    {"sessionId": WORDS, "update": st.fixed_dictionaries({"sessionUpdate": WORDS, "content": VALUES})}
)
METHODS = st.sampled_from(
    ["session/update", "$/cancel_request", "session/request_permission", "fs/read_text_file", "_own/question", "x/y"]
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | SCALARS},
    optional={
        "id": SCALARS | VALUES,
        "method": METHODS | SCALARS,
        "params": UPDATES | VALUES,
        "result": VALUES,
        "error": VALUES | st.fixed_dictionaries({"code": SCALARS, "message": SCALARS}),
        "_harn": VALUES | st.fixed_dictionaries({"replayed": SCALARS}),
    },
)
VERSIONS = st.sampled_from([1, 2])
LINES = MESSAGES.map(line) | st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b"") + b"\n")


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """Return lines of every sort, some of them cut off."""
    lines = draw(st.lists(LINES, max_size=12))
    for index in range(len(lines)):
        if draw(st.integers(0, 9)) == 0:
            lines[index] = lines[index][: draw(st.integers(0, len(lines[index])))] + b"\n"
    return b"".join(lines)


@settings(max_examples=300)
@given(streams(), st.booleans(), VERSIONS)
def test_whatever_comes(stream: bytes, harn: bool, version: int) -> None:
    protocol = make(harn=harn, version=version)
    protocol.receive_data(stream)
    answers = [json.loads(answer) for answer in protocol.data_to_send().splitlines()]
    protocol.receive_eof()
    events: list[Any] = protocol.events()

    known = Diagnostic | SessionNotification | NotificationReceived | RequestReceived | ResponseReceived | CallFailed
    assert all(isinstance(event, known) or type(event).__name__ in ("CancelRequested", "Ended") for event in events)
    assert [isinstance(event, Ended) for event in events].index(True) == len(events) - 1
    # Every call ends once.
    ends = [int(event.id) for event in events if isinstance(event, ResponseReceived | CallFailed)]
    assert sorted(ends) == [1, 2]
    # Only refusals are sent by itself, and no line is both refused and handed on.
    assert all(
        answer["jsonrpc"] == "2.0" and answer["error"]["message"] and "method" not in answer for answer in answers
    )
    requests = sum(isinstance(event, RequestReceived) for event in events)
    assert len(answers) + requests <= len(stream.splitlines())


@settings(max_examples=100)
@given(streams(), st.lists(st.integers(1, 50), max_size=20), st.booleans(), VERSIONS)
def test_however_it_is_cut(stream: bytes, sizes: list[int], harn: bool, version: int) -> None:
    pieces, rest = [], stream
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    whole = feed(make(harn=harn, version=version), [stream])
    assert repr(feed(make(harn=harn, version=version), [*pieces, rest])) == repr(whole)


@settings(max_examples=100)
@given(st.lists(LINES, max_size=12))
def test_messages_of_others_make_no_difference(lines: list[bytes]) -> None:
    """A prompt's answer is read however many odd lines are around it, unless one of them claims to be that answer."""
    response = line(id=1, result={"stopReason": "end_turn"})
    protocol = make()
    for odd in lines:
        protocol.receive_data(odd)
    early = Counter(type(event).__name__ for event in protocol.events() if getattr(event, "id", None) in (1, 1.0))
    protocol.receive_data(response)
    late = [event for event in protocol.events() if isinstance(event, ResponseReceived)]
    assert len(late) == (0 if early["ResponseReceived"] or early["CallFailed"] else 1)
