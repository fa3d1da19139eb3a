"""Speed and size of acp_host, side by side with the official SDKs: ``make bench``, or ``python -m tests.bench --help``.

Every contender is a program of its own that launches the same agent and times itself. The clock of a shared machine
swings by more than the contenders differ, so they run in turns, and every ratio is the median of the ratios within a
round. Nothing here fails on a slow result: it prints, and people judge. docs/performance.md says what each part does.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace

from tests.bench.parts import PARTS
from tests.bench.report import Report
from tests.bench.scale import FULL, QUICK


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller rounds: about a minute in all")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown, for docs/performance.md")
    parser.add_argument("--only", choices=list(PARTS), action="append", help="measure this part; may be repeated")
    parser.add_argument("--rounds", type=int, help="rounds of the quicker parts (default 9; with --quick 2)")
    parser.add_argument("--cpu", action="store_true", help="compare processor time: for a machine with other work")
    options = parser.parse_args()
    scale = QUICK if options.quick else FULL
    scale = replace(scale, rounds=options.rounds or scale.rounds, clock="cpu" if options.cpu else "seconds")
    report, began = Report(markdown=options.markdown), time.monotonic()
    for name in options.only or PARTS:
        PARTS[name](report, scale)
    print(f"\nMeasured in {time.monotonic() - began:.0f} s, with Python {sys.version.split()[0]}.")


if __name__ == "__main__":
    main()
