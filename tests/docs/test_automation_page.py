"""What the page about scripts shows works, and its tables are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from acp_host import RunReason
from acp_host.automation import RunOutcome, RunResult
from acp_host.automation.schema import run_schema
from acp_host.cli.exits import ExitCode, code_of_run
from acp_host.host.outcome import OutcomeKind
from acp_host.testing import ReferenceAgent
from tests.docs.snippets import ROOT, read_page, run_page

PAGE = "docs/automation.md"


async def test_the_examples_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    names = await run_page(PAGE, command=ReferenceAgent.command(), folder=folder)
    out = capsys.readouterr().out
    assert out.startswith("completed ")
    assert "+++ b/notes.txt\n@@ -0,0 +1 @@\n+a note\n" in out
    assert names["result"].completed


def test_the_table_of_exit_codes_is_that_of_the_command() -> None:
    rows = re.findall(r"^\| (\d+) \| .+ \|$", read_page(PAGE), re.MULTILINE)
    assert [int(code) for code in rows] == [int(code) for code in ExitCode]


def test_the_table_of_reasons_is_complete_and_has_the_right_codes() -> None:
    section = read_page(PAGE).split("| reason |")[1].split("\n\n")[0]
    told: dict[str, str] = {}
    for words, codes in re.findall(r"^\| (`.+?`) \| .+? \| ([\d, ]+) \|$", section, re.MULTILINE):
        reasons, numbers = re.findall(r"`(\w+)`", words), codes.split(", ")
        told |= dict(zip(reasons, numbers * len(reasons) if len(numbers) == 1 else numbers, strict=False))
    failed = [RunResult(outcome=RunOutcome(kind=OutcomeKind.FAILED, reason=reason)) for reason in RunReason]
    assert told == {result.outcome.reason: str(int(code_of_run(result))) for result in failed}


def test_every_type_of_line_is_named() -> None:
    named = set(re.findall(r"`(\w+)`", read_page(PAGE).split("| type | tells |")[1].split("\n\n")[0]))
    schema = run_schema()
    lines = [schema["$defs"][each["$ref"].rpartition("/")[2]] for each in schema["oneOf"]]
    types = {line["properties"]["type"]["const"] for line in lines}
    assert types <= named
    assert json.loads((ROOT / "acp_host/automation/schemas/run-1.schema.json").read_text()) == schema
