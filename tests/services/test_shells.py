"""The shells of a machine: which are found, which an agent can mean, and how a command line is run by one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from acp_host.errors import InvalidInput
from acp_host.services import _command
from acp_host.services import shells as module
from acp_host.services._confined import confine
from acp_host.services.shells import Shell, Shells, find_shells
from acp_host.services.terminal_environment import EnvironmentPolicy
from acp_host.wire.terminals import CreateTerminalRequest

ROOT = "C:\\" if os.name == "nt" else "/"
SHELL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "label": {"type": "string"},
        "path": {"type": "string"},
        "platform": {"type": "string"},
        "available": {"type": "boolean"},
        "supports_login": {"type": "boolean"},
        "supports_interactive": {"type": "boolean"},
        "default_args": {"type": "array", "items": {"type": "string"}},
        "login_args": {"type": "array", "items": {"type": "string"}},
        "source": {"enum": ["configured", "env", "login", "etc_shells", "fallback", "host"]},
    },
}
SHELL_SCHEMA["required"] = list(SHELL_SCHEMA["properties"])


def program(folder: Path, name: str, *, mode: int = 0o755) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(mode)
    return str(folder / name)


def shell(name: str = "zsh", **more: Any) -> Shell:
    return Shell(id=name, path=os.path.join(ROOT, "bin", name), **more)


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What ``/etc/shells`` is; the user's account has no shell."""
    monkeypatch.setattr(module, "_ETC_SHELLS", tmp_path / "shells")
    monkeypatch.setattr(module, "_login_shell", lambda: "")
    return tmp_path / "shells"


posix = pytest.mark.skipif(os.name == "nt", reason="looks for the shells of POSIX")


@posix
class TestFinding:
    def test_those_of_this_machine_can_be_run(self):
        shells = find_shells()
        assert any(found.path == "/bin/sh" for found in shells)
        assert len({found.id for found in shells}) == len(shells)
        for found in shells:
            assert os.access(found.path, os.X_OK)
            Draft202012Validator(SHELL_SCHEMA).validate(found.to_json())

    def test_the_users_own_is_preferred(self, listed: Path, tmp_path: Path):
        own, other = program(tmp_path / "own", "zsh"), program(tmp_path / "usr", "fish")
        listed.write_text(f"# comment\n{other}\n{own}\n\n/no/such/bash\n")
        found = find_shells({"SHELL": own})
        assert [(item.id, item.source) for item in found] == [
            ("zsh", "env"),
            ("fish", "etc_shells"),
            ("sh", "fallback"),
        ]

    def test_an_account_says_which_shell_it_logs_in_with(
        self, listed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        own = program(tmp_path, "ksh")
        monkeypatch.setattr(module, "_login_shell", lambda: own)
        assert [(item.id, item.source) for item in find_shells({})] == [("ksh", "login"), ("sh", "fallback")]

    @pytest.mark.parametrize("name", ["nologin", "false", "tmux", "git-shell", "rbash"])
    def test_what_is_listed_and_runs_no_commands_is_none(self, name: str, listed: Path, tmp_path: Path):
        listed.write_text(program(tmp_path, name))
        assert [item.id for item in find_shells({"SHELL": program(tmp_path, name)})] == ["sh"]

    def test_what_cannot_be_run_is_none(self, listed: Path, tmp_path: Path):
        listed.write_text(f"{program(tmp_path, 'zsh', mode=0o644)}\nbin/bash\n")
        assert [item.id for item in find_shells({"SHELL": "fish"})] == ["sh"]

    def test_two_of_one_name_can_be_told_apart_and_one_is_found_once(self, listed: Path, tmp_path: Path):
        one, two = program(tmp_path / "1", "bash"), program(tmp_path / "2", "bash")
        (tmp_path / "3").symlink_to(tmp_path / "1")
        listed.write_text(f"{one}\n{tmp_path / '3'}/bash\n{two}\n")
        assert [item.id for item in find_shells({})] == ["bash", f"bash:{two}", "sh"]

    def test_a_machine_without_a_list_has_one_all_the_same(self, listed: Path):
        assert [item.path for item in find_shells({})] == ["/bin/sh"]


def test_on_windows_three_are_told_apart():
    names = {"pwsh": r"C:\pwsh\pwsh.exe", "powershell": r"C:\Windows\powershell.EXE", "cmd": r"C:\Windows\cmd.exe"}
    found = list(module._on_windows({"COMSPEC": names["cmd"]}, lambda name, path: names[name]))
    assert [(module._name_of(path), source) for path, source in found] == [
        ("pwsh", "host"),
        ("powershell", "host"),
        ("cmd", "env"),
        ("cmd", "fallback"),
    ]
    assert module._KINDS["cmd"]["default_args"] == ("/C",)
    for name in ("pwsh", "powershell"):
        assert module._KINDS[name]["default_args"] == ("-NoProfile", "-Command")


class TestInvocation:
    @pytest.mark.parametrize(
        ("how", "args"),
        [
            ({}, ["-c", "printf ok"]),
            ({"login": True}, ["-l", "-c", "printf ok"]),
            ({"interactive": True}, ["-i", "-c", "printf ok"]),
            ({"login": True, "interactive": True}, ["-i", "-l", "-c", "printf ok"]),
        ],
    )
    def test_the_command_line_comes_last(self, how: dict[str, bool], args: list[str]):
        invocation = shell().invocation("printf ok", **how)
        assert invocation.to_json() == {
            "program": shell().path,
            "args": args,
            "command_arg_index": len(args) - 1,
            "shell": shell().to_json(),
        }
        assert invocation.argv == (shell().path, *args)

    def test_what_a_shell_cannot_be_it_is_not(self):
        plain = shell(supports_login=False, supports_interactive=False)
        assert plain.invocation("x", login=True, interactive=True).args == ("-c", "x")


class TestNaming:
    @pytest.fixture
    def shells(self, tmp_path: Path) -> Shells:
        found = [Shell(id=name, path=program(tmp_path / "bin", name)) for name in ("bash", "zsh")]
        return Shells(find=lambda: found)

    @pytest.mark.parametrize("name", ["zsh", {"id": "zsh"}, {"id": "zsh", "path": "/somewhere/else/zsh"}])
    def test_one_is_found_by_its_id(self, shells: Shells, name: Any):
        found = shells.named(name)
        assert found is not None
        assert found.id == "zsh"

    def test_one_is_found_by_its_path_whatever_it_is_called(self, shells: Shells, tmp_path: Path):
        found = shells.named({"id": "bash", "path": str(tmp_path / "bin/zsh"), "default_args": ["--evil"]})
        assert found is not None
        assert (found.id, found.default_args) == ("zsh", ("-c",))

    @pytest.mark.parametrize("name", ["fish", "", {}, {"id": 3}, {"path": "/tmp/evil"}, {"id": None, "path": "\0"}])
    def test_no_other_program_is_one(self, shells: Shells, name: Any):
        assert shells.named(name) is None

    def test_the_applications_own_come_first_and_replace_what_is_found(self, tmp_path: Path):
        own = Shell(id="zsh", path=program(tmp_path, "zsh"), default_args=["-f", "-c"])
        gone = Shell(id="gone", path=str(tmp_path / "gone"))
        shells = Shells([gone, own], find=lambda: [shell("zsh"), shell("bash")])
        assert [(item.id, item.available) for item in shells.all()] == [("gone", False), ("zsh", True), ("bash", True)]
        assert shells.default() == own
        assert shells.named("gone") is None

    def test_there_may_be_none(self):
        assert Shells(find=lambda: ()).default() is None


def test_what_is_no_shell_is_refused():
    with pytest.raises(InvalidInput, match="absolute path"):
        Shell(id="zsh", path="bin/zsh")
    with pytest.raises(InvalidInput, match="id of its own"):
        Shells([shell(), shell()])


def test_the_platform_is_named_as_harn_does():
    assert shell().platform == {"win32": "windows"}.get(sys.platform, sys.platform)


def test_on_windows_its_own_shell_reads_a_line_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_command, "sys", SimpleNamespace(platform="win32"))
    cmd = Shell(id="cmd", path=program(tmp_path, "cmd"), **module._KINDS["cmd"])
    pwsh = Shell(id="pwsh", path=program(tmp_path, "pwsh"), **module._KINDS["pwsh"])
    shells, lines = Shells([cmd, pwsh], find=lambda: ()), {}
    for found in (cmd, pwsh):
        asked = CreateTerminalRequest("s", 'echo "a b" & exit 3', extra={"shell": {"id": found.id}})
        command = _command.resolve_command(asked, confine([tmp_path]), str(tmp_path), EnvironmentPolicy(), None, shells)
        lines[found.id] = (command.via_shell, command.argv)
    assert lines == {
        "cmd": (True, ('echo "a b" & exit 3',)),
        "pwsh": (False, (pwsh.path, "-NoProfile", "-Command", 'echo "a b" & exit 3')),
    }


@posix
@pytest.mark.parametrize("how", [{}, {"login": True}, {"interactive": True}], ids=["plain", "login", "interactive"])
@pytest.mark.parametrize("found", find_shells() if os.name == "posix" else [], ids=lambda found: found.id)
def test_each_shell_of_this_machine_runs_a_line(found: Shell, how: dict[str, bool], tmp_path: Path):
    line = "echo one two && echo three"
    ran = subprocess.run(
        found.invocation(line, **how).argv,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.defpath},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,  # an interactive one would take the terminal of the tests
        timeout=30,
    )
    assert ran.returncode == 0
    assert ran.stdout.split(b"\n")[-3:] == [b"one two", b"three", b""]
