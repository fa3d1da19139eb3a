"""What the page about the chaos kit shows works, and its tables have every agent, rule and option."""

from __future__ import annotations

import re

import pytest

from acp_host.testing.chaos import Rule
from acp_host.testing.chaos.program import main
from tests.docs.chaos_table import tables
from tests.docs.snippets import read_page, run_page

PAGE = "docs/chaos.md"


async def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    await run_page(PAGE)
    assert capsys.readouterr().out.startswith("C161 unknown-method-1 - Answer at once")


def test_the_catalogue_on_the_page_is_that_of_the_code() -> None:
    printed = read_page(PAGE).partition("## The catalogue\n")[2].partition("\n### ")
    assert f"{printed[1]}{printed[2]}".strip() == tables().strip(), "print it with python -m tests.docs.chaos_table"


def test_every_rule_and_option_is_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    page = read_page(PAGE)
    assert [rule for rule in Rule if f"| {rule} |" not in page] == []
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out.partition("options:")[2])) - {"--help", "--json"}
    assert set(re.findall(r"^\| `(--[a-z-]+)", page, re.MULTILINE)) == options
