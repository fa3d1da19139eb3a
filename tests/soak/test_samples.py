"""The soak calls growth by its name, and nothing else."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from attrs import evolve

from tests.soak.plot import plot
from tests.soak.samples import Sample, sample, verdicts

STEADY = Sample(0.0, 100.0, 50, 70, 10_000, 0.005, 0.02, 1)


def a_run(**grown: float) -> list[Sample]:
    """Return 40 samples; what is named is that many times as large at the end."""

    def at(number: int) -> dict[str, float]:
        return {name: getattr(STEADY, name) * (1 + (times - 1) * number / 39) for name, times in grown.items()}

    return [evolve(STEADY, minute=number, **at(number)) for number in range(40)]


def test_what_is_steady_is_flat() -> None:
    assert all(verdict.flat for verdict in verdicts(a_run()))


@pytest.mark.parametrize(
    "name, what", [("memory", "memory"), ("descriptors", "descriptors"), ("tasks", "tasks"), ("wait", "median")]
)
def test_what_grows_is_named(name: str, what: str) -> None:
    grown = [verdict.what for verdict in verdicts(a_run(**{name: 3})) if not verdict.flat]
    assert len(grown) == 1
    assert what in grown[0]


def test_what_is_high_only_while_it_warms_up_is_flat() -> None:
    run = a_run()
    assert all(verdict.flat for verdict in verdicts([evolve(run[0], memory=900.0), *run[1:]]))


async def test_a_process_can_be_looked_at() -> None:
    found = sample(1.5, [0.001, 0.002, 0.003], turns=7)
    assert found.memory > 1
    assert found.descriptors > 2
    assert (found.wait, found.turns) == (0.002, 7)


def test_the_picture_is_well_formed() -> None:
    lines = ElementTree.fromstring(plot(a_run(memory=2))).findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 4
    assert all(len(line.get("points", "").split()) == 40 for line in lines)
