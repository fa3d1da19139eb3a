"""Completion in the real shells: a Tab in each of them runs what these tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from acp_host.automation.known_agents import Locations
from acp_host.automation.known_agents.own_entries import OwnEntry, add_own
from tests.cli.conftest import Command

if sys.platform == "win32":
    pytest.skip("the shells are not there", allow_module_level=True)

from tests.cli.test_at_a_terminal import on_screen

# A shell starts the command anew for each line.
PATIENCE = 200
pytestmark = pytest.mark.timeout(PATIENCE + 20)

BASH = """\
eval "$(acp-host completion bash)"
while IFS= read -r COMP_LINE; do
    COMP_POINT=${#COMP_LINE} COMPREPLY=()
    _python_argcomplete acp-host
    (IFS=' '; echo "${COMPREPLY[*]}")
done
"""
FISH = """\
acp-host completion fish | source
while read --local line
    complete --do-complete "$line" | string join ';'
end
"""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is on the ``PATH``; the working directory has a file; the user knows two agents."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    program = bin_folder / "acp-host"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m acp_host "$@"\n')
    program.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    (work / "talk.jsonl").write_text("")
    monkeypatch.setenv("PATH", f"{bin_folder}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.chdir(work)
    own = Locations.for_user().own
    add_own(own, "staunch", OwnEntry(title="A\x1b[31m red one", command=("x",)))
    add_own(own, "lab", OwnEntry(url="wss://agents.example/acp"))


def run(name: str, script: str, *lines: str) -> list[str]:
    where = shutil.which(name)
    if where is None:
        pytest.skip(f"{name} is not installed")
    argv = [where, "--no-config" if name == "fish" else "--norc", "-c"]
    text = "".join(f"{line}\n" for line in lines)
    ran = subprocess.run([*argv, script], input=text, capture_output=True, text=True, timeout=PATIENCE)
    assert ran.stderr == ""
    return ran.stdout.splitlines()


@pytest.mark.usefixtures("shell")
def test_bash() -> None:
    lines = {
        "acp-host ins": ["inspect "],
        "acp-host run --perm": ["--permissions "],
        "acp-host run ": ["lab", "staunch"],
        "acp-host run --permissions re": ["read-only "],
        "acp-host run staunch ta": ["talk.jsonl "],
        "acp-host agents sh": ["show "],
        "acp-host agents remove sta": ["staunch "],
    }
    found = run("bash", BASH, *lines)
    assert len(found) == len(lines)
    for (line, wanted), answer in zip(lines.items(), found, strict=True):
        offered = [f"{word} " if answer.endswith(f"{word} ") else word for word in answer.split()]
        assert [word for word in offered if not word.startswith("-") or "--" in line] == wanted, line


@pytest.mark.usefixtures("shell")
def test_zsh() -> None:
    """At a Tab in a terminal: zsh completes nowhere else."""
    if (zsh := shutil.which("zsh")) is None:
        pytest.skip("zsh is not installed")
    with on_screen([zsh, "-f", "-i"]) as screen:
        screen.type("autoload -Uz compinit; compinit -u -D; eval \"$(acp-host completion zsh)\"; print are''ready\n")
        screen.wait_for("areready")
        screen.type("acp-host run stau\t")
        screen.wait_for("staunch")
        screen.type("\x15acp-host ins\t")
        screen.wait_for("inspect")


@pytest.mark.usefixtures("shell")
def test_fish() -> None:
    ins, names, words = run("fish", FISH, "acp-host ins", "acp-host run sta", "acp-host run --permissions re")
    assert ins.split("\t")[0] == "inspect"
    assert names == "staunch\tA\\x1b[31m red one"
    assert {word.split("\t")[0] for word in words.split(";")} == {"read-only"}


def test_a_shell_that_nobody_has_heard_of(command: Command) -> None:
    ran = command("completion", "tcsh")
    assert ran.code == 2
    assert "'bash', 'zsh', 'fish'" in ran.err


def test_without_the_library_it_says_how_to_get_it(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    ran = command("completion", "bash")
    assert (ran.code, ran.out) == (2, "")
    assert "acp-host[cli]" in ran.err


@pytest.mark.usefixtures("shell")
def test_a_file_of_agents_that_cannot_be_used_completes_nothing_and_says_nothing() -> None:
    Locations.for_user().own.write_text("[agents")
    assert run("bash", BASH, "acp-host agents show ")[0].split() == ["--help", "--json"]
