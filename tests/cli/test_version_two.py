"""What is printed of the updates of version 2."""

from __future__ import annotations

import base64
import io
from typing import Any

from acp_host.cli.printer import Printer, make_console
from acp_host.cli.render import TurnView
from acp_host.wire.converters import structure
from acp_host.wire.permission import PermissionOption
from acp_host.wire.permission_question import AskedCall, PermissionQuestion
from acp_host.wire.v2.updates import SessionUpdate


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def shown(*updates: dict[str, Any]) -> str:
    file = io.StringIO()
    turn = TurnView(Printer(make_console(file)))
    for update in updates:
        turn.show(structure(update, SessionUpdate))
    turn.printer.finish()
    return file.getvalue()


def test_a_message_is_printed_once_whether_in_pieces_or_whole() -> None:
    whole = {"sessionUpdate": "agent_message", "messageId": "a", "content": [text("hello")]}
    chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": text("hello")}
    assert shown(whole) == shown(chunk) == shown(chunk, whole) == "agent       hello\n"
    thought = {"sessionUpdate": "agent_thought", "messageId": "t", "content": [text("hm")]}
    assert shown(thought, thought) == "thinking    hm\n"


def test_a_call_is_printed_with_what_it_has_produced_so_far() -> None:
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Look", "kind": "search"}
    more = {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c"}
    printed = shown(
        call,
        {**more, "content": {"type": "content", "content": text("one")}},
        {**more, "content": {"type": "content", "content": text("two")}},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "cancelled"},
    )
    assert printed.splitlines() == [
        "tool        search: Look",
        "tool        search: Look  cancelled",
        "            one",
        "            two",
    ]


def test_a_diff_is_printed_with_its_changes_and_its_patch() -> None:
    changes = [
        {"operation": "modify", "path": "/a"},
        {"operation": "add", "path": "/new"},
        {"operation": "move", "oldPath": "/b", "path": "/c"},
        {"operation": "_chmod", "path": "/d"},
    ]
    patch = {"format": "git_patch", "text": "diff --git /a /a\n-old\n+new\x1b[31m\n"}
    content = {"type": "diff", "changes": changes, "patch": patch}
    printed = shown({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": content})
    lines = [line.removeprefix("tool").strip() for line in printed.splitlines()]
    assert lines[-7:-1] == [
        "/a",
        "/new (new file)",
        "/b -> /c (moved)",
        "/d (_chmod)",
        "diff --git /a /a",
        "-old",
    ]
    assert lines[-1].startswith("+new")
    assert "\x1b" not in printed


def test_the_rest() -> None:
    entry = {"content": "Do it", "priority": "high", "status": "cancelled"}
    plan = {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [entry]}}
    assert shown(plan) == "plan        [ ] Do it\n"
    terminal = {"sessionUpdate": "terminal_update", "terminalId": "t", "command": "make"}
    output = {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "aGk="}
    assert shown(terminal, output, terminal) == "command     $ make\n"
    ended = {"sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {"exitCode": 2}}
    assert shown(terminal, output, ended, ended).splitlines()[1:] == ["output      hi", "            exit code 2"]
    compaction = {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"}
    assert shown(compaction) == "compaction  completed\n"
    assert shown({"sessionUpdate": "state_update", "state": "running"}) == ""


def test_what_a_terminal_printed_is_shown_when_it_has_ended_and_cannot_steer() -> None:
    pieces = ["\u2713 \x1b[3".encode()[:2], "\u2713 \x1b[3".encode()[2:], b"1mred\r\n" + b"more\n" * 30]
    chunks = [
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": base64.b64encode(piece).decode()}
        for piece in pieces
    ]
    told = {"sessionUpdate": "terminal_update", "terminalId": "t", "command": "make"}
    lines = shown(told, *chunks[:2], {**told, "exitStatus": {"signal": "SIGTERM"}}).splitlines()
    assert lines == ["command     $ make", "output      \u2713 \\x1b[3", "            ended by SIGTERM"]
    lines = shown(told, *chunks, {**told, "exitStatus": {}}).splitlines()
    assert (len(lines), lines[1], lines[-1]) == (23, "output      (more above)", "            ended")


def test_content_of_a_call_that_is_cleared_is_not_printed() -> None:
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Look"}
    said = {**call, "content": [{"type": "content", "content": text("never mind")}]}
    assert (
        shown(said, {**call, "content": None}, {**call, "status": "completed"}).splitlines()[-1].endswith("completed")
    )


def test_a_question_is_asked_in_its_own_words_and_leaves_the_title_of_the_call() -> None:
    file = io.StringIO()
    turn = TurnView(Printer(make_console(file)))
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Check notes.md", "kind": "execute"}
    turn.show(structure(call, SessionUpdate))
    turn.show_question(
        PermissionQuestion(
            session_id="s",
            tool_call=AskedCall("c", kind="execute", title="Run it?", raw_input={"command": "true"}),
            options=(PermissionOption("a", "Allow", "allow_once"),),
            title="Run it?",
            description="It has\x1b[0m been changed.",
        )
    )
    turn.show(structure({**call, "status": "completed"}, SessionUpdate))
    assert file.getvalue().splitlines() == [
        "tool        execute: Check notes.md",
        "permission? Run it?",
        "            It has\\x1b[0m been changed.",
        '            {"command": "true"}',
        "              1  Allow (allow_once)",
        "tool        execute: Check notes.md  completed",
    ]
