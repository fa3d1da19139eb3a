"""How the version of the protocol is agreed: what is asked, what is asked again, and what the agreement then says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import (
    AuthRequired,
    InvalidInput,
    InvalidState,
    ProtocolVersionRefused,
    RequestFailed,
    ResourceNotFound,
    UnsupportedVersion,
)
from acp_host.protocol.events import CallFailed, RequestReceived, ResponseReceived
from acp_host.protocol.handshake import Handshake
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.protocol.negotiation import Registered, client_capabilities
from acp_host.wire import auth
from acp_host.wire._model import evolve
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.converters import unstructure
from acp_host.wire.initialize import Implementation, InitializeResponse
from acp_host.wire.updates import SessionNotification
from acp_host.wire.v2 import updates as second
from acp_host.wire.v2.permission import RequestPermissionRequest
from tests.protocol.streams import line, sent

INFO = {"name": "agent", "version": "1.2"}
OFFER = client_capabilities(
    Registered(read_files=True, terminals=True, elicitation_form=True, auth_terminal=True, extra={"own": {"x": 1}})
)
SERVED = ("session/request_permission", "fs/read_text_file", "terminal/create", "elicitation/create", "_own/question")


def host(*versions: int, offer: ClientCapabilities = OFFER) -> HostProtocol:
    info = Implementation("host", "2.0")
    return HostProtocol(offer, client_info=info, protocol_versions=versions, serves=SERVED)


def ask(protocol: HostProtocol) -> dict[str, Any]:
    """Send ``initialize`` and return its parameters."""
    protocol.initialize()
    [message] = sent(protocol)
    assert message["method"] == "initialize"
    params: dict[str, Any] = message["params"]
    return params


def reply(protocol: HostProtocol, version: int = 2, request_id: int = 0, **members: Any) -> Any:
    """Answer in the form of a version, and return the event."""
    info = {"info": INFO} if version == 2 else {"agentInfo": INFO}
    protocol.receive_data(line(id=request_id, result={"protocolVersion": version, **info, **members}))
    [event] = [event for event in protocol.events() if isinstance(event, ResponseReceived | CallFailed)]
    return event


def refuse(protocol: HostProtocol, code: int, data: Any = None, request_id: int = 0) -> Any:
    error = {"code": code, "message": "no"} | ({} if data is None else {"data": data})
    protocol.receive_data(line(id=request_id, error=error))
    [event] = protocol.events()
    return event


def agreed(**capabilities: Any) -> HostProtocol:
    """Return a host that has agreed on version 2."""
    protocol = host(2, 1)
    ask(protocol)
    reply(protocol, capabilities=capabilities)
    return protocol


# ---- what is asked ----


def test_a_host_of_version_1_asks_as_ever() -> None:
    params = ask(host(1))

    assert params == {
        "protocolVersion": 1,
        "clientCapabilities": unstructure(OFFER),
        "clientInfo": {"name": "host", "version": "2.0"},
    }


def test_a_host_of_both_versions_asks_in_both_forms() -> None:
    params = ask(host(2, 1))

    assert params == {
        "protocolVersion": 2,
        "clientCapabilities": unstructure(OFFER),
        "clientInfo": {"name": "host", "version": "2.0"},
        "info": {"name": "host", "version": "2.0"},
        "capabilities": {
            "auth": {"terminal": {}},
            "elicitation": {"form": {}},
            "own": {"x": 1},
            "_meta": {"terminal-auth": True},
        },
    }


def test_a_host_of_version_2_asks_in_its_form_alone() -> None:
    params = ask(host(2, offer=ClientCapabilities()))

    assert params == {"protocolVersion": 2, "info": {"name": "host", "version": "2.0"}, "capabilities": {}}


def test_a_host_without_a_name_has_the_librarys_in_version_2() -> None:
    protocol = HostProtocol(protocol_versions=(2,))

    assert ask(protocol)["info"]["name"] == "acp_host"


@pytest.mark.parametrize("versions", [(), (3,), (2, 2), (1, 2, 3), "21", 2, None, (True,), (2.0,)])
def test_versions_that_are_none_are_refused(versions: Any) -> None:
    with pytest.raises(InvalidInput, match="protocol_versions is a tuple of 1 and 2"):
        HostProtocol(protocol_versions=versions)


# ---- what is agreed ----


def test_the_answer_2_is_an_agreement_at_once() -> None:
    protocol = host(2, 1)
    ask(protocol)
    event = reply(protocol)

    assert isinstance(event, ResponseReceived)
    assert isinstance(event.result, InitializeResponse)
    assert (protocol.version, protocol.asks_again, protocol.half_agreed) == (2, False, None)
    assert protocol.agreement.protocol_version == 2
    assert protocol.agreement.agent_name == "agent"
    with pytest.raises(InvalidState, match="initialised once"):
        protocol.initialize()


def test_after_the_answer_1_the_agent_is_asked_again_in_the_form_of_version_1() -> None:
    protocol = host(2, 1)
    ask(protocol)
    reply(protocol, 1)

    assert (protocol.asks_again, protocol.half_agreed, protocol.version) == (True, 1, 1)
    with pytest.raises(InvalidState, match="nothing is agreed yet"):
        _ = protocol.agreement
    assert ask(protocol) == ask(host(1))
    reply(protocol, 1, request_id=1, agentCapabilities={"loadSession": True})
    assert (protocol.asks_again, protocol.half_agreed) == (False, None)
    assert protocol.agreement.supports("session/load")
    assert protocol.agreement.client_capabilities is OFFER


def test_where_version_1_is_preferred_the_answer_2_is_asked_for_again_in_its_form() -> None:
    protocol = host(1, 2)
    assert ask(protocol)["protocolVersion"] == 1
    reply(protocol, 2)

    assert (protocol.asks_again, protocol.half_agreed) == (True, 2)
    assert ask(protocol) == ask(host(2))
    reply(protocol, 2, request_id=1)
    assert protocol.agreement.protocol_version == 2


def test_the_first_answer_can_be_agreed_on_where_there_is_no_way_to_ask_again() -> None:
    protocol = host(2, 1)
    assert not protocol.settle()
    ask(protocol)
    reply(protocol, 1)
    ask(protocol)
    failed = refuse(protocol, -32600, request_id=1)

    assert isinstance(failed.error, RequestFailed)
    assert protocol.settle()
    assert protocol.agreement.protocol_version == 1


def test_an_answer_that_comes_after_that_changes_nothing() -> None:
    protocol = host(2, 1)
    ask(protocol)
    reply(protocol, 1)
    ask(protocol)
    protocol.settle()
    before = protocol.agreement
    reply(protocol, 1, request_id=1, agentCapabilities={"loadSession": True})

    assert protocol.agreement is before


@pytest.mark.parametrize(("versions", "answer"), [((1,), 2), ((2,), 1), ((1,), 0), ((2, 1), 3), ((1, 2), 65535)])
def test_a_version_that_was_not_offered_is_no_agreement(versions: tuple[int, ...], answer: int) -> None:
    protocol = host(*versions)
    ask(protocol)
    event = reply(protocol, answer, agentInfo=INFO)

    assert isinstance(event, CallFailed)
    assert isinstance(event.error, UnsupportedVersion)
    spoken = " or ".join(map(str, sorted(versions)))
    assert f"agent speaks ACP version {answer}, this host version {spoken};" in str(event.error)
    assert not protocol.asks_again


def test_an_agent_that_answers_the_second_question_with_another_version_is_refused() -> None:
    protocol = host(2, 1)
    ask(protocol)
    reply(protocol, 1)
    ask(protocol)
    event = reply(protocol, 2, request_id=1)
    # Its answer to version 1 alone is 2: it is asked for that alone, and for nothing else after that.
    assert isinstance(event, ResponseReceived)
    assert ask(protocol) == ask(host(2))
    event = reply(protocol, 1, request_id=2)
    assert isinstance(event.error, UnsupportedVersion)
    assert "another ACP version than the one that it was asked for" in str(event.error)


# ---- -32022 ----


@pytest.mark.parametrize(
    ("versions", "supported", "asked"),
    [((2, 1), [1], 1), ((1, 2), [2], 2), ((2, 1), [0, 1, 7], 1), ((1, 2), [3, 2], 2)],
)
def test_a_refusal_that_names_a_version_is_followed_once(
    versions: tuple[int, ...], supported: list[int], asked: int
) -> None:
    protocol = host(*versions)
    ask(protocol)
    event = refuse(protocol, -32022, {"requested": versions[0], "supported": supported})

    assert isinstance(event.error, ProtocolVersionRefused)
    assert protocol.asks_again
    assert ask(protocol) == ask(host(asked))
    event = refuse(protocol, -32022, {"requested": asked, "supported": supported}, request_id=1)
    assert isinstance(event.error, UnsupportedVersion)
    assert not protocol.asks_again


@pytest.mark.parametrize(
    "data", [None, {}, {"supported": [3]}, {"supported": "2"}, {"supported": [True, 1.0, "1"]}, []]
)
@pytest.mark.parametrize("versions", [(1,), (2,), (2, 1), (1, 2)])
def test_a_refusal_that_names_none_of_ours_ends_it(versions: tuple[int, ...], data: Any) -> None:
    protocol = host(*versions)
    ask(protocol)
    event = refuse(protocol, -32022, data)

    assert isinstance(event.error, UnsupportedVersion)
    assert "the agent speaks ACP version" in str(event.error)
    assert not protocol.asks_again


@pytest.mark.parametrize("code", [-32600, -32602])
def test_an_agent_that_cannot_read_both_forms_is_asked_for_version_1(code: int) -> None:
    protocol = host(2, 1)
    ask(protocol)
    refuse(protocol, code)

    assert protocol.asks_again
    assert protocol.half_agreed is None
    assert ask(protocol) == ask(host(1))
    refuse(protocol, code, request_id=1)
    assert not protocol.asks_again


@pytest.mark.parametrize(("versions", "code"), [((1,), -32602), ((2,), -32602), ((2, 1), -32603), ((2, 1), -32000)])
def test_any_other_refusal_is_one(versions: tuple[int, ...], code: int) -> None:
    protocol = host(*versions)
    ask(protocol)

    assert refuse(protocol, code).error.code == code
    assert not protocol.asks_again


ANSWERS = st.one_of(
    st.tuples(st.just("answer"), st.integers(0, 3)),
    st.tuples(st.just("refuse"), st.sampled_from([-32022, -32600, -32602, -32603])),
)


@given(st.sampled_from([(1,), (2,), (2, 1), (1, 2)]), st.lists(ANSWERS, min_size=6, max_size=6))
def test_whatever_an_agent_answers_it_is_asked_three_times_at_most(versions: Any, answers: list[Any]) -> None:
    protocol = host(*versions)
    asked = []
    for number, (kind, value) in enumerate(answers):
        asked.append(ask(protocol))
        if kind == "answer":
            reply(protocol, value, request_id=number, agentInfo=INFO)
        else:
            refuse(protocol, value, {"supported": [1, 2]}, request_id=number)
        if not protocol.asks_again:
            break
    assert len(asked) <= 3
    assert all(asked.count(params) == 1 for params in asked)
    if protocol.version == 2:
        assert 2 in versions


# ---- the agreement on version 2 ----


def test_what_an_agent_of_version_2_offers_is_found_by_the_names_of_both_versions() -> None:
    session = {
        "prompt": {"image": {}, "audio": None},
        "mcp": {"http": {}, "acp": {}},
        "delete": {},
        "systemPrompt": {"mode": {"override": {}}},
        "remind": {"modes": ["now"]},
    }
    agreement = agreed(session=session, auth={"status": {}}, providers={}, reminders={"inject": True}).agreement

    assert {name: agreement.supports(name) for name in OFFERED} == OFFERED
    assert agreement.offer("session.remind.modes") == ["now"]
    assert agreement.offer("reminders.inject") is True


OFFERED = {
    **dict.fromkeys(["session/new", "session/list", "session/resume", "session/close", "session/prompt"], True),
    **dict.fromkeys(["session/cancel", "session/load", "session/delete", "auth/status", "providers/list"], True),
    **dict.fromkeys(["session/fork", "session/archive", "session/set_mode", "session/status"], False),
    **dict.fromkeys(["authenticate", "logout", "auth/login", "auth/logout"], False),  # it lists no way to log in
    **dict.fromkeys(["fs/read_text_file", "no/such/method"], False),
    **dict.fromkeys(["promptCapabilities.image", "session.prompt.image", "mcpCapabilities.http"], True),
    **dict.fromkeys(["promptCapabilities.audio", "session.prompt.audio", "mcpCapabilities.sse"], False),
    **dict.fromkeys(["promptCapabilities.embeddedContext", "session.mcp.stdio"], False),
    **dict.fromkeys(["session.mcp.acp", "mcpCapabilities.acp", "loadSession", "session.remind"], True),
    **dict.fromkeys(["sessionCapabilities.resume", "sessionCapabilities.list", "session.delete"], True),
    **dict.fromkeys(["sessionCapabilities.systemPrompt.mode.override", "reminders.inject"], True),
    **dict.fromkeys(["clientCapabilities.session.notices", "clientCapabilities.plan"], True),
    **dict.fromkeys(["clientCapabilities.elicitation.form", "clientCapabilities.auth.terminal"], True),
    **dict.fromkeys(["clientCapabilities.fs.readTextFile", "clientCapabilities.terminal"], False),
}


def test_an_agent_of_version_1_is_found_by_the_names_of_version_2() -> None:
    protocol = host(1)
    ask(protocol)
    offered = {"promptCapabilities": {"image": True}, "sessionCapabilities": {"fork": {}}, "auth": {"logout": {}}}
    reply(protocol, 1, agentCapabilities=offered)
    agreement = protocol.agreement

    names = ["session.prompt.image", "session.fork", "session.mcp.stdio", "auth/login", "auth/logout", "session/fork"]
    assert all(map(agreement.supports, names))
    missing = ["session.prompt.audio", "session.mcp.http", "session.delete", "session/resume", "tool_call/cancel"]
    assert not any(map(agreement.supports, missing))
    assert agreement.supports("session/set_mode")
    assert agreement.offer("session.prompt") is None
    assert agreement.offer("session.prompt.image") is True


def test_ways_to_log_in_are_told_as_version_1_has_them() -> None:
    protocol = host(2)
    ask(protocol)
    terminal = {"type": "terminal", "methodId": "t", "name": "T", "args": ["x"], "env": [{"name": "A", "value": "B"}]}
    other = {"type": "_later", "methodId": "l", "name": "L", "more": 1}
    reply(protocol, authMethods=[{"type": "agent", "methodId": "a", "name": "A"}, terminal, other, {"type": 5}])

    agreement = protocol.agreement
    assert agreement.auth_methods == (
        auth.AuthMethodAgent("a", "A"),
        auth.AuthMethodTerminal("t", "T", args=("x",), env={"A": "B"}),
        auth.UnknownAuthMethod("_later", {**other, "id": "l"}),
    )
    assert agreement.supports("authenticate")
    assert agreement.supports("auth/logout")


def test_ways_to_log_in_of_a_refusal_are_told_so_too() -> None:
    protocol = agreed()
    protocol.request("session/list")
    listed = [{"type": "agent", "methodId": "a", "name": "A"}]
    event = refuse(protocol, -32000, {"authMethods": listed}, request_id=1)

    assert isinstance(event.error, AuthRequired)
    assert event.error.methods == (auth.AuthMethodAgent("a", "A"),)


def test_a_session_that_does_not_exist_is_named() -> None:
    protocol = agreed()
    protocol.request("session/close", {"sessionId": "s"})
    event = refuse(protocol, -32002, {"sessionId": "s"}, request_id=1)

    assert isinstance(event.error, ResourceNotFound)
    assert event.error.session_id == "s"
    assert ResourceNotFound("no", data="s").session_id is None


def test_the_agreement_says_what_the_agent_was_really_told() -> None:
    told = agreed().agreement.client_capabilities

    assert unstructure(told)["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert told.terminal is False
    assert told.auth == OFFER.auth
    assert told.elicitation == OFFER.elicitation
    assert told.extra == OFFER.extra


# ---- what comes, in the agreed version ----


def test_updates_are_read_in_the_agreed_version() -> None:
    protocol = agreed()
    states = [{"sessionUpdate": "state_update", "state": "running"}, {"sessionUpdate": "state_update", "state": 5}]
    chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "Hi"}}
    for update in (*states, chunk, {"sessionUpdate": "_later"}):
        protocol.receive_data(line(method="session/update", params={"sessionId": "s", "update": update}))
    protocol.receive_data(line(method="session/update", params={"sessionId": "s", "update": chunk, "_meta": {"a": 1}}))

    found = [event for event in protocol.events() if isinstance(event, SessionNotification)]
    kinds = [type(event.update).__name__ for event in found]
    assert kinds[0] == "SessionStateUpdate"
    assert kinds[1:] == ["UnknownSessionUpdate", "AgentMessageChunk", "UnknownSessionUpdate", "AgentMessageChunk"]
    assert isinstance(found[2].update, second.AgentMessageChunk)
    assert found[-1].meta == {"a": 1}


def test_what_the_host_serves_in_version_1_alone_is_not_a_method_of_version_2() -> None:
    protocol = agreed()
    asked = ["fs/read_text_file", "terminal/create", "_own/question"]
    for number, method in enumerate(asked):
        protocol.receive_data(line(id=number, method=method, params={"sessionId": "s"}))

    answers = sent(protocol)
    assert [answer["error"]["code"] for answer in answers] == [-32601, -32601]
    assert [event.method for event in protocol.events() if isinstance(event, RequestReceived)] == ["_own/question"]


def test_requests_and_answers_have_the_types_of_the_agreed_version() -> None:
    protocol = agreed()
    options = [{"optionId": "o", "name": "Yes", "kind": "allow_once"}]
    params = {"sessionId": "s", "title": "May I?", "options": options}
    protocol.receive_data(line(id=7, method="session/request_permission", params=params))
    [event] = protocol.events()

    assert isinstance(event, RequestReceived)
    assert isinstance(event.params, RequestPermissionRequest)
    protocol.respond(7, "session/request_permission", {"outcome": {"outcome": "selected", "optionId": "o"}})
    protocol.request("tool_call/cancel", {"sessionId": "s", "toolCallId": "c"})
    assert [message.get("method") for message in sent(protocol)] == [None, "tool_call/cancel"]
    with pytest.raises(InvalidInput, match="session/set_config_option"):
        protocol.request("session/set_config_option", {"sessionId": "s", "configId": "c", "value": "v"})


def test_evolving_an_agreement_keeps_its_methods() -> None:
    agreement = agreed().agreement

    assert agreement.methods.agent_method("auth/login") is not None
    assert evolve(agreement, protocol_version=1).methods.agent_method("auth/login") is None


def test_an_agent_that_names_versions_without_number_makes_no_endless_error() -> None:
    handshake = Handshake((2, 1), OFFER, None, ())
    handshake.request()
    refusal = ProtocolVersionRefused.from_code(-32022, "no", {"supported": list(range(3, 5_000))}, "initialize")
    meaning = handshake.refused(refusal)
    assert isinstance(meaning, UnsupportedVersion)
    assert len(str(meaning)) < 300
