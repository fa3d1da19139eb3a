"""The Python examples of a page of documentation, and how they are run."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import acp_host

__all__ = ["ROOT", "read_page", "run_page", "run_snippet", "snippets_of"]

ROOT = Path(__file__).parents[2]


def read_page(name: str) -> str:
    """Return the text of a page, e.g. ``docs/state.md``."""
    return (ROOT / name).read_text(encoding="utf-8")


def snippets_of(page: str) -> list[str]:
    """Return the Python examples in a page's text."""
    return re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


async def run_snippet(snippet: str, **names: Any) -> dict[str, Any]:
    """Run a piece of code that may await at its top level; return its names."""
    namespace = {"acp_host": acp_host, "Path": Path, **names}
    code = compile(snippet, "an example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    ended = eval(code, namespace)
    if inspect.isawaitable(ended):
        await ended
    return namespace


async def run_page(name: str, **names: Any) -> dict[str, Any]:
    """Run the examples of a page one after the other, as if they were one; return their names."""
    snippets = snippets_of(read_page(name))
    assert snippets
    for snippet in snippets:
        names = await run_snippet(snippet, **names)
    return names
