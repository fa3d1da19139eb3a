"""Patterns of agents: the dialect of JSON Schema, and never longer than the time limit."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from acp_host.services import _patterns
from acp_host.services._patterns import PatternResult, check_patterns

RUNS_AWAY = ("^(a|a)*$", "a" * 60 + "b")


@pytest.mark.parametrize(
    ("pattern", "text", "result"),
    [
        ("^a+$", "aaa", "match"),
        ("a", "bab", "match"),
        ("^a+$", "b", "differs"),
        ("^$", "", "match"),
        (r"^\d$", "٣", "differs"),
        ("^.$", "😀", "match"),
        (r"^\p{L}+$", "Größe", "match"),
        (r"(?<year>\d{4})-\k<year>", "2025-2025", "match"),
        (r"^(?!.*secret)", "open", "match"),
        (r"^[\w\-\.]+$", "a-b.c", "match"),
        (r"\Z", "x", "differs"),
        ("(", "x", "invalid"),
        ("(" * 5_000 + ")" * 5_000, "x", "invalid"),
        ("a", "\ud800", "uncheckable"),
        ("\ud800", "a", "invalid"),
    ],
)
def test_the_dialect_is_ecma_262(pattern: str, text: str, result: str) -> None:
    assert check_patterns([(pattern, text)]) == [result]


def test_what_was_found_before_one_runs_away_counts() -> None:
    assert check_patterns([("a", "a"), ("a", "b"), RUNS_AWAY, ("a", "a")]) == [
        PatternResult.MATCH,
        PatternResult.DIFFERS,
        PatternResult.TOO_SLOW,
        PatternResult.TOO_SLOW,
    ]


def test_the_time_limit_holds_where_the_system_limits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_patterns, "_PROCESSOR_TIME", 3_600)
    begin = time.monotonic()
    assert check_patterns([RUNS_AWAY], time_limit=1.0) == [PatternResult.TOO_SLOW]
    assert time.monotonic() - begin < 10


@pytest.mark.skipif(sys.platform != "linux", reason="no memory limit elsewhere")
def test_a_pattern_cannot_take_all_memory() -> None:
    [result] = check_patterns([("(?:(?:(?:a{1,1000}){1,1000}){1,1000}){1,1000}", "a")])
    assert result in (PatternResult.MATCH, PatternResult.TOO_SLOW, PatternResult.INVALID)


def _without_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_patterns, "_module_path", lambda: [])


def _in_a_frozen_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)


def _in_another_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/editor")


def _without_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError

    monkeypatch.setattr(_patterns.subprocess, "run", run)


@pytest.mark.parametrize("missing", [_without_the_engine, _in_a_frozen_program, _in_another_program, _without_a_worker])
def test_where_nothing_can_be_matched_nothing_is_started(monkeypatch: pytest.MonkeyPatch, missing: Any) -> None:
    missing(monkeypatch)
    assert check_patterns([("a", "b")] * 2) == [PatternResult.UNCHECKABLE] * 2


def test_modules_in_the_working_directory_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = tmp_path / "ran"
    for module in ("regress", "resource", "json"):
        (tmp_path / f"{module}.py").write_text(f"open({str(ran)!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    for folder in ("", str(tmp_path)):
        monkeypatch.syspath_prepend(folder)
    assert check_patterns([("a", "a")]) == [PatternResult.MATCH]
    assert not ran.exists()


def test_nothing_is_started_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_patterns, "_run", None)
    assert check_patterns([]) == []


def test_the_worker_is_a_file_that_can_be_run_alone() -> None:
    assert "acp_host" not in Path(_patterns._WORKER).read_text()
