"""Runs commands for agents, ``terminal/*``: :class:`TerminalService`.

Owns which terminals a session has, what the five methods mean, and that no command outlives its session. The command
itself is a :class:`~acp_host.services._terminal_process.TerminalProcess`, and a
:class:`~acp_host.services.terminal_runner.TerminalRunner` runs it: as a process, or wherever the application wants.

A command starts in the session's working directory, or in a directory below the session's roots. That keeps an agent
from starting in the wrong place by mistake; it does not confine the command, which can do whatever this program may do.

``command`` is a program, and ``args`` are its arguments; no shell sees either. Several agents send a whole command line
in ``command`` and nothing in ``args``. It is taken for one if it has a blank or a sign that only a shell understands in
it and no program of that name exists; then the platform's shell runs it (``/bin/sh -c``, on Windows ``cmd.exe /c``) and
the terminal's ``via_shell`` says so.

An agent of Harn sends a whole command line too, and with it the ``shell`` that is to read it, in a member of that name:
one of :class:`~acp_host.services.shells.Shells`, by its id or as an object.

Errors:

==============================================================  ==================================
what is wrong                                                   raised
==============================================================  ==================================
no such session, no such terminal in this session, or released  ``ResourceNotFound`` (-32002)
a working directory that is missing or outside the roots        ``InvalidParams`` (-32602)
a variable that agents may not set                              ``InvalidParams`` (-32602)
a shell that this host does not have                            ``InvalidParams`` (-32602)
a command that cannot be launched                               ``InvalidParams`` (-32602)
too many terminals that still run                               ``InternalError`` (-32603)
==============================================================  ==================================
"""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from acp_host.errors import InternalError, InvalidInput, InvalidParams, ResourceNotFound, StartFailed
from acp_host.services._command import resolve_command
from acp_host.services._confined import Roots, confine
from acp_host.services._process_runner import ProcessRunner
from acp_host.services._terminal_process import TerminalListener, TerminalProcess
from acp_host.services.shells import Shells
from acp_host.services.terminal_environment import EnvironmentPolicy
from acp_host.services.terminal_runner import TerminalCommand, TerminalRunner, TerminalSize
from acp_host.state.change_signal import Subscription
from acp_host.transports._launch import Launcher
from acp_host.wire._model import UNSET
from acp_host.wire.ids import SessionId, TerminalId
from acp_host.wire.terminals import (
    CreateTerminalRequest,
    CreateTerminalResponse,
    KillTerminalRequest,
    KillTerminalResponse,
    ReleaseTerminalRequest,
    ReleaseTerminalResponse,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
)

__all__ = ["MAX_OUTPUT", "MAX_TERMINALS", "TerminalListener", "TerminalProcess", "TerminalService"]

MAX_OUTPUT = 1024 * 1024
"""Default for how much output is kept of one command, in bytes."""
MAX_TERMINALS = 100
"""Most terminals of one session; beyond, those that have ended are forgotten, the oldest first."""


@attrs.define(eq=False)
class _Session:
    roots: Roots
    cwd: str
    listener: TerminalListener
    terminals: dict[TerminalId, TerminalProcess] = attrs.Factory(dict)
    heard: dict[TerminalId, Subscription] = attrs.Factory(dict)

    def listen(self, terminal: TerminalProcess) -> None:
        """Let this session's listener hear of ``terminal``, and no other one."""
        if known := self.heard.pop(terminal.terminal_id, None):
            known.end()
        self.heard[terminal.terminal_id] = terminal.listen(self.listener)

    def forget(self, terminal_id: TerminalId) -> TerminalProcess | None:
        """Take a terminal out; the listener still hears of its end."""
        self.heard.pop(terminal_id, None)
        return self.terminals.pop(terminal_id, None)


class TerminalService:
    """Runs commands for agents and ends them with their session.

    Follows the specification's *Terminals* section. All methods are to be called from one event loop.

    Args:
        max_output: how much output is kept of one command, in bytes; an agent can ask for less, not for more.
        environment: what commands find in their environment under the agent's own variables. A mapping is all that they
            find; ``None`` is the policy that inherits everything.
        pty: run commands under a pseudo-terminal, of 80 columns and 24 rows or of the size that is given. Programs then
            behave as at a user's terminal (colours, progress bars, line ends of ``\\r\\n``) and take input by
            :meth:`TerminalProcess.write`.
        runner: runs the commands in place of this program, e.g. in the terminal of an editor.
        launcher: may change how this program runs them, e.g. in a sandbox, see :mod:`acp_host.sandbox`.
        shells: the shells that an agent may name; ``None``: those of this machine.

    Raises:
        InvalidInput: an argument is wrong, or ``pty`` is asked of Windows without a ``runner`` that has one.
    """

    def __init__(
        self,
        *,
        max_output: int = MAX_OUTPUT,
        environment: EnvironmentPolicy | Mapping[str, str] | None = None,
        pty: bool | TerminalSize = False,
        runner: TerminalRunner | None = None,
        launcher: Launcher | None = None,
        shells: Shells | None = None,
    ) -> None:
        if not isinstance(max_output, int) or isinstance(max_output, bool) or max_output < 0:
            raise InvalidInput(f"max_output is a number of bytes, not {max_output!r}")
        if not isinstance(pty, bool | TerminalSize):
            raise InvalidInput(f"pty is True, False or a TerminalSize, not {pty!r}")
        if runner is not None and not isinstance(runner, TerminalRunner):
            raise InvalidInput(f"runner must have an async method start(command, events), which {runner!r} has not")
        if pty and runner is None and sys.platform == "win32":
            raise InvalidInput(
                "there are no pseudo-terminals on Windows; pass a runner= that has a terminal of its own"
            )
        if shells is not None and not isinstance(shells, Shells):
            raise InvalidInput(f"shells is None or Shells, not {shells!r}")
        self._max_output = max_output
        self._shells = shells or Shells()
        self._environment = _policy(environment)
        self._size = TerminalSize() if pty is True else pty or None
        if launcher is not None and (runner is not None or not callable(launcher)):
            raise InvalidInput(
                "launcher is a function that says how this program runs commands; it goes without runner"
            )
        self._runner: TerminalRunner = runner or ProcessRunner(launcher)
        self._sessions: dict[SessionId, _Session] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def open_session(
        self,
        session_id: SessionId,
        roots: Sequence[str | Path],
        cwd: str | Path,
        listener: TerminalListener = lambda _, printed: None,
    ) -> None:
        """Let a session run commands; its terminals stay if it was open already.

        Args:
            session_id: the agent's id of the session.
            roots: absolute paths of the directories that commands may start in or below.
            cwd: absolute path of the directory that they start in when the agent names none.
            listener: told of everything that happens to the session's commands from now on, at once and on the event
                loop's thread.

        Raises:
            InvalidInput: a path is not absolute.
        """
        if not os.path.isabs(cwd):
            raise InvalidInput(f"the working directory must be an absolute path, not {os.fspath(cwd)!r}")
        session, known = _Session(confine(roots), os.fspath(cwd), listener), self._sessions.get(session_id)
        if known is not None:
            session.terminals, session.heard = known.terminals, known.heard
            if known.listener != listener:
                for terminal in session.terminals.values():
                    session.listen(terminal)
        self._sessions[session_id] = session

    async def close_session(self, session_id: SessionId) -> None:
        """End and forget all terminals of the session; whoever waits for one is answered. Bounded in time.

        When the calling task is cancelled, the work is finished all the same.
        """
        session = self._sessions.pop(session_id, None)
        if session is not None:
            await self._finish(*(terminal.release() for terminal in session.terminals.values()))

    async def close(self) -> None:
        """Close every session, and wait for what is still being ended."""
        await self._finish(*(self.close_session(session_id) for session_id in tuple(self._sessions)))
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def kill_all(self, session_id: SessionId) -> None:
        """End the commands of the session, with what they left in the background, and keep their output.

        For a host that cancels a turn: some agents then neither kill nor release what they started.
        """
        session = self._sessions.get(session_id)
        if session is not None:
            await self._finish(*(terminal.end() for terminal in session.terminals.values()))

    def terminals(self, session_id: SessionId) -> tuple[TerminalProcess, ...]:
        """Return the terminals of the session that are not released, the oldest first."""
        session = self._sessions.get(session_id)
        return () if session is None else tuple(session.terminals.values())

    async def describe(self, request: CreateTerminalRequest) -> TerminalCommand:
        """Return what the request would run, and where, without running it: for showing it to the user beforehand.

        Raises:
            RequestFailed: as the table of this module says.
        """
        session = self._session(request.session_id)
        return await asyncio.to_thread(
            resolve_command, request, session.roots, session.cwd, self._environment, self._size, self._shells
        )

    async def create(
        self, request: CreateTerminalRequest, command: TerminalCommand | None = None
    ) -> CreateTerminalResponse:
        """Start a command, and answer as soon as it runs.

        Args:
            request: what the agent wants.
            command: what :meth:`describe` returned for it, so that nothing else runs than what was shown.

        Raises:
            RequestFailed: as the table of this module says.
        """
        session = self._session(request.session_id)
        command = command or await self.describe(request)
        if self._session(request.session_id).terminals is not session.terminals:
            raise ResourceNotFound("the session was closed meanwhile", data={"sessionId": request.session_id})
        self._make_room(session)
        asked = request.output_byte_limit
        limit = min(asked, self._max_output) if isinstance(asked, int) else self._max_output
        terminal = TerminalProcess(f"term-{uuid.uuid4().hex}", command, output_limit=limit)
        session.terminals[terminal.terminal_id] = terminal
        await self._start(session, terminal)
        self._sessions.get(request.session_id, session).listen(terminal)
        return CreateTerminalResponse(terminal_id=terminal.terminal_id)

    async def output(self, request: TerminalOutputRequest) -> TerminalOutputResponse:
        """Return what the command has printed so far and, once it has ended, how."""
        terminal = self._terminal(request.session_id, request.terminal_id)
        status = UNSET if terminal.exit_status is None else terminal.exit_status
        return TerminalOutputResponse(output=terminal.output, truncated=terminal.truncated, exit_status=status)

    async def wait_for_exit(self, request: WaitForTerminalExitRequest) -> WaitForTerminalExitResponse:
        """Wait until the command has ended, by itself, by a kill, or with its terminal or session."""
        status = await self._terminal(request.session_id, request.terminal_id).wait()
        return WaitForTerminalExitResponse(exit_code=status.exit_code, signal=status.signal)

    async def kill(self, request: KillTerminalRequest) -> KillTerminalResponse:
        """End the command and all it started; its output and exit status stay readable.

        It is asked to end first, and killed after a second. When the calling task is cancelled, it is ended all the
        same.
        """
        await self._finish(self._terminal(request.session_id, request.terminal_id).end())
        return KillTerminalResponse()

    async def release(self, request: ReleaseTerminalRequest) -> ReleaseTerminalResponse:
        """End the command and all it started as :meth:`kill` does, and forget the terminal."""
        terminal = self._terminal(request.session_id, request.terminal_id)
        self._sessions[request.session_id].forget(request.terminal_id)
        await self._finish(terminal.release())
        return ReleaseTerminalResponse()

    def _session(self, session_id: SessionId) -> _Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise ResourceNotFound("there is no such session", data={"sessionId": session_id})
        return session

    def _terminal(self, session_id: SessionId, terminal_id: TerminalId) -> TerminalProcess:
        terminal = self._session(session_id).terminals.get(terminal_id)
        if terminal is None:
            raise ResourceNotFound("this session has no such terminal", data={"terminalId": terminal_id})
        return terminal

    def _make_room(self, session: _Session) -> None:
        """Forget the oldest terminal that has ended when there are as many as may be."""
        if len(session.terminals) < MAX_TERMINALS:
            return
        ended = next((terminal for terminal in session.terminals.values() if terminal.exit_status is not None), None)
        if ended is None:
            raise InternalError(f"{MAX_TERMINALS} commands of this session are still running")
        session.forget(ended.terminal_id)
        self._own(ended.release())

    async def _start(self, session: _Session, terminal: TerminalProcess) -> None:
        try:
            await asyncio.shield(self._own(terminal.start(self._runner)))
        except BaseException as error:
            session.forget(terminal.terminal_id)
            self._own(terminal.release())
            if isinstance(error, StartFailed):
                raise InvalidParams(str(error), data={"command": terminal.argv[0]}) from error
            raise

    def _own(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _finish(self, *work: Coroutine[Any, Any, None]) -> None:
        """Do all of ``work`` to the end, even when the calling task is cancelled."""
        await asyncio.gather(*(asyncio.shield(self._own(item)) for item in work))


def _policy(environment: EnvironmentPolicy | Mapping[str, str] | None) -> EnvironmentPolicy:
    if isinstance(environment, EnvironmentPolicy):
        return environment
    if environment is None:
        return EnvironmentPolicy()
    if isinstance(environment, Mapping):
        return EnvironmentPolicy.only(variables=environment)
    raise InvalidInput(f"environment is an EnvironmentPolicy or a mapping of variables, not {environment!r}")
