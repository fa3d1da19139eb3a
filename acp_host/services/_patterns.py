"""Regular expressions of agents, matched without letting them run away: :func:`check_patterns`.

The patterns of JSON Schema are ECMA-262, which Python's ``re`` does not speak, and one that an untrusted program wrote
can take for ever. So the engine ``regress`` (extra ``forms``) matches them in a process that is killed when its time is
up. Cost: about 50 ms each time, whatever the number of patterns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from enum import StrEnum
from importlib.machinery import PathFinder
from pathlib import Path

__all__ = ["TIME_LIMIT", "PatternResult", "check_patterns"]

TIME_LIMIT = 5.0
"""Seconds that all patterns of an answer may take together, with the start of the process."""
_PROCESSOR_TIME = 1
"""Seconds of processor time that they may take, where the system can limit it."""
_WORKER = Path(__file__).with_name("_pattern_worker.py")


class PatternResult(StrEnum):
    """What became of a pattern."""

    MATCH = "match"
    DIFFERS = "differs"
    """The text does not match it."""
    INVALID = "invalid"
    """It is no regular expression."""
    UNCHECKABLE = "uncheckable"
    """The engine cannot read the text, or is not installed, or no process can be started."""
    TOO_SLOW = "too slow"
    """It had no result when the time was up, or came after one that had none."""


def check_patterns(checks: Sequence[tuple[str, str]], time_limit: float = TIME_LIMIT) -> list[PatternResult]:
    """Match texts against patterns; blocks for at most about ``time_limit`` seconds.

    Args:
        checks: (pattern, text) pairs.
        time_limit: in seconds.

    Returns:
        a result for each, in order.
    """
    if not checks:
        return []
    path = _module_path()
    if PathFinder.find_spec("regress", path) is None or not _can_start_python():
        return [PatternResult.UNCHECKABLE] * len(checks)
    task = json.dumps({"path": path, "seconds": _PROCESSOR_TIME, "checks": checks})
    try:
        output = _run(task.encode("ascii"), time_limit)
    except OSError:
        return [PatternResult.UNCHECKABLE] * len(checks)
    results = [PatternResult(line) for line in output.decode("ascii").split()]
    return [*results, *[PatternResult.TOO_SLOW] * (len(checks) - len(results))]


def _module_path() -> list[str]:
    """Return where the worker looks for modules: not in the working directory, where agents can put some."""
    here = os.path.realpath(os.curdir)
    return [folder for folder in sys.path if folder and os.path.realpath(folder) != here]


def _can_start_python() -> bool:
    """Tell whether ``sys.executable`` is an interpreter: in a frozen or embedding program it is that program."""
    name = Path(sys.executable or "").name.lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def _run(task: bytes, time_limit: float) -> bytes:
    """Return what the worker wrote until it ended or was killed."""
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW  # or a console appears for a moment
    try:
        return subprocess.run(
            [sys.executable, "-I", "-S", str(_WORKER)],
            input=task,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=time_limit,
            check=False,
            creationflags=flags,
        ).stdout
    except subprocess.TimeoutExpired as timeout:
        return timeout.stdout or b""
