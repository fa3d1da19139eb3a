"""What the docs tell those who change the code is true: paths exist, targets are there, tables are whole."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from acp_host.cli.command import run_command
from tests.docs.snippets import ROOT, read_page

PAGE = read_page("docs/contributing.md")
PATH = re.compile(r"\b(?:acp_host|docs|fixtures|tests)/[\w./*-]*[\w*]|(?<![\w/])\.(?:ci|github)/[\w./-]*\w")
"""Of something in the repository, as texts and output of commands have it."""
PAGES = sorted(path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md"))


def paths_in(page: str) -> set[str]:
    """Return the paths that a page names, in backticks or in output that it shows."""
    shown = re.findall(r"```text\n(.*?)```", page, re.DOTALL) + re.findall(r"`([^`\n]+)`", page)
    return {path for text in shown for path in PATH.findall(text)}


@pytest.mark.parametrize("page", [Path("README.md"), *PAGES], ids=str)
def test_paths_that_a_page_names_exist(page: Path) -> None:
    named = paths_in(read_page(str(page)))
    # A word in capitals stands for any name.
    globs = {path: re.sub(r"\b[A-Z]{3,}\b", "*", path) for path in named}
    assert [path for path, pattern in sorted(globs.items()) if not list(ROOT.glob(pattern))] == []


def test_paths_are_found() -> None:
    assert len(paths_in(PAGE)) > 60
    assert paths_in("`acp_host/no/such.py`, `tests/*.py`, `.github/x.md` and tests/none") == {
        "acp_host/no/such.py",
        "tests/*.py",
        ".github/x.md",
    }


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"`make ([a-z-]+)", PAGE))
    assert len(named) > 15
    assert {target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)} == set()


def test_the_folders_are_those_of_the_layers_from_the_top_down() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = re.findall(r"\w+", "\n".join(settings["tool"]["importlinter"]["contracts"][0]["layers"]))
    folders = [layer for layer in layers if (ROOT / "acp_host" / layer).is_dir()]
    rows = PAGE.partition("| folder |")[2].partition("\n\n")[0]
    assert re.findall(r"`acp_host/(\w+)`", rows) == [name for name in folders if name != "scheduling"]


def test_a_commit_is_checked_as_make_lint_does() -> None:
    lint = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlint:")[2].partition("\n\n")[0]
    wanted = {line.replace("$(BIN)", ".venv/bin").removesuffix(" .") for line in re.findall(r"\$\(BIN\)/.*", lint)}
    [repository] = _yaml(".pre-commit-config.yaml")["repos"]
    assert {hook["entry"].replace(" --force-exclude", "") for hook in repository["hooks"]} == wanted
    assert len(wanted) == 5


def test_templates_of_issues_are_forms_and_name_commands_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    forms = {path.stem: _yaml(str(path.relative_to(ROOT))) for path in (ROOT / ".github/ISSUE_TEMPLATE").iterdir()}
    assert forms.pop("config") == {"blank_issues_enabled": True}
    assert forms.keys() == {"agent", "bug", "feature"}
    for form in forms.values():
        fields = [field for field in form["body"] if field["type"] != "markdown"]
        assert all(field["attributes"]["label"] for field in fields)
        assert len({field["id"] for field in fields}) == len(fields)
        for name in re.findall(r"acp-host (\w+)", str(fields)):
            with pytest.raises(SystemExit) as end:
                run_command([name, "--help"])
            assert end.value.code == 0
    assert "acp-host record anonymise" in str(forms["bug"])
    assert "usage: acp-host record" in capsys.readouterr().out


def _yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
