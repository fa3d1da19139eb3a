"""The directive ``api``: documents public names of a module from their docstrings, each as what it is. ::

    ```{api} acp_host
    connect HostConnection
    ```

``:without: NAME`` leaves out what classes get from a class with this name, which is for the parts around it alone.
Without names it documents the module itself and all of its ``__all__``, but for what a package above it, or
``acp_host``, offers too: that is documented there, under its shorter name, and linked here.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import sys
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from types import ModuleType
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import PycodeError
from sphinx.ext.autodoc.mock import mock
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

PACKAGE = "acp_host"


class Api(SphinxDirective):
    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"without": str.split}

    def run(self) -> list[nodes.Node]:
        module = load(self.arguments[0], self.config.autodoc_mock_imports)
        names = " ".join(self.content).split()
        lines = named(module, names, self.options.get("without", ())) if names else whole(module)
        return self.parse_text_to_nodes("```{eval-rst}\n" + "\n".join(lines) + "\n```\n")


def load(name: str, toolkits: list[str]) -> ModuleType:
    """Import a module, also where the toolkit that it adapts is not installed."""
    with mock(toolkits):
        return importlib.import_module(name)


def whole(module: ModuleType) -> Iterator[str]:
    """Yield reStructuredText that documents a module and its public names."""
    yield f".. py:module:: {module.__name__}"
    yield ""
    yield from inspect.cleandoc(module.__doc__ or "").splitlines()
    yield ""
    own = [name for name in module.__all__ if home_of(module, name) == f"{module.__name__}.{name}"]
    elsewhere = [name for name in module.__all__ if name not in own]
    if elsewhere:
        links = [f":py:obj:`{name} <{home_of(module, name)}>`" for name in elsewhere]
        yield f"Also here: {', '.join(links)}."
        yield ""
    yield from named(module, own)


def home_of(module: ModuleType, name: str) -> str:
    """Return the full name under which a public name is documented: in the module nearest the top that offers it."""
    value = getattr(module, name)
    parts = module.__name__.split(".")
    for length in range(1, len(parts)):
        above = importlib.import_module(".".join(parts[:length]))
        if name in getattr(above, "__all__", ()) and getattr(above, name) is value:
            return f"{above.__name__}.{name}"
    return f"{module.__name__}.{name}"


def named(module: ModuleType, names: list[str], without: Sequence[str] = ()) -> Iterator[str]:
    """Yield reStructuredText that documents some names of a module."""
    yield f".. py:currentmodule:: {module.__name__}"
    yield ""
    for name in names:
        value = getattr(module, name)
        if inspect.isclass(value):
            kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
            yield f".. {kind}:: {name}"
            yield f"   :members: {', '.join(members_of(value, without))}"
            if issubclass(value, enum.Enum):
                yield "   :undoc-members:"
        elif inspect.isroutine(value):
            yield f".. autofunction:: {name}"
        elif inspect.ismodule(value):
            yield f":py:mod:`{value.__name__}`"
        else:
            yield from data(module, name)
        yield ""


def members_of(value: type, without: Sequence[str]) -> list[str]:
    """Return the names of the public members that this library gives a class, in the order of the source."""
    own = [kind for kind in value.__mro__ if kind.__module__.split(".")[0] == PACKAGE and kind.__name__ not in without]
    return list(dict.fromkeys(name for kind in own for name in vars(kind) if is_documented(kind, name)))


def is_documented(kind: type, name: str) -> bool:
    """Tell whether a member of a class is public and has a docstring in this library, not only in one above it."""
    value = vars(kind)[name]
    if issubclass(kind, enum.Enum) and isinstance(value, kind):
        return True
    if name.startswith("_"):
        return False
    described = inspect.isroutine(value) or isinstance(value, property | classmethod | staticmethod | cached_property)
    return described or (kind.__qualname__, name) in attribute_docs(kind.__module__)


@cache
def attribute_docs(module: str) -> dict[tuple[str, str], list[str]]:
    """Return what is written below assignments in a module, by class and name."""
    try:
        return ModuleAnalyzer.for_module(module).find_attr_docs()
    except PycodeError:
        return {}


def data(module: ModuleType, name: str) -> Iterator[str]:
    """Yield what documents a value: what is written below it in the module that makes it."""
    yield f".. py:data:: {name}"
    yield ""
    for line in documentation_of(getattr(module, name), name, module.__name__):
        yield f"   {line}"


def documentation_of(value: object, name: str, package: str) -> list[str]:
    for module, loaded in sorted(sys.modules.items()):
        if module.startswith(PACKAGE) and vars(loaded).get(name) is value and ("", name) in attribute_docs(module):
            return attribute_docs(module)["", name]
    raise LookupError(f"{package}.{name} has no docstring")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("api", Api)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
