"""What an agent tells of the programs that it composes of its tools, among the events of its loop: :data:`READERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from acp_host.state.harn.composition_runs import (
    CompositionCall,
    CompositionCallReported,
    CompositionRun,
    CompositionRunReported,
)
from acp_host.translate.harn.payload import Payload

__all__ = ["READERS"]


def _start(payload: Payload) -> tuple[CompositionRunReported, ...]:
    return _run(payload, "running")


def _finish(payload: Payload) -> tuple[CompositionRunReported, ...]:
    return _run(payload, "finished")


def _error(payload: Payload) -> tuple[CompositionRunReported, ...]:
    return _run(payload, "failed")


def _run(payload: Payload, status: str) -> tuple[CompositionRunReported, ...]:
    run = CompositionRun(
        run_id=payload.identity("runId"),
        status=status,
        language=payload.text("language"),
        snippet_hash=payload.text("snippetHash"),
        manifest_hash=payload.text("bindingManifestHash"),
        ceiling=payload.text("requestedSideEffectCeiling"),
        stdout=payload.text("stdout"),
        stderr=payload.text("stderr"),
        artifacts=payload.any("artifacts"),
        result=payload.any("result"),
        error=payload.text("error"),
        failure_category=payload.text("failureCategory"),
        duration_ms=payload.number("durationMs"),
        metadata=payload.any("metadata"),
        extra=payload.rest(),
    )
    return (CompositionRunReported(run),)


def _child_call(payload: Payload) -> tuple[CompositionCallReported, ...]:
    return _call(
        payload,
        requested_level=payload.text("requestedSideEffectLevel"),
        annotations=payload.any("annotations"),
        policy_context=payload.any("policyContext"),
        raw_input=payload.any("rawInput"),
    )


def _child_result(payload: Payload) -> tuple[CompositionCallReported, ...]:
    return _call(
        payload,
        status=payload.text("status"),
        raw_output=payload.any("rawOutput"),
        error=payload.text("error"),
        error_category=payload.text("errorCategory"),
        executor=payload.any("executor"),
        duration_ms=payload.number("durationMs"),
        execution_duration_ms=payload.number("executionDurationMs"),
    )


def _call(payload: Payload, **members: Any) -> tuple[CompositionCallReported, ...]:
    run_id = payload.identity("runId")
    call = CompositionCall(
        tool_call_id=payload.identity("toolCallId"),
        tool_name=payload.text("toolName"),
        operation_index=payload.integer("operationIndex", 0),
        extra=payload.rest(),
        **members,
    )
    return (CompositionCallReported(run_id, call),)


READERS: Final[Mapping[str, Callable[[Payload], tuple[CompositionRunReported | CompositionCallReported, ...]]]] = {
    "composition_start": _start,
    "composition_finish": _finish,
    "composition_error": _error,
    "composition_child_call": _child_call,
    "composition_child_result": _child_result,
}
"""What reads each kind of event of this family."""
