"""Finds a function that a command line names as ``FILE[:FUNCTION]``: :func:`load_function`."""

from __future__ import annotations

import runpy
from typing import Any

__all__ = ["load_function"]


def load_function(reference: str) -> Any:
    """Run a Python file and return the function of that name in it, or its ``script`` where no function is named.

    Raises:
        OSError: there is no such file.
        KeyError: it defines no such function.
    """
    file, colon, name = reference.rpartition(":")
    if not colon or not name.isidentifier():
        file, name = reference, "script"
    return runpy.run_path(file)[name]
