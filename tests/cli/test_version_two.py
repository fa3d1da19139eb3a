"""What is printed of the updates of version 2."""

from __future__ import annotations

import io
from typing import Any

from acp_host.cli.printer import Printer, make_console
from acp_host.cli.render import TurnView
from acp_host.wire.converters import structure
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
    assert shown(terminal, output, terminal) == "terminal    make\n"
    compaction = {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"}
    assert shown(compaction) == "compaction  completed\n"
    assert shown({"sessionUpdate": "state_update", "state": "running"}) == ""
