"""A pseudo-terminal and the command in it: :class:`Pty`. POSIX only.

Owns the master's end: it is read and written on the event loop without blocking, and closed once. The slave's end is
held open until the command has ended, since a command may close its terminal and open it again. Then the end of the
output is told when nobody else holds it either, which can be long after the command has ended.

A command gets the pseudo-terminal as its controlling terminal, so that ``Ctrl+C`` interrupts it and ``/dev/tty`` is it.
The launched process leads a session of its own, and such a process takes the first terminal that it opens. To that end
``/bin/sh`` opens it and is then replaced by the program; neither the program's name nor its arguments are read by that
shell. Rejected: ``preexec_fn``, which can deadlock a program that has threads. What this costs: the shell may add
variables of its own (``PWD``, ``_``), and drops those that it cannot name itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import struct
import sys
import termios
from collections.abc import Callable, Mapping

from acp_host.errors import InvalidState
from acp_host.services.terminal_runner import TerminalCommand, TerminalSize

__all__ = ["Pty", "pty_argv"]

_CHUNK = 64 * 1024
_TAKE_TERMINAL = ': <"$0" && exec "$@"'


class Pty:
    """A new pseudo-terminal.

    Args:
        size: its size; see :meth:`resize`.

    Attributes:
        slave: what a command is given as input and outputs, until :meth:`close_slave`.
        name: the path of the slave.
    """

    slave: int
    name: str

    def __init__(self, size: TerminalSize) -> None:
        self._slave_open = True
        self._open = True
        self._writing = asyncio.Lock()
        self._writable: asyncio.Future[None] | None = None
        self._master: int
        if sys.platform == "win32":  # for type checkers, here and below
            raise NotImplementedError
        self._master, self.slave = os.openpty()
        self.name = os.ttyname(self.slave)
        os.set_blocking(self._master, False)
        self.resize(size)

    def close_slave(self) -> None:
        """Leave the slave's end to others; to be called when the command has ended."""
        if self._slave_open:
            self._slave_open = False
            os.close(self.slave)

    def resize(self, size: TerminalSize) -> None:
        """Change the size, of which the programs in the foreground are told (SIGWINCH)."""
        self._check_open()
        if sys.platform == "win32":
            raise NotImplementedError
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", size.rows, size.columns, 0, 0))

    def read(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        """Hand on what is printed from now on, and tell once when nobody can print any more."""

        def ready() -> None:
            try:
                data = os.read(self._master, _CHUNK)
            except BlockingIOError:
                return
            except OSError:  # EIO: the slave is held by nobody
                data = b""
            if data:
                on_data(data)
            else:
                self.close()
                on_end()

        asyncio.get_running_loop().add_reader(self._master, ready)

    async def write(self, data: bytes) -> None:
        """Type ``data``; returns when the terminal has taken all of it. When it is cancelled, a part may be typed.

        Raises:
            InvalidState: the terminal is closed, or is meanwhile.
        """
        async with self._writing:
            while data:
                self._check_open()
                try:
                    data = data[os.write(self._master, data) :]
                except BlockingIOError:
                    await self._until_writable()
                except OSError as error:
                    raise InvalidState("nothing reads from this terminal any more") from error

    def close(self) -> None:
        """Give both ends back, and hang up on who still holds the slave's; may be called repeatedly."""
        self.close_slave()
        if self._open:
            self._open = False
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop = asyncio.get_running_loop()
                loop.remove_reader(self._master)
                loop.remove_writer(self._master)
            os.close(self._master)
            if self._writable is not None:
                _set(self._writable)

    def _check_open(self) -> None:
        if not self._open:
            raise InvalidState("the command has ended, and its terminal is closed")

    async def _until_writable(self) -> None:
        loop = asyncio.get_running_loop()
        self._writable = writable = loop.create_future()
        loop.add_writer(self._master, _set, writable)
        try:
            await writable
        finally:
            if self._open:
                loop.remove_writer(self._master)


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def pty_argv(command: TerminalCommand, terminal: str) -> tuple[str, ...]:
    """Return the arguments that run ``command`` with ``terminal`` as its controlling terminal. Looks at the disk.

    Raises:
        OSError: there is no such program, or it may not be run.
    """
    program, *arguments = ("/bin/sh", "-c", *command.argv) if command.via_shell else command.argv
    return ("/bin/sh", "-c", _TAKE_TERMINAL, terminal, _find(program, command.env, command.cwd), *arguments)


def _find(program: str, env: Mapping[str, str], cwd: str) -> str:
    """Return the absolute path of the file that the system would run for ``program``."""
    directories = [""] if os.path.dirname(program) else env.get("PATH", os.defpath).split(os.pathsep)
    problem = errno.ENOENT
    for directory in directories:
        path = os.path.join(cwd, directory, program)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        if os.path.exists(path):
            problem = errno.EACCES
    raise OSError(problem, os.strerror(problem), program)
