"""The verdict of ``make bench-guard``; what it counts, callgrind is there to say."""

from __future__ import annotations

import json
import platform
import subprocess
import sys

import pytest

from tests.bench.guard import KINDS, PROGRAM, STORED, build, verdict


@pytest.mark.parametrize("counted", [100_000, 103_000, 97_000])
def test_three_percent_more_or_less_are_kept(counted: int) -> None:
    assert verdict(counted, 100_000).startswith("kept (")


def test_more_is_to_be_found_and_less_to_be_stored() -> None:
    assert verdict(103_100, 100_000) == "MORE: find what it is (+3.1% of 100,000)"
    assert verdict(90_000, 100_000) == "LESS: store it, so that it is not lost again (-10.0% of 100,000)"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_counted_runs_without_callgrind(kind: str) -> None:
    ran = subprocess.run([sys.executable, str(PROGRAM), kind], capture_output=True, check=False)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_figures_are_stored_by_what_they_depend_on() -> None:
    assert platform.python_version() in build()
    for key, figures in json.loads(STORED.read_text()).items():
        assert "Python" in key
        assert "orjson" in key
        assert figures.keys() == KINDS.keys()
