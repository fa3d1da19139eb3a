"""Speed, side by side with the official SDKs: ``make bench``, or ``python -m tests.bench --help``.

Every contender is a program of its own that launches the same agent and times itself from a prompt to the end of its
turn. The clock of a shared machine swings by more than the contenders differ, so they run in turns, and every ratio is
the median of the ratios within a round. Nothing here fails on a slow result: it prints, and people judge.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent

OURS, PYTHON_SDK, TYPESCRIPT_SDK, BARE_LOOP = "acp_host", "Python SDK", "TypeScript SDK", "bare loop"
PROGRAMS = {BARE_LOOP: "bare_loop.py", PYTHON_SDK: "python_sdk.py", TYPESCRIPT_SDK: "ts_sdk.mjs", OURS: "ours.py"}

IMPORTS = ("import acp_host", "from acp_host import connect", "import acp")


@dataclass(frozen=True)
class Measured:
    """Figures of one contender, one for each round."""

    values: list[float]

    @property
    def median(self) -> float:
        return median(self.values)

    def times(self, other: Measured) -> float:
        """Return how many times this is the other, as the median over the rounds."""
        return median(mine / theirs for mine, theirs in zip(self.values, other.values, strict=True))


def run_in_turns(rounds: int, measures: Mapping[str, Callable[[], float]]) -> dict[str, Measured]:
    values: dict[str, list[float]] = {name: [] for name in measures}
    for number in range(rounds):
        for name, measure in measures.items():
            show_progress(f"  round {number + 1} of {rounds}: {name}")
            values[name].append(measure())
    show_progress("")
    return {name: Measured(of_one) for name, of_one in values.items()}


def show_progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:<60}\r", end="", file=sys.stderr, flush=True)


def run(command: list[str]) -> str:
    finished = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=300)
    if finished.returncode != 0:
        raise SystemExit(f"\n{' '.join(command)} ended with status {finished.returncode}")
    return finished.stdout


def microseconds_per_update(contender: str, updates: int) -> float:
    program = HERE / PROGRAMS[contender]
    if program.suffix == ".mjs":
        command = ["node", str(program), str(updates), sys.executable]
    else:
        command = [sys.executable, str(program), str(updates)]
    report = json.loads(run(command))
    if report["updates"] != updates:
        raise SystemExit(f"\n{contender} delivered {report['updates']} of {updates} updates")
    return float(report["seconds"]) / updates * 1e6


def milliseconds_of(statement: str) -> float:
    program = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    return float(run([sys.executable, "-c", program])) * 1e3


def print_throughput(contenders: list[str], updates: int, rounds: int) -> None:
    print(f"{updates:,} mixed updates, typed and delivered in order: medians of {rounds} rounds in turns")
    measured = run_in_turns(rounds, {name: partial(microseconds_per_update, name, updates) for name in contenders})
    for name, figures in measured.items():
        lowest, highest = min(figures.values), max(figures.values)
        print(f"  {name:<16}{figures.median:8.2f} µs an update   ({lowest:.2f} to {highest:.2f})")
    ours = measured.get(OURS)
    if ours is None:
        return
    for name, wanted in ((PYTHON_SDK, "8 or more"), (TYPESCRIPT_SDK, "4 or more")):
        if name in measured:
            print(f"  {name} / {OURS}: {measured[name].times(ours):.2f}   (aim: {wanted})")
    if BARE_LOOP in measured:
        print(f"  {OURS} / {BARE_LOOP}: {ours.times(measured[BARE_LOOP]):.2f}   (aim: 4 or less)")


def print_growth(few: int, many: int, rounds: int) -> None:
    print(f"\nGrowth of {OURS}: cost of an update at {few:,} and at {many:,} updates in one turn")
    measured = run_in_turns(rounds, {f"{size:,}": partial(microseconds_per_update, OURS, size) for size in (few, many)})
    for name, figures in measured.items():
        print(f"  {name:>8} updates{figures.median:8.2f} µs an update")
    print(f"  {many:,} / {few:,}: {measured[f'{many:,}'].times(measured[f'{few:,}']):.2f}   (aim: about 1)")


def print_imports(rounds: int) -> None:
    print("\nImport in a fresh interpreter")
    measured = run_in_turns(rounds, {statement: partial(milliseconds_of, statement) for statement in IMPORTS})
    for statement, figures in measured.items():
        print(f"  {statement:<30}{figures.median:7.1f} ms")
    whole, used, sdk = measured.values()
    print(f"  acp / acp_host: {sdk.times(whole):.2f}   (aim: 4 or more)")
    print(f"  acp / acp_host with all that connect needs: {sdk.times(used):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--updates", type=int, default=50_000, help="updates in one turn (default 50000)")
    parser.add_argument("--rounds", type=int, default=7, help="how often each contender runs (default 7)")
    parser.add_argument("--only", choices=list(PROGRAMS), action="append", help="measure the throughput of these only")
    options = parser.parse_args()
    contenders = options.only or list(PROGRAMS)
    if TYPESCRIPT_SDK in contenders and shutil.which("node") is None:
        print("!!! node WAS NOT FOUND: the TypeScript SDK is LEFT OUT !!!", file=sys.stderr)
        contenders.remove(TYPESCRIPT_SDK)
    print_throughput(contenders, options.updates, options.rounds)
    if options.only is None:
        print_growth(10_000, 100_000, options.rounds)
        print_imports(2 * options.rounds + 1)


if __name__ == "__main__":
    main()
