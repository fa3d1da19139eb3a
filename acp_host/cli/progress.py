"""One line that says that something goes on while nothing is printed: :class:`ProgressLine`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from rich.cells import set_cell_size
from rich.console import Console

from acp_host.cli.printer import Printer, clean

__all__ = ["ProgressLine"]

_SILENCE = 2.0
"""Seconds without any output after which it is drawn."""
_TICK = 0.5
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """Draws one line below what was printed, and takes it away before anything else is printed.

    Only at a terminal, only after a while without any output, and never while a line is open.

    Args:
        printer: prints everything else.
        describe: returns what is going on, as one line for people.
        held: tells whether it must not be drawn now, e.g. since somebody is being asked something.
    """

    def __init__(self, printer: Printer, describe: Callable[[], str], held: Callable[[], bool] = lambda: False) -> None:
        self._printer = printer
        self._describe = describe
        self._held = held
        self._last_output = time.monotonic()
        self._drawn = False

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Draw it while the block runs, where there is a terminal that can take it away again."""
        console = self._printer.console
        if not _can_redraw(console):
            yield
            return
        self._printer.before_output = self.clear
        task = asyncio.create_task(self._tick(console), name="acp-host progress")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            self.clear()

    def clear(self) -> None:
        """Take it away; something else is printed."""
        self._last_output = time.monotonic()
        if self._drawn:
            self._drawn = False
            self._write(self._printer.console, _CLEAR)

    async def _tick(self, console: Console) -> None:
        while True:
            await asyncio.sleep(_TICK)
            if time.monotonic() - self._last_output < _SILENCE or self._printer.in_a_line:
                continue
            if self._held():
                self.clear()
                continue
            text = clean(self._describe()).replace("\n", " ")
            self._drawn = True
            self._write(console, f"{_CLEAR}\x1b[2m{set_cell_size(text, max(1, console.width - 1)).rstrip()}\x1b[0m")

    @staticmethod
    def _write(console: Console, text: str) -> None:
        console.file.write(text)
        console.file.flush()


def _can_redraw(console: Console) -> bool:
    return console.is_terminal and not console.is_dumb_terminal and not console.legacy_windows
