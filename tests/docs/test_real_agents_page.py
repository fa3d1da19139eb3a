"""The page about agents that people use: what it names is there, and it names all that is in the table of quirks."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from acp_host.quirks import QuirkKind
from tests.docs.snippets import read_page
from tests.interop.agents import AGENTS

PAGE = read_page("docs/real-agents.md")
ROOT = Path(__file__).parents[2]
ROWS = re.findall(r"^\| (A\d\d) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)


@functools.cache
def names_of_tests() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    return {name for text in texts for name in re.findall(r"^\s*(?:async )?def (test_\w+)", text, re.MULTILINE)}


def test_each_row_has_a_number_of_its_own() -> None:
    assert [row[0] for row in ROWS] == [f"A{number:02}" for number in range(1, len(ROWS) + 1)]
    assert len(ROWS) > 40


@pytest.mark.parametrize(("number", "ruled"), [(row[0], row[3]) for row in ROWS])
def test_what_a_row_is_kept_by_is_there(number: str, ruled: str) -> None:
    rules = re.findall(r"\bR\d+\b", ruled)
    quirks = set(re.findall(r"`(\w+)`", ruled)) & set(QuirkKind)
    tests = re.findall(r"`(test_\w+)`", ruled)
    assert rules or quirks or tests, f"nothing keeps {number}"
    known = set(re.findall(r"^\| (R\d+) \|", read_page("docs/reliability.md"), re.MULTILINE))
    assert set(rules) <= known
    assert set(tests) <= names_of_tests()


def test_every_kind_of_quirk_is_on_it() -> None:
    named = {word for row in ROWS for word in re.findall(r"`(\w+)`", row[3])}
    assert set(QuirkKind) <= named


def test_the_agents_that_are_installed_and_their_versions() -> None:
    table = re.findall(r"^\| [\w -]+ \| ([\d.]+) \| (npm|PyPI)[^|]* \| .+ \|$", PAGE, re.MULTILINE)
    sources = [(agent.source.version, type(agent.source).__name__) for agent in AGENTS.values()]
    kinds = {"npm": "NpmPackage", "PyPI": "PythonPackage"}
    assert [(version, kinds[registry]) for version, registry in table] == sources
