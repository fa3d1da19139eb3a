"""What a change brings to users is a well-formed fragment in ``docs/news``, and a release takes it to the changelog."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEWS = ROOT / "docs" / "news"
START = "<!-- towncrier release notes start -->"
TYPES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]["fragment"]
NOT_NEWS = {"README.md", "template.md.jinja"}
FRAGMENTS = sorted(path for path in NEWS.iterdir() if path.name not in NOT_NEWS)
LINE = re.compile(r"- \S.*|  +\S.*")
"""Of a list in Markdown: an item, or what continues it."""


def faults(name: str, text: str) -> list[str]:
    """What is wrong with a fragment, by its file's name and its text."""
    found = []
    parts = re.fullmatch(r"[a-z0-9-]+\.([a-z]+)\.md", name)
    if parts is None or parts[1] not in TYPES:
        found.append("name")
    lines = text.removesuffix("\n").split("\n")
    if not text.startswith("- ") or not all(LINE.fullmatch(line) for line in lines):
        found.append("not a list")
    if not text.endswith("\n") or any(line != line.rstrip() for line in lines):
        found.append("white space")
    if any(len(line) > 120 for line in lines):
        found.append("long line")
    return found


def test_each_fragment_is_well_formed() -> None:
    assert {path.name: found for path in FRAGMENTS if (found := faults(path.name, path.read_text("utf-8")))} == {}


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a-name.fixed.md", "- It works,\n  here too.\n- And there.\n", []),
        ("a-name.bugfix.md", "- It works.\n", ["name"]),
        ("A_name.fixed.md", "- It works.\n", ["name"]),
        ("a-name.fixed.md", "It works.\n", ["not a list"]),
        ("a-name.fixed.md", "- It works,\nhere too.\n", ["not a list"]),
        ("a-name.fixed.md", "- It works.\n\n- And there.\n", ["not a list"]),
        ("a-name.fixed.md", "", ["not a list", "white space"]),
        ("a-name.fixed.md", "- It works. \n", ["white space"]),
        ("a-name.fixed.md", "- It works.", ["white space"]),
        ("a-name.fixed.md", f"- {'It works. ' * 12}.\n", ["long line"]),
    ],
)
def test_a_fragment_that_is_not_well_formed_is_found_out(name: str, text: str, found: list[str]) -> None:
    assert faults(name, text) == found


def test_the_types_are_those_that_the_page_explains() -> None:
    explained = re.findall(r"^\| `(\w+)` \|", (NEWS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert explained == list(TYPES)


def test_a_release_moves_the_fragments_into_the_changelog(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    news = tmp_path / "docs" / "news"
    news.mkdir(parents=True)
    shutil.copy(NEWS / "README.md", news)
    shutil.copy(NEWS / "template.md.jinja", news)
    (news / "two.added.md").write_text("- A second thing.\n- A third,\n  with more to say.\n", encoding="utf-8")
    (news / "one.added.md").write_text("- A first thing.\n", encoding="utf-8")
    (news / "odd.fixed.md").write_text("- An oddity.\n", encoding="utf-8")
    before = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "99.0.0", "--date", "2099-01-01"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=30)
    head, _, rest = before.partition(START)
    written = (
        "## [99.0.0] - 2099-01-01\n\n"
        "### Added\n\n- A first thing.\n- A second thing.\n- A third,\n  with more to say.\n\n"
        "### Fixed\n\n- An oddity.\n"
    )
    after = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    assert after.startswith(f"{head}{START}\n\n{written}")
    assert after.removeprefix(f"{head}{START}\n\n{written}").strip() == rest.strip()
    assert {path.name for path in news.iterdir()} == NOT_NEWS
