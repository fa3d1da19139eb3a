"""Each exit code of ``acp-host run``, by an agent that brings it about, and what is said of it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from acp_host.cli.exits import ExitCode
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.automation import agents as run_agents
from tests.cli import agents
from tests.cli.conftest import PATIENCE, PROGRAM, Command

POLICY = """
default = "reject_once"

[[rules]]
name = "only src"
decision = "allow_once"
kinds = ["edit"]
paths = ["src/**"]
"""

Script = Callable[[ScriptedAgent], Awaitable[Any]]

CASES: dict[ExitCode, tuple[Script, list[str], str, str]] = {
    ExitCode.COMPLETED: (run_agents.answers, [], "end_turn", "completed, stop reason end_turn"),
    ExitCode.AGENT_FAILED: (run_agents.fails, [], "x", "no luck"),
    ExitCode.USAGE: (run_agents.answers, ["--timeout", "-1"], "x", "takes seconds"),
    ExitCode.INCOMPLETE: (run_agents.stops, [], "max_tokens", "incomplete"),
    ExitCode.REFUSED: (run_agents.stops, [], "refusal", "refused"),
    ExitCode.LOGIN_NEEDED: (run_agents.wants_login, [], "x", "wants a login first"),
    ExitCode.PERMISSION_DENIED: (run_agents.asks, [], "end_turn", "denied      1 of its requests"),
    ExitCode.PROTOCOL_ERROR: (run_agents.breaks_the_protocol, [], "x", "incomplete"),
    ExitCode.REMINDER_NOT_DELIVERED: (
        run_agents.answers,
        ["--remind", "Be brief", "--remind-require", "inject_reminder"],
        "x",
        "was not delivered by inject_reminder",
    ),
    ExitCode.TIMEOUT: (run_agents.slow, ["--idle-timeout", "0.3"], "x", "no update for 0.3 s"),
    ExitCode.BUDGET_EXCEEDED: (run_agents.spends, ["--max-cost", "1USD"], "x", "2 USD of 1 USD; the run ends"),
    ExitCode.OUTCOME_UNKNOWN: (run_agents.dies, [], "x", "session/prompt was sent"),
    ExitCode.CANCELLED: (run_agents.stops, [], "cancelled", "cancelled"),
}


@pytest.mark.parametrize("code", CASES, ids=lambda code: code.name.lower())
def test_each_exit_code_has_a_cause_that_is_said(command: Command, tmp_path: Path, code: ExitCode) -> None:
    script, options, prompt, said = CASES[code]
    ran = command("run", "--cwd", str(tmp_path), *options, *ScriptedAgent.command(script), "--", prompt)
    assert ran.code == code
    assert said in ran.err.replace("\n            ", " ")
    assert "Traceback" not in ran.err


def test_a_cost_in_another_currency_is_said_while_there_is_time(command: Command, tmp_path: Path) -> None:
    spends = ScriptedAgent.command(run_agents.spends)
    options = ["--max-cost", "1.5EUR", "--max-turns", "99", "--idle-timeout", "0.3"]
    ran = command("run", "--cwd", str(tmp_path), *options, *spends, "--", "x")
    assert ran.code == ExitCode.TIMEOUT
    told = [line.removeprefix("budget").strip() for line in ran.err.splitlines() if line.startswith("budget")]
    assert told == [
        "the limit of 1.5 EUR cannot be held: the cost is reported in USD",
        "the limit of 1.5 EUR was not held: the cost was reported as 3 USD",
    ]


def test_limits_that_nothing_is_reported_for_are_named(command: Command, tmp_path: Path) -> None:
    options = ["--max-cost", "1.5EUR", "--max-turns", "9"]
    ran = command("run", "--cwd", str(tmp_path), *options, *ScriptedAgent.command(run_agents.answers), "--", "end_turn")
    assert ran.code == ExitCode.COMPLETED
    assert "budget      not reported, and so not watched: cost, turns\n" in ran.err


def test_an_agent_that_vouches_for_nothing_is_unverified(command: Command, tmp_path: Path) -> None:
    ran = command("run", "--cwd", str(tmp_path), *ScriptedAgent.command(says_nothing_of_its_end), "--", "x")
    assert ran.code == ExitCode.UNVERIFIED


async def says_nothing_of_its_end(agent: ScriptedAgent) -> None:
    capabilities = {"_meta": {"harn": {"turnTerminal": True}}}
    await agent.handshake(capabilities, agentInfo={"name": "harn", "version": "1"})
    await agent.open_session()
    await agent.expect("session/prompt")
    agent.reply({"stopReason": "end_turn"})


def test_output_in_the_directory_of_the_session_is_no_change_of_the_agents(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY)
    line = [*PROGRAM, "run", "--json", "--permissions", "policy.toml", *ReferenceAgent.command(), "--", "/say Hello"]
    with open(tmp_path / "run.jsonl", "wb") as out, open(tmp_path / "run.log", "wb") as log:
        ran = subprocess.run(line, cwd=tmp_path, stdout=out, stderr=log, timeout=PATIENCE, check=False)
    assert ran.returncode == ExitCode.COMPLETED
    result = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[-1])["result"]
    assert (result["outcome"]["kind"], result["changes"]) == ("completed", [])


def test_a_change_that_the_policy_forbids_is_a_violation(command: Command, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    project = tmp_path / "project"
    project.mkdir()
    options = ["--json", "--cwd", str(project), "--permissions", str(policy)]
    ran = command("run", *options, *ScriptedAgent.command(writes_by_itself), "--", "x")
    assert ran.code == ExitCode.POLICY_VIOLATED
    [change] = json.loads(ran.out.splitlines()[-1])["result"]["changes"]
    assert (change["path"], change["allowed"]) == ("notes.txt", False)
    assert "changed     notes.txt (created, not allowed)" in ran.err


async def writes_by_itself(agent: ScriptedAgent) -> None:
    await agent.handshake()
    opened = await agent.open_session()
    await agent.expect("session/prompt")
    with open(f"{opened['cwd']}/notes.txt", "x") as file:  # noqa: ASYNC230 - the agent does nothing else
        file.write("mine\n")
    agent.reply({"stopReason": "end_turn"})


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such signals")
def test_ctrl_c_in_a_pipe_cancels_the_turn_and_the_last_line_says_so(tmp_path: Path) -> None:
    agent = ScriptedAgent.command(agents.slow)
    line = [*PROGRAM, "run", "--json", "--cwd", str(tmp_path), *agent, "--", "x"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        told = []
        for text in running.stdout:
            told.append(json.loads(text))
            if told[-1]["type"] == "text" and told[-1]["text"] == "working":
                running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE) == ExitCode.CANCELLED
    assert told[-1]["result"]["outcome"]["kind"] == "cancelled"
    assert told[-1]["result"]["text"] == "working, stopped"


def test_a_key_does_it_once(command: Command, tmp_path: Path) -> None:
    first = ["run", "--key", "k", "--cwd", str(tmp_path), *ScriptedAgent.command(run_agents.answers), "--", "Hello"]
    assert command(*first).out == "Hello\n"
    again = command(*first)
    assert (again.code, again.out) == (0, "Hello\n")
    assert "the run 'k' was done before; nothing was sent" in again.err


def test_the_last_session_is_gone_on_with(command: Command, tmp_path: Path) -> None:
    line = ["--cwd", str(tmp_path), *ScriptedAgent.command(run_agents.goes_on), "--", "x"]
    assert command("run", *line).out == "session/new fresh\n"
    ran = command("run", "--continue", *line)
    assert ran.out == "session/resume fresh\n"
    assert "session     fresh, gone on with by resume" in ran.err
    assert command("run", "--session", "s", *line).out == "session/resume s\n"


def test_the_prompt_from_a_file_with_attachments_and_reminders(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "task.md").write_text("/echo\n/reminders")
    (tmp_path / "notes.txt").write_text("attached")
    (tmp_path / "remind.txt").write_text("From a file")
    monkeypatch.chdir(tmp_path)
    options = [
        "--prompt-file",
        "task.md",
        "--attach",
        "notes.txt",
        "--remind",
        "Be brief",
        "--remind-file",
        "remind.txt",
    ]
    ran = command("run", *options, *ReferenceAgent.command())
    assert ran.code == 0
    assert "Be brief" in ran.out
    assert "From a file" in ran.out
    assert ran.err.count("reminder    by inject_reminder\n") == 2
    assert "content     [file://" in ran.err
    assert "attached" in ran.err


def test_a_reminder_goes_marked_before_the_prompt_where_there_is_no_better_way(
    command: Command, tmp_path: Path
) -> None:
    line = ["--cwd", str(tmp_path), "--remind", "Be brief", *ScriptedAgent.command(run_agents.answers), "--", "Hello"]
    ran = command("run", *line)
    assert ran.code == 0
    assert ran.out.endswith("Hello\n")
    assert "Be brief" in ran.out, "the agent was sent it"
    assert "reminder    by prefixed_user_message\n" in ran.err


@pytest.mark.parametrize(
    "arguments, problem",
    [
        (["--prompt-file", "no/such", "agent"], "--prompt-file no/such cannot be read"),
        (["--prompt-file", "x", "agent", "--", "x"], "not in both"),
        (["--attach", "no/such", "agent", "--", "x"], "is not a file"),
        (["--max-cost", "much", "agent", "--", "x"], "--max-cost takes an amount"),
        (["--max-tokens", "0", "agent", "--", "x"], "--max-tokens: takes a whole number, 1 or more, not '0'"),
        (["--max-turns", "many", "agent", "--", "x"], "--max-turns: takes a whole number, 1 or more, not 'many'"),
        (["--timeout", "-1", "agent", "--", "x"], "--timeout: takes seconds, more than 0, not '-1'"),
        (["--idle-timeout", "inf", "agent", "--", "x"], "--idle-timeout: takes seconds, more than 0, not 'inf'"),
        (["--start-timeout", "soon", "agent", "--", "x"], "--start-timeout: takes seconds, more than 0, not 'soon'"),
        (["--retries", "-1", "agent", "--", "x"], "--retries is a number"),
        (["--remind-require", "remind", "agent", "--", "x"], "--remind-require is for --remind"),
        (
            ["--remind", "x", "--remind-require", "pigeon", "agent", "--", "x"],
            "remind_require is one of inject_reminder, remind,",
        ),
        (["--session", "s", "--continue", "agent", "--", "x"], "continue_last"),
    ],
)
def test_a_wrong_command_line(command: Command, arguments: list[str], problem: str) -> None:
    ran = command("run", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert problem in ran.err
