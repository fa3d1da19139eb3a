"""What the tests of the command share: running it, in this process or as one of its own, and seeing what it leaves."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import frozen

from acp_host.cli import main
from tests.processes import none_left

PROGRAM = (sys.executable, "-m", "acp_host")
PATIENCE = 30.0

Command = Callable[..., "Ran"]


@frozen
class Ran:
    """What a command did.

    Attributes:
        code: its exit code.
        out: what it wrote to stdout.
        err: what it wrote to stderr.
    """

    code: int
    out: str
    err: str


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command in this process."""

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def process(tmp_path: Path) -> Command:
    """Run the command as a process of its own, in a directory of its own."""

    def run(*arguments: str) -> Ran:
        line = [*PROGRAM, *arguments]
        ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
        return Ran(ended.returncode, ended.stdout, ended.stderr)

    return run


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's files are in a folder of the test, which this returns."""
    folder = tmp_path_factory.mktemp("home")
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(folder / kind.lower()))
    return folder


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    with none_left():
        yield
