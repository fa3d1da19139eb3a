"""``make fuzz``: runs every target, guided by which code is reached, and keeps what it finds.

Each target runs in a process of its own, since the first fault ends it; the input is written to ``fixtures/fuzz`` where
``make test`` runs it from then on. Inputs that reach new code are kept in ``.fuzz`` and are where the next run begins.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.fuzz.inside import KEPT, ROOT
from tests.fuzz.targets import TARGETS

FOUND = ROOT / "fixtures" / "fuzz"


def run_all(names: list[str], runs: int, seconds: int, jobs: int) -> int:
    """Run targets, some at a time; return how many ended with a fault."""
    with ThreadPoolExecutor(jobs) as threads:
        held = threads.map(lambda name: _holds(name, runs, seconds), names)
        return sum(not each for each in held)


def _holds(name: str, runs: int, seconds: int) -> bool:
    """Run one target, and print what came of it."""
    started = time.monotonic()
    command = [sys.executable, "-m", "tests.fuzz.inside", name, str(runs), str(seconds), *TARGETS[name].code]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    took = time.monotonic() - started
    verdict = "ok" if done.returncode == 0 else "FAULT"
    told = f"{name:<16} {verdict:<6} {_executed(done.stdout):>9,} runs {took:>7.0f} s"
    if done.returncode != 0:
        told = "\n".join([told, _kept(name), *done.stdout.splitlines()[-40:]])
    print(told, flush=True)
    return done.returncode == 0


def _executed(told: str) -> int:
    """Return how many inputs were really run, the examples among them, by the fuzzer's own count."""
    counted = re.search(r"stat::number_of_executed_units:\s*(\d+)", told)
    return int(counted[1]) if counted else 0


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


def main() -> int:
    """Run the command; the status is 1 where there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"all by default; {', '.join(TARGETS)}")
    parser.add_argument("--runs", type=int, default=1_000_000, metavar="N", help="of each (default: %(default)s)")
    parser.add_argument("--seconds", type=int, default=0, metavar="N", help="for each at most; as long as it takes")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="targets at a time (default: %(default)s)")
    options = parser.parse_args()
    unknown = [name for name in options.targets if name not in TARGETS]
    if unknown:
        parser.error(f"no such target: {', '.join(unknown)}")
    return min(1, run_all(options.targets or list(TARGETS), options.runs, options.seconds, options.jobs))


if __name__ == "__main__":
    sys.exit(main())
