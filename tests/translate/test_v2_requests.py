"""Requests and answers between a host that speaks in version 1's words and an agent of version 2."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_host.errors import InvalidInput, NotSupported
from acp_host.translate.v2.requests import answer, call_told_in, incoming, outgoing
from acp_host.translate.v2.values import block_to_v1, block_to_v2
from acp_host.wire import elicitation, mcp, session
from acp_host.wire._encode import encoder_of
from acp_host.wire._model import UNSET
from acp_host.wire._shape import shape_of
from acp_host.wire.auth import AuthenticateRequest, AuthenticateResponse, LogoutRequest
from acp_host.wire.config_options import SetSessionConfigOptionRequest, SetSessionModeRequest
from acp_host.wire.content import Annotations, ResourceLink, TextContent
from acp_host.wire.converters import decoder, unstructure
from acp_host.wire.methods import METHODS, Direction, MethodKind
from acp_host.wire.permission_question import PermissionQuestion
from acp_host.wire.prompt import PromptRequest
from acp_host.wire.terminals import EnvVariable
from acp_host.wire.v2 import content as content2
from acp_host.wire.v2.methods import METHODS as SECOND_METHODS
from acp_host.wire.v2.methods import TABLE as SECOND
from tests.conformance.versions import V1, V2

IN_SECOND = {(method.name, method.kind): method for method in SECOND_METHODS}
ASKED = [
    method
    for method in METHODS
    if method.direction is not Direction.AGENT_TO_HOST and method.name not in ("initialize", "session/set_mode")
    if not method.name.startswith(("proxy/", "$/"))
]


def wire(value: Any, hint: Any) -> Any:
    encode = encoder_of(shape_of(hint))
    return value if encode is None else encode(value)


def sent(method: str, params: Any, kind: MethodKind = MethodKind.REQUEST) -> tuple[str, Any]:
    """Return the method and the parameters, as wire JSON, of what an agent of version 2 is sent."""
    told = outgoing(method, params, kind)
    entry = IN_SECOND[told.method, kind]
    return told.method, wire(told.params, entry.params_type)


# ---- what the host asks ----

SETUP: dict[str, Any] = {"cwd": "/w", "additional_directories": ("/x",), "meta": {"m": 1}, "extra": {"own": 1}}
TOLD: dict[str, Any] = {"cwd": "/w", "additionalDirectories": ["/x"], "mcpServers": [], "_meta": {"m": 1}, "own": 1}
LINK = ResourceLink("n", "file:///n", size=3)


@pytest.mark.parametrize(
    ("method", "params", "name", "told"),
    [
        ("authenticate", AuthenticateRequest("m"), "auth/login", {"methodId": "m"}),
        ("authenticate", {"methodId": "m", "x": 1}, "auth/login", {"methodId": "m", "x": 1}),
        ("logout", LogoutRequest(), "auth/logout", {}),
        ("logout", UNSET, "auth/logout", {}),
        ("session/new", session.NewSessionRequest(mcp_servers=(), **SETUP), "session/new", TOLD),
        (
            "session/load",
            session.LoadSessionRequest(session_id="s", mcp_servers=(), **SETUP),
            "session/resume",
            {**TOLD, "sessionId": "s", "replayFrom": {"type": "start"}},
        ),
        (
            "session/resume",
            session.ResumeSessionRequest("s", mcp_servers=(), **SETUP),
            "session/resume",
            {**TOLD, "sessionId": "s"},
        ),
        (
            "session/fork",
            session.ForkSessionRequest("s", mcp_servers=(), **SETUP),
            "session/fork",
            {**TOLD, "sessionId": "s"},
        ),
        ("session/resume", session.ResumeSessionRequest("s", "/w"), "session/resume", {"sessionId": "s", "cwd": "/w"}),
        ("session/list", session.ListSessionsRequest(cursor="c"), "session/list", {"cursor": "c"}),
        (
            "session/set_config_option",
            SetSessionConfigOptionRequest("s", "c", "v"),
            "session/set_config_option",
            {"sessionId": "s", "configId": "c", "type": "id", "value": "v"},
        ),
        (
            "session/set_config_option",
            SetSessionConfigOptionRequest("s", "c", True, type="boolean"),
            "session/set_config_option",
            {"sessionId": "s", "configId": "c", "type": "boolean", "value": True},
        ),
        (
            "session/prompt",
            PromptRequest("s", (TextContent("hi"), LINK)),
            "session/prompt",
            {
                "sessionId": "s",
                "prompt": [
                    {"type": "text", "text": "hi"},
                    {"type": "resource_link", "name": "n", "uri": "file:///n", "size": 3},
                ],
            },
        ),
        ("session/close", session.CloseSessionRequest("s"), "session/close", {"sessionId": "s"}),
    ],
)
def test_a_request_becomes_that_of_version_2(method: str, params: Any, name: str, told: Any) -> None:
    assert sent(method, params) == (name, told)


def test_servers_and_system_prompts_become_those_of_version_2() -> None:
    servers = (
        mcp.McpServerStdio("a", "/bin/a", ("--b",), (EnvVariable("K", "V"),)),
        mcp.McpServerHttp("b", "https://b", (mcp.HttpHeader("H", "V"),)),
        mcp.McpServerAcp("d", "d-1"),
        mcp.McpServerSse("c", "https://c", ()),
        mcp.UnknownMcpServer("pipe", {"type": "pipe", "name": "p"}),
    )
    prompt = session.SystemPrompt("append", (TextContent("Be brief."),))
    _, told = sent("session/new", session.NewSessionRequest("/w", servers, system_prompt=prompt))

    assert [server["type"] for server in told["mcpServers"]] == ["stdio", "http", "acp", "sse", "pipe"]
    assert told["mcpServers"][0]["env"] == [{"name": "K", "value": "V"}]
    assert told["systemPrompt"] == {"mode": "append", "content": [{"type": "text", "text": "Be brief."}]}


def test_modes_are_no_method_of_version_2() -> None:
    with pytest.raises(NotSupported, match="a mode is a configuration option"):
        outgoing("session/set_mode", SetSessionModeRequest("s", "m"))


def test_an_extension_passes_as_it_is() -> None:
    params = {"anything": [1]}

    assert outgoing("_own/method", params).params is params
    assert outgoing("tool_call/cancel", params).method == "tool_call/cancel"


@pytest.mark.parametrize("params", [[], 5, {"cwd": 5, "mcpServers": []}, {"cwd": "/w"}, "s"])
def test_json_that_is_none_of_version_1_is_refused_before_it_is_sent(params: Any) -> None:
    with pytest.raises(InvalidInput, match="session/new"):
        outgoing("session/new", params)


@pytest.mark.parametrize("priority", [-0.1, 1.1, 5])
def test_a_priority_that_version_2_does_not_have_is_refused(priority: float) -> None:
    block = TextContent("hi", Annotations(priority=priority))
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        outgoing("session/prompt", PromptRequest("s", (block,)))


@pytest.mark.parametrize("method", ASKED, ids=lambda method: f"{method.kind.value} {method.name}")
def test_whatever_fits_version_1_fits_version_2(method: Any) -> None:
    name = method.params.partition(":")[2]

    @settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
    @given(V1.strategies.named(name))
    def law(data: Any) -> None:
        try:
            told = outgoing(method.name, decoder(method.params_type)(data), method.kind)
        except InvalidInput:
            assert '"priority"' in json.dumps(data)
            return
        entry = IN_SECOND[told.method, method.kind]
        members = wire(told.params, entry.params_type)
        decoder(entry.params_type)(members)  # it is as the schema has it
        assert members.keys() >= data.keys() - {"type"}

    law()


# ---- what it is answered ----

ANSWERED = [method for method in ASKED if method.kind is MethodKind.REQUEST and method.name != "session/prompt"]
EXAMPLES: dict[str, Any] = {
    "authenticate": AuthenticateRequest("m"),
    "session/new": session.NewSessionRequest("/w", ()),
    "session/load": session.LoadSessionRequest((), "/w", "s"),
    "session/resume": session.ResumeSessionRequest("s", "/w"),
    "session/fork": session.ForkSessionRequest("s", "/w"),
    "session/set_config_option": SetSessionConfigOptionRequest("s", "c", "v"),
}


@pytest.mark.parametrize("method", ANSWERED, ids=lambda method: method.name)
def test_every_answer_of_version_2_can_be_said_in_version_1(method: Any) -> None:
    told = outgoing(method.name, EXAMPLES[method.name] if method.name in EXAMPLES else _example(method))
    entry = SECOND.agent_method(told.method)
    assert entry is not None
    assert entry.result is not None
    name = entry.result.partition(":")[2]

    @settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
    @given(V2.strategies.named(name))
    def law(data: Any) -> None:
        back = told.back(decoder(entry.result_type)(data))
        decoder(method.result_type)(wire(back, method.result_type))

    law()


def _example(method: Any) -> Any:
    known = {"sessionId": "s", "title": "t", "methodId": "m", "providerId": "p", "apiType": "a", "baseUrl": "https://p"}
    members = {**known, "serverId": "s", "requestId": "r", "method": "m"}
    return decoder(method.params_type)(members)


def test_an_opened_session_is_told_as_version_1_has_it() -> None:
    told = outgoing("session/new", session.NewSessionRequest("/w", ()))
    entry = SECOND.agent_method("session/new")
    assert entry is not None
    group = {"groupId": "g", "name": "G", "options": [{"value": "v", "name": "V"}]}
    option = {"type": "select", "configId": "c", "name": "C", "currentValue": "v", "options": [group]}
    switch = {"type": "boolean", "configId": "b", "name": "B", "currentValue": True, "_meta": {"m": 1}}
    later = {"type": "slider", "configId": "x", "name": "X"}
    commands = [
        {"type": "command", "name": "n", "description": "d", "input": {"type": "text", "hint": "h"}},
        {"type": "later", "name": "m", "description": "e"},
    ]
    data = {"sessionId": "s", "configOptions": [option, switch, later], "availableCommands": commands, "own": 1}

    assert unstructure(told.back(decoder(entry.result_type)(data))) == {
        "sessionId": "s",
        "configOptions": [
            {
                "type": "select",
                "id": "c",
                "name": "C",
                "currentValue": "v",
                "options": [{"group": "g", "name": "G", "options": [{"value": "v", "name": "V"}]}],
            },
            {"type": "boolean", "id": "b", "name": "B", "currentValue": True, "_meta": {"m": 1}},
            later,
        ],
        "availableCommands": [{"name": "n", "description": "d", "input": {"hint": "h"}}],
        "own": 1,
    }


def test_a_login_is_answered_as_in_version_1() -> None:
    told = outgoing("authenticate", AuthenticateRequest("m"))
    entry = SECOND.agent_method("auth/login")
    assert entry is not None
    assert told.back(decoder(entry.result_type)({"x": 1})) == AuthenticateResponse(extra={"x": 1})


# ---- what the agent asks ----

OPTIONS = [{"optionId": "o", "name": "Yes", "kind": "allow_once"}]


def asked(method: str, params: Any, request_id: Any = 7) -> Any:
    entry = SECOND.client_method(method)
    assert entry is not None
    return incoming(decoder(entry.params_type)(params), request_id)


def permission(**members: Any) -> PermissionQuestion:
    params = {"sessionId": "s", "title": "May I?", "options": OPTIONS, **members}
    found = asked("session/request_permission", params)
    assert isinstance(found, PermissionQuestion)
    return found


def test_a_question_about_a_tool_call() -> None:
    diff = {"type": "diff", "changes": [{"operation": "modify", "path": "/w/a"}]}
    call = {
        "toolCallId": "c",
        "title": "Edit",
        "kind": "edit",
        "content": [diff, {"type": "content", "content": {"type": "text", "text": "t"}}],
        "locations": [{"path": "/w/a", "line": 3}],
        "rawInput": {"path": "/w/a"},
    }
    question = permission(subject={"type": "tool_call", "toolCall": call}, description="Because.")

    assert (question.title, question.description) == ("May I?", "Because.")
    assert question.tool_call.tool_call_id == "c"
    assert (question.tool_call.title, question.tool_call.kind) == ("Edit", "edit")
    assert question.tool_call.locations[0].line == 3
    assert question.tool_call.raw_input == {"path": "/w/a"}
    assert [type(item).__name__ for item in question.tool_call.content or ()] == ["Diff", "Content"]


def test_a_question_about_a_command() -> None:
    subject = {"type": "command", "command": "rm -r x", "cwd": "/w", "toolCallId": "c", "terminalId": "t"}
    call = permission(subject=subject).tool_call

    assert (call.tool_call_id, call.kind, call.title) == ("c", "execute", "May I?")
    assert call.raw_input == {"command": "rm -r x", "cwd": "/w"}
    assert permission(subject={"type": "command", "command": "ls", "cwd": "/"}).tool_call.tool_call_id == "permission:7"


@pytest.mark.parametrize("members", [{}, {"subject": None}, {"subject": {"type": "_later", "command": "ls"}}])
def test_a_question_about_nothing_that_is_known(members: Any) -> None:
    call = permission(**members).tool_call

    assert (call.tool_call_id, call.title, call.kind) == ("permission:7", "May I?", UNSET)
    assert call.raw_input == (members.get("subject") or UNSET)


def test_what_a_question_says_anew_of_its_call() -> None:
    entry = SECOND.client_method("session/request_permission")
    assert entry is not None
    call = {"toolCallId": "c", "title": None}
    params = {"sessionId": "s", "title": "?", "options": OPTIONS, "subject": {"type": "tool_call", "toolCall": call}}
    told = call_told_in(decoder(entry.params_type)(params))

    assert told is not None
    assert (told.tool_call_id, told.title, told.kind) == ("c", None, UNSET)
    assert call_told_in({"toolCallId": "c"}) is None


def test_forms_and_pages_are_those_of_version_1() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    form = asked("elicitation/create", {"mode": "form", "message": "m", "requestedSchema": schema, "sessionId": "s"})
    page = asked(
        "elicitation/create", {"mode": "url", "message": "m", "elicitationId": "e", "url": "u", "requestId": 3}
    )
    later = asked("elicitation/create", {"mode": "later", "message": "m", "sessionId": "s"})

    assert isinstance(form, elicitation.ElicitationFormMode)
    assert form.scope == elicitation.ElicitationSessionScope("s")
    assert form.requested_schema.required == ("a",)
    assert isinstance(page, elicitation.ElicitationUrlMode)
    assert page.scope == elicitation.ElicitationRequestScope(3)
    assert isinstance(later, elicitation.UnknownElicitation)


@pytest.mark.parametrize("method", ["session/request_permission", "elicitation/create", "mcp/message"])
def test_whatever_is_asked_in_version_2_can_be_asked_in_version_1(method: str) -> None:
    entry = SECOND.client_method(method)
    assert entry is not None

    @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    @given(V2.strategies.named(entry.params.partition(":")[2]), st.integers() | st.text())
    def law(data: Any, request_id: Any) -> None:
        params = incoming(decoder(entry.params_type)(data), request_id)
        assert "v2" not in type(params).__module__

    law()


@pytest.mark.parametrize(
    "result",
    [
        elicitation.ElicitationAcceptAction({"a": 1, "b": ("x",)}),
        elicitation.ElicitationAcceptAction(),
        elicitation.ElicitationDeclineAction(),
        elicitation.ElicitationCancelAction(),
    ],
)
def test_answers_are_written_as_in_version_1(result: Any) -> None:
    first, second = V1.definitions["CreateElicitationResponse"], V2.definitions["CreateElicitationResponse"]

    assert json.dumps(unstructure(answer(result), second)) == json.dumps(unstructure(result, first))


# ---- content ----


@given(V2.strategies.named("ContentBlock"))
def test_a_block_of_version_2_is_one_of_version_1_and_back(data: Any) -> None:
    block = decoder(content2.ContentBlock)(data)
    first = block_to_v1(block)

    assert wire(first, V1.definitions["ContentBlock"]) == wire(block, content2.ContentBlock)
    assert wire(block_to_v2(first), content2.ContentBlock) == wire(block, content2.ContentBlock)


def test_a_size_that_says_nothing_is_left_out_in_version_2() -> None:
    assert block_to_v2(ResourceLink("n", "file:///n", size=-1)) == content2.ResourceLink("n", "file:///n")
