"""What a command line says: one line of every form, its program, parts and paths, and whether a shell acts on it."""

from __future__ import annotations

import pytest

from acp_host.services.command_line import command_line, needs_shell, paths_in, pieces_of, program_of, words_in


@pytest.mark.parametrize(
    ("command", "args", "line"),
    [
        ("git status", [], "git status"),
        ("git", ["status"], "git status"),
        ("git", ["commit", "-m", "two words"], "git commit -m 'two words'"),
        ("/bin/sh", ["-lc", "echo hi && touch x"], "echo hi && touch x"),
        ("bash", ["-c", "ls"], "ls"),
        ("bash", ["-c", "ls", "name"], "bash -c ls name"),
        ("bash", ["--posix", "ls"], "bash --posix ls"),
        ("./bash", ["-c", "ls"], "./bash -c ls"),
        ("/tmp/sh", ["-c", "ls"], "/tmp/sh -c ls"),
    ],
)
def test_every_form_becomes_one_line(command: str, args: list[str], line: str) -> None:
    assert command_line(command, args) == line


@pytest.mark.parametrize(
    "line",
    [
        "git status; rm -rf /",
        "git status && x",
        "git status | sh",
        "git status & x",
        "git status $(x)",
        "git status `x`",
        "git status\nrm -rf /",
        "git status\rrm",
        "git status > /etc/passwd",
        "git status < x",
        "git status ${X}",
        "git status *",
        "git status {a,b}",
        "git status \\\nx",
        "git status \x00",
        "python3 -c 'a; b'",
    ],
)
def test_what_a_shell_would_act_upon_is_seen(line: str) -> None:
    assert needs_shell(line)


@pytest.mark.parametrize("line", ["git status", "git diff HEAD~1", 'git commit -m "two words"', "a\tb", "x --a=b ~/c"])
def test_a_plain_line_needs_no_shell(line: str) -> None:
    assert not needs_shell(line)


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("git status", "git"),
        ("  git", "git"),
        ("'git' status", "git"),
        ("/usr/bin/git x", "/usr/bin/git"),
        ("A=1 git", None),
        ("", None),
        ("'unclosed", None),
        ("'' x", None),
    ],
)
def test_the_program_of_a_line(line: str, program: str | None) -> None:
    assert program_of(line) == program


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("cd x && rm -rf y", "rm -rf y"),
        ("echo $(rm -rf y)", "rm -rf y"),
        ("true\nrm -rf y", "rm -rf y"),
        ("true; (rm -rf y)", "rm -rf y"),
        ("A=1 B=2 rm -rf y", "rm -rf y"),
        ("rm -rf y", "rm -rf y"),
    ],
)
def test_the_parts_of_a_line(line: str, part: str) -> None:
    assert part in pieces_of(line)
    assert line in pieces_of(line)


def test_the_paths_of_a_line() -> None:
    line = "cp /etc/passwd ../out --to=/tmp/x ~/y 2>/dev/null plain sub/dir"
    assert paths_in(line) == ("/etc/passwd", "../out", "/tmp/x", "~/y", "/dev/null")
    assert paths_in("cat 'unclosed /etc/shadow") == ("/etc/shadow",)
    assert words_in("cat <a --b=c; d") == ("cat", "a", "--b=c", "c", "d")
