"""Runs one target in this process: ``python -m tests.fuzz.inside TARGET RUNS SECONDS PACKAGE…``, as ``make fuzz`` does.

The packages whose branches are watched are arguments: they have to be known before anything of them is imported.
"""

from __future__ import annotations

import hashlib
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".fuzz"
SLOWEST = 20
"""Seconds after which one input counts as a hang."""


def run_inside(name: str, runs: int, seconds: int, code: tuple[str, ...]) -> None:
    """Run one target in this process, guided by the branches of some packages; does not return."""
    import atheris

    with atheris.instrument_imports(include=["acp_host"], exclude=[each for each in _modules() if not _in(each, code)]):
        from tests.fuzz.mutation import changed
        from tests.fuzz.targets import TARGETS

    warnings.simplefilter("error")
    target = TARGETS[name]
    corpus = KEPT / target.name / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = tuple(target.fitting_seeds())
    for seed in seeds:
        (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if not target.is_json or chance.random() < 0.5:
            mutated: bytes = atheris.Mutate(data, max_size)
            return mutated
        return changed(data, chance, others=seeds)[:max_size]

    atheris.Setup(
        [
            sys.argv[0],
            f"-runs={runs}",
            f"-max_total_time={seconds}",
            f"-max_len={target.longest}",
            f"-timeout={SLOWEST}",
            f"-artifact_prefix={KEPT / target.name}/artefact-",
            "-print_final_stats=1",
            str(corpus),
        ],
        target.run,
        custom_mutator=mutate,
    )
    atheris.Fuzz()


def _modules() -> Iterator[str]:
    """Yield the name of every module of the library."""
    for path in (ROOT / "acp_host").rglob("*.py"):
        yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _in(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


if __name__ == "__main__":
    run_inside(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), tuple(sys.argv[4:]))
