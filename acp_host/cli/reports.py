"""Prints what the library logs about a connection: diagnostics and the agent's notices.

Both are logged from the first byte on, before there is a connection object to ask; so what an agent that never becomes
one has printed instead of messages is seen too.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from acp_host.cli.printer import Printer, plain
from acp_host.diagnostics import Diagnostic

__all__ = ["reports_to"]

_LONGEST_DATA = 200
_LEVELS = {"acp_host.diagnostics": logging.DEBUG, "acp_host.notices": logging.INFO}
_STYLES = {logging.WARNING: "yellow", logging.ERROR: "red"}


class _Handler(logging.Handler):
    def __init__(self, printer: Printer) -> None:
        super().__init__()
        self._printer = printer

    def emit(self, record: logging.LogRecord) -> None:
        diagnostic = getattr(record, "diagnostic", None)
        with suppress(OSError):  # whoever logs must not suffer for a closed stderr
            if isinstance(diagnostic, Diagnostic):
                self._printer.line("diagnostic", plain(_text(diagnostic), "yellow"))
            else:
                self._printer.line("notice", plain(record.getMessage(), _STYLES.get(record.levelno, "")))


def _text(diagnostic: Diagnostic) -> str:
    text = f"{diagnostic.kind}: {diagnostic.message}"
    if diagnostic.path is not None:
        text += f" at {diagnostic.path}"
    if diagnostic.count > 1:
        text += f" (stands for {diagnostic.count})"
    if isinstance(diagnostic.data, str) and diagnostic.data.strip():
        text += f"\n{diagnostic.data.strip()[:_LONGEST_DATA]}"
    return text


@contextmanager
def reports_to(printer: Printer) -> Iterator[None]:
    """Print diagnostics and notices while the block runs, and leave the loggers as they were."""
    handler = _Handler(printer)
    before = {name: (logging.getLogger(name).level, logging.getLogger(name).propagate) for name in _LEVELS}
    for name, level in _LEVELS.items():
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(level)
        logger.propagate = False
    try:
        yield
    finally:
        for name, (level, propagate) in before.items():
            logger = logging.getLogger(name)
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate
