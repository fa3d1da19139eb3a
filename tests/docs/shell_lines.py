"""The command lines of a page of documentation, and how they are run."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

from attrs import frozen

from acp_host.cli import main

__all__ = ["PROGRAMS", "Ran", "run_lines", "shell_lines_of"]

PROGRAMS = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
"""The ``PATH`` of a user who has activated this environment."""


@frozen
class Ran:
    """What lines have come to: the exit code of the last one, and what all of them have written."""

    returncode: int
    stdout: str
    stderr: str


def shell_lines_of(page: str) -> list[str]:
    """Return the blocks of command lines in a page's text."""
    return re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def run_lines(block: str, folder: Path) -> Ran:
    """Run lines one after the other, each in a shell, but ``acp-host`` in this process, which is quicker.

    No event loop may run here. What the user's folders would hold is in one beside ``folder``.
    """
    ran = Ran(0, "", "")
    home = {f"XDG_{kind}_HOME": f"{folder}-{kind.lower()}" for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    with contextlib.chdir(folder), patch.dict(os.environ, PATH=PROGRAMS, **home):
        for line in block.splitlines():
            one = _command(line) if line.startswith("acp-host ") else _shell(line, ran.returncode)
            ran = Ran(one.returncode, ran.stdout + one.stdout, ran.stderr + one.stderr)
    return ran


def _command(line: str) -> Ran:
    line, _, file = line.partition(" > ")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(shlex.split(line, comments=True)[1:])
    written, said = (stream.buffer.getvalue().decode() for stream in (out, err))
    if file:
        Path(file).write_text(written, encoding="utf-8")
        written = ""
    return Ran(code, written, said)


def _shell(line: str, code: int) -> Ran:
    """Run a line behind one that ended with ``code``."""
    script = f"(exit {code}); {line}"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=150, check=False)
    return Ran(ran.returncode, ran.stdout, ran.stderr)
