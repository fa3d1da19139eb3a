"""The page's files are what its sources give, and its parts keep their own rules."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEB = ROOT / "acp_host" / "ui" / "web"
STATIC = WEB.parent / "static"
LARGEST = 400_000
"""Bytes of all files of the page."""


@pytest.fixture
def npm() -> str:
    found = shutil.which("npm")
    if found is None or not (WEB / "node_modules").is_dir():
        pytest.skip("what the page is built with is not installed: needs node and npm, then `make setup`")
    return found


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_committed_files_are_those_that_the_sources_give(npm: str, tmp_path: Path) -> None:
    run("node", "build.mjs", str(tmp_path))
    built = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    committed = {file.name: file.read_bytes() for file in STATIC.iterdir()}
    assert built.keys() == committed.keys()
    assert [name for name in built if built[name] != committed[name]] == [], "run `make web` and commit what it gives"


def test_types_are_right(npm: str) -> None:
    run(npm, "run", "check")


def test_the_parts_keep_their_rules(npm: str) -> None:
    run(npm, "test")


def test_the_page_is_small() -> None:
    assert sum(file.stat().st_size for file in STATIC.iterdir()) < LARGEST


def test_nothing_in_the_page_needs_a_weaker_policy() -> None:
    html = (STATIC / "index.html").read_text()
    assert "style=" not in html
    assert html.count("<script") == html.count('<script type="module" src="page.js">') == 1


def test_the_pictures_in_the_documentation_are_there_and_small() -> None:
    pictures = ROOT / "docs" / "images"
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")]
    named = {name for page in pages for name in re.findall(r"images/([\w-]+\.\w+)\)", page)}
    assert named == {file.name for file in pictures.iterdir()}
    assert all((pictures / name).stat().st_size < 150_000 for name in named)
