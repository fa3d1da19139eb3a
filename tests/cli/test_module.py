"""``python -m acp_host`` imports nothing that somebody has put into the working directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
