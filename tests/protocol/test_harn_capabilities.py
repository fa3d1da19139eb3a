"""What a Harn agent offers, in typed form."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.diagnostics import DiagnosticKind
from acp_host.protocol.events import Diagnostic
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.protocol.negotiation import Registered, client_capabilities
from acp_host.quirks import QUIRKS
from tests.protocol.hosts import agreed
from tests.protocol.streams import line

HARN: dict[str, Any] = {"name": "harn", "version": "0.10"}
OFFER: dict[str, Any] = {
    "loadSession": True,
    "session": {
        "inject": {"modes": ["queue", "steer", "interrupt_immediate"], "pending": {"replace": True}},
        "injectHostEvent": {"kinds": ["host_tool_result"], "delivery": ["turn_boundary"]},
        "remind": {"modes": ["finish_step"], "pending": {"list": True, "revoke": True}},
    },
    "sessionCapabilities": {"close": {}, "rollback": {}, "redo": {}, "restoreToolCall": {}, "cancelToolCall": {}},
    "_meta": {
        "harn": {
            "schemaCompatibility": "schema v0",
            "extensionContract": "https://example.org/contract",
            "sessionUpdateExtensions": ["log", "worker_update"],
            "toolLifecycleExtensionFields": ["audit"],
            "contentExtensionFields": ["visible_text"],
            "promptResultExtensionFields": ["terminal"],
            "stagedWritesPendingFields": ["pendingCount"],
            "stagedWriteFields": ["path"],
            "sandboxConfinement": {"kind": "none"},
            "extensionMethods": {
                "_harn/agentEvent": {"kinds": ["loop_stuck"]},
                "session/plan_document/mutate": {"conflict": {"code": -32010, "schemaVersion": "v1"}},
            },
            "hostCapabilityOperations": {"process": ["exec", "list_shells"], "hypothesis": ["attest_event"]},
            "ofTomorrow": 1,
        }
    },
}


def test_everything_that_is_offered_is_read() -> None:
    harn = agreed(OFFER, agentInfo=HARN).agreement.harn
    assert harn is not None
    assert harn.inject_modes == ("queue", "steer", "interrupt_immediate")
    assert harn.replaces_injects
    assert (harn.host_event_kinds, harn.host_event_delivery) == (("host_tool_result",), ("turn_boundary",))
    assert harn.remind_modes == ("finish_step",)
    assert harn.lists_pending
    assert harn.revokes_reminders
    assert all((harn.cancels_tool_calls, harn.rolls_back, harn.redoes, harn.restores_tool_calls))
    assert harn.schema_compatibility == "schema v0"
    assert harn.extension_contract == "https://example.org/contract"
    assert harn.session_update_extensions == ("log", "worker_update")
    assert (harn.tool_fields, harn.content_fields, harn.prompt_result_fields) == (
        ("audit",),
        ("visible_text",),
        ("terminal",),
    )
    assert (harn.staged_writes_fields, harn.staged_write_fields) == (("pendingCount",), ("path",))
    assert harn.sandbox_confinement == {"kind": "none"}
    assert harn.agent_event_kinds == ("loop_stuck",)
    assert harn.plan_conflict_code == -32010
    assert harn.host_operations == {"process": ("exec", "list_shells"), "hypothesis": ("attest_event",)}
    assert harn.raw["ofTomorrow"] == 1
    assert harn.problems == ()


def test_an_agent_is_harn_by_what_it_offers_whatever_its_name() -> None:
    assert agreed({"_meta": {"harn": {}}}).agreement.harn is not None


def test_an_older_build_is_known_by_the_table_of_quirks() -> None:
    assert agreed({}, agentInfo=HARN).agreement.harn is None
    older = agreed({}, agentInfo=HARN, quirks=QUIRKS).agreement.harn
    assert older is not None
    assert older.inject_modes == ()


@pytest.mark.parametrize("meta", [None, {}, {"harn": "yes"}, {"other": {}}])
def test_every_other_agent_is_not(meta: Any) -> None:
    assert agreed({"_meta": meta}, quirks=QUIRKS).agreement.harn is None


def test_what_has_the_wrong_type_is_not_offered_and_told() -> None:
    protocol = HostProtocol(client_capabilities(Registered()), quirks=())
    protocol.initialize()
    offer = {
        "session": {"inject": {"modes": "steer"}, "remind": []},
        "_meta": {"harn": {"sessionUpdateExtensions": ["log", 7], "extensionMethods": {"_harn/agentEvent": "yes"}}},
    }
    protocol.receive_data(line(id=0, result={"protocolVersion": 1, "agentCapabilities": offer, "agentInfo": HARN}))
    harn = protocol.agreement.harn
    assert harn is not None
    assert harn.inject_modes == harn.remind_modes == harn.agent_event_kinds == ()
    assert harn.session_update_extensions == ("log",)
    told = [event for event in protocol.events() if isinstance(event, Diagnostic)]
    assert {each.kind for each in told} == {DiagnosticKind.REPAIRED}
    assert [each.message for each in told if "modes" in each.message] == [
        "expected an array of strings at $.result.agentCapabilities.session.inject.modes, got str; "
        "it counts as not offered"
    ]
    assert len(told) == 4


def test_it_forks_sessions_without_a_word() -> None:
    assert agreed({}, agentInfo=HARN, quirks=QUIRKS).agreement.supports("session/fork")
    assert not agreed({}, quirks=QUIRKS).agreement.supports("session/fork")
