"""Finds a function that a command line names as ``FILE[:FUNCTION]``: :func:`load_function`."""

from __future__ import annotations

import runpy
import traceback
from typing import Any

from acp_host.errors import InvalidInput

__all__ = ["load_function"]


def load_function(reference: str) -> Any:
    """Run a Python file and return the function of that name in it, or its ``script`` where no function is named.

    Raises:
        InvalidInput: there is no such file, it cannot be run, or it defines no such function.
    """
    file, colon, name = reference.rpartition(":")
    if not colon or not name.isidentifier():
        file, name = reference, "script"
    try:
        return runpy.run_path(file)[name]
    except KeyError as error:
        if error.args != (name,):
            raise _unusable(file, error) from error
        raise InvalidInput(f"{file} defines no function {name}") from None
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror or error}") from error
    except Exception as error:
        raise _unusable(file, error) from error


def _unusable(file: str, error: Exception) -> InvalidInput:
    """Return what is wrong with a file that raises, with the line that does."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    where = f", line {lines[-1]}" if lines else ""
    return InvalidInput(f"{file}{where}: {''.join(traceback.format_exception_only(error)).strip()}")
