"""What was answered holds in its turn for exactly the same thing, and for nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.services.permission_answers import GivenAnswers, new_texts
from acp_host.services.permission_subject import PermissionSubject, subject_of_command, subject_of_write
from acp_host.wire.files import WriteTextFileRequest
from acp_host.wire.terminals import CreateTerminalRequest, EnvVariable
from acp_host.wire.tool_calls import Diff, ToolCallUpdate


def asked(kind: str | None = "edit", **fields: Any) -> PermissionSubject:
    return PermissionSubject(agent="a", session_id="s", kind=kind, cwd="/w", **fields)


def write(given: GivenAnswers, path: str = "/w/x", content: str = "text") -> bool | None:
    return given.for_write(subject_of_write(WriteTextFileRequest("s", path, content), agent="a", cwd="/w"), content)


def run(
    given: GivenAnswers, command: str, *args: str, cwd: str | None = None, env: tuple[str, ...] = ()
) -> bool | None:
    variables = tuple(EnvVariable(name, "1") for name in env)
    request = CreateTerminalRequest("s", command, args, variables, cwd)
    return given.for_command(subject_of_command(request, agent="a", cwd="/w"), (command, *args))


def after(subject: PermissionSubject, *, allows: bool = True, once: bool = True, texts: Any = None) -> GivenAnswers:
    given = GivenAnswers()
    given.add(subject, allows=allows, once=once, texts=texts or {})
    return given


@pytest.mark.parametrize(
    ("subject", "texts", "answer"),
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
        (asked(None, paths=("/w/x",)), {"/w/x": ("text",)}, True),
        (asked(paths=("/w/x",)), {"/w/x": ("te", "xt")}, True),
        (asked(paths=("/w/x",)), {"/w/x": ("something else",)}, None),
        (asked(paths=("/w/x",)), {"/w/y": ("something else",)}, True),
    ],
)
def test_permission_to_edit_a_file_is_permission_to_write_it_once(
    subject: Any, texts: Any, answer: bool | None
) -> None:
    given = after(subject, texts=texts)
    assert write(given) is answer
    assert write(given) is None


def test_a_refusal_holds_until_the_end_of_the_turn() -> None:
    given = after(asked(None, paths=("/w/x",)), allows=False)
    assert [write(given), write(given), write(given, "/w/y")] == [False, False, None]
    assert write(after(asked("read", paths=("/w/x",)), allows=False)) is None
    assert write(after(asked("read", paths=("/w/x",), shows_diff=True), allows=False)) is False


def test_the_latest_answer_counts_and_always_is_not_used_up() -> None:
    given = after(asked(paths=("/w/x",)), allows=False)
    given.add(asked(paths=("/w/x",)), allows=True, once=False, texts={})
    assert [write(given), write(given)] == [True, True]
    given.add(asked(paths=("/w/x",)), allows=False, once=True, texts={})
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


def test_the_new_texts_of_a_question() -> None:
    calls = [ToolCallUpdate("t", content=(Diff("x", "a\r\nb\n"), Diff("/w/x", "c"), Diff("a\0b", "d")))]
    assert new_texts(calls, "/w") == {"/w/x": ("a\nb", "c")}
