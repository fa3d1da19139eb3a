"""Names in docstrings and signatures, as Python resolves them.

A docstring names things as the code around it does: by the module in which they are written, or bare, as in its own
module. Where the thing is in the reference under its public name, the name leads there. Where it is not, because it is
private or of another library, it is shown as it is. A name that leads to nothing at all is left to Sphinx, which says
so.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import desc, desc_signature, pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.inspect import signature as signature_of
from sphinx.util.inspect import stringify_signature
from sphinx.util.nodes import make_refnode

_MISSING = object()


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.Element) -> nodes.Element | None:
    """Resolve what Sphinx could not."""
    if node.get("refdomain") != "py":
        return None
    documented = env.get_domain("py").objects
    if node["reftarget"].split(".")[0] in app.config.autodoc_mock_imports:
        return shown
    for path in candidates(node):
        if path in documented:
            at = documented[path]
            return make_refnode(app.builder, node["refdoc"], at.docname, at.node_id, shown, path)
        value, written_as = look_up(path)
        if value is _MISSING:
            continue
        for name in written_as:
            if name in documented:
                at = documented[name]
                return make_refnode(app.builder, node["refdoc"], at.docname, at.node_id, shown, name)
        return shown
    alike = [name for name in documented if name.endswith(f".{node['reftarget']}") and not documented[name].aliased]
    if len(alike) == 1:  # "Raises: …" names errors by what they are called in the package
        at = documented[alike[0]]
        return make_refnode(app.builder, node["refdoc"], at.docname, at.node_id, shown, alike[0])
    return None


def candidates(node: pending_xref) -> list[str]:
    """Return the full names that a name may stand for: within its class, its module, or everywhere."""
    target = node["reftarget"].lstrip(".")
    documented = documented_around(node)
    modules = list(dict.fromkeys([*written_in(documented), documented.rpartition(".")[0], node.get("py:module") or ""]))
    scopes = [documented, documented.rpartition(".")[0], *modules]
    names = [target, *(f"{scope}.{target}" for scope in scopes if scope)]
    typed = [full for module in modules for full in names_for_type_checkers(module).get(target, ())]
    return [*names, *typed, f"builtins.{target}", f"acp_host.{target}"]


def documented_around(node: pending_xref) -> str:
    """Return the full name of the class or function in whose documentation a name stands; empty for none."""
    around: Any = node
    while around is not None and not isinstance(around, desc):
        around = around.parent
    if around is not None:
        signature = around.next_node(desc_signature)
        if signature is not None and "fullname" in signature:
            return ".".join(part for part in (signature.get("module"), signature["fullname"]) if part)
    return ".".join(part for part in (node.get("py:module"), node.get("py:class")) if part)


def written_in(path: str) -> list[str]:
    """Return the modules in whose words a docstring may be: of a class, and of those above it."""
    value, _ = look_up(path)
    owner, _ = look_up(path.rpartition(".")[0])
    kinds = [*getattr(value, "__mro__", ()), *getattr(owner, "__mro__", ())]
    own = inspect.getmodule(inspect.unwrap(value)) if callable(value) else None
    return [getattr(own, "__name__", ""), *(kind.__module__ for kind in kinds)]


@cache
def names_for_type_checkers(name: str) -> dict[str, list[str]]:
    """Return what a module imports, for type checkers only too: signatures have such names."""
    file = getattr(sys.modules.get(name), "__file__", None) if name.startswith("acp_host") else None
    found: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))) if file else ():
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, []).append(f"{node.module}.{alias.name}")
    return found


def take_names_as_they_are(app: Sphinx, doctree: nodes.document) -> None:
    """Keep Sphinx from guessing which of several things a bare name in a signature stands for: see above."""
    for node in doctree.findall(pending_xref):
        if node.get("refdomain") == "py" and "refspecific" in node:
            del node["refspecific"]  # Sphinx asks whether it is there, not what it is


def use_usual_words(app: Sphinx, doctree: nodes.document) -> None:
    """Say "Attributes", as docstrings do, for what Sphinx calls variables, and write a dash behind each name.

    Sphinx leaves dashes to a filter that would change commands, too.
    """
    for name in doctree.findall(nodes.field_name):
        if name.astext() == "Variables":
            name.children = [nodes.Text("Attributes")]
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


@cache
def look_up(path: str) -> tuple[Any, list[str]]:
    """Return what a full name stands for, and the other full names that it has; a marker if it stands for nothing."""
    parts = path.split(".")
    if parts[0] not in sys.modules and not find_spec(parts[0]):
        return _MISSING, []
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except (ImportError, ValueError):
            continue
        return member(value, parts[length:])
    return _MISSING, []


def member(value: Any, path: list[str]) -> tuple[Any, list[str]]:
    names: list[str] = []
    for name in path:
        owner, value = value, inspect.getattr_static(value, name, _MISSING)
        if value is _MISSING:
            value = getattr(owner, name, _MISSING)
        if value is _MISSING:
            return _MISSING, []
        if inspect.isclass(owner):
            names = [f"{public}.{name}" for kind in owner.__mro__ for public in names_of(kind)]
        else:
            names = names_of(value)
    return value, names


def names_of(value: Any) -> list[str]:
    """Return the full names under which a class or function may be in the reference."""
    if not hasattr(value, "__qualname__"):
        return []
    name = f"{value.__module__}.{value.__qualname__}"
    return [name, *_public.get(name, ())]


_public: dict[str, list[str]] = {}


def remember(app: Sphinx, env: BuildEnvironment) -> None:
    """Learn which public names the documented classes and functions have."""
    _public.clear()
    for name, entry in env.get_domain("py").objects.items():
        if not entry.aliased and entry.objtype in {"class", "exception", "function"}:
            value, _ = look_up(name)
            if hasattr(value, "__qualname__"):
                _public.setdefault(f"{value.__module__}.{value.__qualname__}", []).append(name)


_kept: list[str] = []


def put_aside(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Keep napoleon from a docstring whose first words, up to a colon, it would take for a type."""
    _kept[:] = []
    if what in {"attribute", "data", "property"} and lines:
        _kept[:], lines[:] = lines, ["…"]


def put_back(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    if _kept:
        lines[:] = _kept


class _Left:
    """A default value that is no Python when it is written down."""

    def __repr__(self) -> str:
        return "..."


def leave_out_reprs(
    app: Sphinx, what: str, name: str, value: Any, options: Any, shown: str | None, result: str | None
) -> tuple[str, str | None] | None:
    """Write ... for default values such as functions, which Sphinx could not read in a signature."""
    if shown is None or is_python(f"def f{shown}: ..."):
        return None
    parameters = [
        each if each.default is each.empty or is_python(repr(each.default)) else each.replace(default=_Left())
        for each in signature_of(value, bound_method=what == "method").parameters.values()
    ]
    shorter = inspect.Signature(parameters)
    return stringify_signature(shorter, unqualified_typehints=True, show_return_annotation=False), result


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", put_aside, priority=400)
    app.connect("autodoc-process-docstring", put_back, priority=600)
    app.connect("autodoc-process-signature", leave_out_reprs)
    app.connect("doctree-read", take_names_as_they_are)
    app.connect("doctree-read", use_usual_words)
    app.connect("env-updated", remember)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
