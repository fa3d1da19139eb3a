"""How the view reaches a terminal that may go away: :class:`LosableDriver`.

A terminal that controls its process takes leave by a signal. One that does not (of a container, of a test, of whatever
calls a pseudo-terminal its own) is only not there any more: reads end at once, for ever, and writes fail. Textual would
read on as fast as it can, and wait for ever for somebody to take what it draws.
"""

from __future__ import annotations

import os
import sys
from typing import IO, Any

from textual.drivers.linux_driver import LinuxDriver

__all__ = ["LosableDriver"]


class LosableDriver(LinuxDriver):
    """Textual's driver for POSIX; draws on stderr, or on stdout where that is no terminal."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        streams = [stream for stream in (sys.__stderr__, sys.__stdout__) if stream is not None]
        terminals = [stream for stream in streams if stream.isatty()]
        self._file: Any = _Forgiving((terminals or streams)[0])

    @property
    def is_lost(self) -> bool:
        """Whether there was a terminal that is gone."""
        return self.input_tty and not os.isatty(self.fileno)


class _Forgiving:
    """A file that takes what is written to it, also when it cannot: the thread that writes is to go on."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        try:
            return self._file.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError:
            return

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
