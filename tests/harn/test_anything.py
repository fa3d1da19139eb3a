"""Whatever stands where Harn writes something, it is read, or counts as absent; nothing raises."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import RequestFailed
from acp_host.protocol.harn_capabilities import harn_capabilities
from acp_host.protocol.harn_errors import harn_error
from acp_host.translate.harn.permissions import permission_facts
from acp_host.translate.harn.tool_calls import tool_call
from acp_host.wire.content import TextContent
from acp_host.wire.harn.content import as_shown, permission_preview, shown_text
from acp_host.wire.harn.correlation import is_replayed, prompt_name
from acp_host.wire.harn.prompt import Terminal
from acp_host.wire.harn.refusals import refusal_reason
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.tool_calls import Diff, ToolCallUpdate
from tests.protocol.hosts import DEEP

_NAMES = st.sampled_from(
    [
        "harn",
        "_meta",
        "session",
        "inject",
        "remind",
        "modes",
        "pending",
        "replace",
        "list",
        "revoke",
        "injectHostEvent",
        "kinds",
        "delivery",
        "sessionCapabilities",
        "rollback",
        "extensionMethods",
        "_harn/agentEvent",
        "session/plan_document/mutate",
        "conflict",
        "code",
        "hostCapabilityOperations",
        "process",
        "sessionUpdateExtensions",
        "sandboxConfinement",
        "terminal",
        "kind",
        "reason",
        "owner",
        "terminalClass",
        "schema",
        "retryAfterMs",
        "retryable",
        "authMethods",
        "audit",
        "approval_policy",
        "auto_deny",
        "executor",
        "serverName",
        "durationMs",
        "error",
        "changedPaths",
        "data",
        "parsing",
        "restoredPaths",
        "skippedPathsWithReasons",
        "path",
        "toolName",
        "approvalRequest",
        "evidence_refs",
        "undo_metadata",
        "policy_decision",
        "policyDecision",
        "matched_rule",
        "index",
        "context",
        "paths",
        "workspace_path",
        "toolDescriptor",
        "inputSchema",
        "schemaChanged",
        "mutation",
        "visible_delta",
        "visible_text",
        "permission_preview",
        "byteCount",
        "promptCorrelation",
        "messageId",
        "replayed",
    ]
)
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["harn.acp.prompt_error.v1", "natural", "HARN-RMD-001", "\ud83d", 10**30]),
    st.just(DEEP),
)
JSON = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=6),
    max_leaves=20,
)
OBJECTS = st.dictionaries(_NAMES, JSON, max_size=8)


@given(JSON)
def test_of_capabilities(offer: Any) -> None:
    capabilities = harn_capabilities(offer)
    assert all(isinstance(mode, str) for mode in capabilities.inject_modes)


@given(JSON)
def test_of_a_prompts_end(meta: Any) -> None:
    terminal, problems = Terminal.of(meta)
    assert terminal is None or isinstance(terminal.kind, str)
    assert all(isinstance(problem, str) for problem in problems)


@given(st.sampled_from([-32000, -32004, -32602]), st.text(max_size=30), JSON, st.booleans())
def test_of_an_error(code: int, message: str, data: Any, is_harn: bool) -> None:
    error = harn_error(RequestFailed.from_code(code, message, data), is_harn=is_harn)
    assert (error.code, error.message, error.data) == (code, message, data) or data is DEEP
    reason = refusal_reason(error)
    assert reason is None or isinstance(reason, str)


@given(JSON, OBJECTS)
def test_of_a_tool_call(harn: Any, root: dict[str, Any]) -> None:
    report = tool_call(ToolCallUpdate("c", meta={"harn": harn}, extra=root))
    assert report is None or len(report.events) == 1


@given(JSON, OBJECTS)
def test_of_a_permission_request(harn: Any, root: dict[str, Any]) -> None:
    request = RequestPermissionRequest("s", ToolCallUpdate("c", meta={"harn": harn}), (), extra=root)
    facts, _ = permission_facts(request)
    assert facts is None or isinstance(facts.not_shown, tuple)


@given(JSON, OBJECTS)
def test_of_content(meta: Any, root: dict[str, Any]) -> None:
    for each in (meta, {"harn": meta}):
        content = TextContent("text", meta=each if isinstance(each, dict) else None, extra=root)
        shown = as_shown(content)
        assert shown_text(content) == ("" if shown is None else shown.text)
        permission_preview(Diff("/a", "", meta=content.meta))


@given(JSON)
def test_of_where_a_message_belongs(params: Any) -> None:
    assert isinstance(is_replayed(params, params), bool)
    name = prompt_name(params)
    assert name is None or isinstance(name, str)
