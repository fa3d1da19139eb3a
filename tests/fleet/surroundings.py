"""What tests of fleets share: repositories, the agent, and what is compared of results."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from acp_host import PermissionPolicy, PermissionRule
from acp_host.fleet import JobResult

__all__ = [
    "AGENT",
    "SOURCES_ONLY",
    "command",
    "files_of",
    "git",
    "gone",
    "nothing_left",
    "repository",
    "same",
    "until",
    "until_there",
]

AGENT = Path(__file__).with_name("programs") / "agent.py"
SOURCES_ONLY = PermissionPolicy(rules=[PermissionRule(name="sources", decision="allow_once", paths=["src/**"])])


def command(*arguments: str) -> list[str]:
    """Return the command of the agent."""
    return [sys.executable, "-S", "-E", str(AGENT), *arguments]


def git(*arguments: str, cwd: Path) -> str:
    who = ("-c", "user.name=A User", "-c", "user.email=user@example.org", "-c", "protocol.file.allow=always")
    ended = subprocess.run(["git", *who, *arguments], cwd=cwd, check=True, capture_output=True, text=True)
    return ended.stdout


def repository(path: Path, **files: str) -> Path:
    """Make a git repository with one commit, and return its directory."""
    path.mkdir(parents=True)
    git("init", "--quiet", "--initial-branch=main", cwd=path)
    for name, text in {"src/code.txt": "one\n", "README.md": "read me\n", **files}.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    git("add", "--all", cwd=path)
    git("commit", "--quiet", "-m", "Begin", cwd=path)
    return path


def files_of(directory: Path | str) -> dict[str, str]:
    """Return the text of each file below a directory, but for what is git's."""
    found = {}
    for path in sorted(Path(directory).rglob("*")):
        name = path.relative_to(directory)
        if ".git" not in name.parts and path.is_file() and not path.is_symlink():
            found[name.as_posix()] = path.read_bytes().decode("utf-8", "backslashreplace")
    return found


def nothing_left(tmp_path: Path, *repositories: Path) -> bool:
    """Tell whether the working copies in ``tmp_path / "copies"`` are gone, and the repositories know of none."""
    left = [path for path in (tmp_path / "copies").rglob("*") if not path.name.startswith("agents-")]
    return left == [] and all(git("worktree", "list", cwd=repo).count("\n") == 1 for repo in repositories)


def same(result: JobResult) -> tuple[Any, ...]:
    """Return what has to be the same wherever and however often a job was run."""
    return (
        result.job,
        result.outcome,
        result.text,
        result.files,
        result.files_problem,
        result.violations,
        result.spent,
        result.source,
        result.copy_kind,
        result.commit,
        result.kept,
    )


def until_there(path: Path, seconds: float = 45.0) -> str:
    """Wait for a file that another process writes, and return its text."""
    return until(lambda: path.read_text() if path.exists() else "", seconds)


def gone(pid: int, seconds: float = 45.0) -> bool:
    """Wait until a process is gone."""
    return until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE, seconds)


def until(there: Callable[[], Any], seconds: float) -> Any:
    end = time.monotonic() + seconds
    while not (found := there()):
        assert time.monotonic() < end, f"process {os.getpid()} has waited for {seconds:g} s"
        time.sleep(0.02)
    return found
