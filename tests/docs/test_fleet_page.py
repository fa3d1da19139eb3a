"""What the page on fleets shows works, and its tables are complete."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from distributed import LocalCluster

from acp_host.fleet import CopyKind, JobOutcomeKind
from acp_host.testing import ReferenceAgent
from tests.docs.snippets import ROOT, read_page, run_page
from tests.fleet.surroundings import command, git, repository

SCRIPT = """
from pathlib import Path

async def script(turn):
    Path(turn.path("src/code.txt")).write_text("two\\n")
    await turn.say("Done")
"""


async def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "script.py").write_text(SCRIPT)
    agent = ReferenceAgent.command("--script", str(tmp_path / "script.py"))
    directories = [str(repository(tmp_path / name)) for name in ("one", "two")]
    names = await run_page("docs/fleet.md", agent=agent, directories=directories)
    said = capsys.readouterr().out.splitlines()
    assert sorted(said[:2]) == [
        f"00{number}-{name} completed ['src/code.txt']" for number, name in ((1, "one"), (2, "two"))
    ]
    assert said[2] == "{'completed': 2} {}"
    assert said[3:5] == ["('src/code.txt',)"] * 2
    assert said[-2:] == ["001-one ['ended'] True", "002-two ['ended'] True"]
    assert git("show", "agents/fix:src/code.txt", cwd=tmp_path / "two") == "two\n"
    assert (tmp_path / "one/src/code.txt").read_text() == "two\n"
    assert (tmp_path / "two/src/code.txt").read_text() == "one\n"
    assert (await asyncio.to_thread(names["in_a_script"])).completed
    (tmp_path / "fleet.db").unlink()
    async with LocalCluster(
        processes=False, n_workers=1, threads_per_worker=2, asynchronous=True, dashboard_address=":0"
    ) as cluster:
        report = await names["on_a_cluster"](cluster)
    assert report.summary.completed
    assert not any(result.from_journal for result in report.results)


def test_every_kind_is_explained() -> None:
    page = read_page("docs/fleet.md")
    rows = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`[^|]+`) \|", page, re.MULTILINE))))
    assert {str(kind) for kind in (*CopyKind, *JobOutcomeKind)} <= rows


def test_the_script_for_many_repositories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "policy.toml").write_text('[[rules]]\ndecision = "allow_once"\npaths = ["src/**"]\n')
    places = [repository(tmp_path / name) for name in ("one", "two")]
    script = ROOT / "docs" / "examples" / "many_repositories.py"
    line = [sys.executable, str(script), "policy.toml", "write src/code.txt two", *map(str, places), "--", *command()]
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=50)
    assert ended.returncode == 0, ended.stderr
    results = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [result["outcome"]["kind"] for result in results] == ["completed"] * 2
    assert "+two" in results[0]["files"][0]["patch"]
    again = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=50)
    assert all(json.loads(line)["fromJournal"] for line in again.stdout.splitlines())
