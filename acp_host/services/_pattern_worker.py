"""Matches texts against ECMA-262 patterns in a process of its own, which can be killed.

Run as a script, without this library: it reads ``{"path": […], "seconds": n, "checks": [[pattern, text], …]}`` from
stdin and writes one line for each check, as soon as it is done: ``match``, ``differs``, ``invalid`` or ``uncheckable``.
A pattern that runs away ends the process: after ``seconds`` of processor time or with too much memory by the system,
where it can; else by whoever started it.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regress

_MEMORY = 1 << 30
"""Most address space of the process, in bytes, where the system can limit it."""


def _limit(seconds: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "darwin":  # which refuses this limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _compile(pattern: str) -> regress.Regex | None:
    """Return the compiled pattern: with the flag that JSON Schema wants, else without, as many are written."""
    import regress

    for flags in ("u", ""):
        try:
            return regress.Regex(pattern, flags)
        except (regress.RegressError, UnicodeError):
            continue
    return None


def _check(pattern: str, text: str) -> str:
    compiled = _compile(pattern)
    if compiled is None:
        return "invalid"
    try:
        return "differs" if compiled.find(text) is None else "match"
    except UnicodeError:  # half of a surrogate pair
        return "uncheckable"


def _main() -> None:
    task = json.load(sys.stdin)
    sys.path[:] = task["path"]
    _limit(task["seconds"])
    for pattern, text in task["checks"]:
        print(_check(pattern, text), flush=True)


if __name__ == "__main__":
    _main()
