"""What runs the commands of a terminal service, and what they are to it: :class:`TerminalRunner`.

A :class:`~acp_host.services.terminals.TerminalService` decides what may run where, keeps the output and answers the
agent. *How* a command runs is a runner's business. The one that is used by default launches a process
(:mod:`acp_host.services._process_runner`); an editor that has a terminal of its own passes a runner that starts the
command there::

    class InTheEditor:
        async def start(self, command, events):
            tab = editor.open_terminal(command.argv, cwd=command.cwd, env=command.env)
            tab.on_output(events.printed)
            tab.on_exit(events.ended)
            return Tab(tab)  # a RunningCommand: end() and release()

What a runner owes is little, and what it fails to do harms one terminal at most: one that raises, never answers, never
tells the end or tells it twice is met with the rules below.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from attrs import field, frozen

from acp_host.errors import InvalidInput, InvalidState
from acp_host.services.shells import Shell
from acp_host.wire.ids import SessionId

__all__ = ["RunningCommand", "TerminalCommand", "TerminalEvents", "TerminalRunner", "TerminalSize"]

_MAX_SIZE = 65_535


@frozen
class TerminalSize:
    """The size of a pseudo-terminal, in characters.

    Raises:
        InvalidInput: a number is not from 1 to 65,535.
    """

    columns: int = 80
    rows: int = 24

    def __attrs_post_init__(self) -> None:
        for number in (self.columns, self.rows):
            if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= _MAX_SIZE:
                raise InvalidInput(f"columns and rows are integers from 1 to {_MAX_SIZE:,}, not {number!r}")


@frozen(kw_only=True)
class TerminalCommand:
    """A command as it is run: what :meth:`TerminalService.describe` tells before, and a runner gets.

    Attributes:
        session_id: the session that it runs for.
        argv: the program and its arguments; where a shell reads them, the one command line.
        via_shell: the platform's shell is to read the command line, because the agent sent a whole one. Show it.
        cwd: absolute path of the working directory.
        agent_env: the variables that the agent has set itself. Show their names: some change what a program does.
        env: the whole environment, the agent's variables included.
        size: the size of the pseudo-terminal that it is to run under; ``None``: it needs none.
        shell: the shell that the agent has named to read its command line; ``argv`` begins with it, unless it is the
            platform's. ``None``: it has named none.
    """

    session_id: SessionId
    argv: tuple[str, ...]
    via_shell: bool
    cwd: str
    agent_env: Mapping[str, str] = field(factory=dict, repr=False)
    env: Mapping[str, str] = field(factory=dict, repr=False)
    size: TerminalSize | None = None
    shell: Shell | None = None

    @property
    def command_line(self) -> str:
        """What runs, as one would type it."""
        if self.via_shell:
            return self.argv[0]
        return subprocess.list2cmdline(self.argv) if sys.platform == "win32" else shlex.join(self.argv)


class TerminalEvents(Protocol):
    """Where a runner tells what a command does. Both methods may be called on any thread, before ``start`` returns too.

    Calls from the thread of the event loop count at once, others in their order as soon as the loop gets to them.
    """

    def printed(self, data: bytes | str) -> None:
        """Tell what the command has printed. Bytes are read as UTF-8, and a character may come in pieces.

        What comes after the end is kept too, since commands leave others in the background; what comes after the
        release is dropped.

        Raises:
            InvalidInput: ``data`` is neither bytes nor text.
        """

    def ended(self, exit_code: int | None = None, signal: str | None = None) -> None:
        """Tell that the command has ended, after all that it has printed. The first call counts.

        Args:
            exit_code: its exit code, from 0 to 2**32 - 1; ``None`` if a signal ended it, or if nobody can tell.
            signal: the name of the signal that ended it, e.g. ``"SIGTERM"``.

        Raises:
            InvalidInput: one of them is of another type; the command counts as ended all the same.
        """


class RunningCommand(ABC):
    """A command that a runner has started; what the service asks of it. All methods are called on the event loop."""

    @abstractmethod
    async def end(self) -> None:
        """End the command and all that it has started; return when they are gone. Called any number of times.

        It should take a few seconds at most: after ten it is cancelled, and the command counts as ended.
        """

    @abstractmethod
    async def release(self) -> None:
        """Give back what is held for the command. Called once, after :meth:`end`; it can keep showing what it shows."""

    async def write(self, data: bytes) -> None:
        """Give the command what the user has typed.

        Raises:
            InvalidState: it takes none, or has ended.
        """
        raise InvalidState("this command takes no input; pass pty=True to TerminalService to run commands that do")

    def resize(self, size: TerminalSize) -> None:
        """Change the size of the pseudo-terminal.

        Raises:
            InvalidState: it has none, or has ended.
        """
        raise InvalidState("this command has no terminal; pass pty=True to TerminalService to run commands in one")


@runtime_checkable
class TerminalRunner(Protocol):
    """Starts commands."""

    async def start(self, command: TerminalCommand, events: TerminalEvents) -> RunningCommand:
        """Start a command, and return as soon as it runs.

        Raises:
            StartFailed: it cannot be started; the agent is told why (-32602). Of any other error it is told no more
                than that there was one (-32603), and the application gets a diagnostic.
        """
