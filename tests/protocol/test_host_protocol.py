"""The host's side of ACP without I/O: typed messages in, bytes out, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import (
    ConnectionClosed,
    ConnectionLost,
    InternalError,
    InvalidInput,
    InvalidState,
    MalformedResponse,
    NotSupported,
    OutcomeUnknown,
    ResourceNotFound,
    UnsupportedVersion,
)
from acp_host.protocol.events import CallFailed, NotificationReceived, RequestReceived, ResponseReceived
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.protocol.negotiation import Registered, client_capabilities
from acp_host.quirks import Quirk, QuirkKind
from acp_host.wire._model import UNSET
from acp_host.wire.auth import AuthenticateResponse
from acp_host.wire.content import TextContent, UnknownContent
from acp_host.wire.elicitation import CompleteElicitationNotification, ElicitationFormMode, UnknownElicitationAction
from acp_host.wire.files import ReadTextFileRequest, ReadTextFileResponse
from acp_host.wire.initialize import Implementation, InitializeResponse
from acp_host.wire.permission import (
    CancelledPermissionOutcome,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SelectedPermissionOutcome,
)
from acp_host.wire.prompt import CancelNotification, PromptRequest, PromptResponse
from acp_host.wire.proxy import ProxySuccessorNotification, ProxySuccessorRequest
from acp_host.wire.session import LoadSessionRequest, NewSessionRequest, SetSessionTitleRequest
from acp_host.wire.tool_calls import ToolCallUpdate
from acp_host.wire.updates import AgentMessageChunk, SessionNotification, UnknownSessionUpdate
from acp_host.wire.usage import UsageUpdate
from tests.protocol.streams import BIG, happened, line, same_in_every_cut, sent

SERVED = ("session/request_permission", "fs/read_text_file", "elicitation/create", "_own/question")
PROMPT = PromptRequest("s", (TextContent("hi"),))
CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}}
DEEP = json.loads("[" * 900 + "]" * 900)


def agreed(capabilities: Any = None, *, quirks: tuple[Quirk, ...] = (), **members: Any) -> HostProtocol:
    """Return a protocol whose handshake is over."""
    protocol = HostProtocol(client_capabilities(Registered()), serves=SERVED, quirks=quirks)
    assert protocol.initialize() == 0
    info = {"name": "agent", "version": "1.0"}
    result = {"protocolVersion": 1, "agentCapabilities": capabilities or {}, "agentInfo": info, **members}
    protocol.receive_data(line(id=0, result=result))
    protocol.data_to_send()
    [event] = protocol.events()
    assert isinstance(event, ResponseReceived)
    return protocol


def update(update: Any, **params: Any) -> bytes:
    return line(method="session/update", params={"sessionId": "s", "update": update, **params})


def request(method: str, params: Any = UNSET, id: Any = 7) -> bytes:
    return line(id=id, method=method) if params is UNSET else line(id=id, method=method, params=params)


# ---- the handshake ----


def test_the_handshake() -> None:
    offer = client_capabilities(Registered(read_files=True))
    protocol = HostProtocol(offer, client_info=Implementation("host", "2.0", title="Host"))
    with pytest.raises(InvalidState, match="has not answered initialize"):
        _ = protocol.agreement
    request_id = protocol.initialize()
    [message] = sent(protocol)

    assert message["id"] == request_id
    assert (message["method"], message["params"]["protocolVersion"]) == ("initialize", 1)
    assert message["params"]["clientInfo"] == {"name": "host", "version": "2.0", "title": "Host"}
    assert message["params"]["clientCapabilities"]["fs"] == {"readTextFile": True, "writeTextFile": False}

    protocol.receive_data(
        line(id=request_id, result={"protocolVersion": 1, "agentCapabilities": {"loadSession": True}})
    )
    [event] = protocol.events()
    assert isinstance(event, ResponseReceived)
    assert isinstance(event.result, InitializeResponse)
    assert protocol.agreement.supports("session/load")
    assert protocol.agreement.client_capabilities is offer


def test_a_host_offers_nothing_by_itself() -> None:
    protocol = HostProtocol()
    protocol.initialize()
    assert sent(protocol)[0]["params"] == {"protocolVersion": 1, "clientCapabilities": {}}


def test_initialize_is_sent_once() -> None:
    protocol = HostProtocol()
    protocol.initialize()
    with pytest.raises(InvalidState, match="was sent before"):
        protocol.initialize()
    assert len(sent(protocol)) == 1


def test_nothing_else_is_sent_before_the_answer() -> None:
    protocol = HostProtocol()
    protocol.initialize()
    protocol.data_to_send()
    for send in (protocol.request, protocol.notify):
        for method in ("session/new", "session/cancel", "_own/thing"):
            with pytest.raises(InvalidState, match="has not answered initialize"):
                send(method, {}, force=True)
    assert protocol.data_to_send() == b""


def test_the_agent_may_speak_before_it_answers() -> None:
    protocol = HostProtocol(serves=SERVED)
    protocol.initialize()
    protocol.receive_data(update(CHUNK) + request("_own/question", {"a": 1}))
    assert happened(protocol) == [
        (SessionNotification("s", AgentMessageChunk(TextContent("Hi"))),),
        ("request", 7, "_own/question", {"a": 1}),
    ]
    protocol.respond(7, "_own/question", {"b": 2})
    assert sent(protocol)[-1] == {"jsonrpc": "2.0", "id": 7, "result": {"b": 2}}


@pytest.mark.parametrize("version", [0, 2, 65535, 2**40])
def test_a_version_that_this_host_does_not_speak(version: int) -> None:
    protocol = HostProtocol()
    protocol.initialize()
    info = {"name": "future-agent", "version": "9"}
    protocol.receive_data(line(id=0, result={"protocolVersion": version, "agentInfo": info}))
    [event] = protocol.events()

    assert isinstance(event, CallFailed)
    assert isinstance(event.error, UnsupportedVersion)
    assert str(event.error).startswith(f"future-agent speaks ACP version {version}, this host version 1;")
    with pytest.raises(InvalidState):
        _ = protocol.agreement


def test_an_agent_without_a_name_can_speak_another_version_too() -> None:
    protocol = HostProtocol()
    protocol.initialize()
    protocol.receive_data(line(id=0, result={"protocolVersion": 2}))
    assert str(protocol.events()[0].error).startswith("the agent speaks ACP version 2")


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ({"protocolVersion": "1"}, "expected an integer, got a string at $.result.protocolVersion"),
        ({"protocolVersion": "2025-06-18"}, "expected an integer, got a string at $.result.protocolVersion"),
        ({"protocolVersion": None}, "expected an integer, got null at $.result.protocolVersion"),
        ({"protocolVersion": -1}, "expected an integer of at least 0, got the number -1 at $.result.protocolVersion"),
        ({"protocolVersion": 1.5}, "expected an integer, got the number 1.5 at $.result.protocolVersion"),
        ({}, "required property 'protocolVersion' is missing at $.result"),
        (None, "required property 'protocolVersion' is missing at $.result"),
        ([], "expected an object, got an array at $.result"),
    ],
)
def test_a_version_that_cannot_be_read(result: Any, problem: str) -> None:
    protocol = HostProtocol()
    protocol.initialize()
    protocol.receive_data(line(id=0, result=result))
    [event] = protocol.events()

    assert isinstance(event.error, MalformedResponse)
    assert str(event.error) == f"the answer to initialize does not fit the schema: {problem}"
    with pytest.raises(InvalidState):
        _ = protocol.agreement


def test_a_version_written_with_a_fraction_of_nothing() -> None:
    protocol = HostProtocol()
    protocol.initialize()
    protocol.receive_data(b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1.0}}\n')
    assert (protocol.agreement.protocol_version, len(protocol.events())) == (1, 1)


def test_capabilities_that_cannot_be_read_are_not_agreed() -> None:
    protocol = HostProtocol()
    protocol.initialize()
    capabilities = {"loadSession": "yes", "promptCapabilities": {"image": True, "audio": 1}, "mcpCapabilities": []}
    protocol.receive_data(line(id=0, result={"protocolVersion": 1, "agentCapabilities": capabilities}))
    *repairs, event = protocol.events()

    assert isinstance(event, ResponseReceived)
    assert [(repair.kind, repair.path, repair.method) for repair in repairs] == [
        (DiagnosticKind.REPAIRED, f"$.result.agentCapabilities.{path}", "initialize")
        for path in ("loadSession", "promptCapabilities.audio", "mcpCapabilities")
    ]
    agreement = protocol.agreement
    assert agreement.supports("promptCapabilities.image")
    assert not any(agreement.supports(name) for name in ("session/load", "promptCapabilities.audio", "mcpCapabilities"))


def test_initialize_can_be_refused() -> None:
    protocol = HostProtocol()
    protocol.initialize()
    protocol.receive_data(line(id=0, error={"code": -32000, "message": "log in"}))
    assert happened(protocol) == [("failed", 0, "initialize", "AuthRequired")]
    with pytest.raises(InvalidState):
        protocol.request("session/new", NewSessionRequest("/c", ()))


# ---- what may be sent ----


def test_what_was_not_agreed_is_not_sent() -> None:
    protocol = agreed()
    with pytest.raises(NotSupported) as caught:
        protocol.request("session/load", LoadSessionRequest(session_id="s", cwd="/c", mcp_servers=()))
    assert (caught.value.capability, caught.value.method) == ("agentCapabilities.loadSession", "session/load")
    assert "agent does not support session/load: it does not offer agentCapabilities.loadSession" in str(caught.value)
    with pytest.raises(NotSupported, match=r"mcpCapabilities\.acp"):
        protocol.notify("mcp/message", {"serverId": "m", "requestId": "r", "method": "x"})
    assert protocol.data_to_send() == b""


def test_what_was_not_agreed_can_be_forced() -> None:
    protocol = agreed()
    assert (
        protocol.request("session/load", LoadSessionRequest(session_id="s", cwd="/c", mcp_servers=()), force=True) == 1
    )
    protocol.notify("mcp/message", {"serverId": "m", "requestId": "r", "method": "x"}, force=True)
    assert [message["method"] for message in sent(protocol)] == ["session/load", "mcp/message"]


def test_force_allows_what_was_not_agreed_but_not_what_is_wrong() -> None:
    protocol = agreed()
    with pytest.raises(InvalidInput):
        protocol.request("session/load", LoadSessionRequest(session_id="s", cwd="/c", mcp_servers=None), force=True)  # type: ignore[arg-type]
    assert protocol.data_to_send() == b""


def test_quirks_say_more_than_the_agent() -> None:
    rows = (
        Quirk("agent", QuirkKind.WORKS_UNADVERTISED, "it does", "session/load"),
        Quirk("agent", QuirkKind.ABSENT_THOUGH_ADVERTISED, "it does not", "session/list"),
        Quirk("other", QuirkKind.ABSENT_THOUGH_ADVERTISED, "another agent", "session/new"),
    )
    protocol = agreed({"sessionCapabilities": {"list": {}}}, quirks=rows)
    protocol.request("session/load", LoadSessionRequest(session_id="s", cwd="/c", mcp_servers=()))
    protocol.request("session/new", NewSessionRequest("/c", ()))
    with pytest.raises(NotSupported):
        protocol.request("session/list")
    assert [message["method"] for message in sent(protocol)] == ["session/load", "session/new"]


INVALID: list[tuple[str, Any, str]] = [
    ("session/new", NewSessionRequest("/c", None), "session/new: expected an array, got null at $.mcpServers"),  # type: ignore[arg-type]
    ("session/new", {"cwd": "/c"}, "session/new: required property 'mcpServers' is missing at $"),
    ("session/new", UNSET, "session/new: required property 'cwd' is missing at $"),
    ("session/new", None, "session/new: required property 'cwd' is missing at $"),
    ("session/new", [], "session/new: expected an object, got an array at $"),
    ("session/prompt", PromptRequest("s", ("hi",)), "session/prompt: expected an object, got a string at $.prompt[0]"),  # type: ignore[arg-type]
    ("session/prompt", CancelNotification("s"), "session/prompt: required property 'prompt' is missing at $"),
    (
        "session/prompt",
        {"sessionId": 5, "prompt": []},
        "session/prompt: expected a string, got the number 5 at $.sessionId",
    ),
    (
        "session/set_mode",
        {"sessionId": "s", "modeId": "m", "_meta": 5},
        "session/set_mode: expected an object, got the number 5 at $._meta",
    ),
]


@pytest.mark.parametrize(("method", "params", "text"), INVALID)
def test_parameters_that_do_not_fit_are_not_sent(method: str, params: Any, text: str) -> None:
    protocol = agreed()
    with pytest.raises(InvalidInput) as caught:
        protocol.request(method, params)
    assert str(caught.value) == text
    assert protocol.data_to_send() == b""
    protocol.receive_eof()
    assert happened(protocol) == [("ended", None)]


def test_a_notification_is_checked_too() -> None:
    protocol = agreed()
    with pytest.raises(InvalidInput, match=r"^session/cancel: expected a string, got null at \$\.sessionId$"):
        protocol.notify("session/cancel", CancelNotification(None))  # type: ignore[arg-type]
    assert protocol.data_to_send() == b""


def test_requests_and_notifications_are_not_mistaken_for_one_another() -> None:
    protocol = agreed()
    with pytest.raises(InvalidInput, match=r"^session/cancel is a notification, not a request$"):
        protocol.request("session/cancel", CancelNotification("s"))
    with pytest.raises(InvalidInput, match=r"^session/prompt is a request, not a notification$"):
        protocol.notify("session/prompt", PROMPT)
    assert protocol.data_to_send() == b""


def test_what_has_nothing_to_say_is_an_empty_object() -> None:
    protocol = agreed({"auth": {"logout": {}}})
    protocol.request("logout")
    protocol.request("_own/a")
    protocol.notify("_own/b")
    protocol.request("_own/c", None)
    assert [message.get("params", "absent") for message in sent(protocol)] == [{}, "absent", "absent", None]


def test_extensions_are_neither_checked_nor_typed() -> None:
    protocol = agreed()
    assert protocol.request("_own/thing", {"any": [1, None]}) == 1
    protocol.request("session/remind", PROMPT)
    protocol.notify("_own/event", [1])
    protocol.request("_own/unknown", UnknownContent("smell", {"type": "smell"}))
    assert [message["params"] for message in sent(protocol)] == [
        {"any": [1, None]},
        {"sessionId": "s", "prompt": [{"type": "text", "text": "hi"}]},
        [1],
        {"type": "smell"},
    ]
    protocol.receive_data(line(id=1, result=[None, {"a": 1}]) + line(method="_own/told", params={"b": 2}))
    assert happened(protocol) == [
        ("response", 1, "_own/thing", [None, {"a": 1}]),
        ("notification", "_own/told", {"b": 2}),
    ]


def test_the_kind_chooses_the_type_where_a_method_has_both() -> None:
    protocol = agreed()
    protocol.request("proxy/successor", ProxySuccessorRequest("m"))
    protocol.notify("proxy/successor", ProxySuccessorNotification("m"))
    protocol.receive_data(
        line(method="proxy/successor", params={"method": "m"})
        + line(id=1, result=None)
        + line(method="fs/read_text_file")
    )
    notification, response, other = protocol.events()
    assert notification.params == ProxySuccessorNotification("m")
    assert response.result is None
    # A request that came as a notification is none that the protocol has.
    assert (other.method, other.params) == ("fs/read_text_file", UNSET)


def test_what_cannot_be_written_is_not_sent() -> None:
    protocol = agreed()
    meta: Any = {"deep": DEEP}
    with pytest.raises(InvalidInput, match="nested too deeply"):
        protocol.request("session/prompt", PromptRequest("s", (), meta=meta))
    with pytest.raises(InvalidInput, match=r"object at \$\.params\._meta\.o has no JSON form"):
        protocol.request("session/prompt", PromptRequest("s", (), meta={"o": object()}))
    assert protocol.data_to_send() == b""


def test_after_the_end_nothing_is_sent() -> None:
    protocol = agreed()
    protocol.request("session/prompt", PROMPT)
    protocol.data_to_send()
    lost = ConnectionLost("gone", exit_status=3)
    protocol.receive_eof(lost)
    failed, ended = protocol.events()

    assert protocol.ended
    assert isinstance(failed.error, OutcomeUnknown)
    assert failed.error.cause is ended.error is lost
    with pytest.raises(ConnectionClosed):
        protocol.request("session/prompt", PROMPT)
    with pytest.raises(ConnectionClosed):
        protocol.notify("session/cancel", CancelNotification("s"))
    protocol.receive_data(update(CHUNK))
    assert protocol.events() == []


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
        (ReadTextFileResponse(b"bytes"), "expected a string, got a value of type bytes at $.content"),  # type: ignore[arg-type]
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
