"""The command lines of a page of documentation, and how they are run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

__all__ = ["PROGRAMS", "run_lines", "shell_lines_of"]

PROGRAMS = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
"""The ``PATH`` of a user who has activated this environment."""


def shell_lines_of(page: str) -> list[str]:
    """Return the blocks of command lines in a page's text."""
    return re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def run_lines(block: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run lines as a user types them, in a shell that has ``python`` and ``acp-host`` of this environment."""
    environment = {**os.environ, "PATH": PROGRAMS}
    return subprocess.run(
        ["bash", "-c", block], cwd=folder, env=environment, capture_output=True, text=True, timeout=150, check=False
    )
