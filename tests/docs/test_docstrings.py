"""Examples in docstrings: those with a prompt run, and the others name what is there, by arguments that it takes."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import acp_host
from tests.docs.snippets import ROOT

SOURCES = [path for path in sorted((ROOT / "acp_host").rglob("*.py")) if "node_modules" not in path.parts]
OPTIONAL = ("acp_host/ui/qt.py", "acp_host/ui/glib.py", "acp_host/ui/tk.py")
"""Modules whose toolkit may not be there."""
TOOLKITS = ("PySide6", "PySide6.QtCore", "shiboken6", "gi", "gi.repository", "tkinter")
EXAMPLE = re.compile(r"::\n\n((?:(?: {4,}\S.*)?\n?)+)")


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def with_prompts() -> list[str]:
    return [name_of(path) for path in SOURCES if ">>> " in path.read_text(encoding="utf-8")]


def examples(path: Path) -> Iterator[ast.Module]:
    """Yield the literal blocks of a module's docstrings that are Python."""
    text = path.read_text(encoding="utf-8")
    if "::\n" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            for block in EXAMPLE.findall(ast.get_docstring(node) or ""):
                try:
                    yield ast.parse(textwrap.dedent(block))
                except SyntaxError:
                    continue  # a tree of errors, a form of JSON, a marker


WITH_EXAMPLES = [path for path in SOURCES if any(examples(path))]


def test_there_are_examples() -> None:
    assert len(with_prompts()) > 5
    assert len(WITH_EXAMPLES) > 30


@pytest.mark.parametrize("module", with_prompts())
def test_what_stands_behind_a_prompt_is_so(module: str) -> None:
    ran = doctest.testmod(importlib.import_module(module))
    assert ran.attempted
    assert ran.failed == 0


class AnyOfToolkit:
    """Whatever a toolkit has: a class, a base of classes, a decorator."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, function: Any) -> Any:
        return function


def loaded_without_toolkit(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a module of its own that is made from a source, with something else in the place of each toolkit."""
    for name in TOOLKITS:
        stand_in = ModuleType(name)
        stand_in.__getattr__ = lambda _: AnyOfToolkit
        monkeypatch.setitem(sys.modules, name, stand_in)
    spec = spec_from_file_location(name_of(path), path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=name_of)
def test_the_names_and_arguments_in_an_example_are_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        module = importlib.import_module(name_of(path))
    except ImportError:
        assert path.relative_to(ROOT).as_posix() in OPTIONAL
        module = loaded_without_toolkit(path, monkeypatch)
    known = {**vars(module), "acp_host": acp_host}
    for tree in examples(path):
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute | ast.Call):
                check(node, known)


def check(node: ast.Attribute | ast.Call, known: dict[str, Any]) -> None:
    """Hold what is named in full, and called, against what there is."""
    if isinstance(node, ast.Attribute):
        named(node, known)
        return
    called = named(node.func, known)
    if called is None or not callable(called):
        return
    try:
        signature = inspect.signature(called)
    except ValueError:
        return
    takes = signature.parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in takes.values()):
        assert {each.arg for each in node.keywords if each.arg} <= takes.keys(), ast.unparse(node)


def named(node: ast.expr, known: dict[str, Any]) -> Any:
    """Return what a name stands for; ``None`` where it is one of the example's own."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = named(node.value, known)
        if inspect.ismodule(owner) and owner.__name__.startswith("acp_host"):
            assert hasattr(owner, node.attr), f"there is no {ast.unparse(node)}"
            return getattr(owner, node.attr)
    return None


@pytest.mark.parametrize("path", OPTIONAL)
def test_a_module_is_read_without_its_toolkit(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert loaded_without_toolkit(ROOT / path, monkeypatch).__all__


def test_a_name_or_an_argument_that_is_not_there_is_found() -> None:
    for code in ("acp_host.no_such_name", "acp_host.connect(agent, no_such_argument=1)"):
        [statement] = ast.parse(code).body
        assert isinstance(statement, ast.Expr)
        with pytest.raises(AssertionError, match="no_such"):
            check(statement.value, {"acp_host": acp_host})
