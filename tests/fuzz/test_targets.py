"""Every target holds for its examples, for what fuzzing has found before, and for some changes of the examples.

``make fuzz`` does the same a million times over, guided by which code is reached.
"""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import pytest

from tests.fuzz.mutation import changed
from tests.fuzz.seeds import FIXTURES
from tests.fuzz.targets import TARGETS

FOUND = FIXTURES / "fuzz"
CHANGES = 150


@pytest.mark.parametrize("name", TARGETS)
def test_examples_hold(name: str) -> None:
    target = TARGETS[name]
    seeds = list(target.seeds())
    assert seeds
    for seed in seeds[:: max(1, len(seeds) // 50)]:
        target.run(seed)


@pytest.mark.parametrize("path", sorted(FOUND.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_holds(path: Path) -> None:
    TARGETS[path.parent.name].run(path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_changed_examples_hold(name: str) -> None:
    target = TARGETS[name]
    chance = random.Random(zlib.crc32(name.encode()))
    seeds = tuple(target.fitting_seeds())
    for _ in range(CHANGES):
        data = changed(chance.choice(seeds), chance, others=seeds)
        try:
            target.run(data)
        except BaseException as fault:
            fault.add_note(f"with {data!r}")
            raise
