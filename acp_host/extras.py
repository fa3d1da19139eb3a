"""The extras of this package in messages: :func:`brought_by`.

This is a leaf module: every layer may use it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["brought_by"]


@contextmanager
def brought_by(extra: str) -> Iterator[None]:
    """Let imports that fail tell which extra brings what is missing. ::

        with brought_by("qt"):
            from PySide6.QtCore import QObject

    Raises:
        ModuleNotFoundError: a package is not installed; says which, and how to get it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "acp_host"):
            raise
        message = f"{package} is not installed, which the extra {extra!r} brings: pip install 'acp-host[{extra}]'"
        raise ModuleNotFoundError(message, name=error.name) from error
