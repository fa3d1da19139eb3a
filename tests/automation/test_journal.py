"""Runs with a key are done once, whatever happens to the process that does them."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from acp_host import InvalidInput, RunReason, RunResult, run_prompt
from acp_host.automation import RunJournal
from acp_host.automation.events import SomethingNoticed
from acp_host.automation.run import Run
from acp_host.errors import InvalidState
from acp_host.testing import ScriptedAgent
from tests.automation import agents


async def untouched(agent: ScriptedAgent) -> None:
    raise AssertionError("an agent was started for a run that was done before")


def run(script: object, tmp_path: Path, prompt: str = "Hello", **options: object) -> Run:
    transport = ScriptedAgent(script).transport()
    return run_prompt(transport, prompt, cwd=tmp_path, key="k", journal=tmp_path / "runs", **options)


async def test_the_same_key_returns_the_finished_result(tmp_path: Path) -> None:
    first = await run(agents.answers, tmp_path)
    again = await run(untouched, tmp_path)
    assert (first.text, first.key, first.from_journal) == ("Hello", "k", False)
    assert (again.from_journal, again) == (True, first)


async def test_a_key_means_one_run_for_ever(tmp_path: Path) -> None:
    await run(agents.answers, tmp_path)
    with pytest.raises(InvalidInput, match="the key 'k' means another run"):
        await run(untouched, tmp_path, prompt="Something else")
    RunJournal(tmp_path / "runs").forget("k")
    assert (await run(agents.answers, tmp_path, prompt="Something else")).text == "Something else"


async def test_a_run_whose_prompt_was_never_sent_is_done_again(tmp_path: Path) -> None:
    assert (await run(agents.dies_at_once, tmp_path)).outcome.reason == RunReason.AGENT_FAILED
    assert (await run(agents.answers, tmp_path)).completed


async def test_a_run_whose_outcome_is_unknown_is_reported_and_done_again_only_if_asked(tmp_path: Path) -> None:
    assert (await run(agents.dies, tmp_path)).outcome_unknown
    known = await run(untouched, tmp_path)
    assert (known.outcome_unknown, known.from_journal, known.text) == (True, True, "I think")
    assert (await run(agents.answers, tmp_path, rerun_unknown=True)).completed
    assert (await run(untouched, tmp_path, rerun_unknown=True)).completed


async def test_a_run_that_was_given_up_behind_its_prompt_is_unknown(tmp_path: Path) -> None:
    async with run(agents.slow, tmp_path) as given_up:
        async for _ in given_up.text:
            break
    assert (await run(untouched, tmp_path)).outcome_unknown


async def test_a_run_that_goes_on_is_not_begun_twice(tmp_path: Path) -> None:
    async with run(agents.slow, tmp_path) as under_way:
        async for _ in under_way.text:
            with pytest.raises(InvalidState, match="the run 'k' is under way in process"):
                await run(untouched, tmp_path)
            under_way.cancel()
            break  # what it says after that may be read when it is over
        assert (await under_way).outcome.kind == "cancelled"


@pytest.mark.parametrize("sent", [False, True])
def test_a_process_that_is_gone_has_left_what_it_wrote(tmp_path: Path, sent: bool) -> None:
    path = tmp_path / "runs"
    code = f"""
import os
from acp_host.automation import RunJournal
journal = RunJournal({str(path)!r})
assert journal.begin("k", "digest") is None
if {sent}:
    journal.sent("k", "session-1")
os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 9
    known = RunJournal(path).begin("k", "digest")
    if sent:
        assert known is not None
        assert (known.outcome_unknown, known.session_id, known.from_journal) == (True, "session-1", True)
        assert RunResult.from_json(known.to_json()) == known
        assert RunJournal(path).begin("k", "digest", rerun_unknown=True) is None
    else:
        assert known is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    journal = RunJournal(tmp_path / "folder" / "runs")
    journal.remember_session("agent", "/cwd", "s")
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600


async def test_a_file_that_is_no_journal_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("not a data base, and longer than the header of one would be " * 30)
    with pytest.raises(InvalidInput, match=r"the journal .*runs cannot be used"):
        await run(untouched, tmp_path)


async def test_a_session_can_be_gone_on_with(tmp_path: Path) -> None:
    journal = tmp_path / "runs"

    async def said(**options: object) -> str:
        transport = ScriptedAgent(agents.goes_on).transport()
        return (await run_prompt(transport, "x", cwd=tmp_path, **options)).text

    assert await said(continue_last=True, journal=journal) == "session/resume newer", "as the agent's list says"
    assert await said(journal=journal) == "session/new fresh"
    assert await said(continue_last=True, journal=journal) == "session/resume fresh", "as the journal says"
    assert await said(session="named") == "session/resume named"
    with pytest.raises(InvalidInput, match="continue_last"):
        run_prompt("agent", "x", session="s", continue_last=True)


async def test_without_a_session_to_go_on_with_nothing_is_sent(tmp_path: Path) -> None:
    transport = ScriptedAgent(agents.answers).transport()
    with pytest.raises(InvalidInput, match="no session to go on with"):
        await run_prompt(transport, "x", cwd=tmp_path, continue_last=True, journal=tmp_path / "runs")


async def test_a_result_that_cannot_be_written_down_is_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object) -> None:
        raise InvalidInput("the journal cannot be used: database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(RunJournal, "finish", no_space)
        async with run(agents.answers, tmp_path) as under_way:
            noticed = [event.diagnostic.message async for event in under_way if isinstance(event, SomethingNoticed)]
            result = await under_way
    assert (result.text, result.key) == ("Hello", "k")
    assert noticed == ["the journal cannot be used: database or disk is full"]
