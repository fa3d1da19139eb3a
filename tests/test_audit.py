"""What ``make audit`` makes of what the auditors say, and above all of what they do not say."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import audit
from tests.audit import Findings, of_npm, of_pip

FAULT = {"id": "PYSEC-1", "fix_versions": ["1.1"], "aliases": [], "description": "bad"}
REFUSED = {"message": "405 Method Not Allowed - POST https://registry.npmjs.org/", "statusCode": 405}


def pip(*packages: dict[str, Any]) -> str:
    return json.dumps({"dependencies": list(packages), "fixes": []})


def test_faults_of_python_packages() -> None:
    bad = {"name": "a", "version": "1.0", "vulns": [FAULT]}
    found = of_pip(pip(bad, {"name": "b", "version": "2", "vulns": []}), "")
    assert found == Findings("Python packages", 2, ["a 1.0: PYSEC-1, mended in 1.1"])
    assert str(found).splitlines()[0] == "Python packages: 1 known faults in 2 packages"


def test_an_index_that_knows_nothing_is_no_index_that_knows_of_no_faults() -> None:
    skipped = [{"name": name, "skip_reason": "Dependency not found on PyPI"} for name in "abcdef"]
    own = {"name": "acp-host", "skip_reason": "distribution marked as editable"}
    found = of_pip(pip(own, *skipped), "")
    assert (found.asked, found.faults) == (0, [])
    assert found.unasked == "the index had no answer about 6 of 6 packages (a, b, c, d, e, …)"
    assert str(found).startswith("Python packages: nothing is known\n  !!! NOT AUDITED: ")


def test_faults_of_npm_packages() -> None:
    via = [{"title": "reads too much"}, "c"]
    report = {
        "vulnerabilities": {"a": {"range": "<2", "severity": "high", "via": via}},
        "metadata": {"dependencies": {"total": 7}},
    }
    assert of_npm("folder", json.dumps(report), "") == Findings("folder", 7, ["a <2: high, reads too much, through c"])


@pytest.mark.parametrize(
    ("said", "complaint", "why"),
    [
        (json.dumps(REFUSED), "npm warn", REFUSED["message"]),
        (json.dumps({"error": {"summary": "no network"}}), "", "no network"),
        ("", "npm error code ENOTFOUND\n\n", "npm error code ENOTFOUND"),
        ("[1]", "", "npm has said nothing that can be read"),
    ],
)
def test_npm_that_had_no_answer(said: str, complaint: str, why: str) -> None:
    assert of_npm("folder", said, complaint) == Findings("folder", unasked=why)


@pytest.mark.parametrize("said", ["", "[]", "{}", "no JSON"])
def test_pip_that_had_no_answer(said: str) -> None:
    assert of_pip(said, "ERROR: no route to host\n").unasked == "ERROR: no route to host"


def test_a_program_that_is_not_there_or_never_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert audit.ask(["no-such-auditor"], tmp_path) == ("", "no-such-auditor was not found")
    monkeypatch.setattr(audit, "PATIENCE", 0.1)
    said, complaint = audit.ask([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path)
    assert said == ""
    assert complaint.endswith("had no answer after 0 seconds")


@pytest.mark.parametrize(
    ("found", "status"),
    [
        ([Findings("a", 3), Findings("b", 1)], 0),
        ([Findings("a", 3, ["bad"]), Findings("b", unasked="no network")], 1),
        ([Findings("a", 3), Findings("b", unasked="no network")], 2),
    ],
)
def test_the_exit_status(found: list[Findings], status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "questions", lambda _: iter(found))
    assert audit.main("pip-audit") == status
