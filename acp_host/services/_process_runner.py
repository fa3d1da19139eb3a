"""Runs commands as processes of this program: :class:`ProcessRunner`, the runner that is used by default.

Owns the process from its launch to its end, and that it and all it started are gone when it is released. It has an
empty input, and both outputs go into one pipe; or all three are a pseudo-terminal (:mod:`acp_host.services._pty`).

A command has ended when its own process has; what it left in the background runs on, and may still print, until the
command is ended or released. If that holds the output open, the end is told a moment later, for what is still in the
pipe; if nobody does, the end is told after the last of it.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any, cast

from attrs import evolve

from acp_host.errors import StartFailed
from acp_host.services.terminal_runner import RunningCommand, TerminalCommand, TerminalEvents, TerminalSize
from acp_host.transports._launch import Launch, Launcher, relaunched
from acp_host.transports.process_tree import ProcessTree, may_live, wait_until_gone

if TYPE_CHECKING:
    from acp_host.services._pty import Pty

__all__ = ["ProcessRunner"]

_SETTLE = 0.2
"""How long output may still come after the process has ended while others hold its end of the pipe, in seconds."""
_GRACE = 1.0
"""How long a process has to end by itself after it was asked to, in seconds."""
_PATIENCE = 5.0
"""How long the system has to take away a process that was killed, in seconds."""


class ProcessRunner:
    """Launches each command as a process in a group of its own.

    Args:
        launcher: may change how, e.g. put it into a sandbox.
    """

    def __init__(self, launcher: Launcher | None = None) -> None:
        self._launcher = launcher
        self._remains = _Remains()

    async def start(self, command: TerminalCommand, events: TerminalEvents) -> RunningCommand:
        """Launch a command.

        Raises:
            StartFailed: it cannot be launched; says why.
        """
        if self._launcher is not None:
            command = await asyncio.to_thread(_launched, command, self._launcher)
        launch = Launch(command.argv, command.cwd, command.env, inherit_env=False)
        process = _Process(events, self._remains)
        try:
            await process.spawn(command, launch)
        except (OSError, ValueError, NotImplementedError, StartFailed) as error:
            raise launch.explain(error, command.env) from error
        return process


def _launched(command: TerminalCommand, launcher: Launcher) -> TerminalCommand:
    """Return what a launcher makes of a command; a command line becomes the argument of the shell that reads it."""
    if command.via_shell and sys.platform == "win32":
        raise StartFailed(f"a whole command line cannot be given to a launcher on Windows: {command.argv[0]}")
    argv = ("/bin/sh", "-c", *command.argv) if command.via_shell else command.argv
    launch = relaunched(Launch(argv, command.cwd, command.env, inherit_env=False), launcher)
    return evolve(command, argv=launch.argv, via_shell=False, cwd=launch.cwd or command.cwd, env=launch.environment())


class _Remains:
    """Tells of which commands anything is left: all that are asked for in one turn of the event loop by one look.

    An agent that never releases its terminals has a hundred of them when its turn is cancelled, and a look at every
    process of the system for each would stop the event loop for seconds.
    """

    def __init__(self) -> None:
        self._asked: dict[ProcessTree, asyncio.Future[bool]] = {}

    async def of(self, tree: ProcessTree) -> bool:
        """Tell whether anything of a tree may live."""
        loop = asyncio.get_running_loop()
        if not self._asked:
            loop.call_soon(self._look)
        return await asyncio.shield(self._asked.setdefault(tree, loop.create_future()))

    def _look(self) -> None:
        asked, self._asked = self._asked, {}
        left = may_live(asked)
        for tree, answer in asked.items():
            answer.set_result(tree in left)


class _Process(RunningCommand, asyncio.SubprocessProtocol):
    """One process, which asyncio tells of what it does."""

    def __init__(self, events: TerminalEvents, remains: _Remains) -> None:
        self._events = events
        self._remains = remains
        self._tree = ProcessTree()
        self._transport: asyncio.SubprocessTransport | None = None
        self._pty: Pty | None = None
        self._output_open = True
        self._exited = False

    async def spawn(self, command: TerminalCommand, launch: Launch) -> None:
        """Launch the process; nothing is left of it when that fails."""
        env = self._tree.mark(command.env)
        options: dict[str, Any] = {"cwd": command.cwd, "env": env, **self._tree.spawn_options}
        try:
            if command.size is None:
                transport = await self._spawn_with_pipe(command, launch, options)
            else:
                transport = await self._spawn_in_pty(command, command.size, options)
            self._tree.attach(transport.get_pid())
        except BaseException:
            await self.release()
            raise

    async def end(self) -> None:
        if self._exited and not await self._remains.of(self._tree):
            return
        try:
            if self._tree.terminate():
                await wait_until_gone(self._tree, _GRACE)
            if not await self._remains.of(self._tree):
                return
        except BaseException:
            self._tree.kill()
            raise
        self._tree.kill()
        await wait_until_gone(self._tree, _PATIENCE)

    async def release(self) -> None:
        self._tree.release()
        if self._transport is not None:
            self._transport.close()
        if self._pty is not None:
            self._pty.close()

    async def write(self, data: bytes) -> None:
        if self._pty is None:
            await super().write(data)
        else:
            await self._pty.write(data)

    def resize(self, size: TerminalSize) -> None:
        if self._pty is None:
            super().resize(size)
        else:
            self._pty.resize(size)

    async def _spawn_with_pipe(
        self, command: TerminalCommand, launch: Launch, options: dict[str, Any]
    ) -> asyncio.SubprocessTransport:
        loop = asyncio.get_running_loop()
        options |= {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        if command.via_shell:
            return (await loop.subprocess_shell(lambda: self, command.argv[0], **options))[0]
        return (await loop.subprocess_exec(lambda: self, *launch.command(options["env"]), **options))[0]

    async def _spawn_in_pty(
        self, command: TerminalCommand, size: TerminalSize, options: dict[str, Any]
    ) -> asyncio.SubprocessTransport:
        if sys.platform == "win32":
            raise StartFailed("there are no pseudo-terminals on Windows")
        else:
            from acp_host.services._pty import Pty, pty_argv

            self._pty = pty = Pty(size)
            argv = await asyncio.to_thread(pty_argv, command, pty.name)
            options |= dict.fromkeys(("stdin", "stdout", "stderr"), pty.slave)
            transport, _ = await asyncio.get_running_loop().subprocess_exec(lambda: self, *argv, **options)
            pty.read(self._events.printed, self._output_ended)
            return transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._events.printed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._output_ended()

    def process_exited(self) -> None:
        self._exited = True
        if self._pty is not None:
            self._pty.close_slave()
        if self._output_open:
            asyncio.get_running_loop().call_later(_SETTLE, self._tell_end)
        else:
            self._tell_end()

    def _output_ended(self) -> None:
        """Nobody holds the other end of the output any more; the process may run all the same."""
        self._output_open = False
        if self._exited:
            self._tell_end()

    def _tell_end(self) -> None:
        returncode = None if self._transport is None else self._transport.get_returncode()
        if returncode is None or returncode >= 0:
            self._events.ended(returncode)
        else:
            self._events.ended(signal=_signal_name(-returncode))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name of its own
        return f"SIG{number}"
