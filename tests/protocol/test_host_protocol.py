"""The host's side of ACP without I/O: the handshake, and what may be sent."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.diagnostics import DiagnosticKind
from acp_host.errors import (
    ConnectionClosed,
    ConnectionLost,
    InvalidInput,
    InvalidState,
    MalformedResponse,
    NotSupported,
    OutcomeUnknown,
    UnsupportedVersion,
)
from acp_host.protocol.events import CallFailed, ResponseReceived
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.protocol.negotiation import Registered, client_capabilities
from acp_host.quirks import Quirk, QuirkKind
from acp_host.wire._model import UNSET
from acp_host.wire.content import TextContent, UnknownContent
from acp_host.wire.initialize import Implementation, InitializeResponse
from acp_host.wire.prompt import CancelNotification, PromptRequest
from acp_host.wire.proxy import ProxySuccessorNotification, ProxySuccessorRequest
from acp_host.wire.session import LoadSessionRequest, NewSessionRequest
from acp_host.wire.updates import AgentMessageChunk, SessionNotification
from tests.protocol.hosts import CHUNK, DEEP, PROMPT, SERVED, agreed, request, update
from tests.protocol.streams import happened, line, sent

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
        protocol.request("session/load", LoadSessionRequest(session_id="s", cwd="/c", mcp_servers=None), force=True)
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
    ("session/new", NewSessionRequest("/c", None), "session/new: expected an array, got null at $.mcpServers"),
    ("session/new", {"cwd": "/c"}, "session/new: required property 'mcpServers' is missing at $"),
    ("session/new", UNSET, "session/new: required property 'cwd' is missing at $"),
    ("session/new", None, "session/new: required property 'cwd' is missing at $"),
    ("session/new", [], "session/new: expected an object, got an array at $"),
    ("session/prompt", PromptRequest("s", ("hi",)), "session/prompt: expected an object, got a string at $.prompt[0]"),
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
        protocol.notify("session/cancel", CancelNotification(None))
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
