"""Holds what a message costs, in instructions, against what it did cost: ``make bench-guard``.

Instructions are counted by valgrind's callgrind, which has a figure of its own for nothing but the program: another
process that runs meanwhile changes nothing. Where things lie in memory does, by a per cent or two: it decides which of
them meet in a dictionary, or in the interpreter's caches. So the surroundings are always the same. What is stored holds
for one build of the interpreter and of the library that reads JSON; with another one, store figures of a revision that
you trust, then come back.

``python -m tests.bench.guard [--store]``. Ends with 1 if a figure has grown, or shrunk, by more than 3 %, and with 2 if
there is none to compare with.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["build", "count", "main", "verdict"]

MESSAGES = 2_000
TOLERANCE = 0.03
KINDS = {
    "typed": "read into a typed object",
    "folded": "read so, and folded into a session's state",
    "session": "read by a session that has an observer and is awaited",
}
SURROUNDINGS = {"PATH": os.defpath, "PYTHONHASHSEED": "0"}
"""All of the environment: where hashes differ, dictionaries do, and so does the way through them."""
STORED = Path(__file__).with_name("instructions.json")
PROGRAM = Path(__file__).with_name("guarded_stream.py")


def build() -> str:
    """Name what the counts depend on beside the sources."""
    interpreter = f"{platform.python_implementation()} {platform.python_version()}, {platform.python_compiler()}"
    return f"{interpreter}, {platform.system()} {platform.machine()}, orjson {importlib.metadata.version('orjson')}"


def count(kind: str) -> int:
    """Return how many instructions a message costs."""
    program = [sys.executable, str(PROGRAM), kind]
    subprocess.run(program, env=SURROUNDINGS, check=True)  # from here on there is bytecode of everything
    callgrind = [
        shutil.which("valgrind") or "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        "--toggle-collect=ffi_call",
    ]
    ran = subprocess.run([*callgrind, *program], env=SURROUNDINGS, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", ran.stderr)
    if ran.returncode != 0 or found is None or found[1] == "0":
        what = f"status {ran.returncode}" if ran.returncode else "nothing counted: callgrind does not find ffi_call"
        raise SystemExit(f"{ran.stderr[-4_000:]}\n{' '.join([*callgrind, *program])} ended with {what}")
    return round(int(found[1]) / MESSAGES)


def verdict(counted: int, stored: int) -> str:
    """Say how a figure compares to the stored one; begins with ``kept`` if it is within the tolerance."""
    change = counted / stored - 1
    if abs(counted - stored) <= TOLERANCE * stored:
        return f"kept ({change:+.1%} of {stored:,})"
    what = "MORE: find what it is" if change > 0 else "LESS: store it, so that it is not lost again"
    return f"{what} ({change:+.1%} of {stored:,})"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.guard", description=__doc__)
    parser.add_argument("--store", action="store_true", help="store what is counted, for this build")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("!!! valgrind WAS NOT FOUND: nothing is counted !!! `make system-deps` installs it", file=sys.stderr)
        return 2
    everything = json.loads(STORED.read_text())
    counted, stored = {kind: count(kind) for kind in KINDS}, everything.get(build())
    print(f"Instructions for a message of {MESSAGES:,}; {build()}")
    if options.store or stored is None:
        print(*(f"  {counted[kind]:>9,}  {KINDS[kind]}" for kind in KINDS), sep="\n")
    if options.store:
        STORED.write_text(json.dumps({**everything, build(): counted}, indent=2, sort_keys=True) + "\n")
        return 0
    if stored is None:
        print("!!! NO FIGURES ARE STORED for this build: check out a revision that you trust, run `make bench-guard")
        print("    GUARD_ARGS=--store`, come back with the stored figures, and run it again !!!")
        return 2
    verdicts = {kind: verdict(counted[kind], stored[kind]) for kind in KINDS}
    print(*(f"  {counted[kind]:>9,}  {KINDS[kind]}: {verdicts[kind]}" for kind in KINDS), sep="\n")
    return 0 if all(each.startswith("kept") for each in verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
