"""One command that runs for an agent: :class:`TerminalProcess`.

Owns the process from its launch to its end: its merged output, its exit status, and that it and all it started are gone
when it is released. Which command runs where, and who may ask, is :mod:`acp_host.services.terminals`' work.

The states, and what moves a terminal on::

    starting ──start()──▶ running ──the process ends, its output has settled──▶ ended
        │                    └──end(): terminate, wait, kill──────────────────────▲
        └──the launch fails──▶ failed

A command has ended when its own process has; what it left in the background runs on, and may still print, until the
terminal is killed or released.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from typing import cast

from acp_host.errors import StartFailed
from acp_host.services._output import OutputBuffer
from acp_host.transports._launch import Launch
from acp_host.transports.process_tree import ProcessTree, wait_until_gone
from acp_host.wire.ids import SessionId, TerminalId
from acp_host.wire.terminals import TerminalExitStatus

__all__ = ["TerminalListener", "TerminalProcess"]

_SETTLE = 0.2
"""How long output may still come after the process has ended while others hold its end of the pipe, in seconds."""
_GRACE = 1.0
"""How long a process has to end by itself after it was asked to, in seconds."""
_PATIENCE = 5.0
"""How long the system has to take away a process that was killed, in seconds."""


TerminalListener = Callable[["TerminalProcess", str], None]
"""Called when a command has begun, ended, was released, or has printed something: with that, else with ``""``."""


class TerminalProcess:
    """A command and its output. Made by a :class:`~acp_host.services.terminals.TerminalService`; read it freely.

    Attributes:
        terminal_id: the id that the agent knows it by.
        session_id: the session it belongs to.
        argv: the program and its arguments; where a shell reads them, the one command line.
        via_shell: whether the platform's shell reads the command line, because the agent sent a whole one. Show it.
        cwd: the working directory.
        exit_status: how the command ended; ``None`` while it runs.
        released: it is over, and the agent does not know it any more.
    """

    def __init__(
        self,
        terminal_id: TerminalId,
        session_id: SessionId,
        launch: Launch,
        *,
        via_shell: bool,
        output_limit: int,
    ) -> None:
        self.terminal_id = terminal_id
        self.session_id = session_id
        self.argv = launch.argv
        self.via_shell = via_shell
        self.cwd = launch.cwd
        self.exit_status: TerminalExitStatus | None = None
        self.released = False
        self._launch = launch
        self._buffer = OutputBuffer(output_limit)
        self._tree = ProcessTree()
        self._transport: asyncio.SubprocessTransport | None = None
        self._launched = asyncio.Event()
        self._ended = asyncio.Event()
        self._output_open = True
        self._listener: TerminalListener | None = None
        self._unheard: list[str] = []

    def listen(self, listener: TerminalListener) -> None:
        """Tell ``listener`` of every change from now on, and at once of what has been printed so far.

        Who comes first hears all of that, later ones as much as is kept.
        """
        printed = "".join(self._unheard) if self._listener is None else self.output
        self._unheard.clear()
        self._listener = listener
        listener(self, printed)

    @property
    def command_line(self) -> str:
        """What runs, as one would type it."""
        return self.argv[0] if self.via_shell else self._launch.description

    @property
    def output(self) -> str:
        """What the command has printed so far, as far as it is kept."""
        return self._buffer.text()

    @property
    def truncated(self) -> bool:
        """Whether the beginning of the output is missing."""
        return self._buffer.truncated

    async def start(self) -> None:
        """Launch the command; to be called once, in a task that nobody cancels.

        Raises:
            StartFailed: it cannot be launched; says why.
        """
        env = self._tree.mark(self._launch.environment())
        try:
            await self._spawn(env)
        except (OSError, ValueError, NotImplementedError, StartFailed) as error:
            self._finish(None)
            raise self._launch.explain(error, env) from error
        finally:
            self._launched.set()

    async def wait(self) -> TerminalExitStatus:
        """Wait until the command has ended, and return how. Any number of tasks may wait."""
        await self._ended.wait()
        return cast("TerminalExitStatus", self.exit_status)

    async def end(self) -> None:
        """End the command and everything it started. Bounded in time; harmless when all of it has ended.

        When the task is cancelled, what still runs is killed at once.
        """
        await self._launched.wait()
        try:
            if self._tree.terminate():
                await wait_until_gone(self._tree, _GRACE)
        finally:
            self._tree.kill()
        await wait_until_gone(self._tree, _PATIENCE)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._ended.wait()
        self._finish(None)

    async def release(self) -> None:
        """End everything, as :meth:`end` does, and give back what the system holds for it."""
        try:
            await self.end()
        finally:
            self._tree.release()
            if self._transport is not None:
                self._transport.close()
            if not self.released:
                self.released = True
                self._tell("")

    async def _spawn(self, env: dict[str, str]) -> None:
        loop = asyncio.get_running_loop()
        options = {
            "stdin": asyncio.subprocess.DEVNULL,
            "stdout": asyncio.subprocess.PIPE,
            "stderr": asyncio.subprocess.STDOUT,
            "cwd": self.cwd,
            "env": env,
            **self._tree.spawn_options,
        }
        if self.via_shell:
            self._transport, _ = await loop.subprocess_shell(lambda: _Callbacks(self), self.argv[0], **options)
        else:
            command = self._launch.command(env)
            self._transport, _ = await loop.subprocess_exec(lambda: _Callbacks(self), *command, **options)
        try:
            self._tree.attach(self._transport.get_pid())
        except OSError:
            self._transport.close()
            raise

    def _output_received(self, data: bytes) -> None:
        self._tell(self._buffer.feed(data))

    def _output_lost(self, returncode: int | None) -> None:
        """Nobody holds the other end of the pipe any more; ``None``: the process runs all the same."""
        self._output_open = False
        self._tell(self._buffer.feed(b"", final=True))
        if returncode is not None:
            self._finish(returncode)

    def _process_exited(self, returncode: int | None) -> None:
        if self._output_open:
            asyncio.get_running_loop().call_later(_SETTLE, self._finish, returncode)
        else:
            self._finish(returncode)

    def _finish(self, returncode: int | None) -> None:
        """Note how the command ended, once; ``None``: nobody can tell."""
        if self.exit_status is None:
            self.exit_status = _exit_status(returncode)
            self._ended.set()
            self._tell("")

    def _tell(self, printed: str) -> None:
        if self._listener is None:
            self._unheard.append(printed)  # for the moment between the launch and the first listener
        else:
            self._listener(self, printed)


class _Callbacks(asyncio.SubprocessProtocol):
    """Hands on to a terminal what asyncio tells about its process."""

    def __init__(self, terminal: TerminalProcess) -> None:
        self._terminal = terminal
        self._returncode: Callable[[], int | None] = lambda: None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._returncode = cast("asyncio.SubprocessTransport", transport).get_returncode

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._terminal._output_received(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._terminal._output_lost(self._returncode())

    def process_exited(self) -> None:
        self._terminal._process_exited(self._returncode())


def _exit_status(returncode: int | None) -> TerminalExitStatus:
    if returncode is None or returncode >= 0:
        return TerminalExitStatus(exit_code=returncode, signal=None)
    try:
        name = signal.Signals(-returncode).name
    except ValueError:  # a real-time signal has no name of its own
        name = f"SIG{-returncode}"
    return TerminalExitStatus(exit_code=None, signal=name)
