"""The host's side of ACP without I/O: what the agent sends, and how it is answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import (
    InternalError,
    InvalidInput,
    InvalidState,
    MalformedResponse,
    ResourceNotFound,
)
from acp_host.protocol.events import CallFailed, NotificationReceived, RequestReceived
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.wire._model import UNSET
from acp_host.wire.auth import AuthenticateResponse
from acp_host.wire.content import TextContent, UnknownContent
from acp_host.wire.elicitation import CompleteElicitationNotification, ElicitationFormMode, UnknownElicitationAction
from acp_host.wire.files import ReadTextFileRequest, ReadTextFileResponse
from acp_host.wire.permission import (
    CancelledPermissionOutcome,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SelectedPermissionOutcome,
)
from acp_host.wire.prompt import PromptResponse
from acp_host.wire.session import NewSessionRequest, SetSessionTitleRequest
from acp_host.wire.tool_calls import ToolCallUpdate
from acp_host.wire.updates import AgentMessageChunk, SessionNotification, UnknownSessionUpdate
from acp_host.wire.usage import UsageUpdate
from tests.protocol.hosts import CHUNK, DEEP, PROMPT, agreed, request, update
from tests.protocol.streams import BIG, happened, line, same_in_every_cut, sent

# ---- updates ----


def test_an_update_is_its_own_event() -> None:
    protocol = agreed()
    protocol.receive_data(update(CHUNK))
    assert protocol.events() == [SessionNotification("s", AgentMessageChunk(TextContent("Hi")))]


UPDATES: list[tuple[str, bytes, Any]] = [
    (
        "_meta",
        update(CHUNK, _meta={"m": 1}),
        SessionNotification("s", AgentMessageChunk(TextContent("Hi")), meta={"m": 1}),
    ),
    (
        "_meta null",
        update(CHUNK, _meta=None),
        SessionNotification("s", AgentMessageChunk(TextContent("Hi")), meta=None),
    ),
    (
        "a further member",
        update(CHUNK, more=[1]),
        SessionNotification("s", AgentMessageChunk(TextContent("Hi")), extra={"more": [1]}),
    ),
    (
        "further members inside",
        update(CHUNK | {"more": 1, "_meta": {}}),
        SessionNotification("s", AgentMessageChunk(TextContent("Hi"), meta={}, extra={"more": 1})),
    ),
    (
        "an unknown kind",
        update({"sessionUpdate": "weather", "a": 1}),
        SessionNotification("s", UnknownSessionUpdate("weather", {"sessionUpdate": "weather", "a": 1})),
    ),
    (
        "content of an unknown kind",
        update(CHUNK | {"content": {"type": "smell"}}),
        SessionNotification("s", AgentMessageChunk(UnknownContent("smell", {"type": "smell"}))),
    ),
    ("an empty session id", update(CHUNK, sessionId=""), SessionNotification("", AgentMessageChunk(TextContent("Hi")))),
    (
        "half a character",
        update(CHUNK | {"content": {"type": "text", "text": "\ud83d"}}),
        SessionNotification("s", AgentMessageChunk(TextContent("\ud83d"))),
    ),
    (
        "an integer of more than 64 bits",
        update({"sessionUpdate": "usage_update", "used": BIG, "size": BIG + 1}),
        SessionNotification("s", UsageUpdate(used=BIG, size=BIG + 1)),
    ),
    (
        "an integer with a fraction of nothing",
        update({"sessionUpdate": "usage_update", "used": 1.0, "size": 2.0}),
        SessionNotification("s", UsageUpdate(used=1, size=2)),
    ),
]


@pytest.mark.parametrize(("stream", "event"), [row[1:] for row in UPDATES], ids=[row[0] for row in UPDATES])
def test_odd_but_valid_updates(stream: bytes, event: Any) -> None:
    protocol = agreed()
    protocol.receive_data(stream)
    assert protocol.events() == [event]


def test_an_update_without_jsonrpc_is_taken_with_a_diagnostic() -> None:
    protocol = agreed()
    protocol.receive_data(line({"method": "session/update", "params": {"sessionId": "s", "update": CHUNK}}))
    diagnostic, event = protocol.events()
    assert diagnostic.kind is DiagnosticKind.INVALID_MESSAGE
    assert event == SessionNotification("s", AgentMessageChunk(TextContent("Hi")))


def test_an_update_that_was_repaired() -> None:
    protocol = agreed()
    protocol.receive_data(update(CHUNK | {"messageId": 5}))
    repair, event = protocol.events()

    assert event == SessionNotification("s", AgentMessageChunk(TextContent("Hi")))
    assert (repair.kind, repair.path) == (DiagnosticKind.REPAIRED, "$.params.update.messageId")
    assert (repair.method, repair.session_id, repair.data) == ("session/update", "s", 5)


@pytest.mark.parametrize(
    ("bad", "problem", "path"),
    [
        (
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}},
            "required property 'text' is missing",
            "$.params.update.content",
        ),
        (
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 5}},
            "expected a string, got the number 5",
            "$.params.update.content.text",
        ),
        (
            {"sessionUpdate": "tool_call", "toolCallId": None, "title": "t"},
            "expected a string, got null",
            "$.params.update.toolCallId",
        ),
        (
            {"sessionUpdate": "usage_update", "used": 1e300, "size": 1},
            "expected an integer, got the number 1e+300",
            "$.params.update.used",
        ),
    ],
)
def test_an_update_that_cannot_be_read_is_kept_with_the_reason(bad: dict[str, Any], problem: str, path: str) -> None:
    protocol = agreed()
    protocol.receive_data(update(bad))
    diagnostic, event = protocol.events()

    assert event == SessionNotification(
        "s", UnknownSessionUpdate(bad["sessionUpdate"], bad, problem=f"{problem} at {path}")
    )
    assert (diagnostic.kind, diagnostic.path) == (DiagnosticKind.MALFORMED, path)
    assert diagnostic.message == f"session/update: {problem}"
    assert (diagnostic.method, diagnostic.session_id) == ("session/update", "s")
    assert diagnostic.data.startswith('{"jsonrpc"')


@pytest.mark.parametrize(
    "params",
    [
        UNSET,
        None,
        [],
        {},
        {"sessionId": "s"},
        {"sessionId": "s", "update": None},
        {"sessionId": "s", "update": {}},
        {"sessionId": "s", "update": {"sessionUpdate": []}},
        {"sessionId": "s", "update": {"sessionUpdate": None, "content": {}}},
        {"sessionId": 5, "update": CHUNK},
        {"update": CHUNK},
    ],
)
def test_an_update_that_says_not_even_whose_or_what_it_is(params: Any) -> None:
    protocol = agreed()
    message = {"method": "session/update", "params": params}
    protocol.receive_data(line(**message) if params is not UNSET else line(method="session/update"))
    assert happened(protocol) == [("malformed",)]


def test_an_update_that_was_sent_as_a_request_is_refused() -> None:
    protocol = agreed()
    protocol.receive_data(request("session/update", {"sessionId": "s", "update": CHUNK}))
    assert happened(protocol) == [("unknown_method",)]
    assert sent(protocol)[0]["error"]["code"] == -32601


def test_deep_nesting_passes_through() -> None:
    # Reading, comparing with the types and handing on must not walk what has no type: Python's stack is not that deep.
    protocol = agreed()
    call = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "c",
        "rawInput": DEEP,
        "more": DEEP,
        "_meta": {"m": DEEP},
    }
    deep: list[bytes] = [
        update(call),
        update(call | {"status": 5}),
        update(call | {"toolCallId": 5}),
        update({"sessionUpdate": "weather", "deep": DEEP}),
        update({"sessionUpdate": DEEP}),
        update(CHUNK, more=DEEP),
        line(method="_own/event", params={"deep": DEEP}),
        line(id=7, method="_own/question", params=DEEP),
        line(id=8, method="fs/read_text_file", params={"sessionId": DEEP, "path": "p"}),
        line(id=9, method="x", params=DEEP),
        line(id=DEEP, method="x"),
        line(id=99, result=DEEP),
        line(id=1, result={"stopReason": DEEP}),
    ]
    protocol.request("session/prompt", PROMPT)
    protocol.receive_data(b"".join(deep))

    kinds = [type(event).__name__ for event in protocol.events()]
    assert kinds.count("SessionNotification") == 5
    assert (kinds.count("RequestReceived"), kinds.count("NotificationReceived"), kinds.count("CallFailed")) == (1, 1, 1)
    assert [message.get("id") for message in sent(protocol)][1:] == [8, 9]


# ---- requests of the agent ----

PERMISSION = {
    "sessionId": "s",
    "toolCall": {"toolCallId": "c"},
    "options": [{"optionId": "o", "name": "Yes", "kind": "allow_persistent"}],
}


def test_requests_are_typed() -> None:
    protocol = agreed()
    question = {"mode": "form", "message": "m", "requestedSchema": {}, "sessionId": "s"}
    protocol.receive_data(
        request("session/request_permission", PERMISSION)
        + request("fs/read_text_file", {"sessionId": "s", "path": "/p", "line": 2**64}, id="x")
        + request("elicitation/create", question, id=None)
        + request("_own/question", [1], id=1.5)
    )
    events = protocol.events()

    assert [(event.id, event.method) for event in events] == [
        (7, "session/request_permission"),
        ("x", "fs/read_text_file"),
        (None, "elicitation/create"),
        (1.5, "_own/question"),
    ]
    assert isinstance(events[0].params, RequestPermissionRequest)
    assert events[0].params.tool_call == ToolCallUpdate("c")
    assert events[0].params.options[0].kind == "allow_persistent"
    assert events[1].params == ReadTextFileRequest("s", "/p", line=2**64)
    assert isinstance(events[2].params, ElicitationFormMode)
    assert events[3].params == [1]


@pytest.mark.parametrize(
    ("params", "problem", "path"),
    [
        ({"sessionId": "s"}, "required property 'path' is missing", "$.params"),
        ({"sessionId": "s", "path": 5}, "expected a string, got the number 5", "$.params.path"),
        ({"sessionId": "s", "path": "/p", "limit": 1.5}, "expected an integer, got the number 1.5", "$.params.limit"),
        (
            {"sessionId": "s", "path": "/p", "limit": -1},
            "expected an integer of at least 0, got the number -1",
            "$.params.limit",
        ),
        (
            {"sessionId": "s", "path": "/p", "limit": 2.0**64},
            "expected an integer, got the number 1.8446744073709552e+19",
            "$.params.limit",
        ),
        (None, "required property 'sessionId' is missing", "$.params"),
        ([], "expected an object, got an array", "$.params"),
        (UNSET, "required property 'sessionId' is missing", "$.params"),
    ],
)
def test_a_request_that_does_not_fit_is_answered_at_once(params: Any, problem: str, path: str) -> None:
    protocol = agreed()
    protocol.receive_data(request("fs/read_text_file", params) + update(CHUNK))
    diagnostic, event = protocol.events()

    assert (diagnostic.kind, diagnostic.path, diagnostic.method) == (
        DiagnosticKind.MALFORMED,
        path,
        "fs/read_text_file",
    )
    assert diagnostic.message == f"fs/read_text_file: {problem}"
    assert isinstance(event, SessionNotification)
    assert sent(protocol) == [
        {
            "jsonrpc": "2.0",
            "id": 7,
            "error": {"code": -32602, "message": f"Invalid params: {problem} at {path}", "data": {"path": path}},
        }
    ]
    with pytest.raises(InvalidState):
        protocol.respond(7, "fs/read_text_file", ReadTextFileResponse("text"))


def test_a_request_that_was_refused_leaves_its_id_free_at_once() -> None:
    bad, good = (
        request("fs/read_text_file", {"sessionId": "s"}),
        request("fs/read_text_file", {"sessionId": "s", "path": "p"}),
    )
    cancel = line(method="$/cancel_request", params={"requestId": 7})
    events, output = same_in_every_cut(agreed, bad + cancel + good + cancel)

    assert [type(event).__name__ for event in events] == ["Diagnostic", "RequestReceived", "CancelRequested"]
    assert len(output.splitlines()) == 1


def test_a_request_that_nobody_serves_is_answered_at_once() -> None:
    protocol = agreed()
    protocol.receive_data(request("fs/write_text_file", {"nonsense": 1}) + request("cursor/ask", {"q": 1}, id="a"))
    assert happened(protocol) == [("unknown_method",)] * 2
    assert [(message["id"], message["error"]["code"]) for message in sent(protocol)] == [(7, -32601), ("a", -32601)]


def test_what_is_served_may_change() -> None:
    served: set[str] = set()
    protocol = HostProtocol(serves=served.__contains__)
    protocol.receive_data(request("_own/question"))
    served.add("_own/question")
    protocol.receive_data(request("_own/question"))
    assert [short[0] for short in happened(protocol)] == ["unknown_method", "request"]


def test_a_request_of_the_agent_can_be_withdrawn() -> None:
    protocol = agreed()
    protocol.receive_data(request("session/request_permission", PERMISSION))
    protocol.events()
    protocol.receive_data(line(method="$/cancel_request", params={"requestId": 7}))
    assert happened(protocol) == [("cancel", 7)]
    protocol.respond(7, "session/request_permission", RequestPermissionResponse(CancelledPermissionOutcome()))
    assert sent(protocol)[0]["result"] == {"outcome": {"outcome": "cancelled"}}


def test_a_request_of_ours_can_be_withdrawn() -> None:
    protocol = agreed()
    protocol.cancel(protocol.request("session/prompt", PROMPT))
    assert [message["method"] for message in sent(protocol)] == ["session/prompt", "$/cancel_request"]
    protocol.receive_data(line(id=1, result={"stopReason": "cancelled"}))
    assert happened(protocol) == [("response", 1, "session/prompt", PromptResponse("cancelled"))]


# ---- answers ----


def asked(method: str, params: Any) -> HostProtocol:
    protocol = agreed()
    protocol.receive_data(request(method, params))
    [event] = protocol.events()
    assert isinstance(event, RequestReceived)
    return protocol


def test_answers_are_written_with_their_tags() -> None:
    protocol = asked("session/request_permission", PERMISSION)
    protocol.respond(7, "session/request_permission", RequestPermissionResponse(SelectedPermissionOutcome("o")))
    assert sent(protocol)[0] == {
        "jsonrpc": "2.0",
        "id": 7,
        "result": {"outcome": {"outcome": "selected", "optionId": "o"}},
    }


def test_an_answer_of_a_kind_that_is_not_known_is_passed_on() -> None:
    protocol = asked("elicitation/create", {"mode": "form", "message": "m", "requestedSchema": {}})
    later = UnknownElicitationAction("later", {"action": "later", "in": "1h"})
    protocol.respond(7, "elicitation/create", later)
    assert sent(protocol)[0]["result"] == {"action": "later", "in": "1h"}


def test_answers_may_be_plain_json() -> None:
    protocol = asked("fs/read_text_file", {"sessionId": "s", "path": "p"})
    protocol.respond(7, "fs/read_text_file", {"content": "text"})
    assert sent(protocol)[0]["result"] == {"content": "text"}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "required property 'content' is missing at $"),
        (ReadTextFileResponse(b"bytes"), "expected a string, got a value of type bytes at $.content"),
        ({"content": None}, "expected a string, got null at $.content"),
        ([], "expected an object, got an array at $"),
        ("text", "expected an object, got a string at $"),
        (0, "expected an object, got the number 0 at $"),
        (PromptResponse("end_turn"), "required property 'content' is missing at $"),
    ],
)
def test_an_answer_that_does_not_fit_is_not_sent(answer: Any, problem: str) -> None:
    protocol = asked("fs/read_text_file", {"sessionId": "s", "path": "p"})
    with pytest.raises(InvalidInput) as caught:
        protocol.respond(7, "fs/read_text_file", answer)
    assert str(caught.value) == f"the answer to fs/read_text_file: {problem}"
    assert protocol.data_to_send() == b""

    protocol.respond_error(7, InternalError("the handler is broken"))
    assert sent(protocol)[0]["error"] == {"code": -32603, "message": "the handler is broken"}


def test_an_error_is_an_answer() -> None:
    protocol = asked("fs/read_text_file", {"sessionId": "s", "path": "p"})
    protocol.respond_error(7, ResourceNotFound("no such file", data={"path": "p"}))
    assert sent(protocol)[0]["error"] == {"code": -32002, "message": "no such file", "data": {"path": "p"}}
    with pytest.raises(InvalidState):
        protocol.respond_error(7, ResourceNotFound("again"))


# ---- results ----


def test_results_are_typed() -> None:
    protocol = agreed()
    protocol.request("session/prompt", PROMPT)
    protocol.receive_data(line(id=1, result={"stopReason": "bored", "more": 1}))
    [event] = protocol.events()
    assert event.result == PromptResponse("bored", extra={"more": 1})


@pytest.mark.parametrize("result", [None, {}, {"_meta": None}, {"any": 1}])
def test_a_method_without_a_result_may_be_answered_in_many_ways(result: Any) -> None:
    protocol = agreed()
    protocol.request("authenticate", {"methodId": "m"})
    protocol.receive_data(line(id=1, result=result))
    [event] = protocol.events()
    assert isinstance(event.result, AuthenticateResponse)
    assert dict(event.result.extra) == {key: value for key, value in (result or {}).items() if key != "_meta"}


@pytest.mark.parametrize("result", [None, {}, [], 0, "", {"stopReason": 5}])
def test_a_result_that_does_not_fit_ends_the_call(result: Any) -> None:
    protocol = agreed()
    protocol.request("session/prompt", PROMPT)
    protocol.receive_data(line(id=1, result=result))
    [event] = protocol.events()

    assert isinstance(event, CallFailed)
    assert isinstance(event.error, MalformedResponse)
    assert (event.error.has_result, event.error.result) == (True, result)
    assert "the answer to session/prompt does not fit the schema: " in str(event.error)
    assert "at $.result" in str(event.error)


def test_a_result_that_was_repaired() -> None:
    protocol = agreed()
    protocol.request("session/new", NewSessionRequest("/c", ()))
    protocol.receive_data(line(id=1, result={"sessionId": "s", "modes": 5}))
    repair, event = protocol.events()
    assert (repair.path, repair.method, repair.session_id) == ("$.result.modes", "session/new", "s")
    assert event.result.session_id == "s"


# ---- other notifications ----


def test_notifications_are_typed() -> None:
    protocol = agreed()
    protocol.receive_data(line(method="elicitation/complete", params={"elicitationId": "e"}))
    [event] = protocol.events()
    assert isinstance(event, NotificationReceived)
    assert event.params == CompleteElicitationNotification("e")


def test_a_notification_that_does_not_fit_is_told_and_dropped() -> None:
    protocol = agreed()
    protocol.receive_data(
        line(method="elicitation/complete", params={"elicitationId": 5}) + line(method="auth/status_update")
    )
    first, second = protocol.events()
    assert (first.kind, first.path) == (DiagnosticKind.MALFORMED, "$.params.elicitationId")
    assert (second.kind, second.method) == (DiagnosticKind.MALFORMED, "auth/status_update")


# ---- as a stream ----


def test_how_the_stream_is_cut_makes_no_difference() -> None:
    stream = b"".join(
        [
            b"Loading\xff model\n",
            *(row[1] for row in UPDATES),
            update(CHUNK | {"messageId": 5}),
            update(CHUNK | {"content": 5}),
            request("session/request_permission", PERMISSION),
            request("fs/read_text_file", {}, id=8),
            request("x/y", {}, id=9),
            line(id=1, result={"stopReason": "end_turn"}),
            line(id=1, result={"stopReason": "end_turn"}),
        ]
    )

    def make() -> HostProtocol:
        protocol = agreed()
        protocol.request("session/prompt", PROMPT)
        return protocol

    events, output = same_in_every_cut(make, stream)
    # One for each line, and two for each of those that were wrong but kept.
    assert len(events) == len(stream.splitlines()) + 2
    assert [json.loads(message).get("id") for message in output.splitlines()] == [1, 8, 9]


@pytest.mark.parametrize("bad", [CHUNK | {"content": 5}, CHUNK | {"messageId": 5}])
def test_a_flood_of_bad_updates_stays_small_and_loses_none(bad: dict[str, Any]) -> None:
    protocol = agreed()
    protocol.receive_data(update(bad) * 5_000)
    events = protocol.events()
    protocol.receive_eof()
    events += protocol.events()

    diagnostics = [event for event in events if isinstance(event, Diagnostic)]
    assert sum(isinstance(event, SessionNotification) for event in events) == 5_000
    assert len(diagnostics) < 40
    assert sum(diagnostic.count for diagnostic in diagnostics) == 5_000


def test_a_message_that_is_too_long_is_skipped() -> None:
    protocol = HostProtocol(max_message_size=1_000)
    protocol.receive_data(update(CHUNK | {"content": {"type": "text", "text": "x" * 2_000}}) + update(CHUNK))
    assert [short[0] for short in happened(protocol)] == [
        "oversized",
        SessionNotification("s", AgentMessageChunk(TextContent("Hi"))),
    ]


def test_set_title_needs_its_capability() -> None:
    protocol = agreed({"sessionCapabilities": {"title": {}}})
    protocol.request("session/set_title", SetSessionTitleRequest("s", "t"))
    assert sent(protocol)[0]["params"] == {"sessionId": "s", "title": "t"}
