"""Each example runs with the command that the table of docs/examples says, and shows what it says.

The windows are looked at in tests/ui/toolkits, the notebook in test_jupyter_page.py.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from tests.docs.snippets import ROOT, read_page

FOLDER = ROOT / "docs" / "examples"
TABLE = {
    shlex.split(command)[-1]: (shlex.split(command), re.findall(r"`([^`]+)`", seen))
    for command, seen in re.findall(
        r"^\| `(.+?)` \| .+? \| (.+) \|$", read_page("docs/examples/README.md"), re.MULTILINE
    )
}
ELSEWHERE = {"agent.ipynb", "gtk_window.py", "qt_window.py", "tk_window.py"}
GOES_ON = "web_page.py"

pytestmark = pytest.mark.timeout(180)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}


def line_of(command: list[str]) -> list[str]:
    program, *arguments, name = command
    assert program == "python"
    return [sys.executable, *arguments, str(FOLDER / name)]


def test_the_table_has_every_example() -> None:
    assert sorted(TABLE) == sorted(path.name for path in FOLDER.iterdir() if path.suffix in {".py", ".ipynb"})


@pytest.mark.parametrize("name", sorted(TABLE.keys() - ELSEWHERE - {GOES_ON}))
def test_an_example(name: str, tmp_path: Path) -> None:
    command, seen = TABLE[name]
    ran = subprocess.run(
        line_of(command),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=150,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert seen
    for words in seen:
        assert words in ran.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there is no Ctrl-C for one process alone on Windows")
def test_the_page_of_an_example_is_served_until_ctrl_c(tmp_path: Path) -> None:
    command, [seen] = TABLE[GOES_ON]
    with subprocess.Popen(
        line_of(command), cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as serving:
        try:
            assert serving.stdout is not None
            address = serving.stdout.readline().strip()
            assert address.startswith(seen.rstrip("…"))
            with build_opener(HTTPCookieProcessor()).open(address, timeout=50) as page:
                assert b"<html" in page.read()
            serving.send_signal(signal.SIGINT)
            _, errors = serving.communicate(timeout=50)
        finally:
            serving.kill()
    assert (serving.returncode, errors) == (0, "")
