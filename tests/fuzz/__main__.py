"""``make fuzz``: runs every target, guided by which code is reached, and keeps what it finds.

Each target runs in a process of its own, since the first fault ends it; the input is written to ``fixtures/fuzz`` where
``make test`` runs it from then on. Inputs that reach new code are kept in ``.fuzz`` and are where the next run begins.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import subprocess
import sys
import time

import atheris

with atheris.instrument_imports(include=["acp_host"]):
    from tests.fuzz.mutation import changed
    from tests.fuzz.seeds import FIXTURES
    from tests.fuzz.target import Target
    from tests.fuzz.targets import TARGETS

ROOT = FIXTURES.parent
FOUND = FIXTURES / "fuzz"
KEPT = ROOT / ".fuzz"
LONGEST = 6_000
"""Longest input, in bytes."""
SLOWEST = 20
"""Seconds after which one input counts as a hang."""


def run_all(names: list[str], runs: int) -> int:
    """Run targets one after the other; return how many ended with a fault."""
    failed = []
    for name in names:
        started = time.monotonic()
        command = [sys.executable, "-m", "tests.fuzz", "--inside", name, "--runs", str(runs)]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        seconds = time.monotonic() - started
        verdict = "ok" if done.returncode == 0 else "FAULT"
        print(f"{name:<14} {verdict:<6} {runs:>9,} runs {seconds:>7.0f} s", flush=True)
        if done.returncode != 0:
            failed.append(name)
            print(_kept(name), "\n".join(done.stdout.splitlines()[-40:]), sep="\n", flush=True)
    return len(failed)


def _kept(name: str) -> str:
    """Move the input that led to a fault to where the tests find it; return a line that says so."""
    artefacts = sorted((KEPT / name).glob("artefact-*"))
    for path in artefacts:
        data = path.read_bytes()
        kept = FOUND / name / hashlib.sha256(data).hexdigest()[:12]
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(data)
        path.unlink()
    return f"    kept in {(FOUND / name).relative_to(ROOT)}" if artefacts else "    no input was kept"


def run_inside(target: Target, runs: int) -> None:
    """Run one target in this process; does not return."""
    corpus = KEPT / target.name / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = tuple(seed for seed in target.seeds() if len(seed) <= LONGEST)
    for seed in seeds:
        (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if not target.is_json or chance.random() < 0.3:
            mutated: bytes = atheris.Mutate(data, max_size)
            return mutated
        return changed(data, chance, others=seeds)[:max_size]

    atheris.Setup(
        [
            sys.argv[0],
            f"-runs={runs}",
            f"-max_len={LONGEST}",
            f"-timeout={SLOWEST}",
            f"-artifact_prefix={KEPT / target.name}/artefact-",
            str(corpus),
        ],
        target.run,
        custom_mutator=mutate,
    )
    atheris.Fuzz()


def main() -> int:
    """Run the command; the status is 1 where there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"all by default; {', '.join(TARGETS)}")
    parser.add_argument("--runs", type=int, default=1_000_000, metavar="N", help="of each (default: %(default)s)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = [name for name in options.targets if name not in TARGETS]
    if unknown:
        parser.error(f"no such target: {', '.join(unknown)}")
    if options.inside:
        run_inside(TARGETS[options.targets[0]], options.runs)
    return min(1, run_all(options.targets or list(TARGETS), options.runs))


if __name__ == "__main__":
    sys.exit(main())
