"""What was answered holds in its turn for exactly the same thing, and for nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.services.permission_answers import GivenAnswers, ShownEdit, shown_edits
from acp_host.services.permission_subject import PermissionSubject, subject_of_command, subject_of_write
from acp_host.wire.files import WriteTextFileRequest
from acp_host.wire.terminals import CreateTerminalRequest, EnvVariable
from acp_host.wire.tool_calls import Diff, ToolCallUpdate


def asked(kind: str | None = "edit", **fields: Any) -> PermissionSubject:
    return PermissionSubject(agent="a", session_id="s", kind=kind, cwd="/w", **fields)


def write(given: GivenAnswers, path: str = "/w/x", content: str = "text", current: str | None = None) -> bool | None:
    subject = subject_of_write(WriteTextFileRequest("s", path, content), agent="a", cwd="/w")
    return given.for_write(subject, content, current)


def run(
    given: GivenAnswers, command: str, *args: str, cwd: str | None = None, env: tuple[str, ...] = ()
) -> bool | None:
    variables = tuple(EnvVariable(name, "1") for name in env)
    request = CreateTerminalRequest("s", command, args, variables, cwd)
    return given.for_command(subject_of_command(request, agent="a", cwd="/w"), (command, *args))


def after(subject: PermissionSubject, *, allows: bool = True, once: bool = True, edits: Any = None) -> GivenAnswers:
    given = GivenAnswers()
    given.add(subject, allows=allows, once=once, edits=edits or {})
    return given


@pytest.mark.parametrize(
    ("subject", "edits", "answer"),
    [
        (asked(paths=("/w/x",)), {}, True),
        (asked(paths=("/w/y", "/w/x")), {}, True),
        (asked("move", paths=("/w/x",)), {}, True),
        (asked(paths=("/w/y",)), {}, None),
        (asked(paths=("/w",)), {}, None),
        (asked("read", paths=("/w/x",)), {}, None),
        (asked("execute", paths=("/w/x",), command="touch x"), {}, None),
        (asked("other", paths=("/w/x",)), {}, None),
        (asked(None, paths=("/w/x",)), {}, None),
        (asked(None, paths=("/w/x",)), {"/w/x": (ShownEdit("", "text\n"),)}, True),
        (asked(paths=("/w/x",)), {"/w/x": (ShownEdit("", "something else"),)}, None),
        (asked(paths=("/w/x",)), {"/w/x": (ShownEdit("", "tex"),)}, None),
        (asked(paths=("/w/x",)), {"/w/x": (ShownEdit("", ""),)}, None),
        (asked(paths=("/w/x",)), {"/w/x": (ShownEdit("a", "text"),)}, None),
        (asked(paths=("/w/x",)), {"/w/y": (ShownEdit("", "something else"),)}, True),
    ],
)
def test_permission_to_edit_a_file_is_permission_to_write_it_once(
    subject: Any, edits: Any, answer: bool | None
) -> None:
    given = after(subject, edits=edits)
    assert write(given) is answer
    assert write(given) is None


def test_a_refusal_holds_until_the_end_of_the_turn() -> None:
    given = after(asked(None, paths=("/w/x",)), allows=False)
    assert [write(given), write(given), write(given, "/w/y")] == [False, False, None]
    assert write(after(asked("read", paths=("/w/x",)), allows=False)) is None
    assert write(after(asked("read", paths=("/w/x",), shows_diff=True), allows=False)) is False


def test_the_latest_answer_counts_and_always_is_not_used_up() -> None:
    given = after(asked(paths=("/w/x",)), allows=False)
    given.add(asked(paths=("/w/x",)), allows=True, once=False, edits={})
    assert [write(given), write(given)] == [True, True]
    given.add(asked(paths=("/w/x",)), allows=False, once=True, edits={})
    assert write(given) is False


@pytest.mark.parametrize(
    ("line", "command", "same"),
    [
        ("sleep 30", ("sleep", "30"), True),
        ("sleep 30", ("sleep 30",), True),
        ("echo hi && touch x", ("/bin/sh", "-lc", "echo hi && touch x"), True),
        ("git commit -m 'two words'", ("git", "commit", "-m", "two words"), True),
        ('git commit -m "two words"', ("git", "commit", "-m", "two words"), True),
        ("python -c print(1)", ("python", "-c", "print(1)"), True),
        ("sleep 30", ("sleep", "31"), False),
        ("git status", ("git", "status", "--short"), False),
        ("git status", ("git",), False),
        ("git status", ("./git", "status"), False),
        ("echo a; rm b", ("/bin/sh", "-c", "echo a; rm c"), False),
        ("echo 'a b'", ("echo", "a", "b"), False),
    ],
)
def test_permission_to_run_a_command_is_for_that_command(line: str, command: tuple[str, ...], same: bool) -> None:
    given = after(asked("execute", command=line))
    assert run(given, *command) is (True if same else None)
    assert run(given, *command) is None


def test_permission_to_run_is_for_one_directory_and_without_variables() -> None:
    for directory in (None, "/w"):
        assert run(after(asked("execute", command="ls", directory=directory)), "ls", cwd="/w") is True
        assert run(after(asked("execute", command="ls", directory=directory)), "ls", cwd="/etc") is None
    assert run(after(asked("execute", command="ls", directory="/etc")), "ls", cwd="/etc") is True
    assert run(after(asked("execute", command="ls")), "ls", env=("LD_PRELOAD",)) is None
    assert run(after(asked("execute", command="ls"), allows=False), "ls", env=("LD_PRELOAD",)) is False
    assert run(after(asked("execute")), "ls") is None


@pytest.mark.parametrize(
    ("edits", "content", "answer"),
    [
        ([("one", "1")], "1 two\ntwo three\n", True),
        ([("one", "1")], "1 two\r\ntwo three", True),
        ([("one two\r\ntwo three\r\n", "new")], "new", True),
        ([("one", "1"), ("three", "3")], "1 two\ntwo 3\n", True),
        ([("one", "1"), ("1", "I")], "I two\ntwo three\n", True),
        ([("two", "2")], "one 2\n2 three\n", True),
        ([("two", "2")], "one 2\ntwo three\n", True),
        ([("one", "")], " two\ntwo three\n", True),
        ([("one", "")], "something else", None),
        ([("one", "1")], "1", None),
        ([("one", "1")], "1 two\ntwo three\nand more\n", None),
        ([("one", "1"), ("three", "3")], "1 two\ntwo three\n", None),
        ([("four", "4")], "one two\ntwo three\n", None),
        ([("", "whole")], "whole\n", True),
        ([("", "whole"), ("who", "x")], "xle", True),
    ],
)
def test_what_is_written_is_just_what_was_shown(
    edits: list[tuple[str, str]], content: str, answer: bool | None
) -> None:
    calls = [ToolCallUpdate("t", content=tuple(Diff("x", new, old_text=old) for old, new in edits))]
    given = after(asked(paths=("/w/x",)), edits=shown_edits(calls, "/w"))
    subject = subject_of_write(WriteTextFileRequest("s", "/w/x", ""), agent="a", cwd="/w")
    assert given.depends_on_text(subject) is any(old for old, _ in edits)
    assert write(given, content=content, current="one two\ntwo three\n") is answer


def test_the_edits_that_a_question_shows() -> None:
    call = ToolCallUpdate("t", content=(Diff("x", "a\r\nb\n"), Diff("/w/x", "c", old_text="d"), Diff("a\0b", "d")))
    edits = (ShownEdit("", "a\nb\n"), ShownEdit("d", "c"))
    assert shown_edits([call, call], "/w") == {"/w/x": edits}
