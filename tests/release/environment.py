"""A virtual environment with nothing in it but what a test installs: :class:`Environment`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


class Failed(Exception):
    """A command did not end well; has the last lines that it printed."""


class Environment:
    """A new virtual environment.

    Args:
        folder: where it is made.
        python: the interpreter.
    """

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        run([python, "-m", "venv", str(folder)])
        self._python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    def install(self, *requirements: str) -> None:
        """Install packages, and look whether they go together."""
        quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
        self.run("-m", "pip", "install", *quiet, *requirements)
        self.run("-m", "pip", "check", "--disable-pip-version-check")

    def packages(self) -> int:
        """Return how many packages are installed besides pip."""
        return int(self.run("-c", "from importlib.metadata import distributions as all; print(len(list(all())) - 1)"))

    def run(self, *arguments: str) -> str:
        """Run its interpreter, away from the checkout; return what it printed."""
        return run([str(self._python), *arguments], cwd=self._python.parent)


def run(command: list[str], *, cwd: Path | None = None) -> str:
    """Run a command without what this environment would tell its Python; return what it printed.

    Raises:
        Failed: its status is not 0, or it took half an hour.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment.pop("VIRTUAL_ENV", None)
    try:
        ran = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=1800)
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[0]} took half an hour") from None
    if ran.returncode != 0:
        raise Failed("\n".join((ran.stdout + ran.stderr).strip().splitlines()[-6:]))
    return ran.stdout
