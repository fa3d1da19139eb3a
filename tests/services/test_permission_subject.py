"""Which paths and which command a request names, in whatever shape an agent puts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_host.services.named_in_call import MAX_PATHS
from acp_host.services.permission_subject import (
    PermissionSubject,
    subject_of_command,
    subject_of_request,
    subject_of_write,
)
from acp_host.wire.files import WriteTextFileRequest
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.permission_question import AskedCall, PermissionQuestion
from acp_host.wire.terminals import CreateTerminalRequest, EnvVariable
from acp_host.wire.tool_calls import Diff, ToolCall, ToolCallLocation, ToolCallUpdate
from acp_host.wire.v2.diffs import Diff as FilesDiff
from acp_host.wire.v2.diffs import FileModified, FileMoved, UnknownDiffChange


@pytest.fixture
def cwd(tmp_path: Path) -> str:
    return str(tmp_path.resolve())


def of(cwd: str, known: Any = None, **call: Any) -> PermissionSubject:
    update = ToolCallUpdate(tool_call_id="t", **call)
    request = RequestPermissionRequest(session_id="s", tool_call=update, options=())
    return subject_of_request(request, agent="a", cwd=cwd, known=known)


@pytest.mark.parametrize(
    ("raw", "paths"),
    [
        ({"file_path": "a.txt"}, ["a.txt"]),
        ({"filePath": "a.txt"}, ["a.txt"]),
        ({"filepath": "a.txt", "parentDir": "sub"}, ["a.txt", "sub"]),
        ({"notebook_path": "n.ipynb"}, ["n.ipynb"]),
        ({"abs_path": "{cwd}/a"}, ["a"]),
        ({"anything": "{cwd}/a"}, ["a"]),
        ({"edits": [{"path": "a"}, {"path": "b"}]}, ["a", "b"]),
        ({"paths": ["a", "b"]}, ["a", "b"]),
        ({"uri": "file://{cwd}/with%20blank"}, ["with blank"]),
        ({"path": "sub/../a"}, ["a"]),
        ({"path": "../out"}, ["../out"]),
        ({"content": "/* a comment */", "new_string": "/usr"}, []),
        ({"note": "/not a path\nbut text"}, []),
        (["{cwd}/a"], ["a"]),
        ("{cwd}/a", ["a"]),
        (
            {"target_file": "a", "outputPath": "b", "relative_workspace_path": "c", "save_dir": "d"},
            ["a", "b", "c", "d"],
        ),
        ({"FILE": "a", "fileURI": "FILE://{cwd}/b", "old_file_path": "c"}, ["a", "b", "c"]),
        ({"anything": "../out", "other": " {cwd}/a\n"}, ["../out", "a"]),
        ({"changes": {"{cwd}/a": {"type": "add"}, "../b": {}}}, ["a", "../b"]),
        ({"arguments": '{"path": "a", "more": ["{cwd}/b"]}'}, ["a", "b"]),
        ('{"path": "a"}', ["a"]),
        ({"query": "{ no: JSON }", "note": "[sic"}, []),
        ({"patch": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n"}, ["a", "b"]),
        ({"input": "*** Add File: a\n+x\n*** Delete File: ../b\n"}, ["a", "../b"]),
        ({"diff": "--- a/one\t2026\n+++ b/two\n@@ -1 +1 @@\n--- x\n"}, ["one", "two"]),
        ({"diff": "--- /dev/null\n+++ b/new\n"}, ["new"]),
        ({"diff": "--- a/one\n+++ two\n"}, ["a/one", "two"]),
        ({"file_text": "/* a comment */", "oldText": "../x", "newString": "/usr"}, []),
        ({"url": "https://example.org/x", "profile": "default", "count": "1..2"}, []),
        ({"path": 7, "file": None, "ok": True}, []),
    ],
)
def test_paths_in_what_a_tool_was_given(cwd: str, raw: Any, paths: list[str]) -> None:
    def here(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("{cwd}", cwd)
        if isinstance(value, dict):
            return {here(key): here(item) for key, item in value.items()}
        return [here(item) for item in value] if isinstance(value, list) else value

    subject = of(cwd, raw_input=here(raw))
    assert subject.paths == tuple(str((Path(cwd) / path).resolve()) for path in paths)
    assert subject.readable


@pytest.mark.parametrize(
    ("raw", "command"),
    [
        ({"command": "ls -l"}, "ls -l"),
        ({"cmd": "ls"}, "ls"),
        ({"command": ["bash", "-lc", "ls | wc"]}, "ls | wc"),
        ({"command": "git", "args": ["status"]}, "git status"),
        ({"command": "a", "script": "b"}, "a\nb"),
        ({"command": []}, None),
        ({"input": {"command": "ls"}}, "ls"),
        ({"command": "git", "arguments": ["push"]}, "git push"),
        ({"command": "git", "args": "push --force"}, "git push --force"),
        ({"commands": ["git status", "rm x"]}, "'git status' 'rm x'"),
        ({"program": "rm"}, "rm"),
        ({"bash_command": "ls"}, "ls"),
        ({"runCommand": "ls"}, "ls"),
        ({"arguments": '{"command": "ls"}'}, "ls"),
    ],
)
def test_the_command_in_what_a_tool_was_given(cwd: str, raw: Any, command: str | None) -> None:
    assert of(cwd, raw_input=raw).command == command


def test_a_tool_that_executes_may_be_given_a_plain_line(cwd: str) -> None:
    assert of(cwd, kind="execute", raw_input="ls -l").command == "ls -l"
    assert of(cwd, kind="edit", raw_input="ls -l").command is None


def test_the_words_of_a_command_may_be_files(cwd: str) -> None:
    subject = of(cwd, raw_input={"command": "cat <sub/../key --to=out; rm x", "cwd": "work"})
    assert {f"{cwd}/work/{name}" for name in ("key", "out", "x")} <= set(subject.mentioned)
    assert set(subject.paths) == {f"{cwd}/work", f"{cwd}/work/key", f"{cwd}/key"}


def test_a_word_that_leads_upwards_is_meant_from_where_its_command_starts(cwd: str) -> None:
    above = str(Path(cwd).parent)
    said = of(cwd, raw_input={"command": "cat ../key", "cwd": "work"})
    assert set(said.paths) == {f"{cwd}/work", f"{cwd}/key", f"{above}/key"}, "it may start elsewhere all the same"
    run = CreateTerminalRequest("s", "cat", args=("../key",), cwd=f"{cwd}/work")
    assert subject_of_command(run, agent="a", cwd=cwd).paths == (f"{cwd}/work", f"{cwd}/key")


def test_locations_diffs_and_what_is_known_of_the_call_count_too(cwd: str) -> None:
    known = ToolCall("t", "Edit it", kind="edit", locations=(ToolCallLocation("one"),))
    subject = of(cwd, known, content=(Diff("two", "x"),), raw_input={"path": "three"})
    assert subject.named_paths == tuple(f"{cwd}/{name}" for name in ("two", "three", "one"))
    assert (subject.kind, subject.title, subject.shows_diff, subject.hides_edit) == ("edit", "Edit it", True, False)
    assert of(cwd, known, kind="execute", title="Mine").kind == "execute"


def test_a_link_is_followed_and_its_name_is_kept(cwd: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "out").symlink_to("/etc")
    subject = of(cwd, locations=(ToolCallLocation("src/out/passwd"), ToolCallLocation("src/out/../x")))
    assert subject.paths == ("/etc/passwd", "/x")
    assert subject.named_paths == (f"{cwd}/src/out/passwd", f"{cwd}/src/x")


def test_what_cannot_be_read_is_said_to_be_so(cwd: str) -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    unreadable: list[Any] = [{"path": "a\0b"}, {"paths": [str(number) for number in range(MAX_PATHS + 1)]}, {"a": deep}]
    unreadable += [
        {"a": "[" + " " * 2_000_000 + "]"},
        {"path": "x" * 5_000},
        {"command": "git", "args": ["push", 1]},
        {"command": "x" * 100_000},
    ]
    for raw in unreadable:
        assert not of(cwd, raw_input=raw).readable
    assert len(of(cwd, raw_input={"paths": ["x"] * 30_000}).paths) == 1


def test_a_summary_says_what_the_title_does_not(cwd: str) -> None:
    assert of(cwd, title="Edit it", raw_input={"path": "a"}).summary == f"Edit it: {cwd}/a"
    assert of(cwd, title="ls -l", raw_input={"command": "ls -l"}).summary == "ls -l"
    assert of(cwd, raw_input={"command": "ls"}).summary == "ls"
    assert of(cwd, title="Think").summary == "Think"
    assert of(cwd).summary == ""


def test_a_file_to_write(cwd: str) -> None:
    subject = subject_of_write(WriteTextFileRequest("s", f"{cwd}/a", "secret"), agent="a", cwd=cwd)
    assert (subject.kind, subject.paths, subject.command) == ("edit", (f"{cwd}/a",), None)
    assert "secret" not in repr(subject)


def test_a_command_to_run(cwd: str) -> None:
    request = CreateTerminalRequest("s", "cat", args=("/etc/passwd",), env=(EnvVariable("TOKEN", "hidden"),))
    subject = subject_of_command(request, agent="a", cwd=cwd)
    assert (subject.kind, subject.command, subject.env) == ("execute", "cat /etc/passwd", ("TOKEN",))
    assert subject.paths == (cwd, "/etc/passwd")
    assert "hidden" not in repr(subject)


# ---- questions of version 2 ----


def asked_in_version_2(cwd: str, call: AskedCall, known: Any = None) -> PermissionSubject:
    question = PermissionQuestion("s", call, (), title="May I?")
    return subject_of_request(question, agent="a", cwd=cwd, known=known)


def test_a_question_of_version_2_lends_its_title_where_the_call_has_none(cwd: str) -> None:
    assert asked_in_version_2(cwd, AskedCall("c")).title == "May I?"
    assert asked_in_version_2(cwd, AskedCall("c", title="Edit")).title == "Edit"
    assert asked_in_version_2(cwd, AskedCall("c"), known=ToolCall("c", "Known")).title == "Known"


def test_every_path_of_a_diff_of_version_2_counts(cwd: str) -> None:
    changes = (
        FileModified("a.txt"),
        FileMoved("../from.txt", "to.txt"),
        UnknownDiffChange("link", {"operation": "link", "path": "/etc/passwd"}),
    )
    subject = asked_in_version_2(cwd, AskedCall("c", kind="edit", content=(FilesDiff(changes),)))

    assert subject.shows_diff
    outside = [str(Path(cwd, "..", "from.txt").resolve()), str(Path("/etc/passwd").resolve())]
    assert {*outside} <= set(subject.paths)
    assert [Path(path).name for path in subject.named_paths] == ["a.txt", "to.txt", "from.txt", "passwd"]
