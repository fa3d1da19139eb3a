"""Tool calls in every status, of every kind, and with everything that they can show."""

from __future__ import annotations

from typing import Any

from acp_host.testing.gallery.samples import BLOCKS, CODE
from acp_host.testing.gallery.scenes import Play, Scenes
from acp_host.testing.gallery.stage import CWD, Stage
from acp_host.wire.tool_calls import ToolCallStatus, ToolKind

__all__ = ["DIFF", "SCENES"]

SCENES = Scenes("tool_calls")

_FILE = f"{CWD}/dates.py"
DIFF = {
    "type": "diff",
    "path": _FILE,
    "oldText": CODE.replace("%d.%m.%Y", "%m.%d.%Y"),
    "newText": CODE,
}
"""A change of one line, as on the wire."""

_TITLES = {
    ToolKind.READ: "Read dates.py",
    ToolKind.EDIT: "Edit dates.py",
    ToolKind.DELETE: "Delete old_dates.py",
    ToolKind.MOVE: "Move dates.py to when.py",
    ToolKind.SEARCH: "Search for strptime",
    ToolKind.EXECUTE: "pytest -q",
    ToolKind.THINK: "Think about the format",
    ToolKind.FETCH: "Fetch https://docs.python.org/3/",
    ToolKind.SWITCH_MODE: "Switch to the mode Code",
    ToolKind.OTHER: "Ask the oracle",
}


def _call(*, ends: bool = True, **members: Any) -> Play:
    """Return a turn with one call in it; a member that is ``None`` is left out."""

    def play(stage: Stage) -> None:
        stage.prompts("Fix the failing test.")
        told = {"toolCallId": "call-1", "title": "Read dates.py", "kind": "read", "status": "completed"}
        told = {name: member for name, member in (told | members).items() if member is not None}
        stage.tells("tool_call", **told)
        if ends:
            stage.ends()

    return play


for _status in (*ToolCallStatus, "_paused"):
    SCENES.add(
        f"status_{_status}",
        f"a call with the status {_status}, while the turn runs",
        _call(status=_status, ends=False),
    )
SCENES.add("status_not_said", "a call whose status the agent has not said", _call(status=None, ends=False))
SCENES.add(
    "unfinished",
    "a call that never ended, though its turn has",
    _call(status="in_progress", title="Wait for the build", kind="execute"),
)

for _kind in ToolKind:
    SCENES.add(f"kind_{_kind}", f"a call of the kind {_kind}", _call(kind=_kind, title=_TITLES[_kind]))
SCENES.add("kind_unknown", "a call of a kind that is not known", _call(kind="_divine", title="Divine the answer"))
SCENES.add("kind_not_said", "a call whose kind the agent has not said", _call(kind=None))

for _name, (_shows, _block) in BLOCKS.items():
    SCENES.add(
        f"content_{_name}",
        f"a call has produced {_shows}",
        _call(content=[{"type": "content", "content": _block}]),
    )

_EDIT: dict[str, Any] = {"title": "Edit dates.py", "kind": "edit"}
SCENES.add("diff", "a change of a file", _call(content=[DIFF], locations=[{"path": _FILE, "line": 2}], **_EDIT))
SCENES.add(
    "diff_new_file",
    "a new file",
    _call(content=[{"type": "diff", "path": f"{CWD}/new.py", "newText": CODE}], title="Write new.py", kind="edit"),
)
SCENES.add(
    "diff_emptied_file",
    "a file of which nothing is left",
    _call(content=[{"type": "diff", "path": _FILE, "oldText": CODE, "newText": ""}], **_EDIT),
)
SCENES.add(
    "diff_nothing_changed",
    "a change that changes nothing",
    _call(content=[{"type": "diff", "path": _FILE, "oldText": CODE, "newText": CODE}], **_EDIT),
)
SCENES.add(
    "diff_without_last_newline",
    "a change of nothing but the newline at the end",
    _call(content=[{"type": "diff", "path": _FILE, "oldText": CODE, "newText": CODE.rstrip("\n")}], **_EDIT),
)
SCENES.add(
    "diff_several_files",
    "changes of three files",
    _call(
        content=[{**DIFF, "path": f"{CWD}/{name}.py"} for name in ("one", "two", "three")],
        title="Edit three files",
        kind="edit",
    ),
)
_BEFORE = [f"line {number}" for number in range(2_000)]
_AFTER = [f"row {number}" if number % 100 == 0 else line for number, line in enumerate(_BEFORE)]
SCENES.add(
    "diff_of_a_long_file",
    "a change here and there in a file of 2,000 lines",
    _call(
        content=[{"type": "diff", "path": _FILE, "oldText": "\n".join(_BEFORE), "newText": "\n".join(_AFTER)}], **_EDIT
    ),
)
SCENES.add(
    "content_unknown_kind",
    "a call has produced something of a kind that is not known",
    _call(content=[{"type": "sculpture", "material": "clay"}]),
)
SCENES.add(
    "content_all",
    "a call has produced text, a change and an image",
    _call(
        content=[
            {"type": "content", "content": BLOCKS["text"][1]},
            DIFF,
            {"type": "content", "content": BLOCKS["image"][1]},
        ],
        **_EDIT,
    ),
)
SCENES.add(
    "terminal_never_known",
    "a call shows a terminal that the host knows nothing of",
    _call(content=[{"type": "terminal", "terminalId": "no-such-terminal"}], title="pytest -q", kind="execute"),
)
SCENES.add(
    "locations",
    "a call that names where it works",
    _call(locations=[{"path": _FILE, "line": 12}, {"path": f"{CWD}/test_dates.py"}]),
)
SCENES.add(
    "raw",
    "a call with its raw input and output, and the name of its tool",
    _call(
        name="read_file",
        rawInput={"path": "dates.py", "limit": 100, "options": {"follow": False}},
        rawOutput={"lines": 41, "text": CODE, "warnings": []},
        _meta={"example.org": {"took": 12}},
    ),
)
SCENES.add(
    "failed_with_reason",
    "a call that failed, and what it says about that",
    _call(
        status="failed",
        content=[{"type": "content", "content": {"type": "text", "text": "There is no file dates.py."}}],
    ),
)
SCENES.add("title_missing", "a call with an empty title", _call(title=""))


@SCENES.scene("provisional", "a call that was never announced, known from an update only")
def provisional(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.tells("tool_call_update", toolCallId="call-9", status="in_progress")


@SCENES.scene("used_again", "two calls with the same id, in two turns")
def used_again(stage: Stage) -> None:
    for title in ("Read dates.py", "Read test_dates.py"):
        _call(title=title)(stage)


@SCENES.scene("many", "twelve calls in a row, one of which failed")
def many(stage: Stage) -> None:
    stage.prompts("Read everything.")
    for number in range(12):
        stage.tells(
            "tool_call",
            toolCallId=f"call-{number}",
            title=f"Read part{number}.py",
            kind="read",
            status="failed" if number == 7 else "completed",
        )
    stage.ends()
