from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.cli import agents
from tests.cli.conftest import PATIENCE, PROGRAM, Command
from tests.fleet.surroundings import until

UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")


def agent(script: Callable[[ScriptedAgent], Awaitable[Any]]) -> list[str]:
    return ScriptedAgent.command(script)


def test_stdout_has_the_message_text_and_nothing_else(process: Command) -> None:
    ran = process("run", *agent(agents.echo), "--", "Good", "morning")
    assert (ran.code, ran.out) == (0, "\U0001f600 Good morning\n")
    for said in ("a thought", "a tool  completed", "a notice", "completed, stop reason end_turn; 1,234 tokens"):
        assert said in ran.err
    assert "a word on stdout" in ran.err, "what is no message of the protocol is a diagnostic"
    assert "a word on stderr" not in ran.err


def test_what_is_said_out_of_turn_is_no_part_of_the_answer(command: Command) -> None:
    ran = command("run", *agent(agents.speaks_out_of_turn), "--", "x")
    assert (ran.code, ran.out) == (0, "The answer.\n")
    assert "aside       There is a new version.\n" in ran.err
    assert "aside       Something more.\n" in ran.err


def test_what_a_harn_agent_tells_beside_its_answer_is_shown(command: Command) -> None:
    ran = command("run", *agent(agents.speaks_harn), "--", "x")
    assert (ran.code, ran.out) == (0, "The answer.\n")
    assert "worker      w  running\n" in ran.err
    assert "alert       the agent does not get on\n" in ran.err


def test_a_line_end_is_added_only_where_there_is_none(command: Command) -> None:
    assert command("run", *agent(agents.echo), "--", "done\n").out == "\U0001f600 done\n"


def test_verbose_shows_the_stderr_of_the_agent(command: Command) -> None:
    assert "a word on stderr" in command("run", "--verbose", *agent(agents.echo), "--", "x").err


def test_prompt_from_stdin(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("from a\npipe"))
    ran = command("run", *agent(agents.echo), "--", "-")
    assert (ran.code, ran.out) == (0, "\U0001f600 from a\npipe\n")


def test_bytes_on_the_command_line_are_read_as_utf_8_whatever_the_locale(command: Command) -> None:
    ran = command("run", *agent(agents.echo), "--", os.fsencode("Grüße").decode("ascii", "surrogateescape"))
    assert (ran.code, ran.out) == (0, "\U0001f600 Grüße\n")
    for arguments in (["--", "Gr\udcfc"], ["--remind", "Gr\udcfc", "--", "x"]):
        ran = command("run", *arguments[:-2], *agent(agents.echo), *arguments[-2:])
        assert ran.code == 2
        assert "has bytes that are no UTF-8: Gr\\udcfc" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process on Windows")
@pytest.mark.parametrize("line", [["run", "some-agent", "--", "-"], ["fleet", "--each-in", "-", "a", "--", "hi"]])
def test_ctrl_c_while_the_prompt_is_typed_ends_the_command_at_once(
    command: Command, monkeypatch: pytest.MonkeyPatch, line: list[str]
) -> None:
    typed = []

    class Keyboard(io.StringIO):
        def read(self, size: int | None = -1, /) -> str:
            signal.raise_signal(signal.SIGINT)
            typed.append("Ctrl-C was not heard")
            return ""

    monkeypatch.setattr("sys.stdin", Keyboard())
    monkeypatch.setattr("acp_host.cli.command._say_no_more", lambda: None)  # what is captured here has no descriptor
    assert command(*line).code == 130
    assert typed == []


@pytest.mark.parametrize(
    "stop_reason, code",
    [
        ("end_turn", 0),
        ("max_tokens", 3),
        ("max_turn_requests", 3),
        ("refusal", 4),
        ("cancelled", 130),
        ("a_word_of_its_own", 3),
    ],
)
def test_exit_code_says_how_the_turn_ended(command: Command, stop_reason: str, code: int) -> None:
    ran = command("run", *agent(agents.stops), "--", stop_reason)
    assert (ran.code, ran.out) == (code, "")
    assert stop_reason in ran.err


def test_an_agent_that_answers_with_an_error(command: Command) -> None:
    ran = command("run", *agent(agents.fails), "--", "x")
    assert (ran.code, ran.out) == (1, "")
    assert "the agent answered session/prompt with an error (-32603): no luck" in ran.err
    assert 'details: {"model": "is away"}' in ran.err


def test_an_agent_that_dies_in_the_turn(command: Command) -> None:
    ran = command("run", *agent(agents.dies), "--", "x")
    assert (ran.code, ran.out) == (13, "I think\n"), "nobody knows what it has done: once more may be twice"
    assert "session/prompt was sent" in ran.err
    assert "status 7" in ran.err
    assert "out of memory" in ran.err
    assert "Traceback" not in ran.err


def test_an_agent_that_wants_a_login_first(command: Command) -> None:
    ran = command("run", *agent(agents.wants_login), "--", "x")
    assert (ran.code, ran.out) == (6, "")
    assert "wants a login first: Authentication required" in ran.err
    assert "API key (key)" in ran.err
    assert "Set AGENT_KEY." in ran.err
    assert re.search(r"run: A=b .*wants_login login\n", ran.err)
    assert "(retina)" in ran.err


def test_an_agent_that_does_not_exist(command: Command) -> None:
    ran = command("run", "no-such-agent-anywhere", "--", "x")
    assert (ran.code, ran.out) == (1, "")
    assert "cannot start `no-such-agent-anywhere`" in ran.err


@pytest.mark.parametrize(
    "arguments, problem",
    [
        (["--", "x"], "no agent"),
        (["agent"], "no prompt"),
        (["", "--", "x"], "no agent: the first word of its command is empty"),
        (["agent", "--"], "the prompt is empty"),
        (["agent", "--", " \n"], "the prompt is empty"),
        (["--cwd", "no/such/place", "agent", "--", "x"], "--cwd no/such/place is not a directory"),
        (["--permissions", "ask", "agent", "--", "x"], "needs a terminal"),
        (["--permissions", "all", "agent", "--", "x"], "or a file with a policy; all cannot be read: No such"),
        (
            ["--permission", "reject", "agent", "--", "x"],
            "unrecognized arguments: --permission\nTry acp-host run --help",
        ),
    ],
)
def test_a_wrong_command_line(command: Command, arguments: list[str], problem: str) -> None:
    ran = command("run", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert re.search(problem, ran.err)
    assert "Traceback" not in ran.err


def test_arguments_for_the_agent(command: Command) -> None:
    tell = "await agent.handshake(); await agent.open_session(); await agent.expect()\n"
    tell += "import sys\nagent.say(repr(sys.argv[1:])); agent.reply({'stopReason': 'end_turn'})"
    program = ScriptedAgent.command(tell, "--acp", "--cwd", "x")
    ran = command("run", "--agent-arg=--", "--agent-arg", "last", *program, "--", "x")
    assert (ran.code, ran.out) == (0, "['--acp', '--cwd', 'x', '--', 'last']\n")


@pytest.mark.parametrize(
    "choice, answer", [("reject", "no"), ("deny", "no"), ("allow-once", "yes"), ("allow_once", "yes"), (None, "no")]
)
def test_permissions_by_policy(command: Command, choice: str | None, answer: str) -> None:
    ran = command("run", *([] if choice is None else ["--permissions", choice]), *agent(agents.asks), "--", "x")
    assert (ran.code, ran.out) == (0 if answer == "yes" else 8, f"answer: {answer}\n")
    assert "permission? delete: Remove the disk" in ran.err
    assert '{"command": "rm -rf /"}' in ran.err
    assert f"by --permissions {'allow-once' if answer == 'yes' else 'deny'}" in ran.err


@pytest.mark.parametrize(
    "options, worked",
    [
        ([], "False False False"),
        (["--read-files"], "True False False"),
        (["--write-files"], "False True False"),
        (["--terminals"], "False False True"),
        (["--read-files", "--write-files", "--terminals"], "True True True"),
    ],
)
def test_nothing_is_served_but_what_was_granted(
    command: Command, tmp_path: Path, options: list[str], worked: str
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("old\n")
    ran = command("run", "--cwd", str(tmp_path), *options, *agent(agents.uses_the_host), "--", "x")
    assert (ran.code, ran.out) == (0, f"{worked}\n")
    assert notes.read_text() == ("new\n" if "--write-files" in options else "old\n")
    assert (f"read {notes}" in ran.err) is ("--read-files" in options)
    assert (f"wrote {notes} (4 characters)" in ran.err) is ("--write-files" in options)
    for said in ("$ echo 'from the command'", "output      from the command\n", "exit code 0"):
        assert (said in ran.err) is ("--terminals" in options)


POLICY = """
[[rules]]
name = "new files"
decision = "allow_once"
kinds = ["edit"]
paths = ["*.txt"]
"""


@pytest.mark.parametrize("policy, worked", [(POLICY, "False True False"), ("", "False False False")])
def test_a_policy_from_a_file_decides_all_of_it(command: Command, tmp_path: Path, policy: str, worked: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(policy)
    notes = tmp_path / "notes.txt"
    notes.write_text("old\n")
    granted = ["--write-files", "--terminals", "--permissions", str(path)]
    ran = command("run", "--cwd", str(tmp_path), *granted, *agent(agents.uses_the_host), "--", "x")
    assert (ran.code, ran.out) == (8, f"{worked}\n"), "the command was denied"
    assert (f"decision    allowed: {notes}, by the rule 'new files'" in ran.err) is bool(policy)
    why = "no rule matches" if policy else "the policy rejects everything"
    assert f"rejected: echo 'from the command', by policy: {why}" in ran.err.replace("\n            ", " ")


def test_a_policy_that_is_none_says_where(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("[[rules]]\ndecision = 'yes'")
    ran = command("run", "--permissions", str(path), "agent", "--", "x")
    assert (ran.code, ran.out) == (2, "")
    assert f"{path}, rule 1: decision" in ran.err


def test_read_only_reads(command: Command) -> None:
    ran = command("run", "--permissions", "read-only", *agent(agents.asks), "--", "x")
    assert (ran.code, ran.out) == (8, "answer: no\n")
    assert command("run", "--denied-ok", "--permissions", "read-only", *agent(agents.asks), "--", "x").code == 0
    assert "rejected: Remove the disk: rm -rf /, by policy" in ran.err.replace("\n            ", " ")


def test_hostile_text_stays_text(command: Command) -> None:
    ran = command("run", "--verbose", "--permissions", "allow-once", *agent(agents.hostile), "--", "x")
    assert ran.code == 3
    assert UNSAFE.search(ran.out + ran.err) is None
    spelled = r"\x1b[45mloud\x1b[0m \x1b]0;title\x07 [bold]b[/bold] :smile: \u202ebackwards \x9b2J"
    assert ran.out.count(spelled) == 1
    for label in ("thinking", "plan", "notice", "tool", "permission?", "answer", "usage", "stderr", "diagnostic"):
        assert re.search(rf"^{re.escape(label)} .*(?:\n .*)*{re.escape(spelled)}", ran.err, re.MULTILINE), label


def test_what_is_nested_too_deeply_to_be_shown_is_said_to_be_so(command: Command) -> None:
    script = """
await agent.handshake()
await agent.open_session()
prompt = await agent.expect("session/prompt")
deep = '{"x":' * 990 + "0" + "}" * 990
for update in ('"tool_call","toolCallId":"c","title":"t","rawInput":%s' % deep, '"odd","deep":%s' % deep):
    params = '{"sessionId":"session-1","update":{"sessionUpdate":%s}}' % update
    agent.send_raw(b'{"jsonrpc":"2.0","method":"session/update","params":%s}' % params.encode() + bytes([10]))
agent.reply({"stopReason": "end_turn"}, to=prompt)
"""
    ran = command("run", "--verbose", *ScriptedAgent.command(script), "--", "x")
    assert ran.code == 0
    assert "odd: (nested too deeply to be shown)" in ran.err


def test_hostile_text_in_an_error_stays_text(command: Command) -> None:
    for script in (agents.fails, agents.wants_login):
        ran = command("run", *agent(script), "--", "x")
        assert UNSAFE.search(ran.err) is None
        assert r"\x1b[45mloud" in ran.err
        assert "[bold]b[/bold]" in ran.err


def test_example_agent_of_the_typescript_sdk(process: Command, node_modules: Path) -> None:
    example = node_modules / "acp-sdk-example" / "dist" / "examples" / "agent.js"
    ran = process("run", "--permissions", "allow-once", "node", str(example), "--", "hello")
    assert ran.code == 0
    assert ran.out.startswith("I'll help you with that.")
    assert ran.out.endswith("The changes have been applied.\n")
    assert "Allow this change (allow_once), by --permissions allow-once" in ran.err


def test_a_reader_that_goes_away_ends_the_command() -> None:
    line = [*PROGRAM, "run", *agent(agents.talks_on), "--", "x"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(100)
        running.stdout.close()
        complaint = running.stderr.read()
        assert running.wait(PATIENCE) == 141
    assert complaint == ""


class TestOptionsBehindTheAgent:
    """They are the agent's, which may have some of the same name."""

    def test_are_named_when_it_does_not_start(self, command: Command) -> None:
        ran = command("run", *ReferenceAgent.command("--json", "--timeout=5"), "--", "--json")
        assert ran.code == 1
        assert ran.err.endswith(
            "--json, --timeout stand behind AGENT and go to it; acp-host's own options stand before AGENT.\n"
        )
        assert ran.err.count("--json") > 1, "what the agent says of it is shown, too"

    def test_are_named_when_the_command_line_lacks_what_they_would_say(self, command: Command) -> None:
        ran = command("run", "some-agent", "--prompt-file", "task.md")
        assert ran.code == 2
        assert ran.err.endswith(
            "--prompt-file stands behind AGENT and goes to it; acp-host's own options stand before AGENT.\n"
        )

    def test_that_hardly_another_program_has_are_named_at_once(self, command: Command) -> None:
        shows = ScriptedAgent.command(
            "await agent.handshake(); await agent.open_session(); await agent.expect()\n"
            "import sys\nagent.say(str(sys.argv[1:])); agent.reply({'stopReason': 'end_turn'})",
            "--max-cost=1EUR",
            "--cwd",
            "/",
            "--protocol-version",
        )
        ran = command("run", *shows, "--", "--max-tokens")
        assert (ran.code, ran.out) == (0, "['--max-cost=1EUR', '--cwd', '/', '--protocol-version']\n")
        assert ran.err.startswith("acp-host: --max-cost stands behind AGENT and goes to it")
        assert "--cwd" not in ran.err
        assert "--max-tokens" not in ran.err

    @pytest.mark.parametrize("name", ["inspect", "fleet"])
    def test_are_named_by_other_commands_too(self, command: Command, name: str, tmp_path: Path) -> None:
        more = ["--", "x", "--", str(tmp_path)] if name == "fleet" else []
        ran = command(name, *ReferenceAgent.command("--json"), *more)
        assert ran.code == 1
        assert "--json stands behind AGENT and goes to it" in ran.err


def test_a_wrong_command_line_names_the_help_that_has_the_options(command: Command) -> None:
    assert command("run", "--cwd", "/no/such", "agent", "--", "x").err.endswith("Try acp-host run --help.\n")


def test_version_2_is_spoken_where_it_is_asked_for_and_the_agent_has_it(command: Command) -> None:
    new, both = ReferenceAgent.command("--protocol-version", "2"), ReferenceAgent.command()
    ran = command("run", "--permissions", "allow-once", "--protocol-version", "2", *new, "--", "/run true")
    assert ran.code == 0
    assert ran.out.startswith("Status 0: ")
    assert "command     $ true" in ran.err
    assert "            exit code 0" in ran.err
    assert command("run", "--protocol-version", "2", *both, "--", "/say Hello").out == "Hello\n"
    ran = command("run", *new, "--", "/say Hello")
    assert ran.code == 1
    assert "ask for version 2, too: connect(protocol_versions=(2, 1)), or --protocol-version 2" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes it")
def test_without_a_stdin(tmp_path: Path) -> None:
    line = [*PROGRAM, "run", "--cwd", str(tmp_path), *agent(agents.echo), "--", "x"]
    ran = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *line], capture_output=True, text=True, timeout=PATIENCE)
    assert (ran.returncode, ran.stdout) == (0, "\U0001f600 x\n")


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_a_prompt_on_stdin_that_is_no_text(tmp_path: Path, locale: str) -> None:
    line = [*PROGRAM, "run", "--cwd", str(tmp_path), *agent(agents.echo), "--", "-"]
    env = {**os.environ, "LC_ALL": locale}
    ran = subprocess.run(line, input=b"caf\xe9", capture_output=True, timeout=PATIENCE, env=env)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"cannot be read: 'utf-8' codec can't decode" in ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_ctrl_c_cancels_the_turn_where_nobody_reads_stderr_any_more(tmp_path: Path) -> None:
    line = [*PROGRAM, "run", "--cwd", str(tmp_path), *ReferenceAgent.command(), "--", "/say begun\n/wait"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.read(5) == b"begun"
        running.stderr.close()
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE) != 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_ctrl_c_cancels_the_fleet_where_nobody_reads_stderr_any_more(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    where = tmp_path / "copies"
    line = [*PROGRAM, "fleet", "--json", "--copies-in", str(where), *ReferenceAgent.command()]
    line += ["--", "/wait", "--", str(tmp_path / "project")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stderr is not None
        until(lambda: list(where.glob("*/*/copy")), PATIENCE)
        running.stderr.close()
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE) != 0
    assert not list(where.glob("*/*/copy"))
