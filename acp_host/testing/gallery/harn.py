"""What a Harn agent tells besides: workers, artifacts, skills, people, its work and its loop."""

from __future__ import annotations

from typing import Any

from acp_host.state.harn.human_requests import HumanAnswerSent
from acp_host.testing.gallery.harn_samples import (
    ALERTS,
    ARTIFACTS,
    AUDIT,
    CALLS,
    PERMISSION_FACTS,
    QUESTIONS,
    WORKERS,
)
from acp_host.testing.gallery.samples import text
from acp_host.testing.gallery.scenes import Play, Scenes
from acp_host.testing.gallery.stage import CWD, SESSION_ID, Setting, Stage
from acp_host.testing.gallery.tool_calls import DIFF

__all__ = ["HARN", "SCENES"]

HARN = Setting(agent="Harn", capabilities={"_meta": {"harn": {}}})
"""An agent that is known to be Harn."""

SCENES = Scenes("harn", HARN)


def _tells(kind: str, /, **members: Any) -> Play:
    def play(stage: Stage) -> None:
        stage.prompts("Review the change.")
        stage.harn(kind, **members)

    return play


def _event(kind: str, /, **members: Any) -> Play:
    def play(stage: Stage) -> None:
        stage.prompts("Review the change.")
        stage.notifies("_harn/agentEvent", sessionId=SESSION_ID, kind=kind, **members)

    return play


def _worker(stage: Stage, number: int, event: str, status: str, **metadata: Any) -> None:
    ends = status in ("completed", "failed", "stopped", "cancelled")
    stage.harn(
        "worker_update",
        workerId=f"worker-{number}",
        workerName=f"reviewer {number}",
        workerTask="Review the change of dates.py",
        workerMode="delegated_stage",
        event=event,
        status=status,
        terminal=ends,
        metadata={"task": "Review", "started_at": "0193aa", **metadata},
        audit=AUDIT,
    )


for _status, _named in WORKERS.items():

    def _one(stage: Stage, status: str = _status, event: str = _named) -> None:
        stage.prompts("Review the change.")
        _worker(stage, 1, event, status, **({"error": "The model cannot be reached."} if status == "failed" else {}))

    SCENES.add(f"worker_{_status}", f"a worker: {_status}", _one)


@SCENES.scene("workers", "a worker of every status")
def workers(stage: Stage) -> None:
    stage.prompts("Review the change.")
    for number, (status, event) in enumerate(WORKERS.items()):
        _worker(stage, number, event, status)


for _kind, _artifact in ARTIFACTS.items():
    SCENES.add(
        f"artifact_{_kind}",
        f"something to look at: {_kind}",
        _tells(
            "artifact",
            artifactId="a-1",
            title=f"A {_kind}",
            sizeBytes=1_204,
            provenance={"source": "agent"},
            **_artifact,
        ),
    )

SCENES.add(
    "handoff",
    "work that is handed to a person",
    _tells(
        "handoff",
        handoffId="h-1",
        artifactId="a-1",
        handoff={
            "_type": "handoff_artifact",
            "id": "h-1",
            "kind": "handoff",
            "task": "Check the release notes",
            "reason": "The merge queue wants a review",
            "source_persona": "merge_captain",
            "target_persona_or_human": {"id": "review_captain", "kind": "human", "label": "Ada"},
            "open_questions": ["Which branch?"],
            "created_at": "2026-01-01T12:00:00Z",
        },
    ),
)


@SCENES.scene("skills", "a skill that it works by, tools that are left to it, and whether it may write")
def skills(stage: Stage) -> None:
    stage.prompts("Deploy it.")
    stage.harn("skill_activated", skillName="deploy", iteration=1, reason="matched the prompt")
    stage.harn("skill_activated", skillName="review", iteration=2, reason="asked for")
    stage.harn("skill_scope_tools", skillName="deploy", allowedTools=["bash", "git"])
    stage.harn(
        "skill_narrow",
        reason="ceiling",
        removedTools=["shell"],
        remainingTools=["read_file"],
        policy={"mode": "strict"},
    )
    stage.harn("stance_transition", phase="observing")
    stage.harn("skill_deactivated", skillName="review", iteration=3)


SCENES.add(
    "stance_write_access",
    "it was given leave to write",
    _tells(
        "stance_transition",
        phase="write_access_granted",
        escapeTool="request_write",
        allowedTools=["edit_file"],
        consent="host",
    ),
)

for _kind, _asked in QUESTIONS.items():
    SCENES.add(
        f"human_{_kind}",
        f"it wants something from a person: {_kind}",
        _tells("hitl_request", requestId=f"hitl_{_kind}_1", kind=_kind, payload=_asked),
    )


@SCENES.scene("human_answered", "questions to a person: open, sent, answered, and never answered")
def human_answered(stage: Stage) -> None:
    stage.prompts("Deploy it.")
    for name in ("never", "answered", "sent", "timeout"):
        stage.harn("hitl_request", requestId=f"hitl_question_{name}", kind="question", payload={"prompt": f"{name}?"})
    stage.harn("hitl_resolved", requestId="hitl_question_answered", kind="question", outcome="answered")
    stage.harn("hitl_resolved", requestId="hitl_question_timeout", kind="question", outcome="timeout")
    stage.folds(HumanAnswerSent("hitl_question_sent"))
    stage.ends()
    stage.prompts("Go on.")
    stage.harn("hitl_request", requestId="hitl_question_open", kind="question", payload={"prompt": "open?"})


def _client(name: str, mode: str) -> dict[str, Any]:
    return {
        "client_id": name,
        "mode": mode,
        "attached_at": "1767268800",
        "last_seen_at": "1767268804",
        "prompt_injection": mode == "controller",
        "permission_routing": mode == "controller",
        "metadata": {},
    }


for _action in ("attached", "takeover", "detached"):
    _clients = [
        _client("notebook", "controller" if _action == "takeover" else "observer"),
        _client("terminal", "observer"),
    ]
    SCENES.add(
        f"live_clients_{_action}",
        f"who is attached to the session: {_action}",
        _tells(
            "live_session_client",
            action=_action,
            state={
                "client": _clients[0],
                "previous_controller_id": "terminal",
                "active_controller_id": "notebook" if _action == "takeover" else None,
                "clients": _clients,
            },
        ),
    )


@SCENES.scene("progress", "how far it has come, and what it says of it")
def progress(stage: Stage) -> None:
    stage.prompts("Index the project.")
    stage.harn("progress", phase="index", message="reading", progress=30, total=100, data={"dir": "src"})
    stage.harn("progress", phase="download", message="of unknown length", progress=12)
    stage.harn("progress", message="of no phase")
    stage.harn("progress", phase="narration", message="I look at the tests first.")


SCENES.add("log", "what it writes to its log", _tells("log", level="warn", message="cache cold", fields={"hits": 0}))
SCENES.add(
    "staged_writes",
    "what it has written and not yet brought to the files",
    _tells(
        "progress",
        phase="fs_staging",
        message="staged writes pending",
        kind="staged_writes_pending",
        pendingCount=2,
        totalBytes=77,
        pendingWrites=[
            {"path": f"{CWD}/dates.py", "kind": "modify", "byteDelta": 3, "snapshotId": "tool-9"},
            {"path": f"{CWD}/new.py", "kind": "create", "byteDelta": 74},
        ],
    ),
)
for _result in ("applied", "conflict"):
    SCENES.add(
        f"text_patch_{_result}",
        f"a patch on a file: {_result}",
        _tells(
            "progress",
            phase="safe_text_patch",
            message=f"safe_text_patch: {_result}",
            kind="safe_text_patch_result",
            path=f"{CWD}/dates.py",
            result=_result,
            hunksCount=2,
            bytesWritten=120 if _result == "applied" else 0,
            **({} if _result == "applied" else {"failedHunkIndex": 1}),
        ),
    )
SCENES.add(
    "file_watches",
    "what it sees happen to files",
    _tells(
        "fs_watch",
        subscriptionId="w-1",
        events=[
            {"kind": "modify", "paths": [f"{CWD}/dates.py"], "relative_paths": ["dates.py"], "raw_kind": "Modify(Any)"}
        ],
    ),
)


@SCENES.scene("tool_searches", "searches for tools, one of which goes on")
def tool_searches(stage: Stage) -> None:
    stage.prompts("Search.")
    for number in (1, 2):
        stage.harn(
            "tool_search_query",
            toolUseId=f"s-{number}",
            name="tool_search",
            query={"q": "grep"},
            strategy="bm25",
            mode="client",
        )
    stage.harn("tool_search_result", toolUseId="s-1", promoted=["grep", "glob"], strategy="bm25", mode="client")


SCENES.add(
    "compaction",
    "it has put the conversation into fewer words",
    _tells(
        "transcript_compacted",
        receiptId="c-1",
        mode="auto",
        reason="threshold",
        strategy="summary",
        archivedMessages=12,
        estimatedTokensBefore=81_000,
        estimatedTokensAfter=9_000,
    ),
)
SCENES.add(
    "projection",
    "it has left something out of what the model is sent",
    _tells(
        "transcript_projected",
        policy="tool_result_age",
        reason="budget",
        keptCount=20,
        droppedCount=4,
        reclaimedTokens=512,
    ),
)


@SCENES.scene("compositions", "programs composed of tools: one runs, one has finished, one was refused")
def compositions(stage: Stage) -> None:
    def tells(kind: str, run: str, **members: Any) -> None:
        stage.notifies("_harn/agentEvent", sessionId=SESSION_ID, kind=kind, runId=run, **members)

    stage.prompts("Compose it.")
    for run in ("running", "finished", "failed"):
        tells(
            "composition_start", run, language="harn", requestedSideEffectCeiling="read_only", snippetHash="sha256:ab"
        )
        tells(
            "composition_child_call",
            run,
            toolCallId=f"call-{run}",
            toolName="search",
            operationIndex=0,
            rawInput={"q": "x"},
        )
    tells(
        "composition_child_result", "finished", toolCallId="call-finished", status="completed", rawOutput={"count": 1}
    )
    tells("composition_finish", "finished", result={"lines": 1}, stdout="1 file", durationMs=18)
    tells(
        "composition_child_result", "failed", toolCallId="call-failed", status="failed", error="only reading is allowed"
    )
    tells("composition_error", "failed", error="workspace writes require approval", failureCategory="policy_denied")


@SCENES.scene("plan_document", "a plan as a document, beside its steps")
def plan_document(stage: Stage) -> None:
    stage.prompts("Plan it.")
    revision = {
        "revision_id": "rev-2",
        "markdown": "# The plan\n\n1. Find the fault\n2. Fix it",
        "author": {"kind": "agent"},
        "created_at": "2026-01-01T12:00:00Z",
    }
    stage.tells(
        "plan",
        entries=[{"content": "Find the fault", "priority": "high", "status": "pending"}],
        _meta={
            "harn": {
                "harnPlanDocument": {
                    "document_id": "plan-1",
                    "schema_version": "1",
                    "current_revision": revision,
                    "comments": [{"id": "c-1", "body": "And the docs?", "author": {"kind": "human"}}],
                }
            }
        },
    )


for _phase in ("generating", "verifying", "terminal"):
    SCENES.add(
        f"turn_phase_{_phase}",
        f"how far the answer has come: {_phase}",
        _event("turn_phase_changed", phase=_phase, reply="All tests pass." if _phase == "terminal" else None),
    )
for _kind, _members in ALERTS.items():
    SCENES.add(f"event_{_kind}", f"what it tells of its loop: {_kind}", _event(_kind, **_members))


@SCENES.scene("idle", "it waits for something to happen")
def idle(stage: Stage) -> None:
    stage.notifies("agent/idle", sessionId=SESSION_ID, iteration=3, backoff_ms=1_000)


@SCENES.scene("model_calls", "measurements of calls of its model, one of which goes on")
def model_calls(stage: Stage) -> None:
    stage.prompts("Go on.")
    for name in ("ended", "running"):
        stage.harn("call_start", toolCallId=name, callType="model", name="small")
        stage.harn(
            "call_progress", toolCallId=name, delta="Hel", visibleDelta="Hel", userVisible=True, accumulatedTokens=3
        )
    stage.harn("call_end", toolCallId="ended", callType="model", name="small", status="ok", durationMs=812.5)


@SCENES.scene("visible_text", "a message of which people are shown something else than the model")
def visible_text(stage: Stage) -> None:
    stage.prompts("Go on.")
    shown = {"visible_text": "I look at the change.", "visible_delta": "I look at the change."}
    stage.tells("agent_message_chunk", content=text("<plan>look</plan>", _meta={"harn": shown}))


def _call(stage: Stage, status: str, **harn: Any) -> None:
    stage.tells(
        "tool_call",
        toolCallId="call-1",
        title="edit_file",
        kind="edit",
        status=status,
        rawInput={"path": "dates.py"},
        _meta={"harn": {"audit": AUDIT, **harn}},
    )


for _name, (_status, _harn) in CALLS.items():

    def _tool(stage: Stage, status: str = _status, harn: dict[str, Any] = _harn) -> None:
        stage.prompts("Fix it.")
        _call(stage, status, **harn)

    SCENES.add(f"tool_{_name}", f"a tool call with what Harn says of it: {_name.replace('_', ' ')}", _tool)


@SCENES.scene("permission", "a permission request with all that Harn says of it")
def permission(stage: Stage) -> None:
    stage.prompts("Fix it.")
    stage.asks(
        "session/request_permission",
        sessionId=SESSION_ID,
        toolCall={
            "toolCallId": "call-1",
            "title": "edit_file",
            "kind": "edit",
            "content": [DIFF],
            "rawInput": {"path": "dates.py"},
            "_meta": {"harn": PERMISSION_FACTS},
        },
        options=[
            {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
            {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
        ],
    )
