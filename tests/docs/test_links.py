"""Every link within the repository leads to a file, and to a heading that is in it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.docs.snippets import ROOT

PAGES = [
    *ROOT.glob("*.md"),
    *(page for page in (ROOT / "docs").rglob("*.md") if page.suffixes == [".md"]),  # no fragments of news
]
NAMES = sorted(page.relative_to(ROOT).as_posix() for page in PAGES)
PARSER = MarkdownIt("commonmark").enable("table")


@cache
def tokens_of(path: Path) -> list[Token]:
    return PARSER.parse(path.read_text(encoding="utf-8"))


def inline(tokens: list[Token]) -> list[Token]:
    return [child for token in tokens for child in token.children or ()]


@cache
def anchors_of(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as both GitHub and MyST make them."""
    found: set[str] = set()
    tokens = tokens_of(path)
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            words = "".join(child.content for child in tokens[index + 1].children or ())
            slug = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
            number = 1
            unique = slug
            while unique in found:
                unique, number = f"{slug}-{number}", number + 1
            found.add(unique)
    return found


def targets_of(path: Path) -> list[str]:
    tokens = inline(tokens_of(path))
    linked = [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]
    return linked + [str(token.attrs["src"]) for token in tokens if token.type == "image"]


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for target in targets_of(page):
        if re.match(r"[a-z]+:", target):
            continue
        place, _, anchor = target.partition("#")
        file = (page.parent / place).resolve() if place else page
        assert file.exists(), f"{target}: there is no such file"
        assert file.is_relative_to(ROOT), f"{target} leaves the repository"
        if anchor and file.suffix == ".md":
            assert anchor in anchors_of(file), f"{target}: there is no such heading"


def test_a_heading_that_is_not_there_would_be_found() -> None:
    assert "limits" in anchors_of(ROOT / "docs/security.md")
    assert "no-limits" not in anchors_of(ROOT / "docs/security.md")
    assert "security.md#limits" in targets_of(ROOT / "docs/architecture.md")


def test_every_page_is_on_the_site() -> None:
    """A page that no table of contents names would be found by nobody."""
    listed = {"docs/index.md"}
    for contents in (ROOT / "docs/index.md", ROOT / "docs/reference/api/index.md"):
        for table in re.findall(r"^```\{toctree\}\n(.*?)^```", contents.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            for entry in (line for line in table.splitlines() if line and not line.startswith(":")):
                page = entry.rpartition("<")[2].removesuffix(">")  # without its title
                found = list(contents.parent.glob(f"{page}.md"))
                assert found, f"{contents.name} lists {entry}, which is not there"
                listed |= {path.relative_to(ROOT).as_posix() for path in found}
    assert sorted({name for name in NAMES if name.startswith("docs/")} - listed) == []
