"""Agents that outlived their host: a record of what runs, and the end of what a dead host has left behind.

A host that is killed cannot end its agents, and some agents ignore the end of their input. :func:`record` keeps one
small file for each running agent in a directory that the application chooses, :func:`end_leftovers` reads the files of
earlier hosts there at the next start. Files of hosts that still live are left alone, so several may share a directory.

A process is ended only if there is no doubt that it is the recorded one: it carries the random mark of its launch in
its environment, or has the recorded id *and* time of creation. Nothing is waited for. On Windows the system itself ends
agents with their host, so there is nothing to find.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from acp_host.transports.process_tree import MARK, ProcessTree

__all__ = ["end_leftovers", "identity", "lives", "record"]

_SUFFIX = ".agent.json"
_SAME_TIME = 1.0
"""Times of creation are computed from the time of boot, which may be corrected a little while the system runs."""


def record(directory: str | os.PathLike[str], tree: ProcessTree, pid: int) -> Path:
    """Write down that this process runs the agent ``pid``, and return the file; whoever ends the agent removes it.

    Raises:
        OSError: the file cannot be written.
    """
    folder = Path(directory)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{tree.token}{_SUFFIX}"
    entry = {"token": tree.token, "agent": identity(pid), "host": identity(os.getpid())}
    unfinished = path.with_suffix(".new")
    unfinished.write_text(json.dumps(entry), encoding="utf-8")
    os.replace(unfinished, path)
    return path


def end_leftovers(directory: str | os.PathLike[str]) -> frozenset[int]:
    """Kill the agents in ``directory`` whose host is gone, with all their processes; return the ids of those killed.

    Raises:
        OSError: the directory cannot be read.
    """
    ended: set[int] = set()
    for path in Path(directory).glob(f"*{_SUFFIX}"):
        entry = _read(path)
        if entry is not None and lives(entry["host"]):
            continue
        if entry is not None and entry["token"] in os.environ.get(MARK, ""):
            continue  # this host itself runs inside of it
        if entry is not None:
            ended |= _end(entry)
        path.unlink(missing_ok=True)
    return frozenset(ended)


def _read(path: Path) -> dict[str, Any] | None:
    """Return a record, or ``None`` if the file does not hold one."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        entry: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for process in (entry["agent"], entry["host"]):
            int(process["pid"]), float(process["created"])
        if len(entry["token"]) >= 16:
            return entry
    return None


def _end(entry: dict[str, Any]) -> frozenset[int]:
    tree = ProcessTree(entry["token"])
    if lives(entry["agent"]):
        tree.adopt(entry["agent"]["pid"])
    living = tree.snapshot()
    tree.kill()
    tree.release()
    return living


def identity(pid: int) -> dict[str, Any]:
    """Return what tells a process from every other one that has had, or will have, its id; for :func:`lives`."""
    import psutil

    try:
        return {"pid": pid, "created": psutil.Process(pid).create_time()}
    except psutil.NoSuchProcess:  # it has ended already; what it started may still carry the mark
        return {"pid": pid, "created": 0.0}


def lives(process: dict[str, Any]) -> bool:
    """Tell whether a process lives, by its :func:`identity`. One that has ended and was not waited for does not."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        found = psutil.Process(process["pid"])
        same = abs(found.create_time() - process["created"]) < _SAME_TIME
        return bool(same and found.status() != psutil.STATUS_ZOMBIE)
    return False
