"""Every part of the benchmark runs to its end; what it comes to, people judge."""

from __future__ import annotations

import pytest

from tests.bench.parts import PARTS
from tests.bench.report import Report
from tests.bench.scale import Scale

LEAST = Scale(
    rounds=1,
    long_rounds=1,
    turns=1,
    many_turns=10,
    reminders=2,
    entries=100,
    notices=10,
    messages=10,
    kept_turns=1,
    viewers=2,
    connections=2,
    sessions=2,
    requests=2,
)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_measures_all_that_it_names(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    PARTS[part](Report(markdown=True), LEAST)

    head, rule, *rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert set(rule) <= set("|-: ")
    assert rows, head
