from __future__ import annotations

import asyncio
import io
from collections.abc import Iterable
from typing import Any

import pytest

from acp_host.cli.answers import TerminalAsker, by_policy, show_answer
from acp_host.cli.diffs import diff_lines
from acp_host.cli.printer import Printer, make_console
from acp_host.cli.render import TurnView
from acp_host.errors import RequestFailed
from acp_host.host.outcome import Outcome, OutcomeKind, TurnResult
from acp_host.host.update_buffer import UpdatesSkipped
from acp_host.services.permissions import PermissionPolicy
from acp_host.wire.converters import structure
from acp_host.wire.permission import (
    CancelledPermissionOutcome,
    PermissionOption,
    RequestPermissionRequest,
    SelectedPermissionOutcome,
)
from acp_host.wire.tool_calls import Diff, ToolCallUpdate
from acp_host.wire.updates import SessionUpdate
from acp_host.wire.usage import Usage


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: str = "1", **members: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call", "toolCallId": id, **members}


def change(id: str = "1", **members: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": id, **members}


def view(*, verbose: bool = False) -> tuple[TurnView, io.StringIO]:
    file = io.StringIO()
    return TurnView(Printer(make_console(file)), verbose=verbose), file


def shown(*updates: dict[str, Any], verbose: bool = False) -> str:
    """Return what a view prints for these updates, given as JSON."""
    turn, file = view(verbose=verbose)
    for update in updates:
        turn.show(structure(update, SessionUpdate))
    turn.printer.finish()
    return file.getvalue()


@pytest.mark.parametrize(
    "update, line",
    [
        ({"sessionUpdate": "agent_message_chunk", "content": text("hi")}, "agent       hi\n"),
        ({"sessionUpdate": "agent_thought_chunk", "content": text("hm")}, "thinking    hm\n"),
        ({"sessionUpdate": "user_message_chunk", "content": text("me")}, ""),
        (
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "", "mimeType": "image/png"}},
            "content     [image/png]\n",
        ),
        (
            {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "resource_link", "name": "a", "uri": "file:///a"},
            },
            "content     [a: file:///a]\n",
        ),
        (
            {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "resource", "resource": {"uri": "file:///a", "text": "b"}},
            },
            "content     [file:///a]\n            b\n",
        ),
        ({"sessionUpdate": "agent_message_chunk", "content": {"type": "smell"}}, "content     [smell]\n"),
        ({"sessionUpdate": "plan", "entries": []}, "plan        (empty)\n"),
        ({"sessionUpdate": "usage_update", "used": 5, "size": 0}, "usage       5 tokens in the context\n"),
        (
            {
                "sessionUpdate": "usage_update",
                "used": 5000,
                "size": 200000,
                "cost": {"amount": 0.5, "currency": "EUR"},
            },
            "usage       5,000 of 200,000 tokens in the context; cost so far 0.5 EUR\n",
        ),
        (
            {"sessionUpdate": "usage_update", "used": 5, "size": 0, "cost": {"amount": 0.00004, "currency": "USD"}},
            "usage       5 tokens in the context; cost so far 0.00004 USD\n",
        ),
        ({"sessionUpdate": "compaction_update", "compactionId": "1", "status": "completed"}, "compaction  completed\n"),
        ({"sessionUpdate": "notice", "severity": "info", "title": "elsewhere"}, ""),
        ({"sessionUpdate": "current_mode_update", "currentModeId": "ask"}, ""),
        ({"sessionUpdate": "horoscope", "sign": "lion"}, ""),
    ],
)
def test_one_update(update: dict[str, Any], line: str) -> None:
    assert shown(update) == line


@pytest.mark.parametrize(
    "update, line",
    [
        (
            {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "a", "description": ""}]},
            "update      commands: /a\n",
        ),
        ({"sessionUpdate": "available_commands_update", "availableCommands": []}, "update      commands: none\n"),
        ({"sessionUpdate": "current_mode_update", "currentModeId": "ask"}, "update      mode: ask\n"),
        ({"sessionUpdate": "config_option_update", "configOptions": []}, "update      0 configuration options\n"),
        ({"sessionUpdate": "session_info_update", "title": "T"}, "update      title: T\n"),
        ({"sessionUpdate": "session_info_update"}, "update      SessionInfoUpdate\n"),
        (
            {"sessionUpdate": "horoscope", "sign": "lion"},
            'update      horoscope: {"sessionUpdate": "horoscope", "sign": "lion"}\n',
        ),
    ],
)
def test_one_minor_update(update: dict[str, Any], line: str) -> None:
    assert shown(update, verbose=True) == line


def test_plan() -> None:
    entries = [
        {"content": status, "status": status, "priority": "high"}
        for status in ("completed", "in_progress", "pending", "odd")
    ]
    assert shown({"sessionUpdate": "plan", "entries": entries}) == (
        "plan        [x] completed\n            [>] in_progress\n            [ ] pending\n            [ ] odd\n"
    )


def test_messages_are_told_apart() -> None:
    chunks = [("1", "a"), ("1", "b"), ("2", "c")]
    updates = [
        {"sessionUpdate": "agent_message_chunk", "messageId": id, "content": text(words)} for id, words in chunks
    ]
    assert shown(*updates) == "agent       ab\nagent       c\n"


def test_a_tool_call_is_told_at_its_beginning_and_its_end() -> None:
    output = [{"type": "content", "content": text("out")}]
    assert shown(
        call(title="Look", kind="read", status="pending"),
        change(status="in_progress"),
        change(content=output),
        change(status="completed"),
        change(status="completed", content=output),
    ) == ("tool        read: Look\ntool        read: Look  completed\n            out\n")


def test_an_update_changes_only_what_it_names() -> None:
    assert shown(call(title="Look", kind="read"), change(title="Look here"), change(status="failed", title=None)) == (
        "tool        read: Look\ntool        read: Look here\ntool        read: Look here  failed\n"
    )


def test_an_update_of_a_call_that_was_never_announced() -> None:
    assert shown(change(status="completed")) == "tool        (untitled)  completed\n"


def test_long_output_is_cut() -> None:
    output = [{"type": "content", "content": text("\n".join(map(str, range(25))))}]
    printed = shown(call(title="Look", status="completed", content=output)).splitlines()
    assert printed[20:] == ["            19", "            (5 more lines)"]


def test_a_diff_is_shown_once_and_as_soon_as_it_is_known() -> None:
    diff = {"type": "diff", "path": "/a", "oldText": "x\n", "newText": "y\n"}
    assert shown(call(title="Edit"), change(content=[diff]), change(status="completed", content=[diff])) == (
        "tool        Edit\n"
        "tool        /a\n"
        "            @@ -1 +1 @@\n"
        "            -x\n"
        "            +y\n"
        "tool        Edit  completed\n"
    )


@pytest.mark.parametrize(
    "old, new, lines",
    [
        ("a\nb\n", "a\nc\n", ["/f", "@@ -1,2 +1,2 @@", " a", "-b", "+c"]),
        (None, "a\n", ["/f (new file)", "@@ -0,0 +1 @@", "+a"]),
        ("", "a", ["/f", "@@ -0,0 +1 @@", "+a"]),
        ("a\n", "", ["/f", "@@ -1 +0,0 @@", "-a"]),
        ("a\r\n", "a\n", ["/f", "(no line changes)"]),
        ("--- a\n", "+++ b\n", ["/f", "@@ -1 +1 @@", "---- a", "++++ b"]),
        ("a\n" * 5000, "b\n", ["/f", "(5000 lines become 1)"]),
    ],
)
def test_diff(old: str | None, new: str, lines: list[str]) -> None:
    assert [line.plain for line in diff_lines(Diff("/f", new, old))] == lines


def test_a_long_diff_is_cut() -> None:
    lines = [line.plain for line in diff_lines(Diff("/f", "a\n" * 100, None))]
    assert len(lines) == 82
    assert lines[-1] == "(21 more lines)"


@pytest.mark.parametrize(
    "told, remarks",
    [
        (
            {"source": "pre_approval", "byteCount": 1200},
            ["(shown before it was permitted; the file had 1,200 bytes then)"],
        ),
        ({"source": "pre_approval"}, ["(shown before it was permitted)"]),
        ({"source": "elsewhere", "byteCount": 5}, []),
        ("pre_approval", []),
    ],
)
def test_a_diff_of_harn_that_comes_before_the_change_says_so(told: Any, remarks: list[str]) -> None:
    diff = Diff("/f", "b", "a", meta={"harn": {"permission_preview": told}})
    assert [line.plain for line in diff_lines(diff)] == ["/f", *remarks, "@@ -1 +1 @@", "-a", "+b"]


def request(*options: tuple[str, str, str], **members: Any) -> RequestPermissionRequest:
    return RequestPermissionRequest(
        "session-1", ToolCallUpdate("1", **members), tuple(PermissionOption(*option) for option in options)
    )


YES_OR_NO = (("y", "Yes", "allow_once"), ("n", "No", "reject_once"))


def test_a_question_is_shown_with_all_that_is_known() -> None:
    turn, file = view()
    turn.show(structure(call(title="Run it", kind="execute"), SessionUpdate))
    diff = Diff("/a", "y\n", "x\n")
    turn.show_question(request(*YES_OR_NO, raw_input={"command": "rm"}, content=(diff,)))
    assert file.getvalue() == (
        "tool        execute: Run it\n"
        "permission? execute: Run it\n"
        "            /a\n"
        "            @@ -1 +1 @@\n"
        "            -x\n"
        "            +y\n"
        '            {"command": "rm"}\n'
        "              1  Yes (allow_once)\n"
        "              2  No (reject_once)\n"
    )


def test_what_a_harn_agent_cannot_show_is_said_before_the_answers() -> None:
    turn, file = view()
    evidence = [{"kind": "file_preimage", "path": "/b\x1b[2J", "reason": "symlink"}, {"kind": "file_preimage"}]
    harn = {
        "approvalRequest": {"evidence_refs": evidence},
        "policyDecision": {"reason": "workspace edit"},
        "toolDescriptor": {"schemaChanged": True},
    }
    turn.show_question(request(*YES_OR_NO, meta={"harn": harn}))
    lines = [line.strip() for line in file.getvalue().splitlines()]
    assert lines[1:5] == [
        "no preview of /b\\x1b[2J: symlink",
        "no preview of a file: the agent does not say why",
        "the tool takes something else than it did before",
        "asked since: workspace edit",
    ]


def test_a_long_input_is_cut() -> None:
    turn, file = view()
    turn.show_question(request(*YES_OR_NO, raw_input="x" * 10_000))
    assert "xxx... (10002 characters)\n" in file.getvalue()


@pytest.mark.parametrize(
    "outcome, line",
    [
        (SelectedPermissionOutcome("n"), "answer      No (reject_once), by me\n"),
        (CancelledPermissionOutcome(), "answer      cancelled, by me\n"),
    ],
)
def test_an_answer_is_shown(outcome: Any, line: str) -> None:
    turn, file = view()
    show_answer(turn.printer, request(*YES_OR_NO), outcome, "me")
    assert file.getvalue() == line


def test_a_policy_answers_and_shows_it() -> None:
    turn, file = view()
    answer = by_policy(PermissionPolicy.allow_once(), turn, "the test")
    assert answer(request(*YES_OR_NO)) == SelectedPermissionOutcome("y")
    assert file.getvalue().endswith("answer      Yes (allow_once), by the test\n")


class Typed:
    """A user who has typed these lines, and goes away after the last."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.turn = asyncio.Lock()
        self._lines = iter(lines)

    def discard(self) -> None:
        pass

    async def next(self) -> str | None:
        return next(self._lines, None)


@pytest.mark.parametrize(
    "typed, chosen", [(["1"], "y"), (["", "x", "0", "3", " 2 "], "n"), (["yes"], "n"), ([], "n"), (["-1", "²"], "n")]
)
async def test_only_a_number_on_offer_is_an_answer(typed: list[str], chosen: str) -> None:
    turn, _ = view()
    assert await TerminalAsker(turn, Typed(typed))(request(*YES_OR_NO)) == SelectedPermissionOutcome(chosen)


async def test_a_question_without_answers_is_not_asked() -> None:
    turn, _ = view()
    assert await TerminalAsker(turn, Typed(["1"]))(request()) == CancelledPermissionOutcome()


@pytest.mark.parametrize(
    "result, line",
    [
        (
            TurnResult(stop_reason="end_turn", text="", outcome=Outcome(OutcomeKind.COMPLETED, detail="end_turn")),
            "completed, stop reason end_turn",
        ),
        (
            TurnResult(stop_reason="cancelled", text="", outcome=Outcome(OutcomeKind.CANCELLED, detail="Ctrl-C")),
            "cancelled, stop reason cancelled (Ctrl-C)",
        ),
        (
            TurnResult(
                stop_reason=None,
                text="",
                outcome=Outcome(OutcomeKind.INCOMPLETE),
                usage=Usage(1500, 1000, 500),
                error=RequestFailed("x"),
            ),
            "incomplete; 1,500 tokens (1,000 in, 500 out)",
        ),
    ],
)
def test_the_result_is_shown(result: TurnResult, line: str) -> None:
    turn, file = view()
    turn.show_result(result)
    assert file.getvalue() == f"result      {line}\n"


def test_updates_that_were_skipped_are_told() -> None:
    turn, file = view()
    turn.show(UpdatesSkipped(7))
    assert file.getvalue().startswith("skipped     7 updates")
