"""The limits on the page about security are those of the code, and what it names is there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.host.update_buffer import UpdateBuffer
from acp_host.services.audit import AuditTrail
from acp_host.state.notice_preferences import NoticePreferences
from tests.docs.snippets import read_page

PAGE = read_page("docs/security.md")
ROOT = Path(__file__).parents[2]
LIMITS = re.findall(r"^\| .+ \| ([\d,]+)( [KM]iB)? \| `([\w.]+)` \|$", PAGE, re.MULTILINE)
UNITS = {"": 1, " KiB": 2**10, " MiB": 2**20}


@pytest.mark.parametrize(("amount", "unit", "name"), LIMITS)
def test_a_limit_is_that_of_the_code(amount: str, unit: str, name: str) -> None:
    module, _, constant = name.rpartition(".")
    assert (
        getattr(importlib.import_module(f"acp_host.{module}"), constant) == int(amount.replace(",", "")) * UNITS[unit]
    )


def test_every_row_of_the_limits_is_read() -> None:
    table = PAGE.partition("| what | limit | name |\n|---|---|---|\n")[2].partition("\n\n")[0]
    assert len(LIMITS) == len(table.splitlines()) > 20


def test_what_is_kept_besides() -> None:
    assert "1,000 diagnostics, 10,000 records of the audit trail, 1,000 notices and\n10,000 updates" in PAGE
    assert DiagnosticLog()._kept.maxlen == 1_000
    assert AuditTrail()._records.maxlen == 10_000
    assert NoticePreferences().max_history == 1_000
    assert UpdateBuffer().limit == 10_000


def test_the_tests_that_it_names_are_there() -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", PAGE)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_targets_that_it_names_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`make ([a-z-]+)`", PAGE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
