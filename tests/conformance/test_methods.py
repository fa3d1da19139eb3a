"""The method table has what the upstream schemas let each side send, and no more."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.wire.methods import Direction, Method, MethodKind, agent_method, client_method
from tests.conformance.schema_reader import Reader, references
from tests.conformance.versions import VERSIONS, Version

EXTENSIONS = {"ExtRequest", "ExtResponse", "ExtNotification"}
REQUEST, NOTIFICATION = MethodKind.REQUEST, MethodKind.NOTIFICATION
CASES = [(version, method) for version in VERSIONS for method in version.table.methods]


def case_id(part: Any) -> str:
    return f"{part.kind.value}-{part.name}" if isinstance(part, Method) else f"{part}"


def is_for_proxies(method: Method) -> bool:
    return method.name.startswith("proxy/")


def type_name(where: str | None) -> str:
    return (where or "").partition(":")[2]


def types(methods: list[Method], kind: MethodKind, part: str) -> set[str]:
    return {type_name(getattr(method, part)) for method in methods if method.kind is kind}


@pytest.mark.parametrize(
    ("sender", "receiver", "direction"),
    [("Client", "Agent", Direction.HOST_TO_AGENT), ("Agent", "Client", Direction.AGENT_TO_HOST)],
)
def test_each_side_sends_what_the_schema_lets_it_send(
    version: Version, schema: dict[str, Any], sender: str, receiver: str, direction: Direction
) -> None:
    drafts = "ProxyRequest" in schema["$defs"]
    methods = [
        m for m in version.table.methods if m.direction is direction and not is_for_proxies(m) and (m.stable or drafts)
    ]

    assert_sent(schema, sender, receiver, methods)


def test_proxies_send_what_the_schema_lets_them_send(version: Version) -> None:
    methods = [method for method in version.table.methods if is_for_proxies(method)]
    assert_sent(version.schemas["unstable"], "Proxy", "Proxy", methods)


def assert_sent(schema: dict[str, Any], sender: str, receiver: str, methods: list[Method]) -> None:
    requests = schema["$defs"][f"{sender}Request"]["properties"]["params"]
    notifications = schema["$defs"][f"{sender}Notification"]["properties"]["params"]
    results = schema["$defs"][f"{receiver}Response"]["anyOf"][0]["properties"]["result"]

    assert types(methods, REQUEST, "params") == references(requests) - EXTENSIONS
    assert types(methods, REQUEST, "result") == references(results) - EXTENSIONS
    assert types(methods, NOTIFICATION, "params") == references(notifications) - EXTENSIONS


def test_both_sides_send_what_the_protocol_level_has(version: Version, schema: dict[str, Any]) -> None:
    [level] = [entry for entry in schema["anyOf"] if entry["title"] == "ProtocolLevel"]
    both = [m for m in version.table.methods if m.direction is Direction.BOTH and not is_for_proxies(m)]

    assert types(both, NOTIFICATION, "params") == references(level["properties"]["params"])
    assert types(both, REQUEST, "params") == set()


def test_every_message_type_has_the_method_and_the_side_that_the_schema_names(version: Version) -> None:
    sides = {Direction.HOST_TO_AGENT: "agent", Direction.AGENT_TO_HOST: "client", Direction.BOTH: "protocol"}
    ours = {
        (type_name(where), method.name, "proxy" if is_for_proxies(method) else sides[method.direction])
        for method in version.table.methods
        for where in (method.params, method.result)
        if where is not None
    }

    assert ours == {
        (name, definition["x-method"], definition["x-side"])
        for name, definition in version.schemas["unstable"]["$defs"].items()
        if "x-method" in definition
    }


def test_a_method_is_stable_if_the_stable_schema_has_it(version: Version) -> None:
    stable, methods = version.schemas["stable"]["$defs"], version.table.methods

    assert [method.name for method in methods if method.stable is not (type_name(method.params) in stable)] == []


@pytest.mark.parametrize(("version", "method"), CASES, ids=case_id)
def test_the_types_of_a_method_are_the_definitions(version: Version, method: Method) -> None:
    assert method.params_type == version.definitions[type_name(method.params)]
    if method.kind is REQUEST:
        assert method.result_type == version.definitions[type_name(method.result)]
    else:
        assert (method.result, method.result_type) == (None, None)


@pytest.mark.parametrize(("version", "method"), [case for case in CASES if case[1].capability], ids=case_id)
def test_the_capability_of_a_method_is_a_flag_or_a_marker_as_stable_as_the_method(
    version: Version, method: Method
) -> None:
    reader = Reader(version.schemas["stable" if method.stable else "unstable"])
    root, *path = str(method.capability).split(".")
    shape: Any = ("type", {"agentCapabilities": "AgentCapabilities", "clientCapabilities": "ClientCapabilities"}[root])
    for wire in path:
        shape = reader.properties(reader.definitions[shape[1]])[wire].shape

    assert shape == "boolean" or shape[0] == "type"


@pytest.mark.parametrize(("version", "method"), CASES, ids=case_id)
def test_a_method_is_found_by_the_side_that_receives_it_and_by_no_other(version: Version, method: Method) -> None:
    to_agent = method.direction in (Direction.HOST_TO_AGENT, Direction.BOTH)
    to_host = method.direction in (Direction.AGENT_TO_HOST, Direction.BOTH)

    assert (version.table.agent_method(method.name, method.kind) is method) is to_agent
    assert (version.table.client_method(method.name, method.kind) is method) is to_host


def test_a_name_alone_finds_the_method_or_of_two_the_request() -> None:
    found = [agent_method("proxy/successor"), agent_method("mcp/message"), client_method("mcp/message")]

    assert [method and method.kind for method in found] == [REQUEST, NOTIFICATION, REQUEST]
    assert agent_method("no/such/method") is None
    assert client_method("session/prompt") is None
