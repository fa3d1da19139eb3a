"""Merges two changes of one text: :func:`merge_texts`, which lets ``git merge-file`` do it.

Cost: a process for each merge, which happens only when there is a conflict to be shown.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from attrs import frozen

__all__ = ["MERGE_TIMEOUT", "Merge", "MergeUnavailable", "merge_texts"]

MERGE_TIMEOUT = 10.0
"""How long a merge may take, in seconds."""

_GIT_ERROR = 128
"""From this exit status on, git has failed; below it, the status is the number of conflicts."""


class MergeUnavailable(Exception):
    """Two changes could not be merged; the message says why."""


@frozen
class Merge:
    """Two changes of one text, put together.

    Attributes:
        text: both changes; where they contradict each other, both versions between conflict markers.
        clean: whether they contradict each other nowhere.
    """

    text: str
    clean: bool


def merge_texts(base: str, current: str, proposed: str) -> Merge:
    """Return ``current`` with the changes from ``base`` to ``proposed``, line by line.

    Raises:
        MergeUnavailable: git is not installed, took too long, or does not take the texts for text.
    """
    if base in (current, proposed):
        return Merge(proposed if base == current else current, clean=True)
    with tempfile.TemporaryDirectory(prefix="acp-host-merge-") as folder:
        texts = {"current": current, "base": base, "agent": proposed}
        for name, text in texts.items():
            Path(folder, name).write_bytes(text.encode("utf-8", "surrogatepass"))
        ran = _run_git(folder, ["merge-file", "-p", *(f"-L{name}" for name in texts), *texts])
    if ran.returncode >= _GIT_ERROR or ran.returncode < 0:
        raise MergeUnavailable(ran.stderr.decode(errors="replace").strip() or f"git ended with {ran.returncode}")
    return Merge(ran.stdout.decode("utf-8", "surrogatepass"), clean=ran.returncode == 0)


def _run_git(folder: str, arguments: list[str]) -> subprocess.CompletedProcess[bytes]:
    # Neither a repository around the folder nor the user's settings change how a merge looks.
    nothing = {"GIT_CEILING_DIRECTORIES": folder, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env={**inherited, **nothing},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=MERGE_TIMEOUT,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except FileNotFoundError:
        raise MergeUnavailable("git, which merges, is not installed") from None
    except subprocess.TimeoutExpired:
        raise MergeUnavailable(f"git took longer than {MERGE_TIMEOUT:g} s") from None
    except OSError as error:
        raise MergeUnavailable(f"git, which merges, could not be run: {error.strerror or error}") from None
