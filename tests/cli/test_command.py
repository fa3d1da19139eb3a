from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

import acp_host
from acp_host.automation import RunOutcome, RunReason, RunResult
from acp_host.cli.exits import ExitCode, code_of_error, code_of_run, exit_code_help
from acp_host.errors import AuthRequired, ConnectionLost, InvalidInput, NotSupported, RequestFailed, StartFailed
from acp_host.host.outcome import OutcomeKind
from tests.cli.conftest import PATIENCE, PROGRAM, Command


def test_version(command: Command) -> None:
    assert command("--version").out == f"acp-host {acp_host.__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"]])
def test_help_lists_every_exit_code(command: Command, arguments: list[str]) -> None:
    ran = command(*arguments)
    assert ran.code == 0
    assert exit_code_help() in ran.out
    for code in ExitCode:
        assert f"\n  {code.value:>3}  " in exit_code_help()


@pytest.mark.parametrize("arguments", [[], ["no-such-command"], ["--no-such-option"]])
def test_a_wrong_command_line(command: Command, arguments: list[str]) -> None:
    ran = command(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "usage: acp-host" in ran.err


def test_installed_command() -> None:
    from importlib.metadata import entry_points

    (entry,) = entry_points(group="console_scripts", name="acp-host")
    assert entry.load() is acp_host.cli.main


def test_without_rich_it_says_how_to_get_it() -> None:
    program = (
        "import sys; sys.modules['rich'] = None; from acp_host.cli import main; sys.exit(main(['inspect', 'agent']))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 2
    assert ran.stderr == "acp-host: this command needs rich; get it with: pip install 'acp-host[cli]'\n"


@pytest.mark.parametrize("kind", OutcomeKind)
def test_every_outcome_has_an_exit_code(kind: OutcomeKind) -> None:
    code = code_of_run(RunResult(outcome=RunOutcome(kind=kind)))
    assert (code == 0) is (kind is OutcomeKind.COMPLETED)
    assert code == RunResult(outcome=RunOutcome(kind=kind)).exit_code


@pytest.mark.parametrize("reason", RunReason)
def test_every_reason_has_an_exit_code(reason: RunReason) -> None:
    for kind in (OutcomeKind.COMPLETED, OutcomeKind.INCOMPLETE, OutcomeKind.FAILED):
        assert code_of_run(RunResult(outcome=RunOutcome(kind=kind, reason=reason))) not in (0, ExitCode.INCOMPLETE)
    denied = RunResult(outcome=RunOutcome(kind=OutcomeKind.COMPLETED, reason=RunReason.PERMISSION_DENIED))
    assert denied.completed
    assert denied.exit_code == ExitCode.PERMISSION_DENIED
    of_a_later_version = RunResult(outcome=RunOutcome(kind=OutcomeKind.INCOMPLETE, reason="of_a_later_version"))
    assert code_of_run(of_a_later_version) == ExitCode.INCOMPLETE


@pytest.mark.parametrize(
    "error, code",
    [
        (AuthRequired("log in"), ExitCode.LOGIN_NEEDED),
        (InvalidInput("no"), ExitCode.USAGE),
        (NotSupported("no", capability="x"), ExitCode.USAGE),
        (RequestFailed("no"), ExitCode.AGENT_FAILED),
        (StartFailed("no"), ExitCode.AGENT_FAILED),
        (ConnectionLost("no"), ExitCode.AGENT_FAILED),
    ],
)
def test_every_error_has_an_exit_code(error: acp_host.AcpError, code: ExitCode) -> None:
    assert code_of_error(error) == code


@pytest.mark.skipif(sys.platform == "win32", reason="shell redirections and devices of POSIX")
@pytest.mark.parametrize("redirection, code, says", [(">&-", 0, ""), (">/dev/full", 1, "acp-host: ")])
def test_a_stdout_that_takes_nothing_is_no_traceback(redirection: str, code: int, says: str) -> None:
    if "full" in redirection and not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    agent = [sys.executable, "-m", "acp_host.testing.agent"]
    line = f"{shlex.join([*PROGRAM, 'inspect', *agent])} {redirection}"
    ran = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=PATIENCE)
    assert (ran.returncode, "Traceback" in ran.stderr) == (code, False)
    assert ran.stderr.startswith(says)


def test_ctrl_c_while_modules_are_read_is_no_traceback(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("acp_host.cli.command.run_command", interrupted)
    assert command("inspect", "some-agent").code == ExitCode.CANCELLED


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["agent", "--ws", "--port", "70000"], "a port is a number up to 65535, not 70000"),
        (["agent", "--http", "--port", "-1"], "a port is a number up to 65535, not -1"),
        (["agent", "--ws", "--host", "0.0.0.0"], "on the command line --allow-other-machines"),
        (["agent", "--http", "--certificate", "no.pem", "no.key"], "no.pem and no.key are no certificate and its key"),
        (["agent", "--script", "nowhere.py"], "nowhere.py cannot be read"),
    ],
)
def test_what_an_agent_cannot_be_made_of(command: Command, arguments: list[str], told: str) -> None:
    ran = command(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
