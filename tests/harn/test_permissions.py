"""Permission requests of Harn: what they say beside ACP, and what the answers say."""

from __future__ import annotations

from typing import Any

import pytest

import acp_host
from acp_host.state.harn.permission_facts import Evidence, MatchedRule, PermissionFacts
from acp_host.testing import ScriptedAgent
from acp_host.translate.harn.permissions import permission_facts
from acp_host.wire.converters import structure
from acp_host.wire.permission import RequestPermissionRequest

HARN: dict[str, Any] = {"_meta": {"harn": {}}}
DONE: dict[str, Any] = {"stopReason": "end_turn"}
OPTIONS = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]
DECISION = {
    "type": "harn.permission_policy_decision.v1",
    "action": "ask",
    "reason": "workspace edit",
    "matched_rule": {"source": "rules", "action": "ask", "id": "edit-src", "index": 0},
    "risk_labels": ["path_rule"],
    "context": {
        "tool_name": "edit_file",
        "tool_kind": "edit",
        "side_effect": "workspace_write",
        "paths": [{"workspace_path": "src/main.rs"}, "b.rs", 5],
    },
}
APPROVAL = {
    "id": "a1",
    "action": "edit_file",
    "args": {"path": "src/main.rs"},
    "principal": "s1",
    "requested_at": "t0",
    "deadline": "t1",
    "approvers_required": 1,
    "evidence_refs": [
        {
            "kind": "file_mutation_diff",
            "path": "/w/a",
            "preimageSha256": "3a",
            "byteCount": 35,
            "source": "pre",
        },
        {"kind": "file_preimage", "path": "/w/b", "unavailable_reason": "symlink"},
    ],
    "undo_metadata": {"policy_decision": DECISION},
    "capabilities_requested": ["tool.edit_file"],
}
AUDIT = {"session_id": "m", "mutation_scope": "apply_workspace"}


def asked(harn: Any = None, **members: Any) -> dict[str, Any]:
    call: dict[str, Any] = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "edit_file"}
    if harn is not None:
        call["_meta"] = {"harn": harn}
    return {"sessionId": "s1", "toolCall": call, "options": OPTIONS, **members}


def read(harn: Any, **members: Any) -> tuple[PermissionFacts | None, tuple[str, ...]]:
    return permission_facts(structure(asked(harn, **members), RequestPermissionRequest))


def test_everything_is_read() -> None:
    descriptor = {"description": "Edits", "inputSchema": {"type": "object"}, "schemaChanged": True}
    facts, problems = read(
        {
            "toolName": "edit_file",
            "approvalRequest": APPROVAL,
            "policyDecision": DECISION,
            "toolDescriptor": descriptor,
            "mutation": AUDIT,
            "audit": AUDIT,
            "executor": "harn_builtin",
        }
    )
    assert problems == ()
    assert facts is not None
    assert facts.tool_name == "edit_file"
    approval, decision = facts.approval, facts.decision
    assert approval is not None
    assert (approval.id, approval.action, approval.principal) == ("a1", "edit_file", "s1")
    assert (approval.requested_at, approval.deadline, approval.approvers_required) == ("t0", "t1", 1)
    assert (approval.args, approval.capabilities_requested) == ({"path": "src/main.rs"}, ("tool.edit_file",))
    assert approval.evidence[0] == Evidence(
        kind="file_mutation_diff", path="/w/a", preimage_sha256="3a", byte_count=35, source="pre"
    )
    assert decision is not None
    assert (decision.action, decision.reason, decision.risk_labels) == ("ask", "workspace edit", ("path_rule",))
    assert decision.matched_rule == MatchedRule(source="rules", action="ask", id="edit-src", index=0)
    assert (decision.tool_name, decision.tool_kind, decision.side_effect) == ("edit_file", "edit", "workspace_write")
    assert decision.paths == ("src/main.rs", "b.rs")
    assert facts.descriptor is not None
    assert (facts.descriptor.description, facts.descriptor.input_schema) == ("Edits", {"type": "object"})
    assert facts.schema_changed
    assert facts.mutation is not None
    assert facts.mutation.session_id == "m"
    assert facts.tool is not None
    assert facts.tool.audit is not None


def test_a_change_that_cannot_be_shown_is_told() -> None:
    facts, _ = read({"approvalRequest": APPROVAL})
    assert facts is not None
    assert [(each.path, each.unavailable) for each in facts.not_shown] == [("/w/b", "symlink")]


def test_why_it_asks_may_stand_in_the_approval_alone() -> None:
    facts, _ = read({"approvalRequest": APPROVAL})
    assert facts is not None
    assert facts.decision is not None
    assert facts.decision.reason == "workspace edit"


def test_the_mutation_may_stand_beside_the_tool_call() -> None:
    facts, _ = read(None, mutation=AUDIT)
    assert facts is not None
    assert facts.mutation is not None
    assert facts.mutation.mutation_scope == "apply_workspace"


def test_another_agent_says_nothing_of_that() -> None:
    assert read(None) == (None, ())


@pytest.mark.parametrize(
    "harn",
    [
        {"approvalRequest": "x", "policyDecision": 5, "toolDescriptor": [], "toolName": 7},
        {"approvalRequest": {"evidence_refs": [5], "approvers_required": -1, "undo_metadata": []}},
        {"policyDecision": {"matched_rule": 5, "context": [], "risk_labels": "x"}},
    ],
)
def test_what_has_the_wrong_type_is_told_and_costs_nothing_else(harn: Any) -> None:
    facts, problems = read(harn)
    assert facts is not None
    assert len(problems) >= 3


async def answered(
    *, capabilities: Any = HARN, harn: Any = None, permissions: Any = None
) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Return the answer to a permission request, the questions that were shown for it, and the tool calls."""
    answers: list[dict[str, Any]] = []
    shown: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(capabilities)
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        answers.append(await agent.call("session/request_permission", asked(harn)))
        agent.reply(DONE)

    async with acp_host.connect(ScriptedAgent(script).transport(), permissions=permissions) as host:
        session = await host.new_session()
        session.state.changed.connect(lambda changes: shown.extend(changes.snapshot.questions))
        await session.prompt("Hi")
        calls = list(session.state.snapshot().tool_calls)
    return answers[0]["result"], shown, calls


async def test_the_question_has_it_and_so_has_the_call() -> None:
    queue = acp_host.PermissionQueue()
    queue.changed.connect(lambda changes: [each.choose("allow") for each in queue.pending])
    result, shown, calls = await answered(harn={"toolName": "edit_file", "executor": "host_bridge"}, permissions=queue)
    assert result == {"outcome": {"outcome": "selected", "optionId": "allow"}}
    assert shown[0].harn.tool_name == "edit_file"
    assert calls[0].harn.executor.kind == "host_bridge"


def record(result: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = result["_meta"]["harn"]["permissionDecision"]
    return told


async def test_what_a_policy_allows_is_not_said_to_be_a_persons_decision() -> None:
    result, _, _ = await answered(permissions=acp_host.PermissionPolicy(default="allow_once"))
    assert result["outcome"] == {"outcome": "selected", "optionId": "allow"}
    assert record(result) == {
        "schema": "harn.tool_permission_decision.v1",
        "outcome": "approved",
        "decider": "user_policy",
        "policy_evaluations": [],
        "grant_scope": "once",
    }
    assert "reason" not in result


async def test_the_model_is_told_why_a_policy_refuses() -> None:
    result, _, _ = await answered(permissions=acp_host.PermissionPolicy(default="reject_once"))
    assert result["outcome"] == {"outcome": "selected", "optionId": "reject"}
    told = record(result)
    assert (told["outcome"], told["decider"]) == ("denied", "user_policy")
    assert "grant_scope" not in told
    assert isinstance(result["reason"], str)


@pytest.mark.parametrize("failing", [True, False])
async def test_without_anybody_to_ask_it_is_refused(failing: bool) -> None:
    def fail(request: Any) -> Any:
        raise RuntimeError("broken")

    result, _, _ = await answered(permissions=fail if failing else None)
    assert result["outcome"] == {"outcome": "selected", "optionId": "reject"}
    assert record(result)["outcome"] == "denied"
    assert "broken" not in str(result)


async def test_another_agent_is_told_nothing_of_that() -> None:
    for default in ("allow_once", "reject_once"):
        result, _, _ = await answered(capabilities={}, permissions=acp_host.PermissionPolicy(default=default))
        assert set(result) == {"outcome"}
