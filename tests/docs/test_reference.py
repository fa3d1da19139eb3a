"""The pages of the reference leave nothing out, and say what is so."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

import acp_host
from acp_host.quirks import QUIRKS, QuirkKind
from tests.docs import cli_page
from tests.docs.snippets import ROOT, read_page, run_page, snippets_of

API = ROOT / "docs/reference/api"
TOOLKITS = {"acp_host.ui.qt": "PySide6", "acp_host.ui.glib": "gi", "acp_host.ui.tk": "tkinter"}


def listed() -> Iterator[tuple[str, list[str]]]:
    """Yield the modules that the pages on the API document, and the names of each; none stands for all."""
    for page in sorted(API.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for module, names in re.findall(r"^```\{api\} (\S+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            yield module, re.sub(r"^:.*$", "", names, flags=re.MULTILINE).split()


def load(name: str) -> ModuleType | None:
    """Import a module; ``None`` where its toolkit is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        if name not in TOOLKITS:
            raise
        return None


LISTED = list(listed())
WHOLE = {module for module, names in LISTED if not names}


# --- the API ----------------------------------------------------------------------------------------------------------


def test_every_public_name_of_the_package_is_on_one_page() -> None:
    names = [name for module, names in LISTED if module == "acp_host" for name in names]
    modules = {name for name in acp_host.__all__ if inspect.ismodule(getattr(acp_host, name))}
    assert sorted(names) == sorted(set(acp_host.__all__) - modules - {"__version__"})
    assert {f"acp_host.{name}" for name in modules} <= WHOLE


def test_no_module_is_documented_twice() -> None:
    modules = [module for module, names in LISTED if not names]
    assert len(modules) == len(set(modules))


def test_what_is_public_says_what_it_is() -> None:
    for module in sorted(WHOLE):
        loaded = load(module)
        if loaded is None:
            continue
        assert loaded.__doc__, module
        for name in loaded.__all__:
            value = getattr(loaded, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                assert value.__doc__, f"{module}.{name}"


def test_every_module_that_keeps_its_form_is_in_the_reference() -> None:
    kept = {path.stem for path in (ROOT / "tests/public_api").glob("acp_host*.txt")}
    assert len(kept) > 40
    assert sorted(kept - WHOLE) == ["acp_host"]


def test_every_package_that_offers_names_is_in_the_reference() -> None:
    offering = set()
    for path in (ROOT / "acp_host").rglob("__init__.py"):
        module = ".".join(path.parent.relative_to(ROOT).parts)
        private = any(part.startswith("_") for part in module.split("."))
        if not private and "__all__" in path.read_text(encoding="utf-8"):
            offering.add(module)
    inner = {
        "acp_host",
        "acp_host.cli",
        "acp_host.translate.harn",
    }  # of these, nothing beside what pages show is public
    assert offering - inner - WHOLE == set()


def test_whatever_the_examples_import_is_in_the_reference() -> None:
    some = {(module, name) for module, names in LISTED for name in names}
    missing = set()
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for snippet in snippets_of(page.read_text(encoding="utf-8")):
            for node in ast.walk(ast.parse(snippet)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("acp_host."):
                    wanted = {(node.module, alias.name) for alias in node.names}
                    missing |= {each for each in wanted - some if each[0] not in WHOLE}
    assert {f"{module}.{name}" for module, name in missing if name not in acp_host.__all__} == set()


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="argparse words its usage anew")
def test_the_page_on_the_command_is_current() -> None:
    page = cli_page.PAGE.read_text(encoding="utf-8")
    assert page == cli_page.make_page(), "run: python -m tests.docs.cli_page"


# --- errors -----------------------------------------------------------------------------------------------------------


def public_errors() -> dict[str, type[BaseException]]:
    """Return the errors among what the reference documents, by name."""
    found: dict[str, type[BaseException]] = {}
    for module, names in LISTED:
        if module.startswith("acp_host.ui."):  # these take long to load, and have none
            continue
        loaded = importlib.import_module(module)
        for name in names or loaded.__all__:
            value = getattr(loaded, name)
            if inspect.isclass(value) and issubclass(value, acp_host.AcpError):
                found[name] = value
    return found


def test_every_public_error_is_in_its_place_in_the_table() -> None:
    rows = re.findall(r"^\| ((?:– )*)`(\w+)` \|", read_page("docs/reference/errors.md"), re.MULTILINE)
    errors = public_errors()
    assert sorted(name for _, name in rows) == sorted(errors)
    above: list[str] = []
    for marks, name in rows:
        depth = marks.count("–")
        above[depth:] = [name]
        if depth:
            assert errors[above[depth - 1]] in errors[name].__bases__, f"{name} is no subclass of {above[depth - 1]}"


def test_every_row_says_what_to_do() -> None:
    rows = re.findall(r"^\| – .*$", read_page("docs/reference/errors.md"), re.MULTILINE)
    assert len(rows) > 30
    for row in rows:
        assert all(cell.strip() for cell in row.strip("|").split("|")), row


async def test_the_example_on_errors(capsys: pytest.CaptureFixture[str]) -> None:
    from acp_host.testing import ReferenceAgent

    async with acp_host.connect(ReferenceAgent().transport()) as host:
        await run_page("docs/reference/errors.md", session=await host.new_session())
    assert capsys.readouterr().out.startswith("not sent: ")


# --- quirks -----------------------------------------------------------------------------------------------------------


def test_every_quirk_and_every_kind_of_it_is_on_the_page() -> None:
    page = read_page("docs/reference/quirks.md")
    kinds, rows = page.partition("## The rows\n")[::2]
    assert re.findall(r"^\| `(\w+)` \|", kinds, re.MULTILINE) == list(QuirkKind)
    cells = re.findall(r"^\| `(.*?)` \| (.*?) \| `(.*?)` \| (.*?) \| (.*?) \|$", rows, re.MULTILINE)
    told = [tuple(cell.replace("\\|", "|").strip().strip("`") for cell in row) for row in cells]
    assert told == [
        (quirk.agent, quirk.versions.replace(".*", "all") if quirk.versions == ".*" else quirk.versions, *rest)
        for quirk in QUIRKS
        for rest in [(quirk.kind, quirk.subject, quirk.why)]
    ]


async def test_the_examples_on_quirks(capsys: pytest.CaptureFixture[str]) -> None:
    names = await run_page("docs/reference/quirks.md")
    assert len(capsys.readouterr().out.splitlines()) == len(QUIRKS)
    assert names["own"].applies_to("some-agent", "1.0")
