"""The soak calls growth by its name, and nothing else."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from attrs import evolve

from tests.soak.plot import plot
from tests.soak.report import BEGIN, END, keep, lines
from tests.soak.samples import Sample, sample, verdicts

STEADY = Sample(
    minute=0.0,
    memory=100.0,
    agents=900.0,
    descriptors=50,
    tasks=70,
    objects=10_000,
    wait=0.005,
    slowest=0.02,
    load=1.5,
    turns=1,
)


def a_run(**grown: float) -> list[Sample]:
    """Return 40 samples; what is named is that many times as large at the end."""

    def at(number: int) -> dict[str, float]:
        return {name: getattr(STEADY, name) * (1 + (times - 1) * number / 39) for name, times in grown.items()}

    return [evolve(STEADY, minute=number, **at(number)) for number in range(40)]


def test_what_is_steady_is_flat() -> None:
    assert all(verdict.flat for verdict in verdicts(a_run()))


@pytest.mark.parametrize(
    "name, what",
    [
        ("memory", "memory, MiB"),
        ("agents", "memory of the agents"),
        ("descriptors", "descriptors"),
        ("tasks", "tasks"),
        ("objects", "objects"),
        ("wait", "median"),
        ("slowest", "99 of 100"),
    ],
)
def test_what_grows_is_named(name: str, what: str) -> None:
    grown = [verdict.what for verdict in verdicts(a_run(**{name: 3})) if not verdict.flat]
    assert len(grown) == 1
    assert what in grown[0]


def test_what_is_high_once_is_flat() -> None:
    run = a_run()
    assert all(verdict.flat for verdict in verdicts([evolve(run[0], memory=900.0), *run[1:]]))


async def test_a_process_can_be_looked_at() -> None:
    child = await asyncio.create_subprocess_exec(sys.executable, "-S", "-c", "input()", stdin=asyncio.subprocess.PIPE)
    found = sample(1.5, [0.001, 0.002, 0.003], turns=7)
    await child.communicate(b"\n")
    assert found.memory > 1
    assert found.agents > 0.1
    assert found.descriptors > 2
    assert (found.wait, found.turns) == (0.002, 7)
    assert 0.002 < found.slowest <= 0.003


def test_the_picture_is_well_formed() -> None:
    curves = ElementTree.fromstring(plot(a_run(memory=2))).findall("{http://www.w3.org/2000/svg}polyline")
    assert len(curves) == 6
    assert all(len(line.get("points", "").split()) == 40 for line in curves)


def test_the_report_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    page = tmp_path / "soak.md"
    page.write_text(f"Before\n\n{BEGIN}\n\nold\n\n{END}\n\nafter\n")
    run = a_run(memory=2)
    report = lines(run, verdicts(run), {"turns": 1_000}, {"a turn has hung": 2}, ["tasks: 1 before, 2 after"])
    keep(report, page)
    text = page.read_text()
    assert "| memory, MiB |" in text
    assert "**no**" in text
    assert "| turns | 1,000 |" in text
    assert "**Left behind**: tasks: 1 before, 2 after." in text
    assert "**Must not happen**: a turn has hung, 2 times." in text
    assert text.startswith("Before\n")
    assert text.endswith("\n\nafter\n")
    assert "old" not in text
    keep(report, page)
    assert page.read_text() == text
