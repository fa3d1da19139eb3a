"""``python -m acp_host`` and its working directory: nothing is imported from there, and it may be gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import acp_host

ROOT = Path(acp_host.__file__).parents[1]


def test_a_module_planted_in_the_working_directory_is_not_imported(tmp_path: Path) -> None:
    for name in ("rich", "psutil", "psygnal", "websockets", "cattrs"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')\n")
    run = subprocess.run(
        [sys.executable, "-m", "acp_host", "inspect", "--help"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert run.returncode == 0, run.stderr
    assert "planted" not in run.stdout + run.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there, a directory that is used cannot be removed")
def test_a_working_directory_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    for arguments, code, told in (
        ("run some-agent -- hi", 2, "'.' is relative to the working directory of this program, and that is gone"),
        ("--version", 0, ""),
    ):
        (tmp_path / "gone").mkdir()
        run = subprocess.run(
            ["sh", "-c", f'cd gone && rmdir ../gone && exec "$0" -m acp_host {arguments}', sys.executable],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=50,
        )
        assert (run.returncode, "Traceback" in run.stderr) == (code, False), run.stderr
        assert told in run.stderr
