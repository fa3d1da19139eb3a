"""What holds for every page: its examples are run by some test, its command lines are taken, its data can be read."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import acp_host
from acp_host.cli.command import _make_parser
from acp_host.testing import ReferenceAgent
from tests.docs.snippets import ROOT, run_page

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TESTS = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def fenced(page: str, *languages: str) -> list[str]:
    """Return the blocks of a page's text that are in one of some languages."""
    return re.findall(rf"^```(?:{'|'.join(languages)})\b.*\n((?:.*\n)*?)```", page, re.MULTILINE)


# --- Python -----------------------------------------------------------------------------------------------------------

WITH_PYTHON = [page for page in PAGES if fenced(page.read_text(encoding="utf-8"), "python")]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name_of)
def test_the_examples_of_a_page_are_run_by_a_test(page: Path) -> None:
    folder, stem = name_of(page.parent), page.stem
    names = (name_of(page), f'"{stem}.md"', f"{folder}/{{name}}.md", f'{folder}/" "{stem}')
    running = ("run_page(", "run_snippet(", "exec(", "subprocess.run(", "run_lines(")
    assert [
        path
        for path, text in TESTS.items()
        if any(name in text for name in names) and any(word in text for word in running)
    ]


async def test_the_example_on_the_json_form() -> None:
    sent: list[object] = []
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session()
        await run_page("docs/json-form.md", session=session, send=sent.append)
        await session.prompt("/say Hello")
    whole, *deltas = sent
    assert isinstance(whole, dict)
    assert whole["format"] == 1
    assert deltas
    assert all(isinstance(delta, list) for delta in deltas)


# --- the command ------------------------------------------------------------------------------------------------------


def command_lines(page: str) -> Iterator[str]:
    """Yield the lines of a page that begin with the command, those that are continued put together."""
    for block in [*fenced(page, "sh", "shell", "console"), *re.findall(r"(?:^ {4}acp-host .*\n)+", page, re.MULTILINE)]:
        for line in block.replace("\\\n", " ").splitlines():
            if line.removeprefix("$ ").strip().startswith("acp-host "):
                yield line.removeprefix("$ ").strip()


LINES = sorted({line for page in PAGES for line in command_lines(page.read_text(encoding="utf-8"))})


def test_there_are_lines() -> None:
    assert len(LINES) > 40


@pytest.mark.parametrize("line", LINES)
def test_the_command_takes_a_line(line: str) -> None:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|>&;")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words = list(lexer)
    ends = [place for place, word in enumerate(words) if set(word) <= set("|>&;")]
    options, unknown = _make_parser(words[1:]).parse_known_args(words[1 : min(ends, default=None)])
    assert callable(options.command)
    assert unknown == []


def test_an_option_or_a_command_that_is_not_there_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert _make_parser(["replay"]).parse_known_args(["replay", "--no-such-option", "x"])[1] == ["--no-such-option"]
    with pytest.raises(SystemExit):
        _make_parser(["no-such-command"]).parse_known_args(["no-such-command"])


# --- data -------------------------------------------------------------------------------------------------------------


def test_data_can_be_read() -> None:
    counted = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in fenced(text, "toml"):
            tomllib.loads(block)
            counted += 1
        for block in fenced(text, "json"):
            for document in [block] if block.startswith(("{\n", "[\n")) else block.splitlines():
                json.loads(document)
                counted += 1
    assert counted > 5
