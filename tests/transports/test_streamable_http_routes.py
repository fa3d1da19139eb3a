"""What Streamable HTTP decides without doing any I/O: which message goes where, and what of a stream is let through."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.transports._envelopes import Envelope, read_envelope
from acp_host.transports.streamable_http._events import EventBound
from acp_host.transports.streamable_http.routes import Arrival, Duplicates, Post, Routes


def envelope(message: Any) -> Envelope:
    read = read_envelope(json.dumps(message).encode())
    assert read is not None
    return read


def post(routes: Routes, **message: Any) -> Post:
    return routes.post(b"", envelope({"jsonrpc": "2.0", **message}))


def arrives(routes: Routes, stream: str | None = None, *, is_open: bool = True, **message: Any) -> Arrival:
    return routes.arrival(envelope({"jsonrpc": "2.0", **message}), stream, is_open)


# --- envelopes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"[]", b"1", b"{", b"\xff", b"null", b'"x"'])
def test_what_is_no_object_has_no_envelope(data: bytes) -> None:
    assert read_envelope(data) is None


@pytest.mark.parametrize(
    "message",
    [
        {"id": True, "method": 1, "params": []},
        {"id": [], "params": {"sessionId": 1, "update": 2, "requestId": {}}},
        {"id": None, "result": "x"},
        {"result": {"sessionId": None}},
    ],
)
def test_what_does_not_fit_is_not_read(message: Any) -> None:
    read = envelope(message)
    assert (read.method, read.id, read.session_id, read.cancels, read.opened, read.child) == (None,) * 6


def test_a_subagent_that_is_announced() -> None:
    update = {"sessionUpdate": "subagent_update", "sessionId": "child"}
    assert envelope({"method": "session/update", "params": {"sessionId": "s", "update": update}}).child == "child"
    update["sessionUpdate"] = "plan"
    assert envelope({"method": "session/update", "params": {"sessionId": "s", "update": update}}).child is None


# --- where messages go ------------------------------------------------------------------------------------------------


def test_messages_of_a_session_keep_their_order_and_name_it() -> None:
    routes = Routes()
    prompt = post(routes, id=1, method="session/prompt", params={"sessionId": "s"})
    cancel = post(routes, method="session/cancel", params={"sessionId": "s"})
    assert (prompt.lane, prompt.session_id, cancel.lane, cancel.session_id) == ("s",) * 4


def test_what_belongs_to_no_session_has_a_lane_of_its_own() -> None:
    sent = post(Routes(), id=1, method="session/new", params={"cwd": "/"})
    assert (sent.lane, sent.session_id) == (None, None)


def test_a_withdrawal_does_not_overtake_what_it_withdraws() -> None:
    routes = Routes()
    post(routes, id=7, method="session/prompt", params={"sessionId": "s"})
    withdrawal = post(routes, method="$/cancel_request", params={"requestId": 7})
    assert (withdrawal.lane, withdrawal.session_id) == ("s", None)
    assert post(routes, method="$/cancel_request", params={"requestId": 8}).lane is None


@pytest.mark.parametrize("params", [{"sessionId": "s"}, {}])
def test_an_answer_names_the_session_of_the_request(params: dict[str, str]) -> None:
    routes = Routes()
    arrives(routes, "s", id="q", method="session/request_permission", params=params)
    answer = post(routes, id="q", result={})
    assert (answer.lane, answer.session_id, answer.name) == ("s", "s", "the answer to a request")
    assert post(routes, id="q", result={}).session_id is None


# --- what to do about those that come ---------------------------------------------------------------------------------


def test_a_new_session_has_a_stream_from_then_on() -> None:
    routes = Routes()
    post(routes, id=1, method="session/new")
    assert arrives(routes, id=1, result={"sessionId": "s"}).opens == ("s",)


def test_a_fork_opens_a_stream_for_the_new_session() -> None:
    routes = Routes()
    post(routes, id=1, method="session/fork", params={"sessionId": "s"})
    assert arrives(routes, "s", id=1, result={"sessionId": "t"}).opens == ("t",)


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_a_session_that_is_attached_may_have_a_stream_now(method: str) -> None:
    routes = Routes()
    post(routes, id=1, method=method, params={"sessionId": "s"})
    assert arrives(routes, is_open=False, id=1, result={}).opens == ("s",)


def test_a_request_that_failed_opens_nothing_and_ends_nothing() -> None:
    routes = Routes()
    for number, method in enumerate(["session/load", "session/close"]):
        post(routes, id=number, method=method, params={"sessionId": "s"})
        assert arrives(routes, is_open=False, id=number, error={}) == Arrival(is_replay_end=method == "session/load")


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
def test_a_session_that_is_over_needs_no_stream(method: str) -> None:
    routes = Routes()
    post(routes, id=1, method=method, params={"sessionId": "s"})
    assert arrives(routes, "s", id=1, result={}).closes == "s"


def test_an_answer_on_another_stream_than_its_sessions_is_held() -> None:
    routes = Routes()
    for number, (stream, is_open, held) in enumerate([("s", True, None), (None, True, "s"), (None, False, None)]):
        post(routes, id=number, method="session/prompt", params={"sessionId": "s"})
        assert arrives(routes, stream, is_open=is_open, id=number, result={}).held_for == held


def test_an_answer_that_nobody_waits_for_changes_nothing() -> None:
    assert arrives(Routes(), id=5, result={"sessionId": "s"}) == Arrival()


def test_which_streams_an_answer_is_due_on() -> None:
    routes = Routes()
    assert not routes.awaits(None)
    post(routes, id=1, method="session/prompt", params={"sessionId": "s"})
    assert (routes.awaits("s"), routes.awaits("t"), routes.awaits(None)) == (True, False, False)
    post(routes, id=2, method="session/load", params={"sessionId": "t"})
    assert (routes.awaits("t"), routes.awaits(None)) == (True, True)
    assert routes.give_up(2)
    assert not routes.give_up(2)
    assert not routes.give_up(None)
    post(routes, id=3, method="session/list")
    assert routes.awaits(None)
    arrives(routes, id=3, result={})
    assert not routes.awaits(None)


# --- messages that come twice -----------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([b"a", b"b", b"c"]), max_size=40), st.data())
def test_each_message_is_taken_once_however_streams_interleave(sent: list[bytes], data: st.DataObject) -> None:
    """Everything comes on every stream, in the order in which it was sent."""
    streams: dict[str | None, list[bytes]] = {name: list(sent) for name in (None, "s", "t")}
    duplicates, taken = Duplicates(), []
    while left := [name for name, rest in streams.items() if rest]:
        name = data.draw(st.sampled_from(left))
        message = streams[name].pop(0)
        if not duplicates.is_duplicate(message, name):
            taken.append(message)
    assert sorted(taken) == sorted(sent)


def test_equal_messages_on_one_stream_are_not_one() -> None:
    duplicates = Duplicates()
    assert [duplicates.is_duplicate(b"a", "s") for _ in range(1000)] == [False] * 1000


def test_only_the_last_messages_are_remembered() -> None:
    duplicates = Duplicates()
    duplicates.is_duplicate(b"first", "s")
    for number in range(300):
        duplicates.is_duplicate(b"%d" % number, "s")
    assert not duplicates.is_duplicate(b"first", None)


# --- events that are too long -----------------------------------------------------------------------------------------

ENDS = st.sampled_from([b"\n\n", b"\r\r", b"\r\n\r\n", b"\n\r\n", b"\r\n\n"])
TEXTS = st.binary(min_size=1, max_size=60).map(lambda text: text.replace(b"\r", b"x").replace(b"\n", b"y"))


def fed(bound: EventBound, stream: bytes, cuts: list[int]) -> bytes:
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    return b"".join(bound.feed(stream[start:stop]) for start, stop in itertools.pairwise(places))


@given(st.lists(st.tuples(TEXTS, ENDS), max_size=10), st.lists(st.integers(min_value=0), max_size=20))
def test_events_that_fit_are_let_through_as_they_are(events: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    stream = b"".join(text + end for text, end in events)
    assert fed(EventBound(64), stream, cuts) == stream


@given(st.lists(st.integers(min_value=0), max_size=20), ENDS)
def test_of_an_event_that_is_too_long_both_ends_remain(cuts: list[int], end: bytes) -> None:
    stream = b"data: small" + end + b"data: " + b"x" * 5000 + b"END" + end + b"data: small" + end
    passed = fed(EventBound(100), stream, cuts)
    small, large, last = (part for part in passed.split(end) if part)
    assert (small, last) == (b"data: small", b"data: small")
    assert 100 < len(large) <= 100 + 1024
    assert large.startswith(b"data: xxx")
    assert large.endswith(b"END")


def test_a_stream_that_ends_within_an_event_ends_it() -> None:
    bound = EventBound(100)
    assert bound.finish() == b""
    bound.feed(b"data: {}")
    assert bound.finish() == b"\n\n"
    bound.feed(b"\n\n")
    assert bound.finish() == b""


def test_in_version_2_a_stream_is_due_to_bring_the_end_of_a_turn() -> None:
    routes = Routes()
    post(routes, id=1, method="session/prompt", params={"sessionId": "s"})
    arrives(routes, "s", id=1, result={"messageId": "m"})
    assert (routes.awaits("s"), routes.awaits("t"), routes.awaits(None)) == (True, False, False)
    for state, is_due in [("requires_action", True), ("_dreaming", True), ("idle", False), ("running", True)]:
        update = {"sessionUpdate": "state_update", "state": state}
        arrives(routes, "s", method="session/update", params={"sessionId": "s", "update": update})
        assert routes.awaits("s") == is_due, state
    post(routes, id=2, method="session/close", params={"sessionId": "s"})
    arrives(routes, "s", id=2, result={})
    assert not routes.awaits("s")


def test_sessions_at_work_are_counted() -> None:
    routes = Routes()
    for number in range(2_000):
        update = {"sessionUpdate": "state_update", "state": "running"}
        params = {"sessionId": f"s{number}", "update": update}
        arrives(routes, None, method="session/update", params=params)
    assert len(routes.working) == 1_000
