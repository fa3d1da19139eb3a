"""``acp-host fleet``: what is on stdout, what the exit code says, and what the command line may be."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from acp_host.automation import Budget, RunOutcome
from acp_host.cli.exits import ExitCode, code_of_outcome
from acp_host.cli.fleet import _code_of
from acp_host.fleet import FleetSummary, JobOutcomeKind, JobResult, Spent
from acp_host.fleet.schema import fleet_schema, problem_with
from acp_host.testing import ReferenceAgent
from tests.cli.conftest import PROGRAM, Command
from tests.fleet.surroundings import command as agent
from tests.fleet.surroundings import git, gone, repository, until_there


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return [str(repository(tmp_path / name)) for name in ("one", "two")]


def test_a_line_for_each_job_on_stdout_and_a_summary_for_people(command: Command, places: list[str]) -> None:
    ran = command("fleet", *agent(), "--", "write src/code.txt two\ncost 1.5", "--", *places)
    assert ran.code == 0
    assert sorted(line.split(maxsplit=1)[1] for line in ran.out.splitlines()) == [
        "001-one: completed; files changed: 1",
        "002-two: completed; files changed: 1",
    ]
    assert ran.err == "acp-host: 2 completed, 3 USD\n"


def test_what_was_denied_is_said_of_a_job(command: Command, places: list[str]) -> None:
    ran = command("fleet", "--write-files", *ReferenceAgent.command(), "--", "/write a.txt\na", "--", places[0])
    assert ran.code == ExitCode.PERMISSION_DENIED
    assert "001-one: completed; denied: 1 of its requests" in ran.out


def test_json_lines_are_results_and_a_summary(command: Command, places: list[str]) -> None:
    ran = command("fleet", "--json", *agent(), "--", "write src/code.txt two", "--", *places)
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [problem_with(line) for line in lines] == [None, None, None]
    assert [line.pop("type") for line in lines] == ["result", "result", "summary"]
    assert {JobResult.from_json(line).text for line in lines[:2]} == {""}
    assert lines[2]["outcomes"] == {"completed": 2}


def test_the_schema_of_the_lines_is_printed_and_needs_no_agent(command: Command) -> None:
    printed = command("fleet", "--json-schema")
    assert printed.code == 0
    assert json.loads(printed.out) == fleet_schema()


def test_the_wish_of_the_user_who_has_two_hundred_repositories(
    command: Command, places: list[str], tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rules]]\nname = "sources"\ndecision = "allow_once"\npaths = ["src/**"]\n')
    journal = str(tmp_path / "fleet.db")
    options = ["--permissions", str(policy), "--max-cost", "5USD", "--json", "--at-once", "1", "--journal", journal]
    prompt = "cost 3\nwrite src/code.txt two\nwrite README.md evil"
    ran = command("fleet", *options, *agent(), "--", prompt, "--", *places, places[0])
    assert ran.code == 12
    results = {line["job"]["id"]: line for line in map(json.loads, ran.out.splitlines()) if line["type"] == "result"}
    kinds = [results[job]["outcome"]["kind"] for job in ("001-one", "002-two", "003-one")]
    assert kinds[0] == "policy_violated"
    assert kinds[1] in ("policy_violated", "cancelled")
    assert kinds[2] == "not_run"
    assert results["001-one"]["violations"] == [{"path": "README.md", "kind": "modified"}]
    assert "stopped: the budget of cost is exceeded: 6 USD of 5 USD" in ran.err
    options[options.index("5USD")] = "50USD"
    ran = command("fleet", *options, *agent(), "--", prompt, "--", *places, places[0])
    assert [json.loads(line)["fromJournal"] for line in ran.out.splitlines()[:3]] == [True, True, False]


def test_the_line_of_an_agent_that_does_not_start_has_its_last_words(command: Command, places: list[str]) -> None:
    program = "import sys; sys.exit('loading\\nno model is configured')"
    ran = command("fleet", sys.executable, "-c", program, "--", "x", "--", places[0])
    assert ran.code == 1
    assert ran.out.endswith("before it answered initialize (exit status 1): no model is configured\n")


@pytest.mark.parametrize(
    "prompts, code",
    [
        (["say x", "say y"], 0),
        (["die", "die"], 13),
        (["die", "say x"], 13),
        (["die", "stop"], 13),
        (["wait", "say x"], 11),
        (["wait", "die"], 1),
    ],
)
def test_the_exit_code_says_what_is_wrong_with_all_that_is_wrong(
    command: Command, places: list[str], tmp_path: Path, prompts: list[str], code: int
) -> None:
    jobs = tmp_path / "jobs.jsonl"
    rows = [{"prompt": prompt, "cwd": place} for prompt, place in zip(prompts, places, strict=True)]
    jobs.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert command("fleet", "--jobs", str(jobs), "--idle-timeout", "2", *agent()).code == code


def test_what_completed_jobs_have_changed_can_go_to_a_branch(command: Command, places: list[str]) -> None:
    line = ["fleet", "--branch", "agents/x", *agent(), "--", "write src/code.txt two", "--", *places]
    assert command(*line).code == 0
    assert git("show", "agents/x:src/code.txt", cwd=Path(places[1])) == "one\ntwo\n"
    assert command(*line).code == 0, "they have these changes already"
    line[line.index("write src/code.txt two")] = "write src/code.txt three"
    ran = command(*line)
    assert ran.code == 1
    assert ran.err.count("not put on the branch: ") == 2


@pytest.mark.parametrize(
    "branch, options, where, problem",
    [
        ("no..name", [], [], "'no..name' cannot be the name of a branch"),
        ("-x", [], [], "'-x' cannot be the name of a branch"),
        ("agents/x", [], ["one/src"], "jobs 001-one and 003-src are of one repository"),
        ("agents/x", [], ["worktree"], "jobs 001-one and 003-worktree are of one repository"),
        ("agents/x", [], ["plain"], "job 003-plain: "),
        ("agents/x", ["--copies", "copy"], [], "--copies copy"),
    ],
)
def test_a_branch_that_cannot_take_all_is_refused_before_anything_runs(
    command: Command, places: list[str], tmp_path: Path, branch: str, options: list[str], where: list[str], problem: str
) -> None:
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "worktree"), cwd=Path(places[0]))
    (tmp_path / "plain").mkdir()
    proof = tmp_path / "proof"
    program = ["sh", "-c", f"touch {proof}"]
    more = [str(Path(places[0], *name.split("/")[1:]) if "/" in name else tmp_path / name) for name in where]
    ran = command("fleet", f"--branch={branch}", *options, *program, "--", "x", "--", *places, *more)
    assert ran.code == 2
    assert problem in ran.err
    assert not proof.exists()


def test_prompts_and_directories_come_from_files_too(
    command: Command, places: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prompt").write_text("say from a file")
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(places)))
    options = ["--prompt-file", str(tmp_path / "prompt"), "--each-in", "-", "--json"]
    ran = command("fleet", *options, *agent())
    texts = [json.loads(line)["run"]["text"] for line in ran.out.splitlines()[:2]]
    assert texts == ["from a file"] * 2


@pytest.mark.parametrize(
    "arguments, problem",
    [
        ([], "no agent"),
        (["some-agent", "--", "prompt"], "no directory"),
        (["some-agent", "--", "", "--", "."], "no prompt"),
        (["--jobs", "nowhere.jsonl", "some-agent"], "cannot be read"),
        (["--jobs", "x", "some-agent", "--", "prompt"], "their own prompts"),
        (["--max-cost", "much", "some-agent", "--", "prompt", "--", "."], "--max-cost takes an amount"),
        (["--permissions", "nowhere", "some-agent", "--", "prompt", "--", "."], "--permissions takes"),
        (["some-agent", "--", "prompt", "--", "nowhere"], "there is no directory"),
        (["--at-once", "0", "some-agent", "--", "prompt", "--", "."], "--at-once: takes a whole number, 1 or more"),
        (["--rerun", "odd", "some-agent", "--", "prompt", "--", "."], "rerun"),
    ],
)
def test_a_wrong_command_line_is_said(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = command("fleet", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert problem in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process on Windows")
def test_ctrl_c_cancels_and_tells_what_was_done(places: list[str], tmp_path: Path) -> None:
    prompt = f"say half\nchild {tmp_path}/child\nwait"
    journal = str(tmp_path / "fleet.db")
    line = [*PROGRAM, "fleet", "--json", "--at-once", "1", "--journal", journal]
    line += [*agent(), "--", prompt, "--", *places]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child = int(until_there(tmp_path / "child"))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=45)
    assert process.returncode == 130
    results = [json.loads(line) for line in out.splitlines()]
    assert sorted(line["outcome"]["kind"] for line in results[:2]) == ["cancelled", "not_run"]
    assert results[2]["stopped"] == "Ctrl-C"
    assert "cancelling the turns; once more ends the agents" in err
    assert "with --rerun cancelled, also what was cancelled" in err
    assert gone(child)


def test_a_cost_in_another_currency_is_said_to_be_none_of_the_limit(command: Command, places: list[str]) -> None:
    ran = command("fleet", "--max-cost", "5EUR", *agent(), "--", "cost 7", "--", *places)
    assert ran.code == 0
    assert "acp-host: the limit of 5 EUR was not held: the cost was reported as 14 USD\n" in ran.err


@pytest.mark.parametrize("kind", JobOutcomeKind)
def test_each_way_in_which_a_job_ends_has_an_exit_code(kind: JobOutcomeKind) -> None:
    assert (code_of_outcome(RunOutcome(kind=kind)) == ExitCode.COMPLETED) == (kind is JobOutcomeKind.COMPLETED)


@pytest.mark.parametrize("stopped, spent, code", [("Ctrl-C", 9.0, 130), ("too dear", 9.0, 12), ("it broke", 1.0, 1)])
def test_the_exit_code_of_a_fleet_that_was_stopped(stopped: str, spent: float, code: int) -> None:
    summary = FleetSummary(spent=Spent(cost={"USD": spent}), stopped=stopped)
    assert _code_of([], summary, Budget(cost=5, currency="USD"), denied_ok=False) == code
