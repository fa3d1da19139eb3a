"""Which words and names say nothing, because a protocol has given them: what stays in an anonymous recording.

Those of ACP are read from the wire types. Any other may be somebody's word.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from enum import StrEnum
from typing import Any

import acp_host.wire
from acp_host.wire._model import Model, Unknown
from acp_host.wire._shape import fields_of

__all__ = [
    "CONTENTS",
    "ERROR_WORDS",
    "EXTENSIONS",
    "EXTENSION_NAMES",
    "EXTENSION_WORD_NAMES",
    "extension_words",
    "is_protocol_word",
    "known_names",
]

EXTENSIONS = frozenset(("harn", "harnPlan", "harnPlanDocument", "acp_host"))
"""Members in which an extension speaks by rules of its own."""
EXTENSION_WORD_NAMES = frozenset(
    (
        "action", "authority", "call_type", "category", "classification", "direction", "event", "execution_kind",
        "kind", "level", "lifecycle", "mode", "origin", "outcome", "phase", "policy_decision", "priority",
        "propagate", "raw_kind", "renderedRole", "role", "roleHint", "severity", "side_effect", "stage", "state",
        "status", "strategy", "terminalClass", "tool_kind", "type", "unit", "verdict", "workerMode",
    )
)  # fmt: skip
"""What extensions call the members that hold words of theirs."""
CONTENTS = frozenset(
    (
        "args", "arguments", "body", "content", "data", "default_args", "input", "login_args", "markdown", "message",
        "metadata", "prompt", "rawInput", "rawOutput", "raw_input", "result", "rows", "stderr", "stdout", "text",
        "value", "values", "visible_text",
    )
)  # fmt: skip
"""Members in which extensions, too, carry what others have said."""


ERROR_WORDS = frozenset(
    (
        "a", "acp", "already", "an", "and", "another", "any", "api", "are", "array", "at", "auth", "authenticated",
        "authentication", "authenticate", "authorized", "be", "been", "bad", "boolean", "by", "call", "can",
        "cancelled", "cannot", "closed", "connection", "context", "conversation", "could", "couldn't", "data",
        "denied", "did", "disabled", "does", "doesn't", "empty", "error", "exceeded", "exist", "exists", "expected",
        "expired", "failed", "field", "file", "find", "for", "found", "gone", "has", "have", "id", "in", "internal",
        "invalid", "is", "it", "json", "limit", "loaded", "lock", "locked", "log", "logged", "login", "longer",
        "malformed", "may", "message", "method", "missing", "mode", "model", "must", "network", "no", "not", "null",
        "number", "object", "of", "on", "open", "option", "or", "out", "over", "param", "parameter", "parameters",
        "params", "parse", "permission", "pending", "prompt", "process", "rate", "refused", "reached", "request",
        "required", "resource", "response", "rollout", "running", "saved", "server", "session", "sign", "signed",
        "status", "still", "string", "such", "supported", "terminal", "the", "thread", "timed", "timeout", "to",
        "token", "too", "tool", "turn", "type", "unauthorized", "unavailable", "unexpected", "unknown", "unsupported",
        "update", "value", "version", "was", "while", "with",
    )
)  # fmt: skip
"""Words that stay in what errors say: by them hosts tell that a session is gone, or that somebody must log in."""

_NAMES = """
_type accumulated_tokens acp_host action active_controller_id actor agent agentEventNotification
agent_idle_params agent_resume_params allowedTools allowed_side_effects allowed_tools approval approvalRequest
approval_policy approval_request approvers_required archivedMessages arg_aliases arg_schema args_hash artifactId
artifactVersion artifacts assumptions attach_params attach_result attached_at attempts attestation_result audit
audit_meta authStatus author authority auto_approve auto_deny available awaiting_started_at backoff_ms
bindingManifestHash blocked_on body budget_cap budget_remaining byteCount byteDelta bytesWritten call_type
candidate_reply candidates capabilities_requested ceiling checkpoint child_run_id child_run_path classification
client clientId client_id clients command_arg_index comments compactionPolicy confidence consent context
controlId count created_at current_revision deadline deadline_checkback deadline_ms dedupeKey dedupe_key
default_args default_shell_id delta deprecated detail dir dispatch document_id droppedCount droppedReminderIds
durationMs duration_ms elapsedMs emit emit_order emits_artifacts emitted_at encoding engineStrategy
errorCategory errorResponse error_category escapeTool estimatedTokensAfter estimatedTokensBefore event event_id
events evidence_refs executionDurationMs execution_kind executor expiredAtTurn external_agent_capability
failureCategory fallback feedbackKind field fields files_or_entities_touched finished_at firedAtTurn handoff
handoffId hardLimitTokens harn harnPlan harnPlanDocument hits hostResult host_tools_list_result hunksCount
idempotency idle_ms index inject injections inline_result instructionMode instructionSource interactive
iteration iterationInfo jsonrpc judgeDurationMs keptCount keptTurnCount language lastIteration last_seen_at
layers level lifecycle list_shells_result login login_args manifest mark markdown matched_rule maxIterations
maxNudges metadata model models mutation mutationStatus mutation_scope newLimit newTipTurnId new_string nextStep
ok oldLimit old_string open_questions operation operationIndex operations origin originatingAgentId owner
parent_run_id parent_session_id parent_worker_id parsing path_params paths payload pendingCount pendingWrites
permission_preview permission_request_params permission_request_result permission_routing persistenceError phase
platform policy policyContext policyDecision policy_decision pre_dispatch_checkpoint prefixHash preimageSha256
preserveOnCompact previous_controller_id principal program progress promoted promptCorrelation prompt_injection
propagate provenance provider providerSafetyBlocked query quorum rawInputPartial raw_kind reason reasoning recap
receiptId receipt_links reclaimedTokens redactedCount relative_paths remainingTools remind_params reminder
reminderId reminder_emitted_update reminders removedTools removedTurnCount renderedRole replace replayed reply
request request_id requestedSideEffectCeiling requestedSideEffectLevel requestedStrategy requested_at
requested_capabilities require_approval resolution_receipts resolvedThresholdTokens response result_hash
result_readers reviewable_handoff reviewers revision_id risk_labels role roleHint roleHints role_hint
route_decision runId run_id run_path schema schemaVersion schema_version score script serverName sessionUpdate
sessionUpdateNotification session_id shell shell_id shell_invocation_args shell_invocation_result shells
side_effect side_effect_level sizeBytes skillName skill_match_params skill_match_result skills_fetch_result
skills_list_result snapshotAssetId snapshotId snapshot_path snippetHash source sourceMeasurement source_persona
spec stage started_at stderr stdout steps strategy subscriptionId supports_interactive supports_login surface
suspension tags tailExcerpt takeover target target_persona_or_human task terminalClass thresholdSource
timeout_ms tool toolCallReceipt toolName toolUseId tool_call_id tool_calls tool_kind tool_name tool_names tools
total totalBytes trace_id ttlTurns ttl_turns turnInfo turn_index undo_metadata updated_at user_visible values
varName verdict verification_commands visible_delta visible_text visible_text_update when_to_use workerId
workerMode workerName workerTask worker_id worker_name worker_update_notification working_files workspace_path
write_path_allowlist
"""

EXTENSION_NAMES = frozenset(_NAMES.split())
"""Names of members in extensions of the protocol that this library reads: of reminders and of Harn."""


_WORDS = """
aborted accept accepted active add advisory agent agent_message_chunk agent_thought_chunk all allow
allow_local_fallback already_delivered already_revoked answer answered api_key approval approved architect artifact
artifact_manifest ask attached audit_only auth_required authenticate auto available_commands_update awaiting
awaiting_input bm25 boundary_failure bridge budget budget_circuit_breaker budget_exceeded budget_exhausted builds
builtin_call call_end call_id call_progress call_start canceled canonical_boundary checkpoint_required client
client_exit code_librarian_query_nl_fallback collaboration_mode compacted_out compass_routing_decision
composition_child_call composition_child_result composition_error composition_finish composition_start
config_option_update content continue contract control_outcome controller corrective create current_mode_update
daemon_watchdog_tripped debug delegated_stage denied deploy detached detached_retained developer diff done
dual_control ephemeral_cache errored escalation exec expired_replay_only extend feedback_injected file
file_mutation_diff file_preimage file_unchanged final_wrapup finish_step fired_at_turn form fs_staging fs_watch
generating get_default_shell goal goal_pin grant_scope granted grants handoff harn_plan_document harness heartbeat
hitl_request hitl_resolved host_attachment host_has host_owner host_tool_result human in_pipeline index inherited
initialize input_guardrail_verdict input_schema intent interrupt_immediate invalid invalid_content invalid_goal
invalid_mode invalid_request iteration_end iteration_start iteration_summary judge_decision judge_started keep_first
list_shells live live_clients live_session_client live_session_permission_route llm log loop_control_decision
loop_stuck mcp_auth_required mcp_catalog_changed mcp_notification mcp_server missing model_job modify none not_found
not_owner_or_not_authorized notice observer observing off ok orchestration_decision pack_thinking_stripped parent_id
persisted persona plan policy position preserve_on_compact progress progress_reported progressed provider
purpose_label question queue read_only receipts reject remind reminder_deduped reminder_emitted reminder_expired
reminder_id repair_output_contract_applied require_successful_tools_violation reserved_terminal_verify restored
retryable run run_command safe_text_patch safe_text_patch_result scope_classifier_verdict select selected
self_consistency_tie semantic session session_closed session_health session_info_update session_redo session_rollback
session_truncated set_default_shell shadow shell_invocation short_description skill_activated skill_deactivated
skill_narrow skill_scope_tools stage_gate staged_writes_pending stance_transition status-update stdlib_provider steer
step_judge_decision stopped strict string structural_validator_decision subagent_join subagent_stop succeeded success
summary system table takeover terminal test timed_out tool_batch_disposition tool_call tool_call_audit
tool_call_update tool_error tool_format_override tool_rejected tool_search_query tool_search_result trace
transcript_compacted transcript_projected transient_network ttl_expired turn_end turn_phase_changed turn_start
typed_checkpoint unknown_message_id unknown_session unrequested unverified user_block user_message utf-16 utf-32 utf-8
verify verifying wait_for_completion warn worker_update worker_waiting_for_input workflow working write_access_denied
write_access_granted
"""
"""Words that extensions have given to what they tell: kinds of updates, outcomes, states."""


def is_protocol_word(text: str) -> bool:
    """Tell whether a text is one word of the protocol's."""
    return text in _protocol_words()


@functools.cache
def extension_words() -> frozenset[str]:
    """Return the words that extensions have given, and the protocol's."""
    return frozenset(_WORDS.split()) | _protocol_words()


@functools.cache
def _wire_modules() -> tuple[Any, ...]:
    found = pkgutil.walk_packages(acp_host.wire.__path__, f"{acp_host.wire.__name__}.")
    return tuple(importlib.import_module(module.name) for module in found)


@functools.cache
def _protocol_words() -> frozenset[str]:
    """Return the words that the schema lists anywhere; where one stands alone, it says nothing."""
    enums = {value for module in _wire_modules() for value in vars(module).values() if _is_enum(value)}
    return frozenset(word.value for enum in enums for word in enum)


@functools.cache
def known_names() -> frozenset[str]:
    """Return the names of members that the schema and known extensions have, in either style."""
    models = {value for module in _wire_modules() for value in vars(module).values() if _is_model(value)}
    names = {name for model in models for field in fields_of(model) for name in (field.wire, field.name)}
    kinds = {"jsonrpc", "method", "params", "result", "error", "sessionUpdate", "_meta"}
    return frozenset(names) | kinds | EXTENSION_NAMES


def _is_enum(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, StrEnum) and value is not StrEnum


def _is_model(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Model) and not issubclass(value, Unknown)
