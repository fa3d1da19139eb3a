"""Plans of every form, and subagents."""

from __future__ import annotations

from typing import Any

from acp_host.testing.gallery.samples import MARKDOWN
from acp_host.testing.gallery.scenes import Scenes
from acp_host.testing.gallery.stage import Stage
from acp_host.wire.plans import PlanEntryPriority, PlanEntryStatus
from acp_host.wire.subagents import IdleStopReason

__all__ = ["SCENES"]

SCENES = Scenes("plans")

_ENTRIES = [
    {"content": "Find the fault", "priority": "high", "status": "completed"},
    {"content": "Change the format", "priority": "medium", "status": "in_progress"},
    {"content": "Run the tests", "priority": "low", "status": "pending"},
]


@SCENES.scene("entries", "a plan whose three steps are in three states")
def entries(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.tells("plan", entries=_ENTRIES)


@SCENES.scene("every_entry", "a step of every priority in every state, and of words that are not known")
def every_entry(stage: Stage) -> None:
    stage.prompts("Fix everything.")
    priorities, statuses = (*PlanEntryPriority, "_whenever"), (*PlanEntryStatus, "_blocked")
    told = [
        {"content": f"{priority}, {status}", "priority": priority, "status": status}
        for priority in priorities
        for status in statuses
    ]
    stage.tells("plan", entries=told)


@SCENES.scene("done", "a plan that is carried out")
def done(stage: Stage) -> None:
    entries(stage)
    stage.tells("plan", entries=[{**entry, "status": "completed"} for entry in _ENTRIES])
    stage.ends()


@SCENES.scene("empty", "a plan without steps")
def empty(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.tells("plan", entries=[])


@SCENES.scene("several", "a plan of each form at once: steps, Markdown, a file, and one that is not known")
def several(stage: Stage) -> None:
    stage.prompts("Plan it.")
    forms: list[dict[str, Any]] = [
        {"type": "items", "planId": "steps", "entries": _ENTRIES},
        {"type": "markdown", "planId": "text", "content": MARKDOWN},
        {"type": "file", "planId": "file", "uri": "file:///work/project/PLAN.md"},
        {"type": "gantt", "planId": "chart", "bars": [1, 2, 3]},
    ]
    for plan in forms:
        stage.tells("plan_update", plan=plan)


@SCENES.scene("removed", "one of two plans was taken back")
def removed(stage: Stage) -> None:
    several(stage)
    stage.tells("plan_removed", planId="text")


@SCENES.scene("subagents", "a subagent in every state")
def subagents(stage: Stage) -> None:
    stage.prompts("Review the change.")
    states: dict[str, Any] = {
        "running": {"state": "running"},
        "waits for the user": {"state": "requires_action"},
        "cannot tell": {"state": "unknown"},
        "another word": {"state": "_dreaming"},
        "never said": None,
    }
    for reason in (*IdleStopReason, "_bored"):
        error = {"error": {"code": -32603, "message": "The model cannot be reached."}} if reason == "error" else {}
        states[f"idle: {reason}"] = {"state": "idle", "stopReason": reason, **error}
    for number, (title, state) in enumerate(states.items()):
        stage.tells(
            "subagent_update",
            sessionId=f"child-{number}",
            title=title,
            description="Looks at one part of the change.",
            capabilities={"cancel": {}} if number % 2 else None,
            state=state,
        )
