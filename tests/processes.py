"""The processes that tests have started."""

from __future__ import annotations

import contextlib

import psutil

__all__ = ["started_by_tests"]

_DRIVER = "playwright"
"""Stands in the command that drives the browser, which runs as long as the tests do and starts others as it likes."""


def started_by_tests() -> set[psutil.Process]:
    """Return all descendants of this process but the browser's."""
    started: set[psutil.Process] = set()
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if not any(_DRIVER in argument for argument in child.cmdline()):
                started |= {child, *child.children(recursive=True)}
    return started
