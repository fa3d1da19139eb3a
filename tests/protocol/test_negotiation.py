"""What the host offers, and what is agreed."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.errors import NotSupported
from acp_host.protocol.negotiation import Agreement, Registered, client_capabilities, make_agreement
from acp_host.quirks import Quirk, QuirkKind
from acp_host.wire.auth import AuthMethodAgent
from acp_host.wire.capabilities import AgentCapabilities, ClientCapabilities
from acp_host.wire.converters import structure, unstructure
from acp_host.wire.initialize import InitializeResponse
from acp_host.wire.methods import METHODS, Direction

ALWAYS: dict[str, Any] = {
    "fs": {"readTextFile": False, "writeTextFile": False},
    "terminal": False,
    "session": {"compaction": {}, "configOptions": {"boolean": {}}},
    "auth": {"terminal": False},
}
"""What is offered where nothing is registered: what the host handles by itself."""


def offered(**registered: Any) -> dict[str, Any]:
    return unstructure(client_capabilities(Registered(**{"notices": False, **registered})))


def agreement(
    capabilities: Any = None,
    *,
    quirks: tuple[Quirk, ...] = (),
    client: ClientCapabilities | None = None,
    **members: Any,
) -> Agreement:
    answer = {"protocolVersion": 1, "agentInfo": {"name": "agent", "version": "1.2"}, **members}
    if capabilities is not None:
        answer["agentCapabilities"] = capabilities
    response: InitializeResponse = structure(answer, InitializeResponse)
    return make_agreement(response, client or ClientCapabilities(), quirks)


# ---- what the host offers ----


@pytest.mark.parametrize(
    ("registered", "more"),
    [
        ({}, {}),
        ({"read_files": True}, {"fs": {"readTextFile": True, "writeTextFile": False}}),
        ({"write_files": True}, {"fs": {"readTextFile": False, "writeTextFile": True}}),
        ({"terminals": True}, {"terminal": True}),
        ({"auth_terminal": True}, {"auth": {"terminal": True}, "_meta": {"terminal-auth": True}}),
        (
            {"auth_terminal": True, "extra": {"_meta": {"own": 1}}},
            {"auth": {"terminal": True}, "_meta": {"terminal-auth": True, "own": 1}},
        ),
        ({"elicitation_form": True}, {"elicitation": {"form": {}}}),
        ({"elicitation_url": True}, {"elicitation": {"url": {}}}),
        ({"elicitation_form": True, "elicitation_url": True}, {"elicitation": {"form": {}, "url": {}}}),
        ({"notices": True}, {"session": {**ALWAYS["session"], "notices": {}}}),
        ({"unstable": True}, {"plan": {}, "subagents": {}}),
        ({"extra": {"sidebar": {"v": 1}}}, {"sidebar": {"v": 1}}),
        ({"extra": {"_meta": {"own": True}}}, {"_meta": {"own": True}}),
    ],
)
def test_what_is_registered_is_offered_and_nothing_else(registered: dict[str, Any], more: dict[str, Any]) -> None:
    assert offered(**registered) == ALWAYS | more


def test_notices_are_offered_unless_they_are_switched_off() -> None:
    assert "notices" in unstructure(client_capabilities(Registered()))["session"]


def test_what_is_known_cannot_be_overruled_by_what_is_further() -> None:
    assert offered(extra={"terminal": True, "fs": {}}) == ALWAYS


# ---- what is agreed ----


def test_what_an_agreement_tells() -> None:
    client = client_capabilities(Registered(terminals=True))
    agreed = agreement(
        {"loadSession": True},
        client=client,
        authMethods=[{"id": "m", "name": "M"}],
        agentInfo={"name": "agent", "version": "1.2", "title": "The Agent"},
        _meta={"m": 1},
    )

    assert agreed.protocol_version == 1
    assert agreed.agent_info is not None
    assert (agreed.agent_info.version, agreed.agent_name) == ("1.2", "The Agent")
    assert agreed.agent_capabilities.load_session is True
    assert agreed.client_capabilities is client
    assert agreed.auth_methods == (AuthMethodAgent("m", "M"),)
    assert dict(agreed.meta) == {"m": 1}


@pytest.mark.parametrize(
    "members", [{}, {"agentInfo": None, "agentCapabilities": {}, "authMethods": [], "_meta": None}]
)
def test_what_an_agent_does_not_say_is_empty(members: dict[str, Any]) -> None:
    answer: InitializeResponse = structure({"protocolVersion": 1, **members}, InitializeResponse)
    agreed = make_agreement(answer, ClientCapabilities(), ())

    assert (agreed.agent_info, agreed.agent_name, agreed.auth_methods, dict(agreed.meta)) == (None, "agent", (), {})
    assert unstructure(agreed.agent_capabilities) == {}


@pytest.mark.parametrize(("title", "name"), [(None, "agent"), ("", "agent"), ("Title", "Title")])
def test_what_to_call_an_agent(title: str | None, name: str) -> None:
    assert agreement(agentInfo={"name": "agent", "version": "1", "title": title}).agent_name == name


CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False},
    "sessionCapabilities": {"list": {}, "resume": None},
    "auth": {"logout": {"_meta": {}}},
    "reminders": {"inject": True, "remind": {"levels": ["a"]}, "off": False, "text": "yes"},
    "_meta": {"own": {"thing": True}},
}
SUPPORTED = {
    # Methods of the agent.
    "initialize": True,
    "authenticate": True,
    "logout": True,
    "session/new": True,
    "session/prompt": True,
    "session/cancel": True,
    "session/load": True,
    "session/list": True,
    "session/resume": False,
    "session/close": False,
    "session/no_such": False,
    "_own/thing": False,
    "fs/read_text_file": False,
    # Capabilities of the agent.
    "loadSession": True,
    "promptCapabilities": True,
    "promptCapabilities.image": True,
    "promptCapabilities.audio": False,
    "promptCapabilities.embeddedContext": False,
    "promptCapabilities.image.deeper": False,
    "sessionCapabilities.list": True,
    "sessionCapabilities.resume": False,
    "auth.logout": True,
    "auth.status": False,
    "providers": False,
    "agentCapabilities": True,
    "agentCapabilities.loadSession": True,
    # Extensions.
    "reminders": True,
    "reminders.inject": True,
    "reminders.remind": True,
    "reminders.off": False,
    "reminders.text": False,
    "reminders.remind.levels": False,
    "_meta.own.thing": True,
    # Capabilities of the host.
    "clientCapabilities": True,
    "clientCapabilities.fs.readTextFile": True,
    "clientCapabilities.fs.writeTextFile": False,
    "clientCapabilities.terminal": False,
    "clientCapabilities.session.compaction": True,
    "clientCapabilities.elicitation.form": False,
    # Nonsense.
    "": False,
    ".": False,
    "promptCapabilities.": False,
    "promptCapabilities..image": False,
}


@pytest.mark.parametrize(("capability", "supported"), SUPPORTED.items())
def test_supports(capability: str, supported: bool) -> None:
    client = client_capabilities(Registered(read_files=True))
    assert agreement(CAPABILITIES, client=client).supports(capability) is supported


def test_what_needs_no_capability_is_supported_by_every_agent() -> None:
    agreed = agreement()
    for method in METHODS:
        if method.direction is not Direction.AGENT_TO_HOST:
            assert agreed.supports(method.name) is (method.capability is None)


def test_every_capability_allows_its_method() -> None:
    for method in METHODS:
        if method.direction is Direction.HOST_TO_AGENT and method.capability is not None:
            *path, last = method.capability.split(".")[1:]
            for offer, allowed in [({}, True), (True, True), (False, False), (None, False)]:
                capabilities: Any = {last: offer}
                for name in reversed(path):
                    capabilities = {name: capabilities}
                answer = InitializeResponse(1, agent_capabilities=AgentCapabilities(extra=capabilities))
                assert make_agreement(answer, ClientCapabilities(), ()).supports(method.name) is allowed


def test_require_names_the_capability() -> None:
    agreed = agreement()
    agreed.require("session/new")
    agreed.require("session/cancel")
    with pytest.raises(NotSupported) as caught:
        agreed.require("session/fork")
    assert (caught.value.capability, caught.value.method) == (
        "agentCapabilities.sessionCapabilities.fork",
        "session/fork",
    )
    with pytest.raises(NotSupported) as caught:
        agreed.require("no/such")
    assert (caught.value.capability, caught.value.method) == ("no/such", "no/such")


def test_require_capability_says_what_for() -> None:
    agreed = agreement(CAPABILITIES)
    agreed.require_capability("promptCapabilities.image", "images")
    with pytest.raises(
        NotSupported, match=r"^agent does not take sound: it does not offer promptCapabilities\.audio"
    ) as caught:
        agreed.require_capability("promptCapabilities.audio", "sound")
    assert (caught.value.capability, caught.value.method) == ("agentCapabilities.promptCapabilities.audio", None)


def test_an_offer_can_say_more_than_yes() -> None:
    agreed = agreement(CAPABILITIES)
    assert agreed.offer("reminders.remind.levels") == ["a"]
    assert agreed.offer("reminders.off") is False
    assert agreed.offer("clientCapabilities.terminal") is None
    assert agreed.offer("nothing.at.all") is None


# ---- quirks ----


def test_quirks_of_this_agent_are_kept_and_those_of_others_are_not() -> None:
    mine = Quirk("age.*", QuirkKind.WORKS_UNADVERTISED, "it does", "session/load", versions=r"1\..*")
    others = [
        Quirk("agent", QuirkKind.WORKS_UNADVERTISED, "an older one", "session/list", versions=r"0\..*"),
        Quirk("gent", QuirkKind.WORKS_UNADVERTISED, "another one", "session/list"),
    ]
    agreed = agreement(quirks=(mine, *others))

    assert agreed.quirks == (mine,)
    assert agreed.quirk(QuirkKind.WORKS_UNADVERTISED, "session/load") is mine
    assert agreed.quirk(QuirkKind.WORKS_UNADVERTISED) is None
    assert agreed.supports("session/load")
    assert not agreed.supports("session/list")


def test_an_agent_without_a_name_has_no_quirks() -> None:
    row = Quirk(".*", QuirkKind.WORKS_UNADVERTISED, "any", "session/load")
    assert agreement(agentInfo=None, quirks=(row,)).quirks == ()
