"""Permission requests: what is asked, about what, and the answers that an agent may offer."""

from __future__ import annotations

from typing import Any

from acp_host.services.permission_requests import asks_for
from acp_host.services.permission_subject import PermissionSubject, subject_of_command, subject_of_write
from acp_host.state import events
from acp_host.testing.gallery.samples import CODE
from acp_host.testing.gallery.scenes import Play, Scenes
from acp_host.testing.gallery.stage import CWD, SESSION_ID, Setting, Stage
from acp_host.testing.gallery.tool_calls import DIFF
from acp_host.wire._model import evolve
from acp_host.wire.files import WriteTextFileRequest
from acp_host.wire.permission import PermissionOptionKind
from acp_host.wire.terminals import CreateTerminalRequest
from acp_host.wire.tool_calls import ToolKind

__all__ = ["SCENES"]

SCENES = Scenes("permissions")

_NAMES = {
    PermissionOptionKind.ALLOW_ONCE: "Allow",
    PermissionOptionKind.ALLOW_ALWAYS: "Always allow",
    PermissionOptionKind.REJECT_ONCE: "Reject",
    PermissionOptionKind.REJECT_ALWAYS: "Never allow",
}
_OPTIONS = [{"optionId": kind, "name": name, "kind": kind} for kind, name in _NAMES.items()]
_USUAL = [_OPTIONS[0], _OPTIONS[2]]


def _ask(stage: Stage, options: Any = None, **call: Any) -> None:
    told = {"toolCallId": "call-1", "title": "Edit dates.py", "kind": "edit"} | call
    stage.asks(
        "session/request_permission",
        sessionId=SESSION_ID,
        toolCall=told,
        options=_USUAL if options is None else options,
    )


def _asked(options: Any = None, **call: Any) -> Play:
    def play(stage: Stage) -> None:
        stage.prompts("Fix the failing test.")
        _ask(stage, options, **call)

    return play


for _kind in (*PermissionOptionKind, "allow_until_noon"):
    _option = {"optionId": "it", "name": _NAMES.get(_kind, "Allow until noon"), "kind": _kind}
    SCENES.add(f"option_{_kind}", f"a request with one answer, of the kind {_kind}", _asked([_option]))
SCENES.add("every_option", "a request with an answer of every kind", _asked(_OPTIONS))
SCENES.add(
    "several_of_one_kind",
    "a request with three answers of one kind",
    _asked(
        [
            *(
                {"optionId": f"a{n}", "name": name, "kind": "allow_always"}
                for n, name in enumerate(("Always allow this file", "Always allow in this folder", "Always allow"))
            ),
            _OPTIONS[2],
        ]
    ),
)
SCENES.add("no_options", "a request without answers, of which one can only take note", _asked([]))
SCENES.add(
    "long_options",
    "a request with answers that are long",
    _asked([{**option, "name": f"{option['name']}, {'and so on ' * 12}"} for option in _OPTIONS]),
)

for _tool in (*ToolKind, "_divine"):
    SCENES.add(
        f"about_{_tool}",
        f"a request about a call of the kind {_tool}",
        _asked(kind=_tool, title=f"{str(_tool).strip('_')}: dates.py", locations=[{"path": f"{CWD}/dates.py"}]),
    )
SCENES.add("about_diff", "a request that shows the change", _asked(content=[DIFF], locations=[{"path": DIFF["path"]}]))
SCENES.add(
    "about_command",
    "a request that names a command",
    _asked(kind="execute", title="Run the tests", rawInput={"command": "pytest -q test_dates.py", "cwd": CWD}),
)
SCENES.add(
    "about_long_command",
    "a request that names a command of many lines",
    _asked(
        kind="execute",
        title="Run a script",
        rawInput={"command": "python - <<'END'\n" + "".join(f"print({n})\n" for n in range(60)) + "END"},
    ),
)
SCENES.add("about_nothing", "a request that says nothing of what it is about", _asked(title=None, kind=None))
SCENES.add(
    "hidden_edit",
    "a request that shows a change and calls itself reading",
    _asked(kind="read", title="Read dates.py", content=[DIFF]),
)
SCENES.add(
    "outside",
    "a request about files outside of the session's directory",
    _asked(kind="delete", title="Clean up", locations=[{"path": "/etc/passwd"}, {"path": f"{CWD}/../other/file"}]),
)


@SCENES.scene("of_announced_call", "a request about a call that was announced before")
def of_announced_call(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.tells("tool_call", toolCallId="call-1", title="Edit dates.py", kind="edit", status="pending", content=[DIFF])
    stage.asks("session/request_permission", sessionId=SESSION_ID, toolCall={"toolCallId": "call-1"}, options=_USUAL)


@SCENES.scene("several", "three requests at once")
def several(stage: Stage) -> None:
    stage.prompts("Fix everything.")
    for number, name in enumerate(("one", "two", "three")):
        _ask(
            stage, toolCallId=f"call-{number}", title=f"Edit {name}.py", content=[{**DIFF, "path": f"{CWD}/{name}.py"}]
        )


def _host_asks(stage: Stage, wanted: WriteTextFileRequest | CreateTerminalRequest, subject: PermissionSubject) -> None:
    asked = asks_for(wanted, subject)
    call = evolve(asked.tool_call, tool_call_id="acp_host:1")  # else it counts what was asked in this process before
    stage.folds(events.QuestionAsked("host:1", asked.method, evolve(asked, tool_call=call)))


@SCENES.scene("of_host_write", "the host asks by itself: the agent writes a file and has not asked")
def of_host_write(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    write = WriteTextFileRequest(session_id=SESSION_ID, path=f"{CWD}/dates.py", content=CODE)
    subject = subject_of_write(write, agent="Example Agent", cwd=CWD)
    _host_asks(stage, write, subject)


@SCENES.scene("of_host_command", "the host asks by itself: the agent runs a command and has not asked")
def of_host_command(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    run = CreateTerminalRequest(session_id=SESSION_ID, command="pytest", args=("-q",), cwd=CWD)
    subject = subject_of_command(run, agent="Example Agent", cwd=CWD)
    _host_asks(stage, run, subject)


@SCENES.scene("answered", "a request that was allowed")
def answered(stage: Stage) -> None:
    _asked(content=[DIFF])(stage)
    stage.folds(events.QuestionClosed(1))
    stage.tells("tool_call_update", toolCallId="call-1", status="completed")
    stage.ends()


@SCENES.scene(
    "long_agent_name", "a request of an agent with a long name", Setting(agent="The Agent That Would Not Stop " * 6)
)
def long_agent_name(stage: Stage) -> None:
    _asked()(stage)
