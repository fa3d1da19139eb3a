"""The processes that tests have started."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psutil

__all__ = ["none_left", "started_by_tests"]

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


@contextlib.contextmanager
def none_left() -> Iterator[None]:
    """Check that no process outlives what has started it in here."""
    before = started_by_tests()
    yield
    left = started_by_tests() - before
    assert not left, f"still running: {[process.cmdline() for process in left]}"
