"""What only version 2 of the protocol has words for."""

from __future__ import annotations

import base64
from typing import Any

from acp_host.state.events import TurnStarted
from acp_host.testing.gallery.samples import PARAGRAPH, text
from acp_host.testing.gallery.scenes import Play, Scenes
from acp_host.testing.gallery.stage import CWD, SESSION_ID, Setting, Stage
from acp_host.testing.gallery.terminals import COLOURS
from acp_host.wire.v2.diffs import DiffFileType
from acp_host.wire.v2.plans import PlanEntryStatus
from acp_host.wire.v2.state_update import StateKind
from acp_host.wire.v2.tool_calls import ToolCallStatus

__all__ = ["SCENES"]

SCENES = Scenes("version_two", Setting(protocol_version=2))

_FILE = f"{CWD}/dates.py"
_PATCH = (
    f"diff --git {_FILE} {_FILE}\n--- {_FILE}\n+++ {_FILE}\n@@ -1,2 +1,2 @@\n"
    " def parse_date(text: str) -> date:\n"
    '-    return datetime.strptime(text, "%m.%d.%Y").date()\n'
    '+    return datetime.strptime(text, "%d.%m.%Y").date()\n'
)
_BACKGROUND = {
    "terminal": {"type": "terminal", "terminalId": "term-1"},
    "tool_call": {"type": "tool_call", "toolCallId": "call-1"},
    "subagent": {"type": "subagent", "sessionId": "child-1"},
    "unknown": {"type": "daydream", "about": "sheep"},
}


def _base64(printed: str) -> str:
    return base64.b64encode(printed.encode()).decode()


for _state in (*StateKind, "_dreaming"):

    def _says(stage: Stage, state: str = _state) -> None:
        stage.prompts("Fix the failing test.")
        stage.tells("state_update", state="running")
        if state == StateKind.IDLE:
            stage.ends()
        stage.tells("state_update", state=state, **({"stopReason": "end_turn"} if state == StateKind.IDLE else {}))

    SCENES.add(f"state_{_state}", f"the agent says what it does: {_state}", _says)

for _kind, _work in _BACKGROUND.items():

    def _beside(stage: Stage, work: dict[str, Any] = _work) -> None:
        stage.prompts("Start the server.")
        stage.ends()
        stage.tells("state_update", state="idle", stopReason="end_turn", background=[work])

    SCENES.add(f"background_{_kind}", f"work that goes on when the turn is over: {_kind}", _beside)


@SCENES.scene("messages", "messages that were told whole, and one that was told anew")
def messages(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.tells("user_message", messageId="m1", content=[text("Fix the failing test.")])
    stage.tells("agent_thought", messageId="m2", content=[text("The day comes first here.")])
    stage.tells("agent_message", messageId="m3", content=[text("A first draft.")])
    stage.tells("agent_message", messageId="m3", content=[text(PARAGRAPH)])


@SCENES.scene("turn_of_agent", "a turn that the agent has begun by itself")
def turn_of_agent(stage: Stage) -> None:
    stage.folds(TurnStarted(1, (), (), origin="agent"))
    stage.tells("state_update", state="running")
    stage.says("The build has failed, so I look at it.")


def _call(**members: Any) -> Play:
    def play(stage: Stage) -> None:
        stage.prompts("Fix the failing test.")
        told = {"toolCallId": "call-1", "title": "Edit dates.py", "kind": "edit", "status": "completed"}
        stage.tells("tool_call_update", **(told | members))

    return play


for _status in (*ToolCallStatus, "_paused"):
    SCENES.add(f"tool_call_{_status}", f"a call with the status {_status}", _call(status=_status))
SCENES.add(
    "tool_call_cancellable",
    "a call that can be cancelled by itself",
    _call(status="in_progress", capabilities={"cancel": {}}),
)

_CHANGES: dict[str, dict[str, Any]] = {
    "add": {"operation": "add", "path": _FILE, "fileType": "text"},
    "delete": {"operation": "delete", "path": _FILE},
    "modify": {"operation": "modify", "path": _FILE, "mimeType": "text/x-python"},
    "move": {"operation": "move", "oldPath": _FILE, "path": f"{CWD}/when.py"},
    "copy": {"operation": "copy", "oldPath": _FILE, "path": f"{CWD}/copy.py"},
    "unknown": {"operation": "transmute", "path": _FILE},
}


def _diff(*changes: dict[str, Any], patch: str | None = None, patch_format: str = "git_patch") -> list[dict[str, Any]]:
    told = {"patch": {"format": patch_format, "text": patch}} if patch is not None else {}
    return [{"type": "diff", "changes": list(changes), **told}]


for _operation, _change in _CHANGES.items():
    SCENES.add(f"diff_{_operation}", f"a change of a file: {_operation}", _call(content=_diff(_change, patch=_PATCH)))
for _type in (*DiffFileType, "_socket"):
    SCENES.add(
        f"diff_of_{_type}",
        f"a change of a file that is: {_type}",
        _call(content=_diff({**_CHANGES["add"], "fileType": _type})),
    )
SCENES.add(
    "diff_every_change", "changes of all kinds at once, without a patch", _call(content=_diff(*_CHANGES.values()))
)
SCENES.add(
    "diff_unknown_format",
    "a patch that is written in a way that is not known",
    _call(content=_diff(_CHANGES["modify"], patch="s/m.d/d.m/", patch_format="sed")),
)


@SCENES.scene("content_chunks", "a call that produces one thing after the other")
def content_chunks(stage: Stage) -> None:
    _call(status="in_progress")(stage)
    for number in range(3):
        block = {"type": "content", "content": text(f"Part {number}.")}
        stage.tells("tool_call_content_chunk", toolCallId="call-1", content=block)


def _terminal(printed: str = COLOURS, **members: Any) -> Play:
    def play(stage: Stage) -> None:
        _call(
            kind="execute", title="pytest -q", status="in_progress", content=[{"type": "terminal", "terminalId": "t-1"}]
        )(stage)
        stage.tells(
            "terminal_update", terminalId="t-1", command="pytest -q", cwd=CWD, size={"cols": 80, "rows": 24}, **members
        )
        for piece in (printed[:20], printed[20:]):
            stage.tells("terminal_output_chunk", terminalId="t-1", data=_base64(piece))

    return play


SCENES.add("terminal_of_agent", "a command that the agent runs by itself", _terminal())
SCENES.add(
    "terminal_cancellable", "a command that the agent can be asked to end", _terminal(capabilities={"cancel": {}})
)
SCENES.add("terminal_ended", "a command of the agent's that has ended", _terminal(exitStatus={"exitCode": 1}))
SCENES.add(
    "terminal_signal", "a command of the agent's that a signal has ended", _terminal(exitStatus={"signal": "SIGTERM"})
)


@SCENES.scene("plan", "a plan with a step in every state")
def plan(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    steps = [{"content": f"A step: {status}", "priority": "medium", "status": status} for status in PlanEntryStatus]
    stage.tells("plan_update", plan={"type": "items", "planId": "plan", "entries": steps})


_SUBJECTS: dict[str, dict[str, Any] | None] = {
    "tool_call": {
        "type": "tool_call",
        "toolCall": {
            "toolCallId": "call-1",
            "title": "Edit dates.py",
            "kind": "edit",
            "content": _diff(_CHANGES["modify"], patch=_PATCH),
        },
    },
    "command": {"type": "command", "command": "pytest -q", "cwd": CWD},
    "unknown": {"type": "launch", "rocket": "big"},
    "nothing": None,
}
for _name, _subject in _SUBJECTS.items():

    def _permission(stage: Stage, subject: Any = _subject) -> None:
        stage.prompts("Fix the failing test.")
        stage.asks(
            "session/request_permission",
            sessionId=SESSION_ID,
            title="May I do this?",
            description="The test cannot be fixed without it.",
            options=[
                {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
                {"optionId": "no", "name": "Reject", "kind": "reject_once"},
            ],
            **({} if subject is None else {"subject": subject}),
        )

    SCENES.add(f"permission_{_name}", f"a permission request in the agent's own words, about: {_name}", _permission)
