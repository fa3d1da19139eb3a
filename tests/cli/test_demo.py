from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import attrs
import pytest

from acp_host.cli import demo
from acp_host.cli.demo_ladder import RUNS
from tests.cli.conftest import PATIENCE, PROGRAM, Command, Ran


@pytest.fixture(scope="module")
def ran() -> Ran:
    """Run the demo once, as a process of its own."""
    ended = subprocess.run([*PROGRAM, "demo"], capture_output=True, text=True, timeout=PATIENCE)
    return Ran(ended.returncode, ended.stdout, ended.stderr)


def test_demo_shows_a_whole_conversation(ran: Ran) -> None:
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out, "a log has no colours"
    positions = [
        ran.out.index(part)
        for part in (
            "What was agreed",
            "you         Add a line",
            "thinking    ",
            "plan        [>] ",
            "agent       ",
            "file        read ",
            "            +- ",
            "permission? ",
            "answer      Allow (allow_once), by the demo",
            "file        wrote ",
            "command     $ ",
            "output      ",
            "exit code 0",
            "notes.md    # Notes",
            "result      completed, stop reason end_turn; ",
        )
    ]
    assert positions == sorted(positions)
    assert re.search(r"│ loadSession +│ fs\.readTextFile +│", ran.out)
    assert "usage       " in ran.out
    assert re.search(r"tokens \(\d+ in, \d+ out\)", ran.out)


def test_demo_shows_every_way_of_a_reminder_to_the_model(ran: Ran) -> None:
    runs = ran.out.split("reminders, ")[1:]
    assert len(runs) == 4
    expected = (
        ("inject_reminder", "pending", ("the agent offers reminders.inject", "ephemeral_cache is left out"), "system"),
        ("remind", "pending", ("the agent offers session.remind",), "user"),
        ("sidebar", "sidebar", ("a person sees the panel",), None),
        ("prefixed_user_message", "queued", ("the policy allows it",), "user, marked by the demo"),
    )
    for number, (run, (rung, status, reasons, role)) in enumerate(zip(runs, expected, strict=True), start=1):
        assert run.startswith(f"{number} of 4: ")
        assert re.search(rf"{rung} +yes  {reasons[0]}", run)
        for reason in reasons:
            assert reason in run
        assert run.count(f"receipt     rung {rung}, status {status}") == 2
        assert ("- system, 1 x: 2 tests failed" in run) is (rung == "inject_reminder")
        assert (f"- {role}" in run) is (role is not None)
        assert "toast       [Reference Agent] info, for 6 s: Settings were reloaded" in run
        assert "warning, stays: The disk is almost full (2 times)" in run
        assert run.count("toast       dismissed: ") == 2
        for line in ("panel       rmd-1  ", "panel       rmd-2  ", "panel       rmd-3  ", "The reminders panel"):
            assert line in run
    for words in ("deduped     replaced by rmd-2", "expired     ttl_expired", "rmd-3  cleared"):
        assert words in runs[0]
    assert "over, as far as this host can tell" in runs[1]
    late = [runs[1].index(words) for words in ("rmd-3  sending", "The model saw no reminder", "rmd-3  pending")]
    assert late == sorted(late)
    assert "rmd-3  dismissed" in runs[2]
    assert "rmd-2  queued" in runs[3]


def test_demo_checks_the_rung_that_was_used(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = attrs.evolve(RUNS[0], without={"reminders"}, sidebar=True)
    monkeypatch.setattr(demo, "RUNS", (wrong,))
    ran = command("demo")
    assert ran.code == 1
    why = f"{wrong.title}: the rungs were sidebar, sidebar, sidebar; {wrong.title}: what the model saw was "
    assert f"demo failed {why}[False, False, False]" in ran.out


def test_demo_leaves_no_directory_behind(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(demo, "RUNS", RUNS[:1])
    assert command("demo").code == 0
    assert list(tmp_path.iterdir()) == []


def test_demo_says_what_went_wrong(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_PROMPT", "/stop refusal")
    monkeypatch.setattr(demo, "RUNS", ())
    ran = command("demo")
    assert ran.code == 1
    assert "demo failed the turn ended refused; the agent said nothing; nobody asked for permission; " in ran.out
    assert "notes.md was not changed" in ran.out


def test_demo_whose_agent_cannot_be_started(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "no-such-python")
    ran = command("demo")
    assert ran.code == 1
    assert ran.err.startswith("acp-host: cannot start `no-such-python ")


def test_demo_shows_an_agent_with_the_ways_of_harn() -> None:
    ended = subprocess.run([*PROGRAM, "demo", "--harn"], capture_output=True, text=True, timeout=PATIENCE)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "\x1b" not in ended.stdout
    for line in (
        "worker      tests  running: Run the tests",
        "composed    run-1  finished; asked for read_only, reaches workspace_write, 2 calls",
        "injected    inj-1  pending: Look at the tests, too.",
        "tool        open_file notes.md",
        "answer      Allow (allow_once), by the demo",
        "injected    inj-1  delivered: Look at the tests, too.",
        "result      completed, stop reason end_turn (natural)",
        "question    question  answered: Which branch shall I push to?",
        "clients     attached: demo (controller)",
        "clients     detached: nobody",
    ):
        assert f"\n{line}\n" in ended.stdout, line


def test_demo_of_harn_checks_what_it_shows(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    async def open_file(self: object, path: str) -> None:
        """Do nothing."""

    monkeypatch.setattr("acp_host.cli.demo_harn._HarnDemo.open_file", open_file)
    ran = command("demo", "--harn")
    assert ran.code == 1
    assert "demo failed Harn: no file was opened by the host's tool" in ran.out


def test_demo_in_version_2_has_files_and_commands_of_the_agents_own() -> None:
    ended = subprocess.run(
        [*PROGRAM, "demo", "--protocol-version", "2"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    parts = (
        "protocol version \u2502 2",
        "            +- ",
        "permission? Allow this: Edit notes.md?",
        "command     $ ",
        "            exit code 0",
        "tool        execute: Check notes.md  completed",
        "result      completed, stop reason end_turn; ",
        "reminders, 4 of 4",
    )
    positions = [ended.stdout.index(part) for part in parts]
    assert positions == sorted(positions)
    assert "file        " not in ended.stdout
